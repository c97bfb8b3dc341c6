"""Recurrences: a state that walks along the time axis, as one rolled loop with one turn for each step.

What depends on the inputs alone is computed before the loop, for all steps in one product. So a turn has one product,
of the state with `weight_hh`, and a few elementwise operations on the gates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from mycelia import primitives as p
from mycelia.api.fused import fused
from mycelia.eager import Tensor, cast, created
from mycelia.errors import ShapeError
from mycelia.frozen import frozen
from mycelia.ir import Function
from mycelia.ops.arguments import tensor
from mycelia.types import TensorType, int32

Step = Callable[..., tuple[Any, ...]]


@frozen
class Kind:
    """A kind of recurrence: how many gates and states it has, and one step of it.

    `step(gates, inner, *states)` gives the next states, the first of which is the output; `gates` come from the input
    and `inner` from the state.
    """

    name: str
    gates: int
    states: int
    step: Step


def _tanh(gates: Any, inner: Any, h: Any) -> tuple[Any, ...]:
    return (p.tanh(gates + inner),)


def _relu(gates: Any, inner: Any, h: Any) -> tuple[Any, ...]:
    both = gates + inner
    return (p.maximum(both, p.zeros_like(both)),)


def _lstm(gates: Any, inner: Any, h: Any, c: Any) -> tuple[Any, ...]:
    enters, stays, news, leaves = _split(gates + inner, 4)
    c = p.sigmoid(stays) * c + p.sigmoid(enters) * p.tanh(news)
    return p.sigmoid(leaves) * p.tanh(c), c


def _gru(gates: Any, inner: Any, h: Any) -> tuple[Any, ...]:
    (reset, stays, news), (own_reset, own_stays, own_news) = _split(gates, 3), _split(inner, 3)
    new = p.tanh(news + p.sigmoid(reset + own_reset) * own_news)
    return (new + p.sigmoid(stays + own_stays) * (h - new),)


def _split(gates: Any, count: int) -> list[Any]:
    """The gates of (batch, count * hidden), each (batch, hidden)."""
    width = gates.shape[1] // count
    return [p.take(gates, 1, i * width, (i + 1) * width) for i in range(count)]


KINDS = {k.name: k for k in (Kind("tanh", 1, 1, _tanh), Kind("relu", 1, 1, _relu), Kind("lstm", 4, 2, _lstm),
                             Kind("gru", 3, 1, _gru))}  # fmt: skip


def step(kind: str, x: Any, states: Sequence[Any], weights: Sequence[Any]) -> tuple[Tensor, ...]:
    """The next states, given the input (batch, features) of one step. `weights`: of input and state, and two biases,
    or none.

    >>> w = Tensor([[1.0]])
    >>> step("relu", Tensor([[2.0]]), (Tensor([[3.0]]),), (w, w))[0].tolist()
    [[5.0]]
    """
    w_ih, w_hh, *biases = weights
    inside = p.matmul(states[0], p.transpose(w_hh))
    gates = p.matmul(x, p.transpose(w_ih))
    if biases:
        gates, inside = gates + biases[0], inside + biases[1]
    return KINDS[kind].step(gates, inside, *states)


def walk(
    kind: str, x: Any, states: Sequence[Any], weights: Sequence[Any], lengths: Any = None, backward: bool = False
) -> tuple[Tensor, ...]:
    """The outputs (time, batch, hidden) and the last states, for inputs (time, batch, features).

    Beyond the length of an example its state stays, and its outputs are zero. `backward` begins at the end, which is
    that of each example.

    >>> w = Tensor([[1.0]])
    >>> out, last = walk("relu", Tensor([[[1.0]], [[2.0]]]), (Tensor([[0.0]]),), (w, w))
    >>> out.tolist(), last.tolist()
    ([[[1.0]], [[3.0]]], [[3.0]])
    """
    told = () if lengths is None else (tensor(lengths),)
    return _walk(kind, len(states), len(weights), backward, x, *states, *weights, *told)


@fused
def _walk(kind: str, states: int, weights: int, backward: bool, x: Any, *others: Any) -> tuple[Tensor, ...]:
    """The same of tensors one after the other: a program that keeps what its way back needs."""
    begin, (w_ih, w_hh, *biases) = others[:states], others[states : states + weights]
    time, batch = x.shape[:2]
    gates = p.matmul(x, p.transpose(w_ih))
    if biases:
        gates = gates + biases[0]
    xs, constants = [gates], [w_hh, *biases[1:]]
    xs += [_valid(lengths, time, batch) for lengths in others[states + weights :]]
    given = (*constants, *begin, *xs)
    body = _body(kind, len(constants), *[_element(v, i >= len(given) - len(xs)) for i, v in enumerate(given)])
    *last, outputs = p.Scan(body, len(constants), states, backward, time)(*given)
    return (outputs, *last)


def _element(x: Any, in_time: bool) -> TensorType:
    """The type that a turn sees."""
    return TensorType(x.dtype, x.shape[1:] if in_time else x.shape)


def _valid(lengths: Tensor, time: int, batch: int) -> Tensor:
    """(time, batch): whether a step belongs to an example."""
    if lengths.dtype.kind not in "iu" or lengths.shape != (batch,):
        raise ShapeError(
            f"seq_length is a whole number for each of {batch} examples",
            given={"seq_length": lengths},
            hint=f"a tensor of shape ({batch},), of int32 or int64",
        )
    steps = created(p.Iota(int32, (time, batch), 0))
    return p.less(steps, cast(lengths, int32))  # type: ignore[no-any-return]


@cache
def _body(kind: str, constants: int, *types: TensorType) -> Function:
    """One turn: the product of the state with its weights, the step, and for lengths the choice between old and new."""
    rule = KINDS[kind]

    def turn(w_hh: Any, *rest: Any) -> tuple[Any, ...]:
        biases, rest = rest[: constants - 1], rest[constants - 1 :]
        states, (gates, *valid) = rest[: rule.states], rest[rule.states :]
        inner = p.matmul(states[0], p.transpose(w_hh))
        if biases:
            inner = inner + p.broadcast(biases[0], inner.shape)
        new = rule.step(gates, inner, *states)
        if not valid:
            return (*new, new[0])
        here = p.broadcast(p.expand_dims(valid[0], (1,)), new[0].shape)
        kept = tuple(p.select(here, n, s) for n, s in zip(new, states, strict=True))
        return (*kept, p.select(here, new[0], p.zeros_like(new[0])))

    return Function.build(turn, *types)


__all__ = ["KINDS", "Kind", "step", "walk"]
