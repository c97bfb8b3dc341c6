"""Labels without places: connectionist temporal classification (Graves et al., 2006), its loss and simplest reading."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from functools import cache
from math import inf
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.api import vjp
from mycelia.checks import choice, truth, whole
from mycelia.eager import Tensor, cast, created, wrap
from mycelia.errors import ArgumentError, DTypeError, ShapeError
from mycelia.ir import Function
from mycelia.ops.activation import log_softmax
from mycelia.ops.arguments import floated, tensor
from mycelia.ops.choice import gather_elements, masked_select
from mycelia.ops.creation import ones_like
from mycelia.ops.random import must_hold
from mycelia.types import TensorType, int32, int64

__all__ = ["ctc_greedy_decoder", "ctc_loss"]


def ctc_loss(
    log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int = 0, reduction: str = "mean",
    zero_infinity: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """How unlikely labels are, and the logarithms of the probabilities of their beginnings.

    `log_probs` (time, batch, classes) are logarithms of probabilities, `targets` (batch, labels) or all labels one
    after the other. Each step says a label, or the `blank` one; a label that is said several times in a row counts
    once. With "mean" each loss is divided by the number of its labels. Labels that do not fit into their time have an
    infinite loss, or with `zero_infinity` none.

    >>> steps = Tensor([[[0.5, 0.5]], [[0.5, 0.5]]]).log()
    >>> loss, _ = ctc_loss(steps, Tensor([[1]]), Tensor([2]), Tensor([1]))
    >>> round(loss.item(), 4)  # three of four sequences: 1 1, 1 blank, blank 1
    0.2877
    """
    x = floated(log_probs)
    choice("ctc_loss", "reduction", reduction, ("none", "mean", "sum"))
    truth("ctc_loss", "zero_infinity", zero_infinity)
    if x.ndim == 2:
        x = p.expand_dims(x, (1,))
    if x.ndim != 3:
        raise ShapeError(f"ctc_loss takes (time, batch, classes), not shape {x.shape}")
    time, batch, classes = x.shape
    if whole("ctc_loss", "blank", blank, least=0) >= classes:
        raise ArgumentError(f"ctc_loss: blank is one of {classes} classes, not {blank}")
    lengths, counts = _lengths(input_lengths, batch, time, "steps"), _lengths(target_lengths, batch)
    labels = _labels(targets, counts, batch)
    losses, alphas = _losses(x, labels, lengths, counts, blank)
    if zero_infinity:
        losses = p.select(p.equal(losses, inf), p.full(0.0, x.dtype, ()), losses)
    if reduction == "mean":
        out = p.mean(losses / cast(p.maximum(counts, 1), x.dtype))
    else:
        out = losses if reduction == "none" else p.reduce_sum(losses)
    steps = created(p.Iota(int32, (time, batch, 1), 0))
    known = p.broadcast(p.less(steps, p.reshape(cast(lengths, int32), (1, batch, 1))), alphas.shape)
    places = created(p.Iota(int32, alphas.shape, 2))
    known = p.logical_and(known, p.less_equal(places, p.reshape(cast(counts, int32) * 2, (1, batch, 1))))
    shown = p.select(known, alphas, p.full(-inf, x.dtype, ()))
    return out, p.stop_gradient(p.transpose(shown, (1, 0, 2)))


def _losses(
    x: Tensor, labels: Tensor, lengths: Tensor, counts: Tensor, blank: int, merged: bool = True
) -> tuple[Any, Any]:
    """The loss of each example, and the logarithms of the probabilities of beginnings."""
    batch = x.shape[1]
    alphas = _beginnings(x, labels, lengths, blank, merged)
    last = p.expand_dims(cast(counts, int32) * 2, (1,))
    ends = [gather_elements(alphas[-1], 1, p.maximum(last - k, 0)) for k in (0, 1)]
    empty = p.equal(last, 0)
    total = _added(ends[0], p.select(empty, p.full(-inf, x.dtype, ()), ends[1]))
    return p.negative(p.reshape(total, (batch,))), alphas


def _lengths(given: Any, batch: int, most: int | None = None, of: str = "labels") -> Tensor:
    """How many there are of each example: none at least, and not more than there is room for."""
    found = tensor(given) if isinstance(given, Tensor) else tensor(np.asarray(given))
    if not found.dtype.is_integer or found.size != batch:
        raise ShapeError(
            f"ctc_loss takes a whole number for each of {batch} examples as their lengths",
            given={"lengths": found},
        )
    fits = p.greater_equal(found, 0)
    if most is not None:
        fits = p.logical_and(fits, p.less_equal(found, most))
    room = "0 or more" if most is None else f"0 to {most}"
    words = f"an example of ctc has {room} {of}; another number is among the lengths"
    must_hold(p.reduce_all(fits), words, found.shape)
    return p.reshape(found, (batch,))


def _labels(targets: Any, counts: Tensor, batch: int) -> Tensor:
    """Labels as (batch, labels); what is beyond their number is not looked at."""
    found = tensor(targets)
    if not found.dtype.is_integer:
        raise DTypeError(f"ctc_loss takes whole numbers as targets, not {found.dtype!r}")
    if found.ndim == 2 and found.shape[0] == batch:
        _room(p.reduce_max(counts), found.shape[1], found)
        return cast(found, int64)
    if found.ndim != 1:
        raise ShapeError(f"ctc_loss takes targets (batch, labels), not shape {found.shape}", given={"batch": batch})
    _room(p.reduce_sum(counts), found.size, found)
    if batch == 1:
        return cast(p.reshape(found, (1, found.size)), int64)
    starts = p.cumsum(cast(counts, int64), 0) - cast(counts, int64)
    places = p.expand_dims(starts, (1,)) + created(p.Iota(int64, (batch, found.size), 1))
    return p.gather(cast(found, int64), p.minimum(places, found.size - 1), 0)


def _room(wanted: Any, given: int, targets: Tensor) -> None:
    must_hold(p.less_equal(wanted, given), f"ctc_loss is given {given} labels, and lengths of more", targets.shape)


def _added(*terms: Any) -> Any:
    """log(exp(a) + exp(b) + ...); what is impossible stays so, and has no gradient."""
    top = terms[0]
    for t in terms[1:]:
        top = p.maximum(top, t)
    possible = p.greater(top, -inf)
    top = p.stop_gradient(p.select(possible, top, p.zeros_like(top)))
    zero = p.zeros_like(top)
    total: Any = None
    for t in terms:
        there = p.greater(t, -inf)
        part = p.select(there, p.exp(p.select(there, t - top, zero)), zero)
        total = part if total is None else total + part
    return p.select(possible, p.log(p.select(possible, total, zero + 1.0)) + top, zero + -inf)


def _beginnings(x: Tensor, labels: Tensor, lengths: Tensor, blank: int, merged: bool) -> Any:
    """(time, batch, 2 labels + 1): the logarithm of the probability to have said so much of the labels, with blanks
    between them, after each step. After the last step of an example it stays. Where labels that are said several times
    in a row are not `merged`, each is one, and none has to be kept apart from the one before.
    """
    time, batch, _ = x.shape
    width = 2 * labels.shape[1] + 1
    blanks = created(p.Full(blank, int64, (batch, labels.shape[1], 1)))
    woven = p.reshape(p.concat([blanks, p.expand_dims(labels, (2,))], 2), (batch, width - 1))
    woven = p.concat([woven, created(p.Full(blank, int64, (batch, 1)))], 1)
    said = gather_elements(x, 2, p.broadcast(p.expand_dims(woven, (0,)), (time, batch, width)))
    before = p.concat([created(p.Full(-1, int64, (batch, min(2, width)))), woven[:, : width - 2]], 1)[:, :width]
    is_label = p.equal(created(p.Iota(int32, (batch, width), 1)) % 2, 1)
    # a blank may be left out between two different labels
    skips = p.not_equal(woven, before) if merged else is_label
    stays = p.logical_or(p.logical_not(is_label), merged)
    steps = created(p.Iota(int32, (time, batch), 0))
    here = p.less(steps, cast(lengths, int32))
    first = p.less(created(p.Iota(int32, (batch, width), 1)), 1)
    start = p.select(first, created(p.Full(0.0, x.dtype, (batch, width))), p.full(-inf, x.dtype, ()))
    body = _turn(*[TensorType(v.dtype, v.shape) for v in (skips, start)])
    return p.Scan(body, 2, 1, False, time)(skips, stays, start, said, here)[1]


@cache
def _turn(skips_type: TensorType, state_type: TensorType) -> Function:
    """One step: what was said so far is said again, or the next, or the one after a blank that is left out."""
    batch, width = state_type.shape

    def turn(skips: Any, stays: Any, state: Any, said: Any, here: Any) -> tuple[Any, ...]:
        def moved(by: int) -> Any:
            kept = p.take(state, 1, 0, max(width - by, 0))
            return p.pad(kept, (0, min(by, width)), (0, 0), -inf)

        never = p.full(-inf, state.dtype, state.shape)
        new = _added(p.select(stays, state, never), moved(1), p.select(skips, moved(2), never)) + said
        kept = p.select(p.broadcast(p.expand_dims(here, (1,)), state.shape), new, state)
        return kept, kept

    flags = TensorType(skips_type.dtype, (batch,))
    return Function.build(turn, skips_type, skips_type, state_type, state_type, flags)


def ctc_loss_of_scores(
    x: Any, labels_indices: Any, labels_values: Any, sequence_length: Any, preprocess_collapse_repeated: bool = False,
    ctc_merge_repeated: bool = True, ignore_longer_outputs_than_inputs: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The loss of scores (time, batch, classes), of which the last class is the blank one, and its gradient. Labels are
    given by (example, place) and value. Equal labels in a row are one with `preprocess_collapse_repeated`. Without
    `ctc_merge_repeated` each step that says a label says one more.
    """
    scores = floated(x)
    truth("CTCLoss", "ctc_merge_repeated", ctc_merge_repeated)
    if scores.ndim != 3:
        raise ShapeError(f"CTCLoss takes (time, batch, classes), not shape {scores.shape}")
    time, batch, classes = scores.shape
    lengths = _lengths(sequence_length, batch, time, "steps")
    where, values = cast(tensor(labels_indices), int64), cast(tensor(labels_values), int64)
    if where.ndim != 2 or where.shape[1] != 2 or values.shape != where.shape[:1]:
        raise ShapeError(f"CTCLoss takes labels at (n, 2) places, not shapes {where.shape} and {values.shape}")
    example = p.reshape(p.take(where, 1, 0, 1), values.shape)
    counts = p.scatter_add(created(p.Full(0, int64, (batch,))), example, values * 0 + 1, 0)
    place = example * values.size + p.reshape(p.take(where, 1, 1, 2), values.shape)
    flat = p.scatter_update(created(p.Full(0, int64, (batch * values.size,))), place, values, 0)
    labels = p.reshape(flat, (batch, values.size))
    if truth("CTCLoss", "preprocess_collapse_repeated", preprocess_collapse_repeated):
        labels, counts = _collapsed(labels, counts)

    def losses(scores: Any) -> Any:
        found = _losses(log_softmax(scores, -1), labels, lengths, counts, classes - 1, ctc_merge_repeated)[0]
        if truth("CTCLoss", "ignore_longer_outputs_than_inputs", ignore_longer_outputs_than_inputs):
            found = p.select(p.equal(found, inf), p.full(0.0, scores.dtype, ()), found)
        return found

    found, back = vjp(losses, scores)
    return found, back(ones_like(found))[0]


def _collapsed(labels: Tensor, counts: Tensor) -> tuple[Any, Any]:
    """Labels (batch, labels) without those that are the same as the one before, and how many are left."""
    batch, width = labels.shape
    before = p.concat([created(p.Full(-1, int64, (batch, 1))), p.take(labels, 1, 0, width - 1)], 1)
    given = p.less(created(p.Iota(int64, (batch, width), 1)), p.expand_dims(counts, (1,)))
    kept = cast(p.logical_and(given, p.not_equal(labels, before)), int64)
    place = created(p.Iota(int64, (batch, width), 0)) * width + p.maximum(p.cumsum(kept, 1) - 1, 0)
    flat = created(p.Full(0, int64, (batch * width,)))
    # what is left out adds nothing to the one that stays
    flat = p.scatter_add(flat, p.reshape(place, (batch * width,)), p.reshape(labels * kept, (batch * width,)), 0)
    return p.reshape(flat, (batch, width)), p.reduce_sum(kept, (1,))


def ctc_greedy_decoder(
    inputs: Any, sequence_length: Any, merge_repeated: bool = True
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The likeliest class of each step, without repetitions and without the last class, which is the blank one: where
    each label stands (example, place), the labels, the extent of all, and for each example the negated sum of scores.

    >>> steps = Tensor([[[0.9, 0.1]], [[0.8, 0.2]], [[0.1, 0.9]]])
    >>> [t.tolist() for t in ctc_greedy_decoder(steps, Tensor([3]))][:3]
    [[[0, 0]], [0], [1, 1]]
    """
    x = floated(inputs)
    if x.ndim != 3:
        raise ShapeError(f"ctc_greedy_decoder takes (time, batch, classes), not shape {x.shape}")
    time, batch, classes = x.shape
    truth("ctc_greedy_decoder", "merge_repeated", merge_repeated)
    lengths = cast(_lengths(sequence_length, batch, time, "steps"), int64)
    best = cast(p.arg_max(x, 2), int64)  # (time, batch)
    known = p.less(created(p.Iota(int64, (time, batch), 0)), lengths)
    likely = p.reduce_max(x, (2,))
    total = p.negative(p.reduce_sum(p.select(known, likely, p.zeros_like(likely)), (0,)))
    said = p.logical_and(known, p.not_equal(best, classes - 1))
    if merge_repeated and time > 1:
        before = p.concat([created(p.Full(-1, int64, (1, batch))), p.take(best, 0, 0, time - 1)], 0)
        said = p.logical_and(said, p.not_equal(best, before))
    rows = p.transpose(said, (1, 0))
    places = p.cumsum(cast(rows, int64), 1) - 1
    examples = created(p.Iota(int64, (batch, time), 0))
    found = [masked_select(t, rows) for t in (examples, places, p.transpose(best, (1, 0)))]
    indices = p.concat([p.expand_dims(t, (1,)) for t in found[:2]], 1)
    longest = p.reduce_max(p.reduce_sum(cast(rows, int64), (1,)))
    extent = p.concat([wrap(np.array([batch])), p.reshape(longest, (1,))], 0)
    return indices, found[2], extent, p.expand_dims(total, (1,))
