"""Forward mode, whole Jacobians and Hessians, and products with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mycelia import primitives as p
from mycelia.api.grad import value_and_grad
from mycelia.api.linear import filled, linearized
from mycelia.api.staged import linearize
from mycelia.api.vectorize import vmap
from mycelia.eager import Tensor, created
from mycelia.errors import ArgumentError, ShapeError
from mycelia.names import listening
from mycelia.tree import flatten, unflatten
from mycelia.types import int32


@listening
def jvp(fn: Callable[..., Any], inputs: Any, v: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """What `fn` returns at `inputs`, and how it changes when they change by `v`.

    >>> y, dy = jvp(lambda x: x * x, Tensor([1.0, 3.0]), Tensor([1.0, 1.0]))
    >>> y.tolist(), dy.tolist()
    ([1.0, 9.0], [2.0, 6.0])
    """
    given = tuple(inputs) if isinstance(inputs, tuple | list) else (inputs,)
    tangents = tuple(v) if isinstance(v, tuple | list) else (v,)
    if len(given) != len(tangents):
        raise ArgumentError(f"{len(given)} inputs and {len(tangents)} tangents were given", hint="one for each input")
    run = linearize(fn, given, {}, tuple(range(len(given))), None, has_aux)
    with run:
        nested = run.recording.nested
        moved = run.forward(flatten(tangents)[0]) if nested else []
    moved = moved or run.forward(flatten(tangents)[0])
    if has_aux:
        first, *others = run.outputs
        aux = others[0] if len(others) == 1 else tuple(others)
        return first, unflatten(flatten(first)[1], moved), aux
    return run.outputs, unflatten(flatten(run.outputs)[1], moved)


@listening
def jacrev(
    fn: Callable[..., Any], grad_position: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """The derivative of every element of the result by every element of an argument, by reverse mode: best where the
    result is the smaller one. Its axes are those of the result, then those of the argument.

    >>> jacrev(lambda x: x * x)(Tensor([1.0, 3.0])).tolist()
    [[2.0, 0.0], [0.0, 6.0]]
    """
    positions = (grad_position,) if isinstance(grad_position, int) else grad_position

    def jacobian(*args: Any, **kwargs: Any) -> Any:
        run = linearize(fn, args, kwargs, positions, None, has_aux)
        with run:
            if run.recording.nested:
                rows = _rows(run)
        if not run.recording.nested:
            rows = _rows(run)
        shaped = [
            [p.reshape(d, (*y.shape, *d.shape[1:])) for d in row]
            for row, y in zip(rows, run.differentiated, strict=True)
        ]
        return _arranged(shaped, grad_position, run, has_aux)

    return jacobian


def _rows(run: linearized) -> list[list[Tensor]]:
    """For each result, the Jacobian by each argument; the elements of the result along one axis."""
    every = []
    for i, y in enumerate(run.differentiated):

        def back(ct: Tensor, i: int = i) -> Any:
            cts = [ct if k == i else filled(x, 0) for k, x in enumerate(run.differentiated)]
            return flatten(run.back(cts)[0])[0]

        every.append(vmap(back)(_basis(y)))
    return every


@listening
def jacfwd(
    fn: Callable[..., Any], grad_position: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """The derivative of every element of the result by every element of an argument, by forward mode: best where the
    argument is the smaller one. Its axes are those of the result, then those of the argument.

    >>> jacfwd(lambda x: x * x)(Tensor([1.0, 3.0])).tolist()
    [[2.0, 0.0], [0.0, 6.0]]
    """
    positions = (grad_position,) if isinstance(grad_position, int) else grad_position

    def jacobian(*args: Any, **kwargs: Any) -> Any:
        run = linearize(fn, args, kwargs, positions, None, has_aux)
        with run:
            if run.recording.nested:
                columns = _columns(run)
        if not run.recording.nested:
            columns = _columns(run)
        shaped = [
            [p.reshape(column[k], (*y.shape, *x.shape)) for column, x in zip(columns, run.inputs, strict=True)]
            for k, y in enumerate(run.differentiated)
        ]
        return _arranged(shaped, grad_position, run, has_aux)

    return jacobian


def _columns(run: linearized) -> list[list[Tensor]]:
    """For each argument, the Jacobian of each result; the elements of the argument along a last axis."""
    every = []
    for i, x in enumerate(run.inputs):

        def push(tangent: Tensor, i: int = i) -> Any:
            return run.forward([tangent if k == i else filled(y, 0) for k, y in enumerate(run.inputs)])

        every.append(vmap(push, out_axes=-1)(_basis(x)))
    return every


def _arranged(shaped: list[list[Tensor]], grad_position: Any, run: linearized, has_aux: bool) -> Any:
    alone = isinstance(grad_position, int) or len(grad_position) == 1
    rows: list[Any] = [row[0] if alone else tuple(row) for row in shaped]
    jacobian = rows[0] if len(rows) == 1 else tuple(rows)
    if not has_aux:
        return jacobian
    others: Sequence[Any] = run.outputs[1:]
    return jacobian, others[0] if len(others) == 1 else tuple(others)


def _basis(x: Tensor) -> Tensor:
    """As many tensors like x as it has elements: a one in each place, along a first axis."""
    n = x.size
    rows, columns = (created(p.Iota(int32, (n, n), axis)) for axis in (0, 1))
    return p.reshape(p.cast(p.equal(rows, columns), x.dtype), (n, *x.shape))  # type: ignore[no-any-return]


@listening
def jacobian(fn: Callable[..., Any], grad_position: int | tuple[int, ...] = 0) -> Callable[..., Any]:
    """The derivative of every element of the result by every element of an argument: `jacrev`, by its usual name.

    >>> jacobian(lambda x: x * x)(Tensor([1.0, 3.0])).tolist()
    [[2.0, 0.0], [0.0, 6.0]]
    """
    return jacrev(fn, grad_position)


@listening
def hessian(fn: Callable[..., Any], grad_position: int | tuple[int, ...] = 0) -> Callable[..., Any]:
    """The second derivatives of a result by an argument, forward over reverse mode. Its axes are those of the result,
    then those of the argument twice; of several arguments there is one for each pair.

    >>> hessian(lambda x: (x * x * x).sum())(Tensor([1.0, 2.0])).tolist()
    [[6.0, 0.0], [0.0, 12.0]]
    """
    return jacfwd(jacrev(fn, grad_position), grad_position)


@listening
def hvp(fn: Callable[..., Any], inputs: Any, v: Any) -> tuple[Any, Any]:
    """What a function with one number as its result gives at `inputs`, and its Hessian times `v`, which is never built.

    >>> y, product = hvp(lambda x: (x * x * x).sum(), Tensor([1.0, 2.0]), Tensor([1.0, 1.0]))
    >>> y.item(), product.tolist()
    (9.0, [6.0, 12.0])
    """
    given, direction = _pairs(inputs, v)
    (value, _), (_, products) = jvp(value_and_grad(fn, tuple(range(len(given)))), given, direction)
    return value, (products,) if isinstance(inputs, tuple | list) and len(given) == 1 else products


@listening
def vhp(fn: Callable[..., Any], inputs: Any, v: Any) -> tuple[Any, Any]:
    """What a function with one number as its result gives at `inputs`, and `v` times its Hessian, by reverse mode
    alone: for functions that have no forward mode, as cells with a `bprop`.

    >>> y, product = vhp(lambda x: (x * x * x).sum(), Tensor([1.0, 2.0]), Tensor([1.0, 1.0]))
    >>> y.item(), product.tolist()
    (9.0, [6.0, 12.0])
    """
    given, direction = _pairs(inputs, v)
    positions = tuple(range(len(given)))

    def along(*args: Any) -> Any:
        value, found = value_and_grad(fn, positions)(*args)
        slopes = (found,) if len(given) == 1 else found
        parts = [(s * d).sum() for s, d in zip(slopes, direction, strict=True)]
        return sum(parts[1:], parts[0]), value

    (_, value), products = value_and_grad(along, positions, has_aux=True)(*given)
    return value, (products,) if isinstance(inputs, tuple | list) and len(given) == 1 else products


def _pairs(inputs: Any, v: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Inputs and what is multiplied with their Hessian, of which there is one of the same shape for each."""
    given = tuple(inputs) if isinstance(inputs, tuple | list) else (inputs,)
    direction = tuple(v) if isinstance(v, tuple | list) else (v,)
    if len(given) != len(direction):
        raise ArgumentError(
            f"{len(given)} inputs and {len(direction)} directions were given", hint="one for each input"
        )
    for x, d in zip(flatten(given)[0], flatten(direction)[0], strict=True):
        if isinstance(x, Tensor) and isinstance(d, Tensor) and x.shape != d.shape:
            raise ShapeError("a direction has the shape of its input", given={"input": x.shape, "v": d.shape})
    return given, direction
