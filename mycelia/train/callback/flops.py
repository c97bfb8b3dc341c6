"""How much of what a processor could do a training does."""

from __future__ import annotations

from math import prod
from time import perf_counter
from typing import Any

from mycelia import checks
from mycelia import primitives as p
from mycelia.api.jit import Jitted
from mycelia.ir import Function, inner_functions
from mycelia.train.callback.base import Callback, RunContext


class FlopsUtilizationCollector(Callback):
    """Tells after every `data_size` steps how long a step takes, and what share it is of what the processor could do
    in that time: `computility` multiplications and additions a second.

    Counted are products of matrices and convolutions, forwards and backwards. With one device the whole model is here,
    so `full_flops` has nothing to choose. With `enable_ma_collector` and no `computility` nothing is printed: the
    numbers are in `flops`, `milliseconds` and `utilization`.

    >>> FlopsUtilizationCollector(10, computility=10**11).data_size
    10
    """

    def __init__(
        self, data_size: int, computility: float = 1, full_flops: bool = True, enable_ma_collector: bool = False
    ) -> None:
        name = "FlopsUtilizationCollector"
        self.data_size = checks.whole(name, "data_size", data_size, least=1)
        self.computility = checks.number(name, "computility", computility, above=0)
        self.full_flops = checks.truth(name, "full_flops", full_flops)
        self.prints = not (checks.truth(name, "enable_ma_collector", enable_ma_collector) and computility == 1)
        self.flops, self.milliseconds, self.utilization = 0, 0.0, 0.0
        self.counted = False
        self.begun, self.steps = perf_counter(), 0

    def step_begin(self, run_context: RunContext) -> None:
        if not self.steps:
            self.begun = perf_counter()

    def step_end(self, run_context: RunContext) -> None:
        now = run_context.original_args()
        self.steps += 1
        if not self.counted:
            program = now.get("step_program")
            self.flops, self.counted = operations(program) if isinstance(program, Jitted) else 0, True
            if self.prints:
                shown = ", ".join(f"{what} flops is {self.flops}" for what in ("Full model", "Full hardware"))
                print(f"{shown}, Shard model flops is {self.flops}, Shard hardware flops is {self.flops}")
        if self.steps >= self.data_size:
            took = (perf_counter() - self.begun) / self.steps
            self.milliseconds = took * 1000
            self.utilization = self.flops / took / self.computility if took else 0.0
            if self.prints:
                word, share = ("Train" if now.mode == "train" else "Eval"), f"{self.utilization:.2%}"
                print(f"{word} per step time: {self.milliseconds:.3f} ms, mfu:{share} hfu:{share}")
            self.steps = 0


def operations(jitted: Jitted) -> int:
    """Multiplications and additions in the products and convolutions of the program that was compiled last.

    >>> from mycelia import Tensor, jit, ops
    >>> product = jit(lambda x, y: x @ y)
    >>> done = product(ops.ones((2, 3)), ops.ones((3, 4)))
    >>> operations(product)
    48
    """
    programs = [*jitted._interpreted.pieces(), *jitted._interpreted.whole()]
    return _in(max(programs, key=lambda way: way.number).program.ending.function) if programs else 0


def _in(function: Function) -> int:
    return sum(
        _of(value) + sum(map(_in, () if isinstance(value.op, p.CustomVjp) else inner_functions(value.op)))
        for value in function.values()
    )


def _of(value: Any) -> int:
    """Operations of one value: each element of the result of a product is a sum over what is left out."""
    op = value.op
    if isinstance(op, p.Contract):
        sizes: dict[str, Any] = {}
        for axes, x in zip((op.lhs, op.rhs), value.inputs, strict=True):
            sizes |= dict(zip(axes, x.type.shape, strict=True))
        return 2 * prod(int(n) for n in sizes.values())
    places: dict[Any, tuple[int, int]] = {p.Conv: (2, 1), p.ConvInputGrad: (0, 1), p.ConvWeightGrad: (1, 2)}
    if type(op) in places:
        shapes = [x.type.shape for x in (*value.inputs[:2], value)]
        out, weight = (shapes[i] for i in places[type(op)])
        return 2 * int(out[0]) * prod(int(n) for n in out[2:]) * prod(int(n) for n in weight)
    return 0
