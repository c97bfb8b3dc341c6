"""Writing MLIR: terms with types, operations in the generic form, regions. It knows StableHLO and none of our ops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np

from mycelia.frozen import frozen
from mycelia.types import DType, Shape, TensorType, bool_, int64, type_of, uint8

COUNT = TensorType(int64, ())
TRUTH = TensorType(bool_, ())


@frozen
class Term:
    """A tensor of the program that is being written: what MLIR calls it, and its type."""

    name: str
    type: TensorType

    @property
    def shape(self) -> Shape:
        return self.type.shape

    @property
    def dtype(self) -> DType:
        return self.type.dtype


Held = tuple[Term, ...]  # how a value is held: one term for a tensor, several for a sequence


def dtype_text(dtype: DType) -> str:
    """An element type as MLIR writes it.

    >>> from mycelia.types import float32, uint8
    >>> dtype_text(float32), dtype_text(uint8), dtype_text(bool_)
    ('f32', 'ui8', 'i1')
    """
    return (
        "i1"
        if dtype is bool_
        else {"u": "ui", "i": "i"}.get(dtype.kind, "") + (dtype.short if dtype.kind == "f" else str(dtype.bits))
    )


def type_text(t: TensorType) -> str:
    """A type as MLIR writes it.

    >>> from mycelia.types import float32
    >>> type_text(TensorType(float32, (2, 3))), type_text(COUNT)
    ('tensor<2x3xf32>', 'tensor<i64>')
    """
    return f"tensor<{''.join(f'{n}x' for n in t.shape)}{dtype_text(t.dtype)}>"


def numbers(values: Sequence[int]) -> str:
    """Numbers as an attribute.

    >>> numbers((1, 2)), numbers(())
    ('array<i64: 1, 2>', 'array<i64>')
    """
    return f"array<i64: {', '.join(map(str, values))}>" if values else "array<i64>"


def pairs(values: Sequence[tuple[int, int]]) -> str:
    """Pairs of numbers, such as a padding, as an attribute.

    >>> pairs(((1, 0), (0, 2)))
    'dense<[[1, 0], [0, 2]]> : tensor<2x2xi64>'
    """
    inner = f"[{', '.join(f'[{a}, {b}]' for a, b in values)}]" if values else ""
    return f"dense<{inner}> : tensor<{len(values)}x2xi64>"


@dataclass
class Writer:
    """The lines of one block, and what all blocks of a program share."""

    capacity: int  # elements that a sequence has room for
    names: Iterator[int] = field(default_factory=count)
    lines: list[str] = field(default_factory=list)
    outgrown: Term | None = None  # whether a sequence needed more room, as far as this block knows
    scope: dict[Any, Any] = field(default_factory=dict)  # what values are held by, in this block

    # -------------------------------------------------------------------------------------------- operations

    def several(
        self,
        name: str,
        operands: Sequence[Term],
        types: Sequence[TensorType],
        regions: Sequence[str] = (),
        **attributes: str,
    ) -> list[Term]:
        """An operation with any number of results."""
        result = f"%{next(self.names)}"
        given = f" <{{{', '.join(f'{k} = {v}' for k, v in attributes.items())}}}>" if attributes else ""
        inside = f" ({', '.join(regions)})" if regions else ""
        takes, gives = (", ".join(map(type_text, ts)) for ts in ([x.type for x in operands], types))
        many = f"{result}:{len(types)}" if len(types) != 1 else result
        dialect = name if "." in name else f"stablehlo.{name}"
        args = ", ".join(x.name for x in operands)
        self.lines.append(f'{many} = "{dialect}"({args}){given}{inside} : ({takes}) -> ({gives})')
        return [Term(result if len(types) == 1 else f"{result}#{i}", t) for i, t in enumerate(types)]

    def op(
        self, name: str, operands: Sequence[Term], type: TensorType, regions: Sequence[str] = (), **attributes: str
    ) -> Term:
        """An operation with one result."""
        return self.several(name, operands, (type,), regions, **attributes)[0]

    def region(self, types: Sequence[TensorType], write: Callable[..., Sequence[Term]]) -> str:
        """A block with parameters of these types; `write` is given a writer for it and the parameters."""
        inner = Writer(self.capacity, self.names)
        params = [Term(f"%{next(self.names)}", t) for t in types]
        results = write(inner, *params)
        header = f"^bb0({', '.join(f'{x.name}: {type_text(x.type)}' for x in params)}):\n" if params else ""
        names, kinds = ", ".join(x.name for x in results), ", ".join(type_text(x.type) for x in results)
        body = "\n".join([*inner.lines, f'"stablehlo.return"({names}) : ({kinds}) -> ()'])
        return f"{{\n{header}{body}\n}}"

    # -------------------------------------------------------------------------------------------- numbers

    def data(self, array: Any) -> Term:
        """Given numbers, exactly."""
        array = np.ascontiguousarray(array) if np.ndim(array) else np.asarray(array)
        t = type_of(array)
        if t.dtype is bool_ and t.size != 1:
            return self.compare("NE", self.data(array.astype(np.uint8)), self.full(0, t.with_dtype(uint8)))
        text = f'"0x{array.tobytes().hex().upper()}"' if t.size else ""
        if t.dtype is bool_:
            text = "true" if array.reshape(-1)[0] else "false"
        return self.op("constant", (), t, value=f"dense<{text}> : {type_text(t)}")

    def full(self, number: float | int | bool, t: TensorType) -> Term:
        """One number everywhere."""
        if not t.size:
            return self.op("constant", (), t, value=f"dense<> : {type_text(t)}")
        one = np.array(number).astype(t.dtype.numpy)
        text = f'"0x{one.tobytes().hex().upper()}"' if t.dtype is not bool_ else "true" if one else "false"
        return self.op("constant", (), t, value=f"dense<{text}> : {type_text(t)}")

    def zeros(self, t: TensorType) -> Term:
        return self.full(0, t)

    def count(self, number: int) -> Term:
        """A number of turns, or a place in a sequence."""
        return self.full(number, COUNT)

    # -------------------------------------------------------------------------------------------- what is used often

    def compare(self, direction: str, x: Term, y: Term) -> Term:
        kind = {"f": "FLOAT", "i": "SIGNED"}.get(x.dtype.kind, "UNSIGNED")
        return self.op(
            "compare", (x, y), x.type.with_dtype(bool_),
            comparison_direction=f"#stablehlo<comparison_direction {direction}>",
            compare_type=f"#stablehlo<comparison_type {kind}>",
        )  # fmt: skip

    def select(self, condition: Term, x: Term, y: Term) -> Term:
        return self.op("select", (condition, x, y), x.type)

    def binary(self, name: str, x: Term, y: Term) -> Term:
        return self.op(name, (x, y), x.type)

    def convert(self, x: Term, dtype: DType) -> Term:
        return x if x.dtype is dtype else self.op("convert", (x,), x.type.with_dtype(dtype))

    def reshape(self, x: Term, shape: Shape) -> Term:
        return x if x.shape == shape else self.op("reshape", (x,), x.type.with_shape(shape))

    def transpose(self, x: Term, order: Sequence[int]) -> Term:
        if list(order) == list(range(len(order))):
            return x
        return self.op("transpose", (x,), x.type.with_shape([x.shape[i] for i in order]), permutation=numbers(order))

    def broadcast(self, x: Term, shape: Shape, dims: Sequence[int] | None = None) -> Term:
        """`x` repeated; its axes become `dims` of the result, the last ones if they are not said."""
        if x.shape == shape:
            return x
        dims = range(len(shape) - len(x.shape), len(shape)) if dims is None else dims
        return self.op("broadcast_in_dim", (x,), x.type.with_shape(shape), broadcast_dimensions=numbers(dims))

    def slice(self, x: Term, start: Sequence[int], stop: Sequence[int], step: Sequence[int] | None = None) -> Term:
        step = step or (1,) * len(start)
        shape = [-(-(b - a) // s) for a, b, s in zip(start, stop, step, strict=True)]
        return self.op(
            "slice", (x,), x.type.with_shape(shape),
            start_indices=numbers(start), limit_indices=numbers(stop), strides=numbers(step),
        )  # fmt: skip

    def pad(
        self, x: Term, low: Sequence[int], high: Sequence[int], inner: Sequence[int], number: float | int | bool
    ) -> Term:
        """`x` with a number around it, and between its elements; negative amounts take elements away."""
        shape = [a + b + n + max(n - 1, 0) * i for n, a, b, i in zip(x.shape, low, high, inner, strict=True)]
        around = self.full(number, TensorType(x.dtype, ()))
        return self.op(
            "pad", (x, around), x.type.with_shape(shape),
            edge_padding_low=numbers(low), edge_padding_high=numbers(high), interior_padding=numbers(inner),
        )  # fmt: skip

    def row(self, x: Term, i: Term) -> Term:
        """Element `i` along the first axis."""
        starts = [i, *[self.count(0)] * (len(x.shape) - 1)]
        taken = x.type.with_shape((1, *x.shape[1:]))
        found = self.op("dynamic_slice", (x, *starts), taken, slice_sizes=numbers(taken.shape))
        return self.reshape(found, x.shape[1:])

    def put_row(self, x: Term, i: Term, row: Term) -> Term:
        """`x` with another element `i` along its first axis."""
        starts = [i, *[self.count(0)] * (len(x.shape) - 1)]
        return self.op("dynamic_update_slice", (x, self.reshape(row, (1, *row.shape)), *starts), x.type)

    def outgrew(self, flag: Term) -> None:
        """Note that a sequence may need more room."""
        self.outgrown = flag if self.outgrown is None else self.binary("or", self.outgrown, flag)
