"""Ask MindSpore for its steps of optimizers: python tests/ops/recorded/record_updates.py, where it is installed."""

import json
from pathlib import Path

import mindspore
import mindspore.ops
from update_cases import CASES, run

found = {}
for name in CASES:
    try:
        found[name] = run(mindspore, name)[0]
    except Exception as error:  # it has no such kernel on this processor
        print(name, str(error).splitlines()[:1])
(Path(__file__).parent / "updates.json").write_text(json.dumps(found, sort_keys=True).replace("]]], ", "]]],\n") + "\n")
