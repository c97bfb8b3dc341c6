"""Attention by blocks of queries: of the matrix of scores, no more than the rows of one block exist at a time.

A query needs one row of the matrix: its scores, their softmax, the mean of the values. So blocks of queries are
computed one after the other, over all keys, and on the way back each is computed again: memory grows with the number
of tokens, not with its square. A block is so large that its scores stay in the caches of the cores. Keys and values
are turned once, before the loop: so every product in it, also those of the gradient, reads the large matrix as it lies.

A causal mask leaves half of the matrix unseen. The queries are parted into sections, each with the keys that its last
query sees: of eight sections the products take 9/16 of the whole.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from mycelia import primitives as p
from mycelia.cost import BLOCK_OF_SCORES
from mycelia.frozen import frozen
from mycelia.ir import Function, Value
from mycelia.primitives.family import broadcast_shapes
from mycelia.sizes import Dim, hint, known_equal
from mycelia.types import TensorType, bool_, float32, int32

FEWEST, MOST = 32, 512  # queries of a block: a product of fewer is slow, and more gain nothing
SECTIONS = 8


def attend(
    query: Any, key: Any, value: Any, mask: Any, causal: bool, rate: float, draw: Callable[[], tuple[Any, Any]]
) -> Any:
    """softmax(query key^T + mask) value, for operands of one element type. A mask of bools says where to look; `draw`
    gives a key and a counter for the weights that are dropped, a share `rate` of them.
    """
    operands = [query, key, value, *([] if mask is None else [mask]), *(draw() if rate else ())]
    types = tuple(TensorType(x.dtype, x.shape) for x in operands)
    return p.Call(_whole(Attention(causal, mask is not None, rate), types))(*operands)[0]


@frozen
class Attention:
    """What is known of an attention beside its operands: whether later positions are hidden, whether there is a mask,
    and which share of the weights is dropped.
    """

    causal: bool = False
    masked: bool = False
    rate: float = 0.0


@lru_cache(maxsize=256)
def _whole(how: Attention, types: tuple[TensorType, ...]) -> Function:
    """The attention of operands of these types: queries, keys, values, a mask, the key and the counter of a draw."""

    def whole(query: Value, key: Value, value: Value, *rest: Value) -> tuple[Value]:
        operands = [query, _turned(key), _turned(value), *rest[: how.masked]]
        batch = broadcast_shapes(*[x.shape[:-2] for x in operands])
        if how.rate:
            blocks = _Blocks.of(query.shape[-2], key.shape[-2]).count + SECTIONS
            drawn, counter = rest[how.masked :]
            operands.append(p.random_bits(drawn, counter, (*batch, blocks, 2)))
        ranked = [p.reshape(x, (*(1,) * (len(batch) + 2 - len(x.shape)), *x.shape)) for x in operands]
        return (_each(batch, ranked, how),)

    return Function.build(whole, *types)


def _turned(x: Value) -> Value:
    rank = len(x.shape)
    return p.transpose(x, (*range(rank - 2), rank - 1, rank - 2))


def _each(batch: Sequence[Dim], operands: Sequence[Value], how: Attention) -> Value:
    """For each example of the batch, one after the other. What all of them share is not repeated."""
    if not batch:
        return _example(operands, how)
    own = [not known_equal(x.shape[0], 1) for x in operands]
    given = [x if mine else p.reshape(x, x.shape[1:]) for x, mine in zip(operands, own, strict=True)]
    if any(own):
        return _mapped(batch[0], own, given, lambda *values: _each(batch[1:], values, how))
    out = _each(batch[1:], given, how)
    return p.reshape(out, (1, *out.shape))


def _mapped(size: Dim, own: Sequence[bool], operands: Sequence[Value], body: Callable[..., Value]) -> Value:
    """What `body` gives for each of `size` elements of those operands that have elements of their `own`."""
    order = sorted(range(len(own)), key=lambda i: own[i])
    place = {i: n for n, i in enumerate(order)}
    types = [operands[i].tensor.with_shape(operands[i].shape[own[i] :]) for i in order]
    fn = Function.build(lambda *values: (body(*[values[place[i]] for i in range(len(own))]),), *types)
    return p.Map(fn, len(own) - sum(own), size)(*[operands[i] for i in order])[0]


@frozen
class _Blocks:
    """Queries in blocks of equal length; the last one may run over the end."""

    count: Dim
    length: int

    @staticmethod
    def of(queries: Dim, keys: Dim) -> _Blocks:
        """So many queries in blocks whose scores fit the caches."""
        fitting = max(FEWEST, min(MOST, BLOCK_OF_SCORES // max(hint(keys), 1)))
        if not isinstance(queries, int):
            return _Blocks((queries + (fitting - 1)) // fitting, fitting)
        count = max(1, -(-queries // fitting))
        return _Blocks(count, max(1, -(-queries // count)))

    def parted(self, x: Value, filler: float) -> Value:
        """The rows of x, block by block."""
        missing = self.count * self.length - x.shape[0]
        if not known_equal(missing, 0):
            x = p.concat((x, p.full(filler, x.dtype, (missing, *x.shape[1:]))), 0)
        return p.reshape(x, (self.count, self.length, *x.shape[1:]))


def _example(operands: Sequence[Value], how: Attention) -> Value:
    """All queries of one example, (queries, features), over (features, keys) and (features, values)."""
    q, keys, values, *rest = operands
    mask = rest[0] if how.masked else None
    words = rest[-1] if how.rate else None
    total, seen = q.shape[0], keys.shape[1]
    if not how.causal or not isinstance(total, int) or not isinstance(seen, int):
        return _section(q, keys, values, mask, words, 0, how)
    blocks = _Blocks.of(total, seen)
    length = max(1, -(-int(blocks.count) // SECTIONS) * blocks.length)
    parts = []
    used: Dim = 0
    for first in range(0, total, length):
        last = min(first + length, total)
        until = min(last, seen)
        here = (p.take(q, 0, first, last), p.take(keys, 1, 0, until), p.take(values, 1, 0, until))
        hidden = mask if mask is None else _part_of_mask(mask, first, last, until)
        count = _Blocks.of(last - first, until).count
        drawn = words if words is None else p.take(words, 0, used, used + count)
        parts.append(_section(*here, hidden, drawn, first, how))
        used += count
    return p.concat(parts, 0) if len(parts) > 1 else parts[0]


def _part_of_mask(mask: Value, first: int, last: int, until: int) -> Value:
    rows = mask if known_equal(mask.shape[0], 1) else p.take(mask, 0, first, last)
    return rows if known_equal(rows.shape[1], 1) else p.take(rows, 1, 0, until)


def _section(
    q: Value, keys: Value, values: Value, mask: Value | None, words: Value | None, first: int, how: Attention
) -> Value:
    """Some queries, the first of which has this number, block by block."""
    total = q.shape[0]
    blocks = _Blocks.of(total, keys.shape[1])
    count, length = blocks.count, blocks.length
    operands, own = [keys, values, blocks.parted(q, 0.0)], [False, False, True]
    if mask is not None:
        each = not known_equal(mask.shape[0], 1)
        operands.append(blocks.parted(mask, mask.dtype is bool_) if each else mask)
        own.append(each)
    if words is not None:
        operands.append(p.take(words, 0, 0, count))
        own.append(True)
    if how.causal:
        begins = p.iota(int32, (count,), 0) * p.full(length, int32, (count,))
        operands.append(begins + p.full(first, int32, (count,)))
        own.append(True)

    def again(*given: Value) -> Value:
        body = Function.build(lambda *given: _block(given, how), *[v.type for v in given])
        mixed, *weight = p.Call(body, recompute=True)(*given)
        return mixed / p.broadcast(weight[0], mixed.shape) if weight else mixed

    out = p.reshape(_mapped(count, own, operands, again), (count * length, values.shape[0]))
    return p.take(out, 0, 0, total)


def _block(operands: Sequence[Value], how: Attention) -> tuple[Value, ...]:
    """The queries of one block: all that is ever there of the matrix of scores. Either the mean of the values, or their
    sum and that of the weights: to divide the sum takes less, but in 16 bits it might not have room.
    """
    keys, values, q, *rest = operands
    scores = p.contract("qd", "dk", "qk")(q, keys)
    shape = scores.shape
    lowest = p.full(-math.inf, scores.dtype, shape)
    if how.causal:
        first = p.broadcast(p.reshape(rest.pop(), (1, 1)), shape)
        later = p.greater(p.iota(int32, shape, 1), p.iota(int32, shape, 0) + first)
        scores = p.select(later, lowest, scores)
    if how.masked:
        mask = p.broadcast(rest[0], shape)
        scores = p.select(mask, scores, lowest) if mask.dtype is bool_ else scores + mask
    e = p.exp(scores - p.stop_gradient(p.reduce_max(scores, (1,), True)))
    total = p.reduce_sum(e, (1,), True)
    later = e.dtype.bits >= 32
    weights = e if later else e / total
    if how.rate:
        drawn = p.uniform(rest[-1], p.zeros_like(rest[-1]), shape, float32)
        kept = p.greater_equal(drawn, p.full(how.rate, float32, shape))
        scale = 0.0 if how.rate == 1.0 else 1.0 / (1.0 - how.rate)
        weights = p.select(kept, weights * scale, p.zeros_like(weights))
    mixed = p.contract("qk", "vk", "qv")(weights, values)
    return (mixed, total) if later else (mixed,)
