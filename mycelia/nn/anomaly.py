"""Looking for the first number that is none: which operation made it, for which line, in which layer.

While it is looked for, jitted functions run eagerly, operation by operation, and each result is looked at: that is
slow, and finds the place. Nothing is paid for it at other times, since the methods that look take the place of those
that do not.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import numpy as np

from mycelia import checks
from mycelia.api.jit import Jitted
from mycelia.eager.dispatch import Ready, mode
from mycelia.errors import ArgumentError, Location, MyceliaError, caller
from mycelia.nn.cell import Cell


class AnomalyError(MyceliaError, ArithmeticError):
    """A number that is none was computed."""


class _Watch:
    """What is looked for, and where each result came from, for the way back."""

    def __init__(self, infinite: bool) -> None:
        self.infinite = infinite
        self.made: dict[int, tuple[Any, Location | None, str]] = {}  # a result, its line, its layer

    def odd(self, arrays: Any) -> tuple[int, int]:
        """How many numbers are not numbers, or infinite where that is looked for, and how many there are."""
        parts = arrays if isinstance(arrays, tuple | list) else (arrays,)
        bad = total = 0
        for x in parts:
            if isinstance(x, np.ndarray | np.generic) and x.dtype.kind in "fcV":
                x = np.asarray(x, np.float32) if x.dtype.kind == "V" else np.asarray(x)
                bad += int(np.count_nonzero(~np.isfinite(x) if self.infinite else np.isnan(x)))
                total += x.size
        return bad, total

    def forward(self, ready: Ready, arrays: tuple[Any, ...], out: Any) -> None:
        at, layer = caller(), layer_here()
        self.made[id(out)] = out, at, layer
        bad, total = self.odd(out)
        if bad and not self.odd(arrays)[0]:
            raise self.error(f"the result of {ready.op.name} holds", bad, total, at, layer)

    def backward(self, ready: Ready, ct: Any, out: Any, flowing: Any) -> None:
        bad, total = self.odd(tuple(flowing))
        if bad and not self.odd(ct)[0]:
            _, at, layer = self.made.get(id(out), (None, None, ""))
            raise self.error(f"the gradient of {ready.op.name} holds", bad, total, at, layer)

    def error(self, what: str, bad: int, total: int, at: Location | None, layer: str) -> AnomalyError:
        kind = "infinite numbers or NaN" if self.infinite else "NaN"
        given = {"layer": layer} if layer else {}
        return AnomalyError(f"{what} {bad} {kind} of {total}, and what it was given holds none", given=given, at=at)


def layer_here() -> str:
    """The innermost cell whose `construct` runs, by its name in the outermost; nothing outside of cells."""
    frame: FrameType | None = sys._getframe(1)
    running: list[Cell] = []
    while frame is not None:
        owner = frame.f_locals.get("self") if frame.f_code.co_name == "construct" else None
        if isinstance(owner, Cell) and (not running or running[-1] is not owner):
            running.append(owner)
        frame = frame.f_back
    if not running:
        return ""
    names = {id(cell): name for name, cell in running[-1].cells_and_names()}
    name = names.get(id(running[0]), "")
    return f"{name} ({running[0].cls_name})" if name else running[0].cls_name


@contextmanager
def detect_anomaly(infinite: bool = False) -> Iterator[None]:
    """Inside the block, the first result or gradient that holds NaN raises `AnomalyError`: with the operation, your
    line, and the layer. With `infinite`, infinite numbers count too. Functions under `jit` run eagerly meanwhile; it
    holds for the whole process.

    >>> from mycelia import Tensor, ops
    >>> with detect_anomaly():
    ...     ops.log(Tensor([1.0, -1.0]))
    Traceback (most recent call last):
    mycelia.nn.anomaly.AnomalyError: the result of log holds 1 NaN of 2, and what it was given holds none
    ...
    """
    watch = _Watch(checks.truth("detect_anomaly", "infinite", infinite))
    kinds: list[Any] = [Ready, *Ready.__subclasses__()]
    run, call = Ready.run, Jitted.__call__
    pulls = [vars(kind).get("pull") for kind in kinds]
    if run.__name__ != "run" or run.__qualname__ != "Ready.run":
        raise ArgumentError("anomalies are being looked for already", hint="leave the inner block out")

    def looked_at(self: Ready, arrays: tuple[Any, ...]) -> Any:
        out, kind = run(self, arrays)
        if not mode.capturing:
            watch.forward(self, arrays, out)
        return out, kind

    def looking(pull: Any) -> Any:
        def pulled(self: Ready, needed: tuple[bool, ...], ct: Any, out: Any, inputs: tuple[Any, ...]) -> Any:
            flowing = pull(self, needed, ct, out, inputs)
            watch.backward(self, ct, out, flowing)
            return flowing

        return pulled

    def eagerly(self: Jitted, *args: Any, **kwargs: Any) -> Any:
        return self.__captured__(*args, **kwargs)

    Ready.run, Jitted.__call__ = looked_at, eagerly  # type: ignore[method-assign]
    for kind, pull in zip(kinds, pulls, strict=True):
        if pull is not None:
            kind.pull = looking(pull)
    try:
        yield
    finally:
        Ready.run, Jitted.__call__ = run, call  # type: ignore[method-assign]
        for kind, pull in zip(kinds, pulls, strict=True):
            if pull is not None:
                kind.pull = pull
        watch.made.clear()
