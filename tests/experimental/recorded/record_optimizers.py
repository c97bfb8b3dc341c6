"""Asks MindSpore where its optimizers with groups go: python record_optimizers.py, in a folder that it may write to."""

import json
from pathlib import Path

import mindspore
from mindspore.experimental import optim
from optimizers import OPTIMIZERS, PLATEAUS, SCHEDULES, plateau, run, scheduled, sequence

HERE = Path(__file__).resolve().parent
told = {"optimizers": {}, "schedules": {}, "sequence": sequence(mindspore, optim), "plateaus": {}}
for name in OPTIMIZERS:
    try:
        told["optimizers"][name] = [x.tolist() for x in run(mindspore, optim, name)]
    except Exception as error:
        print(name, type(error).__name__, str(error)[:200])
for name in SCHEDULES:
    try:
        told["schedules"][name] = scheduled(mindspore, optim, name)
    except Exception as error:
        print(name, type(error).__name__, str(error)[:200])
for name in PLATEAUS:
    told["plateaus"][name] = plateau(mindspore, optim, name)
(HERE / "optimizers.json").write_text(json.dumps(told) + "\n")
