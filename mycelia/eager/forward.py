"""Going forward along a tape: from tangents of the inputs to tangents of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from mycelia import transforms
from mycelia.eager.backward import as_tensor
from mycelia.eager.dispatch import Ready
from mycelia.eager.pullback import replay
from mycelia.eager.tape import Forward, Tape, TapeOp
from mycelia.eager.tensor import Tensor, wrap
from mycelia.ir import Function, Op
from mycelia.types import Type, type_of


def push_forward(
    tape: Tape, start: int, stop: int, tangents: Mapping[int, Tensor], results: Sequence[int]
) -> list[Tensor | None]:
    """Tangents of the results at these places, None where nothing moves; every step is recorded if a tape is open."""
    moving: dict[int, Tensor] = dict(tangents)
    for here in range(start, stop):
        step, places, _, inputs, out = tape[here]
        if here in tangents or step is None or not any(place in moving for place in places):
            continue
        given = [moving.get(place) for place in places]
        tensors = [wrap(x, tape, place) for x, place in zip(inputs, places, strict=True)]
        moved = step.push(given, tensors) if isinstance(step, Forward) else _pushed(step, given, tensors)
        first = here + 1 if out.__class__ is tuple else here
        moving.update({first + i: t for i, t in enumerate(moved) if t is not None})
    return [moving.get(place) for place in results]


def _pushed(step: TapeOp, tangents: Sequence[Tensor | None], inputs: Sequence[Tensor]) -> list[Tensor | None]:
    """The tangents of the results of one op."""
    assert isinstance(step, Ready), f"{step} cannot be differentiated forward"
    types = tuple(getattr(x._data, "type", None) or type_of(x._data) for x in inputs)
    fn, smooth = _tangent_of(step.op, types, tuple(t is not None for t in tangents))
    moved = iter(replay(fn, [*inputs, *[t for t in tangents if t is not None]]))
    return [as_tensor(next(moved)) if s else None for s in smooth]


@lru_cache(maxsize=4096)
def _tangent_of(op: Op, types: tuple[Type, ...], moving: tuple[bool, ...]) -> tuple[Function, tuple[bool, ...]]:
    """The function of inputs and tangents of the moving ones, to tangents of the results that can be differentiated."""
    fn = Function.build(op, *types)
    pushed = transforms.jvp(fn, moving)
    return pushed.with_results(pushed.results[len(fn.results) :]), tuple(t.differentiable for t in fn.result_types)
