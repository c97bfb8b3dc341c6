"""Loops: those that depend on tensors become loops of the program, the others run while it is captured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.capture.carry import Carry, Turn
from mycelia.capture.closing import closed
from mycelia.capture.stage import Stage, current
from mycelia.capture.truth import truth
from mycelia.capture.world import Unstageable
from mycelia.errors import MyceliaError, ShapeError, caller
from mycelia.ir import Function, Project, Value, fresh_params, region, toposort
from mycelia.types import TensorType, float32, int64

MANY = 1 << 20  # numbers from which a range is counted, not written down
LONG = 32  # turns from which a loop over a range is tried as a loop of the program
UNSURE = 1000  # turns, in what is perhaps never reached, after which a loop over known tensors goes to the program
LONGEST = 10_000  # turns of a loop in Python that only a tensor could end, or that is perhaps never reached


class Range:
    """`range` of numbers that are not known yet."""

    def __init__(self, first: Any, stop: Any = None, step: Any = 1) -> None:
        self.start: Any = 0 if stop is None else first
        self.stop: Any = first if stop is None else stop
        self.step: Any = step


def while_(test: Callable[[], Any], body: Callable[[], None], get: Any, put: Any, names: Sequence[str]) -> None:
    """`while test(): body()`, on the variables that `get` gets and `put` sets."""
    stage = current()
    if stage is None:
        while test():
            body()
        return
    at, turns = caller(), 0
    while True:
        mark = len(stage.log)
        with region() as asked:
            goes = test()
        unsure = stage.depth and turns >= UNSURE and isinstance(goes, stage.world.tensor)
        if unsure or stage.symbolic(goes):
            stage.undo(mark)
            _while(stage, Carry(stage, at, names, get, put, runs=False), test, body)
            return
        stage.region.adopt(asked.effects)
        if not goes:
            return
        body()
        turns += 1
        if stage.depth and turns > LONGEST:
            raise Unstageable(f"after {LONGEST} turns this loop has not ended, and it may never be reached", at)


def _while(stage: Stage, carry: Carry, test: Callable[[], Any], body: Callable[[], None]) -> None:
    asked = 0

    def turn() -> Value:
        nonlocal asked
        goes = truth(stage, test())
        asked = len(stage.region.effects)
        body()
        return goes

    once = carry.settle(turn)
    outs = _asking(once, asked, carry.starts()) if asked else _repeated(once, carry.starts())
    carry.finish(outs[: len(once.params)])


def _repeated(once: Turn, starts: Sequence[Value]) -> Sequence[Value]:
    """The loop whose condition has no effects: it is computed before each turn, and what the turn needs of it in it."""
    shared = once.shared(once.params, once.returned)
    params = (*shared, *once.params)
    condition, body = closed(params, [once.returned]), closed(params, once.results, once.effects)
    return p.While(condition, body, len(shared))(*shared, *starts)


def _asking(once: Turn, asked: int, starts: Sequence[Value]) -> Sequence[Value]:
    """The loop whose condition has effects, the first `asked` ones of a turn. They happen in front of the loop and at
    the end of each turn, and what they gave is handed on to the turn that follows (loop rotation).
    """
    first, later = once.effects[:asked], once.effects[asked:]
    handed = [v for v in toposort([*later, *once.results]) if isinstance(v.op, Project) and v.inputs[0] in first]
    shared = once.shared(once.params, once.returned)
    ask = closed((*shared, *once.params), [once.returned, *handed], first)
    turn = closed((*shared, *once.params, *handed), once.results, later)
    n, k = len(shared), len(once.params)

    def body(*values: Value) -> list[Value]:
        results = turn(*values[: n + k], *values[n + k + 1 :])
        return [*results, *ask(*values[:n], *results)]

    start = (*starts, *ask(*shared, *starts))
    types = [v.type for v in (*shared, *start)]
    condition = Function.build(lambda *values: values[n + k], *types)
    return p.While(condition, Function.build(body, *types), n)(*shared, *start)


def for_(
    iterable: Any, body: Callable[[Any], None], get: Any, put: Any, names: Sequence[str], stops: Callable[[], Any]
) -> None:
    """`for item in iterable: body(item)`, until a flag in `stops` is true."""
    stage = current()
    if stage is not None and id(iterable) in stage.outside and hasattr(iterable, "__next__"):
        raise Unstageable("an iterator from outside is used up")
    if stage is not None and isinstance(iterable, Range):
        _counted(stage, iterable, body, get, put, names, stops)
    elif stage is not None and stage.symbolic(iterable):
        rows = _rows(stage, iterable)
        _scan(stage, Carry(stage, caller(), names, get, put, runs=rows.shape[0] > 0), rows, body)
    elif stage is None or not isinstance(iterable, range) or not _long(stage, iterable, body, get, put, names, stops):
        _python(stage, iterable, body, stops)


def _rows(stage: Stage, x: Any) -> Value:
    value = stage.world.value(x)
    if not value.shape:
        raise ShapeError(
            "a loop goes over the first axis of a tensor, and this one has none", given={"tensor": value.type}
        )
    return value


def _python(stage: Stage | None, iterable: Any, body: Callable[[Any], None], stops: Callable[[], Any]) -> None:
    turns = 0
    for item in iterable:
        body(item)
        flags = stops()
        if any(f is True for f in flags):
            return
        if stage is not None and any(stage.symbolic(f) for f in flags):
            turns += 1
            if turns > LONGEST:
                raise Unstageable(f"after {LONGEST} turns only a tensor could end this loop")


def _long(
    stage: Stage,
    numbers: range,
    body: Callable[[Any], None],
    get: Callable[[], tuple[Any, ...]],
    put: Callable[..., None],
    names: Sequence[str],
    stops: Callable[[], Any],
) -> bool:
    """Whether a loop with many turns became a loop of the program: it does not if Python must know its numbers."""
    if len(numbers) < LONG:
        return False
    carry = Carry(stage, caller(), names, get, put, runs=True)
    (item,) = fresh_params((TensorType(int64, ()),))
    counters: list[int] = []  # the variables that hold the number itself
    stopped: list[Value] = []  # whether an earlier turn has ended the loop

    def turn() -> None:
        stopped[:] = [truth(stage, x) for x in stops() if stage.symbolic(x)]
        body(stage.world.wrap(item))
        held = [stage.world.value(x) if isinstance(x, stage.world.tensor) else None for x in get()]
        counters[:] = [i for i, v in enumerate(held) if v is item]

    try:
        once = carry.settle(turn)
    except (Unstageable, MyceliaError, stage.world.concrete):
        return False
    if not carry.only_tensors(counters) or not _rounded(once.results):
        return False
    if len(numbers) > MANY:
        _counting(carry, once, item, numbers, stopped)
    else:
        _build(carry, once, item, p.constant(np.asarray(numbers, np.int64)))
    after = list(get())
    for i in counters:
        after[i] = numbers[-1]
    put(*after)
    return True


def _rounded(results: Sequence[Value]) -> bool:
    """Whether nothing is lost if a Python float that is computed in the loop is a float32."""
    return all(v.dtype is float32 or not v.dtype.is_float for v in results)


def _scan(stage: Stage, carry: Carry, rows: Value, body: Callable[[Any], None]) -> None:
    (item,) = fresh_params((rows.tensor.with_shape(rows.shape[1:]),))
    once = carry.settle(lambda: body(stage.world.wrap(item)))
    _build(carry, once, item, rows)


def _build(carry: Carry, once: Turn, item: Value, rows: Value) -> None:
    """The loop over the rows, and what it leaves."""
    shared = once.shared((*once.params, item))
    body = closed((*shared, *once.params, item), once.results, once.effects)
    length = rows.shape[0]
    outs = p.Scan(body, len(shared), len(once.params), False, length)(*shared, *carry.starts(), rows)
    carry.finish(outs[: len(once.params)])


def _counting(carry: Carry, once: Turn, item: Value, numbers: range, stopped: Sequence[Value]) -> None:
    """The loop over numbers that are too many to be written down, and what it leaves."""
    shared = once.shared((*once.params, item))
    params = (*shared, *once.params, item)
    first, last, step = (p.full(n, int64, ()) for n in (numbers[0], numbers[-1], numbers.step))
    goes = p.less_equal(item, last) if numbers.step > 0 else p.greater_equal(item, last)
    for x in stopped:
        goes = p.logical_and(goes, p.logical_not(x))
    condition, body = closed(params, [goes]), closed(params, [*once.results, item + step], once.effects)
    outs = p.While(condition, body, len(shared))(*shared, *carry.starts(), first)
    carry.finish(outs[: len(once.params)])


def _counted(
    stage: Stage,
    numbers: Range,
    body: Callable[[Any], None],
    get: Callable[[], tuple[Any, ...]],
    put: Callable[..., None],
    names: Sequence[str],
    stops: Callable[[], Any],
) -> None:
    """A loop over numbers whose end is a tensor."""
    from mycelia.capture.hooks import and_, go  # hooks know loops, and a loop asks like a program

    if not isinstance(numbers.step, int):
        raise Unstageable("the step of a range is a tensor")
    count = [numbers.start]

    def goes() -> Any:
        more = count[0] < numbers.stop if numbers.step > 0 else count[0] > numbers.stop
        return and_(go(*stops()), lambda: more)

    def turn() -> None:
        item = count[0]
        count[0] = item + numbers.step
        body(item)

    def set_all(*values: Any) -> None:
        put(*values[:-1])
        count[0] = values[-1]

    _while(
        stage, Carry(stage, caller(), (*names, "count"), lambda: (*get(), count[0]), set_all, runs=False), goes, turn
    )
