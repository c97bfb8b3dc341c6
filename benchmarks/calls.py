"""What a call of a compiled network costs above its kernels: guards, the table of pointers, the new tensor.

A call is timed, and the machine code that it runs alone, on the same table: the difference is ours. For three layers,
and for 150 small ones with 300 parameters; what counts is the minimum, and the lower quartile, of many turns.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Print a line for each network."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--turns", type=int, default=300)
    options.add_argument("--calls", type=int, default=20, help="in one turn")
    given = options.parse_args()
    sys.path.insert(0, str(ROOT))
    import mycelia as ms
    from mycelia import nn
    from mycelia.runtime import executable

    called: list[tuple[Any, int]] = []
    run = executable.Executable._call

    def noting(self: Any, running: Any, arrays: tuple[Any, ...]) -> Any:
        called.append((self, running.address))
        return run(self, running, arrays)

    def layers(count: int, width: int) -> list[Any]:
        found: list[Any] = []
        for _ in range(count):
            found += [nn.Dense(width, width), nn.ReLU()]
        return found[:-1]

    print(f"{'':36} {'call':>8} {'kernels':>8} {'above them: minimum, lower quartile':>36}")
    for name, net in (
        ("3 layers, 6 parameters", nn.SequentialCell(*layers(3, 64))),
        ("150 layers, 300 parameters", nn.SequentialCell(*layers(150, 8))),
    ):
        x = ms.Tensor(np.random.default_rng(0).standard_normal((32, net[0].in_channels)).astype(np.float32))
        step = ms.jit(net)
        for _ in range(3):
            step(x)
        executable.Executable._call = noting  # type: ignore[method-assign]  # to see what is run
        step(x)
        executable.Executable._call = run  # type: ignore[method-assign]
        program, address = called.pop()
        pairs: list[tuple[float, float]] = []
        for _ in range(given.turns):
            whole = seconds(step, x, given.calls)
            result = step(x)  # which the machine code writes to, as long as it is there
            pairs.append((whole, seconds(program._run, address, given.calls)))
            del result
        above = sorted(1e6 * (whole - kernels) for whole, kernels in pairs)
        whole, kernels = (1e6 * min(pair[i] for pair in pairs) for i in (0, 1))
        spread = f"{whole - kernels:.1f}, {above[len(above) // 4]:.1f} us"
        print(f"{name:36} {whole:8.1f} {kernels:8.1f} {spread:>36}", flush=True)


def seconds(run: Callable[[Any], Any], argument: Any, calls: int) -> float:
    """The time of one call, the mean of several."""
    begin = time.perf_counter()
    for _ in range(calls):
        run(argument)
    return (time.perf_counter() - begin) / calls


if __name__ == "__main__":
    main()
