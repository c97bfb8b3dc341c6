"""What a second process saves: the first step of a train step with an empty cache, and with a full one.

For mlp, lenet, gpt and resnet18, the models of the benchmark (`benchmarks/mycelia_peer.py`), each in processes of its
own: the time from the start of building the model to the end of its first step, and that of a later step, which no
cache can save. The harness makes weights and data before the clock runs; it is looked for as in `benchmarks/run.py`.
The least of several turns counts.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MODELS = {"mlp": {}, "lenet": {}, "gpt": {}, "resnet18": {"batch": 8}}  # of 64 pictures a step takes seconds
GIVEN = {"resnet18": ("resnet18_params", "cifar_data")}  # by the harness; the others have names of their model


def main() -> None:
    """Print a line for each model."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--home", type=Path, default=os.environ.get("BENCH_HOME", ROOT.parent / "shared" / "bench"))
    options.add_argument("--models", default=",".join(MODELS))
    options.add_argument("--turns", type=int, default=3)
    options.add_argument("--one", help=argparse.SUPPRESS)  # a process of its own
    given = options.parse_args()
    sys.path[:0] = [str(given.home), str(ROOT / "benchmarks"), str(ROOT)]
    if given.one:
        print(json.dumps(measured(given.one)))
        return
    print(f"{'ms':10} {'import':>7} {'cold':>7} {'warm':>7} {'a step':>7} {'ratio':>6} {'less a step':>11}  passes")
    for model in given.models.split(","):
        cold, warm = [], []
        for _ in range(given.turns):
            with tempfile.TemporaryDirectory() as folder:
                cold.append(apart(model, given.home, folder))
                warm.append(apart(model, given.home, folder))
        assert cold[0]["loss"] == warm[0]["loss"], (cold, warm)
        best = [min(x[key] for x in each) for each, key in ((warm, "import"), (cold, "first"), (warm, "first"))]
        imported, first, second = best
        step = min(x["step"] for x in warm)
        ratio, less = second / first, (second - step) / (first - step)
        print(f"{model:10} {imported:7.0f} {first:7.0f} {second:7.0f} {step:7.1f} {ratio:6.2f} {less:11.2f}", end="  ")
        print(f"{cold[0]['passes']:.0f}, {warm[0]['passes']:.0f}")


def apart(model: str, home: Path, folder: str) -> dict[str, float]:
    """A measurement in a fresh process, with a cache of its own."""
    environment = os.environ | {"MYCELIA_CACHE": folder}
    command = [sys.executable, __file__, "--home", str(home), "--one", model]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]  # JSON has no types


def measured(model: str) -> dict[str, float]:
    """Times in milliseconds, the loss of the first step, and how many passes ran."""
    start = time.perf_counter()
    import mycelia_peer as peer

    from mycelia import passes

    imported = time.perf_counter()
    for name in GIVEN.get(model, (f"{model}_params", f"{model}_data")):
        made = getattr(peer.K, name)()  # millions of random numbers, which are not ours
        setattr(peer.K, name, lambda made=made: made)
    begun = time.perf_counter()
    step = getattr(peer, f"{model}_train")("jit", **MODELS[model])
    loss = float(step())
    first = time.perf_counter()
    steps = []
    for _ in range(5):
        before = time.perf_counter()
        float(step())
        steps.append(time.perf_counter() - before)
    return {
        "import": (imported - start) * 1e3,
        "first": (first - begun) * 1e3,
        "step": min(steps) * 1e3,
        "loss": loss,
        "passes": passes.PassCount.count,
    }


if __name__ == "__main__":
    main()
