"""Alignment of labels with time: the probability that a sequence of labels, with blanks between, is what was seen."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from functools import cache
from typing import Any

from mycelia import primitives as p
from mycelia.eager import Tensor, cast, created
from mycelia.errors import ShapeError
from mycelia.ir import Function
from mycelia.ops.arguments import floated, tensor
from mycelia.ops.choice import gather_elements, where
from mycelia.ops.creation import full, full_like
from mycelia.ops.joining import cat, stack
from mycelia.types import TensorType, bool_, float32, int32

NEVER = -1e30  # the logarithm of a probability of zero, which can be added and subtracted


def alignment(log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int) -> Tensor:
    """-log of the probability of each target (batch, labels), given log-probabilities (time, batch, classes); infinite
    where a target does not fit into its time. Targets may also stand one behind the other on one axis.

    A walk along time over the places of `blank, label, blank, ..., label, blank`: from each to itself, to the next, and
    from a label to the next label, if that is another one.

    >>> import math
    >>> even = Tensor([[[math.log(0.5)] * 2]] * 2)
    >>> f"{alignment(even, Tensor([[1]]), Tensor([2]), Tensor([1]), 0).item():.4f}"
    '0.2877'
    """
    given = floated(log_probs)
    scores = given if given.dtype.bits >= 32 else cast(given, float32)
    time, batch, _ = scores.shape
    lengths, sizes = (cast(tensor(t), int32) for t in (input_lengths, target_lengths))
    labels = _rows(cast(tensor(targets), int32), sizes)
    if (labels.shape[0], lengths.shape, sizes.shape) != (batch, (batch,), (batch,)):
        raise ShapeError(
            f"there are log-probabilities of {batch} examples",
            given={"targets": labels.shape, "input_lengths": lengths.shape, "target_lengths": sizes.shape},
            hint="give a target and two lengths for each example",
        )
    width = labels.shape[1]
    blanks = full_like(labels, blank)
    places = cat((stack((blanks, labels), 2).reshape((batch, 2 * width)), full((batch, 1), blank, dtype=int32)), 1)
    before = cat((full((batch, 2), blank, dtype=int32), places), 1)[:, : 2 * width + 1]
    leaps = p.logical_and(p.not_equal(places, full_like(places, blank)), p.not_equal(places, before))
    seen = gather_elements(scores, 2, p.broadcast(p.expand_dims(places, (0,)), (time, *places.shape)))
    here = p.less(created(p.Iota(int32, (time, batch), 0)), lengths)
    first = where(p.equal(created(p.Iota(int32, places.shape, 1)), 0), 0.0, NEVER).astype(scores.dtype)
    last = p.Scan(_turn(TensorType(scores.dtype, places.shape)), 1, 1, False, time)(leaps, first, seen, here)[0]
    end = p.expand_dims(sizes * 2, (1,))
    ends = [gather_elements(last, 1, end), gather_elements(last, 1, p.maximum(end - 1, 0))]
    ends[1] = where(end > 0, ends[1], NEVER).astype(scores.dtype)
    total = p.reshape(_joined(*ends), (batch,))
    return cast(where(total < NEVER / 2, float("inf"), -total), given.dtype)


def _rows(targets: Tensor, sizes: Tensor) -> Tensor:
    """(batch, labels), also of targets that stand one behind the other."""
    if targets.ndim == 2:
        return targets
    begin = p.cumsum(sizes, 0) - sizes
    place = p.expand_dims(begin, (1,)) + created(p.Iota(int32, (sizes.shape[0], targets.shape[0]), 1))
    return p.gather(targets, p.minimum(place, targets.shape[0] - 1), 0)


def _joined(*logs: Any) -> Any:
    """The logarithm of the sum of probabilities, of which the logarithms are given."""
    largest = logs[0]
    for x in logs[1:]:
        largest = p.maximum(largest, x)
    largest = p.stop_gradient(largest)
    total = p.exp(logs[0] - largest)
    for x in logs[1:]:
        total = total + p.exp(x - largest)
    return largest + p.log(total)


@cache
def _turn(state: TensorType) -> Function:
    """One step of time, for the places of all examples."""
    batch, places = state.shape

    def turn(leaps: Any, now: Any, seen: Any, here: Any) -> tuple[Any, ...]:
        def moved(by: int) -> Any:
            return p.take(p.pad(now, (0, by), (0, 0), NEVER), 1, 0, places)

        leapt = p.select(leaps, moved(2), p.full(NEVER, state.dtype, state.shape))
        later = seen + _joined(now, moved(1), leapt)
        return (p.select(p.broadcast(p.expand_dims(here, (1,)), state.shape), later, now),)

    element = TensorType(state.dtype, state.shape)
    return Function.build(turn, TensorType(bool_, state.shape), element, element, TensorType(bool_, (batch,)))


__all__ = ["alignment"]
