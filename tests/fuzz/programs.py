"""Random programs over all kinds of primitives, small and odd in shape, with inputs to run them on.

Where a tiny difference of rounding could become a large one (comparing, counting, choosing the largest), only *exact*
values are used: those that come from the inputs by operations that do not round. The inputs are eighths.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mycelia import primitives as p
from mycelia.ir import Function, Value
from mycelia.transforms import vjp, vmap
from mycelia.types import Array, DType, TensorType, bool_, float32, float64, int32, int64

EXTENTS = (0, 1, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33)
LARGE = (1, 3, 40, 65, 128, 130)  # extents that make library calls and several threads worth while
LARGEST = 300_000  # elements of one value
COUNT = TensorType(int64, ())
FLOATS = (float32, float64)
SMOOTH: tuple[Callable[[Value], Value], ...] = (
    p.tanh, p.sin, p.cos, p.sigmoid, p.erf, p.atan, lambda x: p.exp(-(x * x)), lambda x: p.log(x * x + 1.5),
    lambda x: p.sqrt(x * x + 0.5), lambda x: p.rsqrt(x * x + 1.0), lambda x: x * 0.75 + 0.125,
    lambda x: 1.0 / (x * x + 1.0), lambda x: p.tanh(x) * p.tanh(x), p.negative, lambda x: p.expm1(p.tanh(x)),
)  # fmt: skip
BINARY = (p.add, p.subtract, p.multiply, lambda x, y: x / (y * y + 1.0), lambda x, y: p.atan2(x, y * y + 0.5))
COMPARE = (p.greater, p.less, p.less_equal, p.greater_equal, p.equal, p.not_equal)


@dataclass(frozen=True)
class Case:
    """A program and what it is run on."""

    fn: Function
    inputs: tuple[Array, ...]


def numbers(rng: np.random.Generator, t: TensorType) -> Array:
    """Eighths, small integers, or truth values."""
    if t.dtype is bool_:
        return rng.integers(0, 2, t.shape).astype(bool)
    drawn = rng.integers(-16, 17, t.shape)
    return np.asarray(drawn / 8 if t.dtype.is_float else drawn).astype(t.dtype.numpy)


def random_case(seed: int, steps: int = 10, extents: Sequence[int] = EXTENTS) -> Case:
    """The program of a seed, and inputs for it."""
    rng = np.random.default_rng(seed)
    writer = Writer(rng, True, extents)
    types = writer.types(int(rng.integers(1, 5)))
    fn = Function.build(lambda *xs: writer.body(xs, steps), *types)
    return Case(fn, tuple(numbers(rng, t) for t in types))


class Writer:
    """Writes random functions."""

    def __init__(self, rng: np.random.Generator, control: bool, extents: Sequence[int] = EXTENTS) -> None:
        self.rng, self.control, self.extents = rng, control, extents
        self.exact: set[Value] = set()
        self.pool: list[Value] = []

    # ---------------------------------------------------------------------------------------- choices

    def pick(self, options: Sequence[object]) -> object:
        return options[int(self.rng.integers(len(options)))]

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def shape(self) -> tuple[int, ...]:
        rank = int(self.rng.integers(0, 4))
        return tuple(int(self.pick(self.extents)) for _ in range(rank))

    def types(self, count: int) -> list[TensorType]:
        """Types that share extents, so that values meet."""
        base, out = self.shape(), []
        main = self.pick(FLOATS)
        for _ in range(count):
            dtype = self.pick((main, main, main, int32, bool_, *FLOATS))
            kind = self.rng.integers(4)
            shape = base if kind else self.shape()
            if kind == 1:
                shape = base[int(self.rng.integers(len(base) + 1)) :]
            elif kind == 2:
                shape = tuple(1 if self.chance(0.4) else e for e in base)
            out.append(TensorType(dtype, shape))
        return out

    def value(self, fits: Callable[[Value], bool]) -> Value | None:
        found = [v for v in self.pool if fits(v)]
        if not found:
            return None
        recent = found[-4:] if self.chance(0.6) else found
        return self.pick(recent)

    def floating(self) -> Value | None:
        return self.value(lambda v: v.dtype.is_float)

    def anything(self) -> Value:
        found = self.value(lambda v: True)
        assert found is not None, "there are always parameters"
        return found

    # ---------------------------------------------------------------------------------------- programs

    def body(self, xs: Sequence[Value], steps: int, exact: Sequence[bool] = ()) -> tuple[Value, ...]:
        """Results after some steps, from parameters of which all are exact unless somebody knows better."""
        self.pool = list(xs)
        known = exact or [True] * len(xs)
        self.exact |= {x for x, e in zip(xs, known, strict=True) if e or not x.dtype.is_float}
        for _ in range(steps):
            self.step()
        last = self.pool[-1]
        others = [v for v in self.pool[-4:-1] if self.chance(0.4)]
        return (*others, last)

    def keep(self, v: Value, exact: bool = False) -> None:
        if v.tensor.size <= LARGEST:
            self.pool.append(v)
            if exact:
                self.exact.add(v)

    def step(self) -> None:
        kinds = [
            *[self.unary, self.binary] * 4, *[self.reduce, self.move] * 3, self.compare, self.choose, self.convert,
            self.gather, self.matmul, self.running, self.integers, self.extremum, self.scatter, self.window,
            self.softmax, self.creation,
        ]  # fmt: skip
        if self.control:
            kinds += [self.cond, self.while_, self.scan, self.map_]
        self.pick(kinds)()

    def unary(self) -> None:
        if (x := self.floating()) is not None:
            self.keep(self.pick(SMOOTH)(x))

    def binary(self) -> None:
        x = self.floating()
        if x is not None:
            y = self.partner(x)
            f = self.pick(BINARY)
            self.keep(f(x, y) if self.chance(0.5) else f(y, x))

    def partner(self, x: Value) -> Value:
        """Something that broadcasts with `x`."""
        found = self.value(lambda v: v.dtype is x.dtype and v is not x and _broadcasts(v.shape, x.shape))
        return x if found is None else found

    def reduce(self) -> None:
        x = self.floating()
        if x is None:
            return
        dims = tuple(i for i in range(len(x.shape)) if self.chance(0.5))
        keep = self.chance(0.4)
        which = self.rng.integers(3)
        if which == 2:
            self.keep(p.reduce_prod(p.tanh(x), dims, keep))
        else:
            self.keep(p.tanh(p.reduce_sum(x, dims, keep)) if which else p.reduce_sum(x * 0.125, dims, keep))

    def extremum(self) -> None:
        x = self.value(lambda v: v in self.exact and v.dtype is not bool_)
        if x is None:
            return
        dims = tuple(i for i in range(len(x.shape)) if self.chance(0.5) and x.shape[i])
        f = self.pick((p.reduce_max, p.reduce_min))
        self.keep(f(x, dims, self.chance(0.4)), exact=True)
        if x.shape and x.shape[-1]:
            self.keep(self.pick((p.arg_max, p.arg_min))(x, len(x.shape) - 1), exact=True)

    def softmax(self) -> None:
        x = self.floating()
        if x is not None and x.shape and x.tensor.size:
            axis = (int(self.rng.integers(len(x.shape))),)
            e = p.exp(x - p.stop_gradient(p.reduce_max(x, axis, True)))
            self.keep(e / p.reduce_sum(e, axis, True))

    def move(self) -> None:
        x = self.anything()
        rank, shape = len(x.shape), x.shape
        kind = int(self.rng.integers(7))
        if kind == 0 and rank:
            y = p.transpose(x, tuple(int(i) for i in self.rng.permutation(rank)))
        elif kind == 1 and rank:
            y = p.reshape(x, (x.tensor.size,)) if self.chance(0.5) else p.reshape(x, (*shape[1:], shape[0]))
        elif kind == 2 and rank:
            start = [int(self.rng.integers(e + 1)) for e in shape]
            stop = [int(self.rng.integers(s, e + 1)) for s, e in zip(start, shape, strict=True)]
            y = p.slice_(x, start, stop, [int(self.rng.integers(1, 4)) for _ in shape])
        elif kind == 3 and rank:
            low, high = (tuple(int(n) for n in self.rng.integers(0, 3, rank)) for _ in range(2))
            y = p.pad(x, low, high, self.pick((0, 1)) if x.dtype is not bool_ else False)
        elif kind == 4 and rank:
            axis = int(self.rng.integers(rank))
            other = self.value(
                lambda v: v.dtype is x.dtype and len(v.shape) == rank and _same_but(v.shape, shape, axis)
            )
            y = p.concat([x, x if other is None else other], axis)
            self.keep(y, exact=x in self.exact and (other is None or other in self.exact))
            return
        elif kind == 5 and rank:
            y = p.flip(x, tuple(i for i in range(rank) if self.chance(0.5)))
        else:
            y = p.broadcast(x, (int(self.pick((1, 2, 3))), *shape))
        self.keep(y, exact=x in self.exact)

    def compare(self) -> None:
        x = self.value(lambda v: v in self.exact and v.dtype is not bool_)
        if x is not None:
            y = self.value(lambda v: v in self.exact and v.dtype is x.dtype and _broadcasts(v.shape, x.shape))
            self.keep(self.pick(COMPARE)(x, x if y is None else y), exact=True)

    def choose(self) -> None:
        x, c = self.floating(), self.value(lambda v: v.dtype is bool_)
        if x is not None and c is not None and _broadcasts(c.shape, x.shape):
            y = self.partner(x)
            if _broadcasts(c.shape, y.shape):
                self.keep(p.select(c, x, y), exact=x in self.exact and y in self.exact)

    def convert(self) -> None:
        x = self.anything()
        dtype: DType = self.pick((float32, float64, int32, int64, bool_))
        if not dtype.is_float and x not in self.exact:
            return
        self.keep(p.cast(x, dtype), exact=x in self.exact and dtype.is_integer)

    def integers(self) -> None:
        x = self.value(lambda v: v.dtype.is_integer)
        if x is None:
            return
        y = self.partner(x)
        f = self.pick((p.add, p.subtract, p.multiply, p.maximum, p.minimum, p.floor_divide, p.remainder, p.logical_xor))
        self.keep(p.minimum(p.maximum(f(x, y), p.lift(-99, x)), p.lift(99, x)), exact=True)
        if x.shape and x.shape[-1]:
            self.keep(p.reduce_sum(x, (len(x.shape) - 1,)), exact=True)

    def gather(self) -> None:
        x = self.value(lambda v: bool(v.shape) and v.tensor.size > 0)
        i = self.value(lambda v: v.dtype in (int32, int64) and len(v.shape) < 3)
        if x is not None and i is not None:
            self.keep(p.gather(x, i, int(self.rng.integers(len(x.shape)))), exact=x in self.exact)

    def scatter(self) -> None:
        x = self.value(lambda v: v.dtype.is_float and bool(v.shape) and v.shape[0] > 0)
        i = self.value(lambda v: v.dtype in (int32, int64) and len(v.shape) < 2)
        if x is not None and i is not None:
            row = p.broadcast(p.tanh(p.reduce_sum(x, (0,))), (*i.shape, *x.shape[1:]))
            self.keep(p.scatter_add(x, i, row, 0))

    def window(self) -> None:
        x = self.floating()
        start = self.value(lambda v: v.dtype in (int32, int64) and v.shape == ())
        if x is None or start is None or not x.shape:
            return
        sizes = tuple(int(self.rng.integers(e + 1)) for e in x.shape)
        starts = [start, *[p.full(0, start.dtype, ())] * (len(x.shape) - 1)]
        cut = p.dynamic_slice(x, starts, sizes)
        self.keep(cut if self.chance(0.5) else p.dynamic_update(x, p.sin(cut), starts))

    def matmul(self) -> None:
        x = self.value(lambda v: v.dtype.is_float and 0 < len(v.shape) < 4)
        if x is None:
            return
        y = self.value(lambda v: v.dtype is x.dtype and len(v.shape) == 2 and v.shape[0] == x.shape[-1])
        if y is None and len(x.shape) >= 2:
            y = p.transpose(x, (*range(len(x.shape) - 2), len(x.shape) - 1, len(x.shape) - 2))
        if y is not None:
            self.keep(p.matmul(x * 0.25, y))

    def running(self) -> None:
        x = self.floating()
        if x is not None and x.shape:
            self.keep(p.cumsum(x * 0.125, int(self.rng.integers(len(x.shape)))))

    def creation(self) -> None:
        x = self.anything()
        if x.shape:
            self.keep(p.iota(int32, x.shape, int(self.rng.integers(len(x.shape)))), exact=True)
        if x.dtype.is_float and self.chance(0.5):
            self.keep(p.constant(numbers(self.rng, TensorType(x.dtype, x.shape))), exact=True)

    # ---------------------------------------------------------------------------------------- control

    def inner(
        self, types: Sequence[TensorType], exact: Sequence[bool], results: Sequence[TensorType] | None = None
    ) -> Function:
        """A function of these types, to these or whatever comes; `exact` says which parameters are, at each call."""
        writer = Writer(self.rng, control=self.control and self.chance(0.2))

        def program(*xs: Value) -> tuple[Value, ...]:
            made = writer.body(xs, int(self.rng.integers(1, 5)), exact)
            if results is None:
                return made
            return tuple(writer.fitted(t) for t in results)

        return Function.build(program, *types)

    def fitted(self, t: TensorType) -> Value:
        """Something of type `t` made from what there is."""
        same = self.value(lambda v: v.type == t)
        if same is None or self.chance(0.3):
            x = self.anything()
            if t.dtype.is_float:
                total = p.reduce_sum(p.tanh(p.cast(x, t.dtype))) * 0.125
                return p.tanh(total + same) if same is not None else p.broadcast(p.sin(total), t.shape)
            return p.full(1, t.dtype, t.shape) if t.dtype is not bool_ else p.full(True, t.dtype, t.shape)
        return same

    def operands(self, most: int) -> list[Value]:
        return [self.anything() for _ in range(int(self.rng.integers(1, most + 1)))]

    def cond(self) -> None:
        xs = self.operands(3)
        types = [x.tensor for x in xs]
        exact = [x in self.exact for x in xs]
        then = self.inner(types, exact)
        if any(not isinstance(t, TensorType) for t in then.result_types):
            return
        otherwise = self.inner(types, exact, then.result_types)
        source = self.value(lambda v: v in self.exact)
        if source is None:
            return
        truth = p.reduce_any(p.cast(source, bool_))
        for v in p.Cond(then, otherwise)(truth, *xs):
            self.keep(v)

    def loop_types(self) -> tuple[list[Value], list[Value]]:
        constants = self.operands(2) if self.chance(0.6) else []
        return constants, self.operands(2)

    def outside(self, constants: Sequence[Value], carries: Sequence[Value]) -> list[bool]:
        """Which parameters of a loop are exact: what a turn hands on may have been rounded in it."""
        return [*[v in self.exact for v in constants], *[False] * len(carries)]

    def while_(self) -> None:
        constants, carries = self.loop_types()
        turns = int(self.rng.integers(0, 4))
        types = [v.tensor for v in (*constants, *carries)]
        made = self.inner(types, self.outside(constants, carries), [v.tensor for v in carries])
        n = len(types)
        body = Function.build(lambda *xs: (*made(*xs[:n]), xs[n] + p.full(1, int64, ())), *types, COUNT)
        condition = Function.build(lambda *xs: p.less(xs[n], p.full(turns, int64, ())), *types, COUNT)
        *outs, _, _ = p.While(condition, body, len(constants))(*constants, *carries, p.full(0, int64, ()))
        for v in outs:
            self.keep(v)

    def scan(self) -> None:
        constants, carries = self.loop_types()
        x = self.value(lambda v: bool(v.shape))
        if x is None:
            return
        element = x.tensor.with_shape(x.shape[1:])
        types = [v.tensor for v in (*constants, *carries)]
        ys = [self.pick([*types, element])]
        exact = [*self.outside(constants, carries), x in self.exact]
        body = self.inner([*types, element], exact, [*[v.tensor for v in carries], *ys])
        scan = p.Scan(body, len(constants), len(carries), self.chance(0.4), x.shape[0])
        for v in scan(*constants, *carries, x):
            self.keep(v)

    def map_(self) -> None:
        x = self.value(lambda v: bool(v.shape) and v.shape[0] < 20)
        if x is None:
            return
        constants = self.operands(2) if self.chance(0.6) else []
        exact = [v in self.exact for v in (*constants, x)]
        body = self.inner([*[v.tensor for v in constants], x.tensor.with_shape(x.shape[1:])], exact)
        sums = int(self.chance(0.3) and body.results[-1].dtype.is_float)
        for v in p.Map(body, len(constants), x.shape[0], sums)(*constants, x):
            self.keep(v)


def _broadcasts(x: tuple[int, ...], y: tuple[int, ...]) -> bool:
    return all(a == b or 1 in (a, b) for a, b in zip(reversed(x), reversed(y), strict=False))


def _same_but(x: tuple[int, ...], y: tuple[int, ...], axis: int) -> bool:
    return all(a == b for i, (a, b) in enumerate(zip(x, y, strict=True)) if i != axis)


def pulled_back(case: Case, seed: int) -> Case | None:
    """The program with its gradient, where it has one."""
    if not any(t.differentiable for t in case.fn.types) or not any(t.differentiable for t in case.fn.result_types):
        return None
    joint = vjp(case.fn)
    rng = np.random.default_rng(seed)
    cts = [numbers(rng, t) for t in joint.types[len(case.inputs) :] if isinstance(t, TensorType)]
    return Case(joint, (*case.inputs, *cts))


def mapped(case: Case, seed: int) -> Case:
    """The program for several examples, some parameters the same for all."""
    rng = np.random.default_rng(seed)
    size = int(rng.choice([1, 2, 3, 5]))
    which = tuple(bool(b) for b in rng.integers(0, 2, len(case.inputs)))
    types = [TensorType(t.dtype, (size, *t.shape)) for t in case.fn.types if isinstance(t, TensorType)]
    inputs = [numbers(rng, t) if m else x for t, m, x in zip(types, which, case.inputs, strict=True)]
    return Case(vmap(case.fn, size, which), tuple(inputs))


def training_case(seed: int, steps: int = 8) -> tuple[Case, dict[int, int]]:
    """A program that gives new values for its parameters, in some order; and which result takes over which."""
    rng = np.random.default_rng(seed)
    writer = Writer(rng, control=True)
    types = writer.types(int(rng.integers(2, 5)))
    order = [int(i) for i in rng.permutation(len(types))]

    def program(*xs: Value) -> tuple[Value, ...]:
        made = writer.body(xs, steps)
        return (*[writer.fitted(types[i]) for i in order], *made)

    fn = Function.build(program, *types)
    return Case(fn, tuple(numbers(rng, t) for t in types)), dict(enumerate(order))
