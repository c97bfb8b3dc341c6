"""Sums of products that a loop adds up become one product behind the loop.

The gradient of a weight that every turn multiplies by is a sum over the turns, `acc + x_t y_t`: in each turn all of the
sum is read and written, which of a recurrence takes longer than its steps. Behind the loop the operands of all turns
lie in two tensors, and the sum is one product over the turns too (a contraction with one more letter). It pays where
what has to be kept of a turn is less than the sum: the operands of a product are, for few examples; a matrix of scores
is not, and must not be kept.

Sums of floats are associated in another order then.
"""

from __future__ import annotations

from collections.abc import Sequence

from mycelia.frozen import frozen
from mycelia.ir import Function, Op, Value, users
from mycelia.primitives import Add, Contract, Full, Reshape, Scan, Transpose
from mycelia.primitives.family import names
from mycelia.sizes import hint

MOVING = Reshape | Transpose


@frozen
class _Later:
    """A carry that only adds up: the product, and how it is turned before it is added."""

    carry: int
    product: Value
    moved: tuple[Op, ...]


def sum_later(fn: Function) -> Function:
    """Take sums of products out of loops of known length."""

    def visit(v: Value, inputs: tuple[Value, ...]) -> Value | tuple[Value, ...]:
        if isinstance(v.op, Scan) and v.op.static_length is not None:
            found = _found(v.op)
            if found:
                return _parted(v.op, found, inputs)
        return v.again(inputs)

    return fn.mapped(visit)


def _found(op: Scan) -> list[_Later]:
    """The carries that are worth it."""
    readers = users(op.body.roots)
    found = []
    for i in range(op.carries):
        later = _adds_up(op, i, readers)
        if later is not None and _kept(op, later) <= hint(op.body.results[i].tensor.size):
            found.append(later)
    return found


def _adds_up(op: Scan, i: int, readers: dict[Value, list[Value]]) -> _Later | None:
    carry, result = op.body.params[op.constants + i], op.body.results[i]
    if not isinstance(result.op, Add) or carry not in result.inputs or result.inputs[0] is result.inputs[1]:
        return None
    if readers.get(carry) != [result] or readers[result] or op.body.results.count(result) > 1:
        return None
    (product,) = (x for x in result.inputs if x is not carry)
    moved: list[Op] = []
    while isinstance(product.op, MOVING):
        moved.append(product.op)
        (product,) = product.inputs
    constants = op.body.params[: op.constants]
    if not isinstance(product.op, Contract) or any(x in constants for x in product.inputs):
        return None
    return _Later(i, product, tuple(reversed(moved)))


def _kept(op: Scan, later: _Later) -> int:
    """Elements of a turn that would have to be kept for the product, and are not kept anyway."""
    there = (*op.body.params[op.constants + op.carries :], *op.body.results[op.carries :])
    return sum(hint(x.tensor.size) for x in dict.fromkeys(later.product.inputs) if x not in there)


def _parted(op: Scan, found: Sequence[_Later], inputs: tuple[Value, ...]) -> tuple[Value, ...]:
    """The results of the loop without these carries, and their sums."""
    body, first = op.body, op.constants
    late = {later.carry: later for later in found}
    stay = [i for i in range(op.carries) if i not in late]
    xs = body.params[first + op.carries :]
    ys = list(body.results[op.carries :])
    for later in found:
        ys += [x for x in dict.fromkeys(later.product.inputs) if x not in xs and x not in ys]
    params = (*body.params[:first], *[body.params[first + i] for i in stay], *xs)
    closed, others = Function.close(params, [*[body.results[i] for i in stay], *ys], body.effects)
    assert not others, f"a sum that was taken out of a loop is still read there: {others}"
    operands = (*inputs[:first], *[inputs[first + i] for i in stay], *inputs[first + op.carries :])
    outs = Scan(closed, op.constants, len(stay), op.reverse, op.static_length)(*operands)
    made = dict(zip(ys, outs[len(stay) :], strict=True)) | dict(zip(xs, inputs[first + op.carries :], strict=True))
    turns = op.static_length
    assert turns is not None, "the turns of the loop are counted"

    def total(later: _Later) -> Value:
        product = later.product.op
        assert isinstance(product, Contract), f"{later.product} is no product"
        turn = next(c for c in names(52) if c not in product.lhs + product.rhs)
        whole = Contract(turn + product.lhs, turn + product.rhs, product.out, product.dtype)
        out: Value = whole(*[made[x] for x in later.product.inputs])
        for move in later.moved:
            out = move(out)
        start = inputs[first + later.carry]
        return out if isinstance(start.op, Full) and start.op.number == 0 else start + out

    kept = iter(outs[: len(stay)])
    carries = [total(late[i]) if i in late else next(kept) for i in range(op.carries)]
    return (*carries, *outs[len(stay) : len(stay) + len(body.results) - op.carries])
