"""What loops have in common: a body of constants, carries and elements, differentiated and batched once for all.

    body(*constants, *carries, *xs) -> *carries, *ys

A residual of one turn is a constant (passed again, once), an x or a y (there already), or else it is streamed: it
becomes a further y. The way back is a scan over these in the opposite direction; cotangents of constants add up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from mycelia import primitives as p
from mycelia.errors import BranchError, CaptureError
from mycelia.frozen import frozen
from mycelia.ir import Function, Value, algebra
from mycelia.primitives.control.map import zeros_for
from mycelia.sizes import Name, names
from mycelia.transforms import Parts, batch, chosen, depends, in_step, jvp, lockstep, parted, placed, reaches, vjp
from mycelia.types import TensorType, Type, cotangent_type

Mask = tuple[bool, ...]


@frozen
class LoopParts:
    """The body of a loop, and how its parameters and results are divided."""

    fn: Function
    constants: int
    carries: int

    @property
    def first_x(self) -> int:
        return self.constants + self.carries

    @property
    def carry_types(self) -> tuple[Type, ...]:
        return self.fn.types[self.constants : self.first_x]

    @property
    def x_types(self) -> tuple[Type, ...]:
        return self.fn.types[self.first_x :]

    @property
    def y_types(self) -> tuple[Type, ...]:
        return self.fn.result_types[self.carries :]

    def check(self) -> None:
        """Complain if one turn does not lead to the next."""
        after = self.fn.result_types[: self.carries]
        for i, (old, new) in enumerate(zip(self.carry_types, after, strict=True)):
            if old != new:
                raise BranchError(
                    f"carry {i} of a loop changes its type from turn to turn",
                    given={"before": old, "after": new},
                    hint="make the body give the shape and element type that it was given",
                )

    def active(self, wanted: Sequence[bool], live: Sequence[bool]) -> tuple[Mask, Mask]:
        """Which parameters and which results take part in a derivative. A carry does if it changes, in some turn, with
        what is wanted, and changes, in some turn, what is live.
        """
        moves, lives = tuple(wanted), tuple(live)
        while True:
            moved = depends(self.fn, moves)[: self.carries]
            wider = self._carried(moves, self.constants, moved)
            if wider == moves:
                break
            moves = wider
        while True:
            wider = self._carried(lives, 0, reaches(self.fn, lives)[self.constants : self.first_x])
            if wider == lives:
                break
            lives = wider
        # not "changes within one turn": without any turn a carry passes through
        carries = [a and b for a, b in zip(moves[self.constants : self.first_x], lives, strict=False)]
        params = tuple(a and b for a, b in zip(moves, reaches(self.fn, lives), strict=True))
        results = tuple(a and b for a, b in zip(lives, depends(self.fn, moves), strict=True))
        return self._placed(params, self.constants, carries), self._placed(results, 0, carries)

    def _carried(self, mask: Mask, first: int, more: Sequence[bool]) -> Mask:
        return self._placed(mask, first, [a or b for a, b in zip(mask[first:], more, strict=False)])

    def _placed(self, mask: Mask, first: int, carries: Sequence[bool]) -> Mask:
        return (*mask[:first], *carries, *mask[first + self.carries :])

    def moving(self, moves: Sequence[bool]) -> tuple[Mask, Mask]:
        """Which parameters and which results have tangents, if these parameters have."""
        mask = tuple(moves)
        while True:
            moved = depends(self.fn, mask)
            wider = self._carried(mask, self.constants, moved[: self.carries])
            if wider == mask:
                return mask, self._placed(moved, 0, mask[self.constants : self.first_x])
            mask = wider

    def in_lockstep(self, size: int, types: Sequence[Type]) -> Function | None:
        """The body for `size` examples that take the same turns, where parameters have these types; carries become
        mapped as they must. None if an example needs a structure of its own.
        """
        own = list(types)
        if not _in_step(own, self.fn.types, size):
            return None
        while True:
            trial = batch(self.fn, size, tuple(own), (False,) * len(self.fn.results))
            if not _in_step(trial.result_types, self.fn.result_types, size):
                return None
            late = [
                i
                for i, (t, old) in enumerate(zip(trial.result_types[: self.carries], self.carry_types, strict=True))
                if t != old and own[self.constants + i] == old
            ]
            if not late:
                mapped = [t != old for t, old in zip(own[self.constants : self.first_x], self.carry_types, strict=True)]
                return batch(self.fn, size, tuple(own), (*mapped, *[False] * len(self.y_types)))
            for i in late:
                own[self.constants + i] = lockstep(self.carry_types[i], size)


def _in_step(news: Sequence[Type], olds: Sequence[Type], size: int) -> bool:
    return all(in_step(new, old, size) for new, old in zip(news, olds, strict=True))


def _check_streams(parts: Parts, born: set[Name]) -> None:
    """What the way back needs of a turn must have one size in all turns: it lies in one tensor."""
    for t in parts.backward.types[: len(parts.residuals)]:
        if isinstance(t, TensorType) and any(not born.isdisjoint(names(n)) for n in t.shape):
            raise CaptureError(
                "a gradient goes through many examples at once, each with results of another size",
                hint="take the gradient of each example, vmap(grad(f)), or choose with ops.where in place of x[mask]",
            )


@frozen
class Pullback:
    """A loop body that streams its residuals, and the body of the scan that goes back over them."""

    body: LoopParts
    params: Mask  # which take part
    results: Mask

    @cached_property
    def parts(self) -> Parts:
        body = self.body
        joint = vjp(body.fn, self.params, self.results)
        visible = [True] * body.constants + [False] * body.carries + [True] * len(body.x_types)
        visible += [False] * body.carries + [True] * len(body.y_types)
        return parted(joint, len(body.fn.params), len(body.fn.results), tuple(visible), inside=True)

    @property
    def forward(self) -> Function:
        """The body with streams as its last results."""
        return self.parts.forward

    @property
    def hoisted(self) -> list[int]:
        """The constants among the residuals."""
        return [i for i in self.parts.residuals if i < self.body.constants]

    @property
    def taken(self) -> list[int]:
        """The other residuals: xs, ys and streams, numbered as in `Parts`."""
        return [i for i in self.parts.residuals if i >= self.body.constants]

    @property
    def constants(self) -> Mask:
        return self.params[: self.body.constants]

    @property
    def carries(self) -> Mask:
        return self.results[: self.body.carries]

    @cached_property
    def backward(self) -> Function:
        """Of hoisted; cotangents of carries, sums for constants; taken, cotangents of ys.
        To cotangents of carries, sums; cotangents of xs.
        """
        body, parts = self.body, self.parts
        if born := {v.op.born for v in body.fn.values() if isinstance(v.op, p.Positions)}:
            _check_streams(parts, born)
        held = dict(zip(parts.residuals, parts.backward.types, strict=False))
        carries = [cotangent_type(t) for t in chosen(self.carries, body.carry_types)]
        sums = [cotangent_type(t) for t in chosen(self.constants, body.fn.types[: body.constants])]
        ys = [cotangent_type(t) for t in chosen(self.results[body.carries :], body.y_types)]
        first = len(self.hoisted)

        def once(*values: Value) -> list[Value]:
            cts, rest = values[first : first + len(carries)], values[first + len(carries) :]
            so_far, rest = rest[: len(sums)], rest[len(sums) :]
            found = dict(zip((*self.hoisted, *self.taken), (*values[:first], *rest[: len(self.taken)]), strict=True))
            pulled = parts.backward(*[found[i] for i in parts.residuals], *cts, *rest[len(self.taken) :])
            new, onward = pulled[: len(sums)], pulled[len(sums) :]
            total = [algebra.add(a, b) for a, b in zip(so_far, new, strict=True)]
            return [*onward[: len(carries)], *total, *onward[len(carries) :]]

        types = [*[held[i] for i in self.hoisted], *carries, *sums, *[held[i] for i in self.taken], *ys]
        return Function.build(once, *types)

    def pull(
        self,
        scan: Callable[[Function, int, int], Callable[..., Sequence[Value]]],
        operands: Sequence[Value],
        outs: Sequence[Value],
        cts: Sequence[Any],
    ) -> list[Any]:
        """Cotangents of constants, carries and xs. `outs` are carries, ys and streams of the loop; `cts` are those of
        carries and ys.
        """
        body = self.body
        held = (*operands, *outs)
        shown = outs[: len(body.fn.results)]
        given = [zeros_for(o) if c is None else c for o, c in chosen(self.results, list(zip(shown, cts, strict=True)))]
        carried = sum(self.carries)
        sums = [zeros_for(x) for x in chosen(self.constants, operands[: body.constants])]
        pulled = scan(self.backward, len(self.hoisted), carried + len(sums))(
            *[held[i] for i in self.hoisted],
            *[*given[:carried], *sums],
            *[*[held[i] for i in self.taken], *given[carried:]],
        )
        onward, total, xs = pulled[:carried], pulled[carried : carried + len(sums)], pulled[carried + len(sums) :]
        return placed(self.params, (*total, *onward, *xs))


@frozen
class Pushforward:
    """A loop body that carries tangents beside values."""

    body: LoopParts
    params: Mask  # which have tangents
    results: Mask

    @property
    def constants(self) -> int:
        return self.body.constants + sum(self.params[: self.body.constants])

    @property
    def carries(self) -> int:
        return self.body.carries + sum(self.results[: self.body.carries])

    def joined(self, plain: Sequence[Any], moved: Sequence[Any]) -> list[Any]:
        """Constants, their tangents, carries, their tangents, xs, their tangents."""
        c, x = self.body.constants, self.body.first_x
        dots = placed(self.params, moved)
        groups = [slice(0, c), slice(c, x), slice(x, None)]
        return [v for g in groups for v in (*plain[g], *[d for d in dots[g] if d is not None])]

    @cached_property
    def forward(self) -> Function:
        """The body, of what `joined` gives."""
        body = self.body
        pushed = jvp(body.fn, self.params, self.results)
        n, k = len(body.fn.params), body.carries
        kept = sum(self.results[:k])
        # where each parameter of the plain jvp stands among the joined ones
        places = self.joined(range(n), range(n, len(pushed.params)))
        at = {old: new for new, old in enumerate(places)}

        def once(*values: Value) -> list[Value]:
            outs = pushed(*[values[at[i]] for i in range(len(values))])
            plain, dots = outs[: len(body.fn.results)], outs[len(body.fn.results) :]
            return [*plain[:k], *dots[:kept], *plain[k:], *dots[kept:]]

        return Function.build(once, *[pushed.types[i] for i in places])

    def parted(self, outs: Sequence[Value]) -> tuple[list[Value], list[Any]]:
        """Carries and ys, and their tangents, from the results of the loop."""
        k, n = self.body.carries, self.carries
        ys = len(self.body.y_types)
        dots = (*outs[k:n], *outs[n + ys :])
        return [*outs[:k], *outs[n : n + ys]], placed(self.results, dots)

    def tangents(self, tangents: Sequence[Any], operands: Sequence[Value]) -> list[Value]:
        """The tangents that the body takes, zero where there was none."""
        return [zeros_for(x) if t is None else t for x, t, m in zip(operands, tangents, self.params, strict=True) if m]
