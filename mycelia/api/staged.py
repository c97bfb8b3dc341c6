"""Gradients inside a captured program: the function is captured by itself, and differentiated as a graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from mycelia import capture
from mycelia.api.linear import Weights, filled, fitting, linearized
from mycelia.capture.closing import closed, independent, now
from mycelia.capture.text import Text
from mycelia.eager import Tensor, as_value, wrap
from mycelia.ir import Value, fresh_params, region, substitute, toposort
from mycelia.transforms import jvp, vjp
from mycelia.tree import flatten, unflatten
from mycelia.types import cotangent_type


def linearize(
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    positions: Sequence[int],
    weights: Weights,
    has_aux: bool,
) -> linearized:
    """A call of `fn` with the linear maps beside it: by the tape, or as a graph while a program is being captured."""
    kind = linearized if capture.current() is None else Staged
    return kind(fn, args, kwargs, positions, weights, has_aux)


class Staged(linearized):
    """One call of `fn` in a captured program. It runs on fresh parameters in place of what is differentiated, so that
    it is a function of its own; the derivative of that is put in its place, with the arguments as they were.
    """

    def __enter__(self) -> Staged:
        fn, args, kwargs, positions, has_aux = self.call
        stage = capture.current()
        assert stage is not None, "a staged gradient needs a capture"
        self.recording.nested = True
        marked, self.leaves, self.structures = self._marked(args, positions)
        originals = [as_value(x) for x in (*self.leaves, *self.weights)]
        self.inputs = [wrap(v) for v in originals]
        mark, moment = len(stage.log), now()
        fresh = fresh_params(tuple(v.type for v in originals))
        for x, param in zip((*self.leaves, *self.weights), fresh, strict=True):
            stage.world.hold(x, param)
        try:
            with region() as inside:
                outputs = capture.call(fn, *marked, **kwargs)
            slots = stage.changed_since(mark)
            leaves, structure = flatten((outputs, [slot.content() for slot in slots]))
            if any(isinstance(x, Text) for x in leaves):
                raise capture.Unstageable("a text about tensors leaves a gradient")
            values = [as_value(x) for x in leaves if isinstance(x, Tensor)]  # as they are before all is undone
        finally:
            stage.undo(mark)
            for w, v in zip(self.weights, originals[len(self.leaves) :], strict=True):
                stage.world.hold(w, v)
        count = len(self._differentiated(outputs, has_aux))
        found = iter(self._derived(fresh, originals, values, inside.effects, moment, count))
        made = [wrap(next(found)) if isinstance(x, Tensor) else x for x in leaves]
        self.differentiated = self._differentiated(unflatten(structure, made)[0], has_aux)
        kept = [x if stage.is_itself(x) else new for x, new in zip(leaves, made, strict=True)]
        self.outputs, contents = unflatten(structure, kept)
        for slot, content in zip(slots, contents, strict=True):
            stage.changing(slot)
            slot.fill(content)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def _leaf(self, x: Tensor) -> Tensor:
        """A tensor of its own in place of an argument."""
        return wrap(as_value(x))

    def _derived(
        self,
        fresh: Sequence[Value],
        originals: Sequence[Value],
        values: Sequence[Value],
        effects: Sequence[Value],
        moment: int,
        count: int,
    ) -> Sequence[Value]:
        """All that the call gave, at the original arguments, computed such that the way back from the first `count`
        is known.
        """
        captured = [v for v in independent([*effects, *values], fresh, moment) if v not in set(fresh)]
        self.function = closed((*fresh, *captured), values, effects)
        self.operands = (*originals, *captured)
        self.wrt = (*[True] * len(fresh), *[False] * len(captured))
        types = self.function.result_types
        self.live = tuple(i < count and t.differentiable for i, t in enumerate(types))
        joint = vjp(self.function, self.wrt, self.live)
        self.given = fresh_params(tuple(cotangent_type(t) for t, m in zip(types, self.live, strict=True) if m))
        with region() as inside:
            found = joint(*self.operands, *self.given)
        stage = capture.current()
        assert stage is not None, "a staged gradient needs a capture"
        late = [v for v in inside.effects if not set(toposort([v])).isdisjoint(self.given)]
        stage.region.adopt([v for v in inside.effects if v not in late])  # `back` makes the others
        self.late = late
        self.pulled = found[len(values) :]
        return found[: len(values)]

    def back(self, cotangents: list[Any] | None, once: bool = False) -> tuple[list[Any], list[Tensor]]:
        """Cotangents of the arguments and of the weights, from those of the results (ones, if not given)."""
        cts = [as_value(ct) for ct, m in zip(self._cotangents(cotangents), self.live, strict=False) if m]
        new = substitute((*self.late, *self.pulled), dict(zip(self.given, cts, strict=True)))
        pulled = iter([wrap(v) for v in new[len(self.late) :]])
        by_argument = [unflatten(s, [next(pulled) for _ in range(s.leaves)]) for s in self.structures]
        return by_argument, list(pulled)

    def forward(self, tangents: list[Any]) -> list[Tensor]:
        """Tangents of the results, from those of the inputs."""
        if self.function.effects:
            raise capture.Unstageable("an effect inside a forward-mode derivative, which would happen again")
        given = [as_value(fitting(t, x)) for t, x in zip(tangents, self.inputs, strict=True)]
        moved = iter(jvp(self.function, self.wrt, self.live)(*self.operands, *given)[len(self.function.results) :])
        chosen = zip(self.differentiated, self.live, strict=False)
        return [wrap(next(moved)) if m else filled(x, 0) for x, m in chosen]
