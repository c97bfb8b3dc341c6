"""What library calls mean, in NumPy: the judge of those who make them. Sums have more digits than results."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from itertools import count
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from mycelia.loops.calls import (
    Axis,
    ConvolutionCall,
    EliminationCall,
    FourierCall,
    Matmul,
    OrderCall,
    PrefixCall,
    SearchCall,
    SparseCall,
    Strided,
    Tiles,
)
from mycelia.loops.interpret import ordered
from mycelia.types import Array, DType, accumulator


@singledispatch
def called(call: object, operands: Sequence[Array]) -> None:
    """Do what a call does, in place; operands are flat, from the element on that it is given: inputs, then outputs.

    >>> from mycelia.types import float32
    >>> row = Strided((1, 2), (2, 1), float32)
    >>> out = np.zeros(1, "f")
    >>> column, one = Strided((2, 1), (1, 1), float32), Strided((1, 1), (1, 1), float32)
    >>> called(Matmul(row, column, one), [np.ones(2, "f"), np.ones(2, "f"), out])
    >>> out
    array([2.], dtype=float32)
    """
    raise AssertionError(f"nobody knows what {call} means")


@called.register
def _(call: Matmul, operands: Sequence[Array]) -> None:
    lhs, rhs, *bias, out = operands
    total = wide(seen(lhs, call.lhs)) @ wide(seen(rhs, call.rhs))
    if bias:
        total = total + wide(bias[0][: call.out.shape[-1]])
    seen(out, call.out)[...] = narrowed(total, call.out.dtype)


@called.register
def _(call: ConvolutionCall, operands: Sequence[Array]) -> None:
    first, second, *bias, out = operands
    if call.direction == "forward":
        total = _forward(call, wide(seen(first, call.x)), wide(seen(second, call.w)))
        if bias:
            total = total + wide(bias[0][: call.out.shape[1]]).reshape(-1, *[1] * (total.ndim - 2))
        seen(out, call.out)[...] = narrowed(total, call.out.dtype)
    elif call.direction == "input":
        total = _input_gradient(call, wide(seen(first, call.out)), wide(seen(second, call.w)))
        seen(out, call.x)[...] = narrowed(total, call.x.dtype)
    else:
        total = _weight_gradient(call, wide(seen(first, call.x)), wide(seen(second, call.out)))
        seen(out, call.w)[...] = narrowed(total, call.w.dtype)


@called.register
def _(call: Tiles, operands: Sequence[Array]) -> None:
    lhs, rhs, out = operands
    numbers = count()
    batch, rows, columns, summed = (
        [next(numbers) for _ in axes] for axes in (call.batch, call.rows, call.columns, call.summed)
    )
    kind = call.kind
    x = _along(lhs, (*call.batch, *call.rows, *call.summed), "lhs").astype(kind.out.numpy)
    y = _along(rhs, (*call.batch, *call.summed, *call.columns), "rhs").astype(kind.out.numpy)
    total = np.einsum(x, [*batch, *rows, *summed], y, [*batch, *summed, *columns], [*batch, *rows, *columns])
    _along(out, (*call.batch, *call.rows, *call.columns), "out")[...] = total


@called.register
def _(call: FourierCall, operands: Sequence[Array]) -> None:
    x, out = operands
    lines, n, half = call.lines, call.length, call.length // 2 + 1
    widths = {"complex": (2 * n, 2 * n), "real": (n, 2 * half), "half": (2 * half, n)}[call.sort]
    x, out = (memory[: lines * w].reshape(lines, w) for memory, w in zip(operands, widths, strict=True))
    wide_x = x.astype(np.float64)
    if call.sort == "real":
        total = np.fft.rfft(wide_x).view(np.float64)
    elif call.sort == "half":
        total = np.fft.irfft(wide_x.view(np.complex128), n, norm="forward")
    else:
        numbers = wide_x.view(np.complex128)
        found = np.fft.ifft(numbers, norm="forward") if call.inverse else np.fft.fft(numbers)
        total = found.view(np.float64)
    out[...] = total


def _along(memory: Array, axes: Sequence[Axis], operand: str) -> Array:
    steps = [getattr(axis, operand) * memory.itemsize for axis in axes]
    return as_strided(memory, [axis.extent for axis in axes], steps)


def seen(memory: Array, layout: Strided) -> Array:
    """Memory as an operand sees it."""
    return as_strided(memory, layout.shape, [s * memory.itemsize for s in layout.strides])


def wide(x: Array) -> Array:
    """Numbers in a type in which sums are exact enough."""
    return x.astype(np.int64 if x.dtype.kind in "iub" else np.float64)


def narrowed(x: Array, dtype: DType) -> Array:
    """The sums as they are stored."""
    return x.astype(dtype.numpy)


def _padded(x: Array, call: ConvolutionCall) -> Array:
    return np.pad(x, ((0, 0), (0, 0), *call.window.padding))


def _reached(call: ConvolutionCall, at: tuple[int, ...]) -> tuple[Any, ...]:
    """The part of the padded image that one element of the kernel meets."""
    window, extents = call.window, call.out.shape[2:]
    spans = zip(at, window.dilation, window.strides, extents, strict=True)
    return (slice(None), slice(None), *(slice(k * d, k * d + (n - 1) * s + 1, s) for k, d, s, n in spans))


def _groups(call: ConvolutionCall, x: Array, axis: int) -> Array:
    """An image or weights with an axis of its own for groups."""
    g = call.window.groups
    return x.reshape(*x.shape[:axis], g, x.shape[axis] // g, *x.shape[axis + 1 :])


def _forward(call: ConvolutionCall, x: Array, w: Array) -> Array:
    x = _padded(x, call)
    total = np.zeros(_groups(call, np.empty(call.out.shape), 1).shape, x.dtype)
    for at in np.ndindex(*call.w.shape[2:]):
        part = _groups(call, x[_reached(call, at)], 1)
        total += np.einsum("ngi...,goi->ngo...", part, _groups(call, w[(..., *at)], 0))
    return total.reshape(call.out.shape)


def _input_gradient(call: ConvolutionCall, ct: Array, w: Array) -> Array:
    padded = np.zeros(_padded(np.empty(call.x.shape), call).shape, ct.dtype)
    for at in np.ndindex(*call.w.shape[2:]):
        part = np.einsum("ngo...,goi->ngi...", _groups(call, ct, 1), _groups(call, w[(..., *at)], 0))
        where = _reached(call, at)
        padded[where] += part.reshape(padded[where].shape)
    inner = [slice(low, low + n) for (low, _), n in zip(call.window.padding, call.x.shape[2:], strict=True)]
    return padded[(slice(None), slice(None), *inner)]


def _weight_gradient(call: ConvolutionCall, x: Array, ct: Array) -> Array:
    x = _padded(x, call)
    total = np.zeros(call.w.shape, x.dtype)
    for at in np.ndindex(*call.w.shape[2:]):
        part, wanted = (_groups(call, y, 1) for y in (x[_reached(call, at)], ct))
        part, wanted = (y.reshape(*y.shape[:3], -1) for y in (part, wanted))  # all places in one axis
        total[(..., *at)] = np.einsum("ngis,ngos->goi", part, wanted).reshape(call.w.shape[:2])
    return total


@called.register
def _(call: OrderCall, operands: Sequence[Array]) -> None:
    memory, *outputs = operands
    x = memory[: call.outer * call.length * call.inner].reshape(call.outer, call.length, call.inner)
    order = ordered(x, call.descending)[:, : call.kept]
    wanted = [np.take_along_axis(x, order, 1)] * call.values + [order] * call.positions
    for out, result in zip(outputs, wanted, strict=True):
        out[: result.size] = result.reshape(-1)


@called.register
def _(call: SearchCall, operands: Sequence[Array]) -> None:
    sequences, values, out = (
        memory[: call.sequences * n].reshape(call.sequences, n)
        for memory, n in zip(operands, (call.length, call.count, call.count), strict=True)
    )
    for row, wanted, place in zip(sequences, values, out, strict=True):
        place[...] = np.searchsorted(row, wanted, "right" if call.right else "left")


@called.register
def _(call: PrefixCall, operands: Sequence[Array]) -> None:
    size = call.outer * call.length * call.inner
    x, out = (memory[:size].reshape(call.outer, call.length, call.inner) for memory in operands)
    fold = {"add": np.add, "max": np.maximum, "min": np.minimum}[call.combine]
    out[...] = fold.accumulate(x, 1, accumulator(call.dtype).numpy)


@called.register
def _(call: EliminationCall, operands: Sequence[Array]) -> None:
    x, *others = operands
    n, wide = call.size, np.float64
    matrices = x[: call.count * n * n].reshape(call.count, n, n).astype(wide)
    for number, matrix in enumerate(matrices):
        results: tuple[Any, ...]
        if call.kind == "determinant":
            results = (np.linalg.det(matrix),)
        elif call.kind == "slogdet":
            results = np.linalg.slogdet(matrix)
        else:
            given = [(matrix + matrix.T) / 2] if call.kind == "cholesky" else [matrix]
            if call.kind == "solve":
                side = others[0][: call.count * n * call.columns].reshape(call.count, n, call.columns)[number]
                given.append(side.astype(wide))
            try:
                found = np.linalg.solve(*given) if call.kind == "solve" else np.linalg.cholesky(*given)
                results = found, True
            except np.linalg.LinAlgError:
                results = np.full_like(given[-1], np.nan), not all(np.isfinite(y).all() for y in given)
        for out, result in zip(others[call.kind == "solve" :], results, strict=True):
            size = np.size(result)
            out[number * size : (number + 1) * size] = np.reshape(result, -1)


@called.register
def _(call: SparseCall, operands: Sequence[Array]) -> None:
    starts, columns, values, memory, out = operands
    dense = memory[: call.height * call.width].reshape(call.height, call.width)
    wide = accumulator(call.dtype).numpy
    for row in range(call.rows):
        begin, end = (min(max(int(starts[row + n]), 0), call.count) for n in (0, 1))
        where = np.clip(columns[begin:end].astype(np.int64), 0, max(call.height - 1, 0))
        parts = values[begin:end, None].astype(wide) * dense[where].astype(wide)
        out[row * call.width : (row + 1) * call.width] = parts.sum(0, wide)
