"""Elements of arrays in a custom operator: read and written in all turns of its loops at once, where turns are made."""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import reduce
from typing import Any, NoReturn

import numpy as np

from mycelia import primitives as p
from mycelia.eager import Tensor, cast
from mycelia.eager.indexing import within
from mycelia.errors import ArgumentError, ShapeError
from mycelia.frozen import frozen
from mycelia.ops import choice, creation
from mycelia.ops.quantities import (
    LoopAxis,
    Quantity,
    aligned,
    applied,
    as_tensor,
    both,
    joined_axes,
    span_of,
    starts_of,
    strided,
)
from mycelia.types import Array, bool_


@frozen(eq=False)
class NestVariable:
    """What a name is: a value, and the axes of the loops around its first assignment."""

    value: Any  # a quantity, or a tuple of them
    scope: tuple[LoopAxis, ...] = ()


class Elements:
    """The arrays and variables of a custom operator, and where its turns are made."""

    def __init__(self, name: str, arrays: dict[str, Tensor], own: bool = False) -> None:
        self.name, self.arrays = name, arrays
        self.given = frozenset(arrays)
        self.own = own  # arguments are elements: a name means all of them
        self.variables: dict[str, NestVariable] = {}
        self.axes: tuple[LoopAxis, ...] = ()
        self.depth = 0
        self.sure: Quantity | None = None  # where the turn is made at all: known beforehand
        self.mask: Quantity | None = None  # and as the data says
        self.node: ast.AST | None = None

    def wrong(self, what: str, hint: str = "") -> NoReturn:
        """Complain of the program."""
        where = f"line {getattr(self.node, 'lineno', '?')} of {self.name}"
        written = ast.unparse(self.node).split("\n")[0] if self.node is not None else ""
        raise ArgumentError(f"{what}, in {where}: {written}", hint=hint or "docs/custom_ops.md tells what it may say")

    @contextmanager
    def where(self, test: Quantity) -> Iterator[None]:
        """Inside the block, only turns in which the test holds are made."""
        around = self.sure, self.mask
        if test.known:
            self.sure = test if self.sure is None else applied(np.logical_and, self.sure, test)
        else:
            self.mask = test if self.mask is None else applied(p.logical_and, self.mask, test)
        try:
            yield
        finally:
            self.sure, self.mask = around

    @contextmanager
    def everywhere(self) -> Iterator[None]:
        """Inside the block, all turns are made."""
        around = self.sure, self.mask
        self.sure = self.mask = None
        try:
            yield
        finally:
            self.sure, self.mask = around

    def made(self) -> Quantity | None:
        """Where turns are made; None: everywhere."""
        if self.sure is None or self.mask is None:
            found = self.sure or self.mask
            return None if found is None else found.now()
        return applied(both, self.sure, self.mask)

    def kept(self, new: Quantity, old: Quantity) -> Quantity:
        """The new value in turns that are made, else the old one."""
        made, new, old = self.made(), new.now(), old.now()
        if made is None:
            return new
        axes = joined_axes([made, new, old])
        if self.own and not axes:
            return Quantity(choice.where(made.data, new.data, old.data))
        dtype = next((q.data.dtype for q in (old, new) if not q.known), None)
        pair = [as_tensor(q, axes) for q in (new, old)]
        pair = [x if dtype is None else cast(x, dtype) for x in pair]
        return Quantity(choice.where(as_tensor(made, axes), *pair), axes)

    def guarded(self, q: Quantity) -> Quantity:
        """A value that is read: in turns that are not made it is one, so that nothing comes of it, and no gradient."""
        made = self.made()
        if made is None or q.known or q.data.dtype is bool_:
            return q
        axes = joined_axes([made, q])
        if self.own and not axes:
            return Quantity(choice.where(made.data, q.data, 1))
        one = creation.ones_like(q.data)
        return Quantity(
            choice.where(as_tensor(made, axes), as_tensor(q, axes), aligned(replace(q, data=one), axes)), axes
        )

    def array(self, name: str, subs: Sequence[Quantity]) -> Tensor:
        """The array of a name, in which these are places."""
        if name not in self.arrays:
            self.wrong(f"{name} is no array")
        x = self.arrays[name]
        if len(subs) != x.ndim:
            self.wrong(f"{name} has {x.ndim} axes, and {len(subs)} places are given")
        return x

    def placed(self, name: str, x: Tensor, subs: Sequence[Quantity]) -> list[Quantity]:
        """Places that lie inside of an array, counted from the front as NumPy does it."""
        return [self.within(name, x, axis, q).now() for axis, q in enumerate(subs)]

    def within(self, name: str, x: Tensor, axis: int, q: Quantity) -> Quantity:
        extent = int(x.shape[axis])
        if not q.known:
            if not q.data.dtype.is_integer:
                self.wrong(f"a place in {name} is a whole number, not of {q.data.dtype!r}", "cast it: int32(x)")
            made = self.made()
            if made is not None:
                axes = joined_axes([q, made])
                chosen = choice.where(as_tensor(made, axes), as_tensor(q, axes), 0)
                q = Quantity(cast(chosen, q.data.dtype), axes)
            return Quantity(within(q.data, x, axis), q.axes)
        places = np.asarray(q.data)
        if places.dtype.kind not in "iu":
            self.wrong(f"a place in {name} is a whole number, not {q.data!r}", "divide with // to stay whole")
        out = (places < -extent) | (places >= extent)
        if out.any():
            if self.sure is None:
                self.beyond(name, axis, extent, places[out])
            axes = joined_axes([q, self.sure])
            sure = np.broadcast_to(aligned(self.sure, axes), [len(a.numbers) for a in axes])
            at = np.broadcast_to(aligned(q, axes), sure.shape)
            bad = sure & ((at < -extent) | (at >= extent))
            if bad.any():
                self.beyond(name, axis, extent, at[bad])
            places = np.clip(places, 0, max(extent - 1, 0))
        places = np.where(places < 0, places + extent, places)
        return Quantity(int(places) if not places.ndim else places, q.axes)

    def beyond(self, name: str, axis: int, extent: int, places: Array) -> NoReturn:
        raise ShapeError(
            f"axis {axis} of {name} has {extent} elements, and place {places.flat[0]} is asked for in {self.name}",
            given={"expression": ast.unparse(self.node) if self.node is not None else ""},
            hint="let the loop end earlier, or ask for the place first: if i > 0: ...",
        )

    def element(self, name: str, subs: Sequence[Quantity]) -> Quantity:
        """`name[subs]`, in all turns."""
        x = self.array(name, subs)
        return self.guarded(self.at(x, self.placed(name, x, subs)))

    def at(self, x: Tensor, subs: Sequence[Quantity]) -> Quantity:
        """Elements at places that lie inside."""
        spans = [span_of(q) for q in subs]
        axes = [q.axes[0] for q, s in zip(subs, spans, strict=True) if s is not None and q.axes]
        if any(s is None for s in spans) or len(set(axes)) != len(axes):
            return self.gathered(x, subs)
        for i, s in enumerate(spans):
            assert s is not None
            start, size, step = s
            if isinstance(start, Tensor):
                starts = starts_of([start if j == i else 0 for j in range(x.ndim)])
                x = p.dynamic_slice(x, starts, [*x.shape[:i], 1, *x.shape[i + 1 :]])
            elif (start, size, step) != (0, x.shape[i], 1):
                x = strided(x, i, start, size, step)
        x = p.reshape(x, [n for n, q in zip(x.shape, subs, strict=True) if q.axes])
        order = sorted(range(len(axes)), key=lambda i: axes[i].depth)
        return Quantity(p.transpose(x, order), tuple(axes[i] for i in order))

    def gathered(self, x: Tensor, subs: Sequence[Quantity]) -> Quantity:
        """Elements at places of any kind."""
        flat = self.flat_place(x, subs)
        places = flat.data if isinstance(flat.data, Tensor) else Tensor(np.asarray(flat.data, np.int64))
        return Quantity(p.gather(p.reshape(x, (x.size,)), places, 0), flat.axes)

    @staticmethod
    def flat_place(x: Tensor, subs: Sequence[Quantity]) -> Quantity:
        """Places on several axes as places in the flattened array."""
        strides = np.cumprod([1, *x.shape[:0:-1]])[::-1]
        terms = [applied(operator.mul, q, Quantity(int(s))) for q, s in zip(subs, strides, strict=True)]
        return reduce(lambda a, b: applied(operator.add, a, b), terms, Quantity(0))

    def write(self, name: str, subs: Sequence[Quantity], value: Quantity) -> None:
        """`name[subs] = value`, in all turns that are made."""
        if name in self.given:
            self.wrong(f"{name} is an argument, which is read only", "make an array with output_tensor(shape, dtype)")
        x = self.array(name, subs)
        subs = self.placed(name, x, subs)
        if self.made() is not None:
            value = self.kept(value, self.at(x, subs))
        spans = [span_of(q) for q in subs]
        own = [q.axes[0] for q, s in zip(subs, spans, strict=True) if s is not None and q.axes]
        plain = all(s is not None and s[2] == 1 for s in spans) and len(set(own)) == len(own)
        axes = tuple(own) if plain else joined_axes([*subs])
        ordered = tuple(sorted(axes, key=lambda a: a.depth))
        data = cast(as_tensor(value, ordered), x.dtype)
        if not plain:
            flat = self.flat_place(x, subs)
            places = as_tensor(flat, ordered)
            out = p.scatter_update(
                p.reshape(x, (x.size,)), p.reshape(places, (places.size,)), p.reshape(data, (data.size,)), 0
            )
            self.arrays[name] = p.reshape(out, x.shape)
            return
        data = p.transpose(data, [ordered.index(a) for a in axes])
        data = p.reshape(data, [s[1] for s in spans if s is not None])
        if data.shape == x.shape:
            self.arrays[name] = data
        elif data.size:
            self.arrays[name] = p.dynamic_update(x, data, starts_of([s[0] for s in spans if s is not None]))
