"""Loop nests over elements, written in Python and computed as tensors: the language of `ops.kernel`.

A function of arrays, or of elements, means what Python computes when it runs it on NumPy arrays. Here its syntax is
interpreted on tensors instead. A loop whose turns do not need one another (see `ops.nests`) becomes an axis, and every
expression inside it a tensor with that axis; a running sum becomes a reduction; other loops become a scan. All of it is
made of the ops that everybody uses, so it has gradients of every order and compiles to the same kernels.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.eager import Tensor, as_dtype, cast, created
from mycelia.eager.trace import trace
from mycelia.errors import DTypeError
from mycelia.ir import Function
from mycelia.ops import choice, creation, math
from mycelia.ops.elements import NestVariable
from mycelia.ops.expressions import COMBINE, HybridExpressions
from mycelia.ops.nests import LOOPS, RunningFold, accesses, at_once, fold_of, targets
from mycelia.ops.quantities import LoopAxis, Quantity, applied, as_tensor, both, joined_axes
from mycelia.syntax import expression
from mycelia.types import Array, TensorType, bool_, int64

_REDUCE = {"add": p.reduce_sum, "mul": p.reduce_prod, "max": p.reduce_max, "min": p.reduce_min}


class HybridNest(HybridExpressions):
    """Runs a function of the language on tensors, statement by statement."""

    def run(self, statements: Sequence[ast.stmt]) -> Any:
        """Run statements; what is returned, if something is."""
        for s in statements:
            self.node = s
            if isinstance(s, ast.Return):
                return self.returned(s)
            if isinstance(s, ast.Assign | ast.AugAssign):
                self.assign(s)
            elif isinstance(s, ast.For):
                self.loop(s)
            elif isinstance(s, ast.If):
                self.choose(s)
            elif isinstance(s, ast.With):
                self.run(s.body)
            elif not isinstance(s, ast.Pass) and not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)):
                self.wrong(f"a custom operator has no {type(s).__name__.lower()} statement")
        return None

    def returned(self, s: ast.Return) -> Any:
        """The results: arrays; or expressions, of a function of elements."""
        if self.axes or self.mask is not None or s.value is None:
            self.wrong("results are returned at the end, outside of loops and conditions")
        parts = s.value.elts if isinstance(s.value, ast.Tuple) else [s.value]
        out = []
        for part in parts:
            if isinstance(part, ast.Name) and part.id in self.arrays and not self.own:
                out.append(self.arrays[part.id])
            elif self.own:
                out.append(as_tensor(self.value(part), ()))
            else:
                self.wrong("arrays are returned, by their names", "make one with output_tensor(shape, dtype)")
        return tuple(out) if isinstance(s.value, ast.Tuple) else out[0]

    def assign(self, s: ast.Assign | ast.AugAssign) -> None:
        """`name = value`, `array[index] = value`, and both with `+=`."""
        if isinstance(s, ast.Assign) and len(s.targets) != 1:
            self.wrong("one thing is assigned at a time")
        target = s.target if isinstance(s, ast.AugAssign) else s.targets[0]
        if isinstance(target, ast.Name) and self.declared(target.id, s.value):
            return
        fold = fold_of(s)
        if fold is not None and self.folded(target, fold):
            return
        value = self.value(s.value)
        if isinstance(s, ast.AugAssign):
            old = self.value(_read(target))
            value = self.binary(type(s.op), old, value)
        if isinstance(target, ast.Name):
            self.set_variable(target.id, value)
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            self.write(target.value.id, self.index(target.slice), value)
        else:
            self.wrong("variables and elements of arrays can be assigned to")

    def declared(self, name: str, given: ast.expr) -> bool:
        """`name = output_tensor(shape, dtype)`: a new array."""
        if not (isinstance(given, ast.Call) and isinstance(given.func, ast.Name)):
            return False
        if given.func.id not in ("output_tensor", "allocate"):
            return False
        if self.axes or self.mask is not None:
            self.wrong("arrays are made outside of loops and conditions")
        if name in self.arrays:
            self.wrong(f"{name} is an array already")
        if len(given.args) < 2:
            self.wrong(f"{given.func.id} takes a shape and an element type")
        shape, dtype = self.plain(given.args[0]), self.plain(given.args[1])
        self.arrays[name] = creation.zeros(tuple(shape), as_dtype(dtype))
        return True

    def choose(self, s: ast.If) -> None:
        """Both branches, each where its condition holds; a variable that only one of them makes ends with it."""
        test = self.truth(s.test)
        before = set(self.variables)
        with self.where(test):
            self.run(s.body)
        first = set(self.variables)
        with self.where(applied(math.logical_not, test, known=np.logical_not)):
            self.run(s.orelse)
        made = {n.id for x in s.orelse for n in ast.walk(x) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        for name in set(self.variables) - before:
            if name not in first or name not in made:
                del self.variables[name]

    def set_variable(self, name: str, value: Quantity) -> None:
        """`name = value`."""
        if name in self.arrays:
            self.wrong(f"{name} is an array", "assign to its elements: " + f"{name}[i] = ...")
        old = self.variables.get(name)
        if old is None:
            self.variables[name] = NestVariable(value, self.axes)
        else:
            self.variables[name] = NestVariable(self.kept(value, old.value), old.scope)

    def folded(self, target: ast.expr, fold: RunningFold) -> bool:
        """Add to an element, or multiply it, or take the larger: over all turns of the loops that it does not have."""
        if isinstance(target, ast.Name):
            if target.id not in self.variables:
                return False
            name, subs = target.id, None
            own, old = self.variables[name].scope, self.variables[name].value
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            name, subs = target.value.id, self.index(target.slice)
            own = joined_axes(subs)
        else:
            return False
        further = [a for a in self.axes if a not in own]
        if not further:
            return False  # it is an assignment like any other
        if subs is not None:
            with self.everywhere():
                old = self.element(name, subs)
        value = self.value(fold.value).now()
        if fold.negative:
            value = applied(operator.neg, value)
        if not all(len(a.numbers) for a in further):
            return True
        if not value.known and value.data.dtype.is_float and not old.known and not old.data.dtype.is_float:
            self.wrong("fractions are folded into whole numbers", "cast them first: int32(x)")
        axes = joined_axes([value, Quantity(0, tuple(further)), *([m] if (m := self.made()) is not None else [])])
        data = as_tensor(value, axes)
        if not old.known:
            data = cast(data, old.data.dtype)
        if m is not None:
            data = choice.where(as_tensor(m, axes), data, _identity(fold.kind, data))
        total = _REDUCE[fold.kind](data, [axes.index(a) for a in further])
        new = Quantity(total, tuple(a for a in axes if a not in further))
        new = applied(COMBINE[fold.kind], old, new)
        with self.everywhere():  # turns that are not made have added nothing
            if subs is None:
                self.set_variable(name, new)
            else:
                self.write(name, subs, new)
        return True

    # ---------------------------------------------------------------------------------------------------------- loops

    def loop(self, s: ast.For) -> None:
        """Turns at once where that is proven to be the same, else one after another."""
        if s.orelse or not (isinstance(s.iter, ast.Call) and isinstance(s.iter.func, ast.Name)):
            self.wrong("a loop goes over range(...) or grid(shape)")
        word, names = s.iter.func.id, targets(s)
        if word not in (*LOOPS, "grid"):
            self.wrong("a loop goes over range(...) or grid(shape)", f"there are {', '.join((*LOOPS, 'grid'))}")
        given = s.iter.args
        if word == "grid":
            spans = [(Quantity(0), Quantity(int(n)), 1) for n in self.plain(given[0])]
        else:
            spans = [self.span([self.value(a) for a in given])]
        if len(names) not in (1, len(spans)) or not names:
            self.wrong(f"{len(spans)} numbers are given to {len(names)} variables")
        around = dict(self.variables)
        known = frozenset(n for n, v in around.items() if isinstance(v.value, Quantity))
        if self.axes or at_once(s, frozenset(self.arrays), known):
            self.along(s, spans, names, word == "grid")
        else:
            self.turns(s, spans, names, word == "grid")
        self.variables = {n: v for n, v in self.variables.items() if n in around and n not in names}
        self.variables |= {n: around[n] for n in names if n in around}

    def span(self, args: Sequence[Quantity]) -> tuple[Quantity, Quantity, int]:
        """From where to where a loop counts, and in which steps."""
        start, stop, step = (Quantity(0), args[0], Quantity(1)) if len(args) == 1 else (*args, Quantity(1))[:3]
        if not isinstance(step.data, int) or step.data == 0:
            self.wrong("the step of a loop is a whole number, and known beforehand")
        if start.limits() is None or stop.limits() is None:
            self.wrong("data decides how often a loop runs", "give bounds that come from shapes and from other loops")
        if step.data != 1 and (np.ndim(start.data) or np.ndim(stop.data) or not (start.known and stop.known)):
            self.wrong("a loop in steps has bounds that are the same in all turns")
        return start, stop, step.data

    def numbers(self, spans: Sequence[tuple[Quantity, Quantity, int]]) -> list[Array]:
        """All that the variables of a loop can be."""
        out = []
        for start, stop, step in spans:
            low, high = start.limits(), stop.limits()
            assert low is not None
            assert high is not None
            first, last = (low[0], high[1]) if step > 0 else (low[1], high[0])
            out.append(np.arange(first, last, step, dtype=np.int64))
        return out

    def outside(self, spans: Sequence[tuple[Quantity, Quantity, int]], places: Sequence[Quantity]) -> Quantity | None:
        """Where the variables are within bounds that other loops give; None: everywhere."""
        tests = []
        for (start, stop, _), place in zip(spans, places, strict=True):
            for bound, fits in ((start, operator.ge), (stop, operator.lt)):
                limits = bound.limits()
                if limits is None or limits[0] != limits[1]:
                    tests.append(applied(fits, place, bound))
        return reduce(lambda x, y: applied(both, x, y), tests) if tests else None

    def bind(self, names: Sequence[str], places: Sequence[Quantity], grid: bool) -> None:
        """Give the variables of a loop what they are."""
        if grid and len(names) == 1:
            self.variables[names[0]] = NestVariable(tuple(places), self.axes)
        else:
            self.variables |= {n: NestVariable(q, self.axes) for n, q in zip(names, places, strict=True)}

    def along(self, s: ast.For, spans: Sequence[Any], names: Sequence[str], grid: bool) -> None:
        """All turns at once: one more axis for each variable."""
        around = self.axes
        depth = self.depth
        new = tuple(LoopAxis(n, depth + i) for i, n in enumerate(self.numbers(spans)))
        self.depth = depth + len(new)
        places = [Quantity(a.numbers, (a,)) for a in new]
        self.axes = (*around, *new)
        self.bind(names, places, grid)
        test = self.outside(spans, places)
        if test is None:
            self.run(s.body)
        else:
            with self.where(test):
                self.run(s.body)
        self.axes, self.depth = around, depth

    def turns(self, s: ast.For, spans: Sequence[Any], names: Sequence[str], grid: bool) -> None:
        """One turn after another: a scan over what they change."""
        numbers = self.numbers(spans)
        count = int(np.prod([len(n) for n in numbers]))
        if not count:
            return
        written = dict.fromkeys(a.name for a in accesses(s.body) if a.kind != "read")
        arrays = [n for n in written if n in self.arrays]
        variables = [n for n in written if n in self.variables]
        before, depth = dict(self.variables), self.depth
        tables = np.meshgrid(*numbers, indexing="ij")
        state = [self.arrays[n] for n in arrays] + [as_tensor(before[n].value, ()) for n in variables]

        def turn(number: Tensor, *held: Tensor) -> tuple[Tensor, ...]:
            self.arrays |= dict(zip(arrays, held, strict=False))
            self.variables = dict(before)
            for n, x in zip(variables, held[len(arrays) :], strict=True):
                self.variables[n] = NestVariable(Quantity(x))
            axis = LoopAxis(np.arange(count), depth, number)
            self.depth = depth + 1
            places = [Quantity(t.reshape(-1), (axis,)) for t in tables]
            self.bind(names, places, grid)
            test = self.outside(spans, places)
            if test is None:
                self.run(s.body)
            else:
                with self.where(test):
                    self.run(s.body)
            found = [self.arrays[n] for n in arrays]
            return (*found, *[as_tensor(self.variables[n].value, ()) for n in variables])

        outer = dict(self.arrays)
        for _ in range(4):
            types = [TensorType(x.dtype, x.shape) for x in state]
            try:
                traced = trace(turn, [TensorType(int64, ()), *types])
            finally:
                self.arrays, self.variables, self.depth = dict(outer), dict(before), depth
            found = [v.tensor for v in traced.function.results]
            if types == found:
                break
            state = [cast(x, t.dtype) for x, t in zip(state, found, strict=True)]
        else:
            self.wrong("a variable changes its element type in every turn")
        results = _scan(traced, state, count)
        self.arrays |= dict(zip(arrays, results, strict=False))
        for n, x in zip(variables, results[len(arrays) :], strict=True):
            self.variables[n] = NestVariable(Quantity(x))


def _read(target: ast.expr) -> ast.expr:
    return expression(ast.unparse(target))


def _identity(kind: str, like: Tensor) -> Any:
    """What changes nothing."""
    if kind in ("add", "mul"):
        return creation.zeros_like(like) if kind == "add" else creation.ones_like(like)
    if like.dtype.is_float:
        return creation.full_like(like, -np.inf if kind == "max" else np.inf)
    if like.dtype is bool_:
        raise DTypeError(f"there is no {kind} of truths")
    limits = np.iinfo(like.dtype.numpy)
    return creation.full_like(like, int(limits.min if kind == "max" else limits.max))


def _scan(traced: Any, state: Sequence[Tensor], count: int) -> list[Tensor]:
    """The state after so many turns."""
    outside = traced.captured
    m, types = len(outside), [TensorType(x.dtype, x.shape) for x in (*outside, *state)]

    def body(*values: Any) -> tuple[Any, ...]:
        return tuple(traced.function(values[-1], *values[m:-1], *values[:m]))

    function = Function.build(body, *types, TensorType(int64, ()))
    numbers = created(p.Iota(int64, (count,), 0))
    return list(p.Scan(function, m, len(state), False, count)(*outside, *state, numbers))
