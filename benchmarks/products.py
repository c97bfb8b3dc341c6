"""Matrix products and convolutions of every floating type beside PyTorch's, in one run, interleaved.

PyTorch lives in an environment of its own; `--torch` or the variable TORCH_PYTHON says where its interpreter is. Two
processes take turns, one call each, and the shortest of many turns counts: what else runs on the machine disturbs both
alike. A line gives both times in milliseconds and their ratio, below 1 where Mycelia is faster; the bound is what we
promise.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PEER = ROOT.parent.parent / "peers" / "venvs" / "torch" / "bin" / "python"
BOUNDS = {"float64": 1.3, "float32": 1.1, "bfloat16": 1.1, "float16": 1.1}
CASES: dict[str, tuple[tuple[int, ...], tuple[int, ...], int, int]] = {  # shapes, stride, padding; 0: a matrix product
    "matmul 1024": ((1024, 1024), (1024, 1024), 0, 0),
    "matmul 512x768x2048": ((512, 768), (768, 2048), 0, 0),
    "conv 32x64x56x56 3x3": ((32, 64, 56, 56), (64, 64, 3, 3), 1, 1),
    "conv 32x64x56x56 1x1": ((32, 64, 56, 56), (128, 64, 1, 1), 1, 0),
    "conv 16x3x112x112 7x7/2": ((16, 3, 112, 112), (32, 3, 7, 7), 2, 3),
    "conv 32x256x14x14 3x3": ((32, 256, 14, 14), (256, 256, 3, 3), 1, 1),
}
Run = Callable[[], object]
SLOW = 1.0  # seconds
IDLE = 0.04  # seconds after which the threads of all libraries have gone to sleep: OpenBLAS's wait 2 ** 26 turns awake


def main() -> None:
    """Time all cases, or those whose names contain one of the words given."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("words", nargs="*", help="parts of the names of cases; all of them, if there are none")
    options.add_argument("--torch", default=os.environ.get("TORCH_PYTHON", str(PEER)))
    options.add_argument("--dtypes", default=",".join(BOUNDS))
    options.add_argument("--modes", default="forward,gradient")
    options.add_argument("--ways", default="jit,eager")
    options.add_argument("--seconds", type=float, default=3.0, help="for each line, about")
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--serve", action="store_true", help="be the other process")
    given = options.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(given.threads)
    if given.serve:
        serve()
        return
    sys.path.insert(0, str(ROOT))
    missed = compare(given)
    print(f"{missed} of the bounds are missed" if missed else "all bounds are kept")
    sys.exit(bool(missed))


def compare(given: argparse.Namespace) -> int:
    """Print a line for each case; how many bounds are missed."""
    missed = 0
    peer = Peer(given.torch)
    print(f"{'case':26} {'type':9} {'mode':9} {'way':6} {'mycelia':>9} {'torch':>9} {'ratio':>6}  bound", flush=True)
    for name in CASES:
        if given.words and not any(word in name for word in given.words):
            continue
        for dtype in given.dtypes.split(","):
            for mode in given.modes.split(","):
                ways = {way: ours(name, dtype, mode, way) for way in given.ways.split(",")}
                times = interleaved(ways, peer, (name, dtype, mode), given.seconds)
                for way in ways:
                    ratio, bound = times[way] / times["torch"], BOUNDS[dtype]
                    missed += ratio > bound
                    print(
                        f"{name:26} {dtype:9} {mode:9} {way:6} {times[way] * 1e3:9.2f} {times['torch'] * 1e3:9.2f} "
                        f"{ratio:6.2f}  {bound}{'  missed' if ratio > bound else ''}",
                        flush=True,
                    )
    peer.close()
    return missed


def interleaved(ways: dict[str, Run], peer: Peer, case: tuple[str, ...], seconds: float) -> dict[str, float]:
    """The shortest time of each way and of the peer, by turns."""
    for run in ways.values():
        for _ in range(5):  # eager mode compiles what comes again
            run()
    best = {way: float("inf") for way in (*ways, "torch")}
    end, turns = time.perf_counter() + seconds, 0
    while not turns or (time.perf_counter() < end and turns < 200):
        for way, run in ways.items():
            best[way] = min(best[way], timed(run))
        best["torch"] = min(best["torch"], peer.ask(*case))
        turns += 1
    return best


def timed(run: Run) -> float:
    """Seconds of one call, when the threads of the call before have gone to sleep."""
    time.sleep(IDLE)
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def arrays(name: str, mode: str) -> list[Any]:
    """The numbers of a case: two operands, and the cotangent of the result if one is needed."""
    import numpy as np

    x, w, stride, padding = CASES[name]
    shapes = [x, w]
    if mode == "gradient":
        space = tuple((n + 2 * padding - k) // stride + 1 for n, k in zip(x[2:], w[2:], strict=True)) if stride else ()
        shapes.append((x[0], w[0], *space) if stride else (x[0], w[1]))
    rng = np.random.default_rng(0)
    return [rng.standard_normal(s, np.float32) for s in shapes]


def ours(name: str, dtype: str, mode: str, way: str) -> Run:
    """A case as Mycelia computes it."""
    import mycelia as ms
    from mycelia import ops

    _, _, stride, padding = CASES[name]
    tensors = [ms.Tensor(a).astype(getattr(ms, dtype)) for a in arrays(name, mode)]

    def product(x: Any, w: Any) -> Any:
        return ops.conv2d(x, w, stride=stride, pad_mode="pad", padding=padding) if stride else ops.matmul(x, w)

    def gradient(x: Any, w: Any, ct: Any) -> Any:
        out, pull = ms.vjp(product, x, w)
        return out, pull(ct)

    run = product if mode == "forward" else gradient
    called = ms.jit(run) if way == "jit" else run
    return lambda: called(*tensors)


# ------------------------------------------------------------------------------------------------ the other process


class Peer:
    """A process that times PyTorch when it is asked."""

    def __init__(self, python: str) -> None:
        command = [python, str(Path(__file__).resolve()), "--serve"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, name: str, dtype: str, mode: str) -> float:
        """Seconds of one call."""
        assert self.process.stdin is not None, "it was opened with pipes"
        assert self.process.stdout is not None, "it was opened with pipes"
        self.process.stdin.write(json.dumps([name, dtype, mode]) + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self) -> None:
        """Let it end."""
        self.process.communicate()


def serve() -> None:
    """Answer with the time of one call for each case that is asked for."""
    kept: dict[str, Run] = {}
    for line in sys.stdin:
        if line not in kept:
            kept = {line: theirs(*json.loads(line))}
            if timed(kept[line]) < SLOW:  # the first call of others is no measure
                timed(kept[line])
        print(timed(kept[line]), flush=True)


def theirs(name: str, dtype: str, mode: str) -> Run:
    """A case as PyTorch computes it."""
    import torch  # type: ignore[import-not-found]  # in an environment of its own

    _, _, stride, padding = CASES[name]
    tensors = [torch.from_numpy(a).to(getattr(torch, dtype)) for a in arrays(name, mode)]

    def product(x: Any, w: Any) -> Any:
        return torch.nn.functional.conv2d(x, w, stride=stride, padding=padding) if stride else x @ w

    if mode == "forward":
        return lambda: product(*tensors)
    x, w, ct = tensors
    x.requires_grad_()
    w.requires_grad_()
    return lambda: torch.autograd.grad(product(x, w), (x, w), ct)


if __name__ == "__main__":
    main()
