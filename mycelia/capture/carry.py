"""What a loop hands from one turn to the next: found by running its body on symbols until the types stay.

A Python number that changes from turn to turn becomes a tensor. A variable that only lives within a turn is not
carried; nor is one whose values do not fit together from turn to turn: whoever reads it is told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mycelia.capture.branch import Bottom, Way, alternative
from mycelia.capture.closing import independent
from mycelia.capture.closing import now as present
from mycelia.capture.join import as_type, described, number_type, widest
from mycelia.capture.jumps import RESULT
from mycelia.capture.stage import Stage
from mycelia.capture.unbound import Unbound
from mycelia.capture.world import Unstageable
from mycelia.errors import BranchError, Location
from mycelia.ir import Value, fresh_params
from mycelia.tree import LEAF, Structure, flatten, unflatten
from mycelia.types import TensorType

ATTEMPTS = 12  # each makes a number a tensor, widens one, or finds a change: more means that they never settle


@dataclass
class Leaf:
    """One leaf of a variable: the same in every turn, or carried with a type."""

    start: Any
    type: TensorType | None = None
    weak: bool = False  # it starts as a Python number, and takes whatever type the body gives it
    number: bool = False  # it would be a Python number, if Python ran the loop

    def first(self, stage: Stage) -> Value:
        """The value that the loop starts from."""
        assert self.type is not None, "only what is carried has a first value"
        if self.weak:
            return as_type(self.start, self.type)
        return stage.world.value(self.start)


@dataclass
class Variable:
    """A variable of the loop: leaves in a structure, or something that is not handed on."""

    name: str
    structure: Structure
    leaves: list[Leaf]
    dropped: Unbound | None = None

    def at_start(self, values: Any) -> Any:
        """The variable at the start of a turn, with values for what is carried."""
        if self.dropped is not None:
            return self.dropped
        return unflatten(self.structure, [x.start if x.type is None else next(values) for x in self.leaves])


@dataclass(frozen=True)
class Turn:
    """One turn of a loop: parameters for what it carries, what it carries then, what it returned, what happened."""

    params: tuple[Value, ...]
    results: list[Value]
    returned: Any
    effects: tuple[Value, ...]
    moment: int  # before the loop began

    def shared(self, params: Sequence[Value], *more: Value) -> list[Value]:
        """What the loop reads that is the same in every turn."""
        own = set(params)
        return [v for v in independent([*self.effects, *more, *self.results], params, self.moment) if v not in own]


@dataclass
class Carry:
    """The variables and changed places of a loop in the search for what it carries."""

    stage: Stage
    at: Location | None
    names: Sequence[str]
    get: Callable[[], tuple[Any, ...]]
    put: Callable[..., None]
    runs: bool  # at least one turn is certain
    variables: list[Variable] = field(default_factory=list)
    slots: dict[Any, tuple[Any, Variable]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.variables = [self._variable(n, x) for n, x in zip(self.names, self.get(), strict=True)]

    def _variable(self, name: str, start: Any) -> Variable:
        if isinstance(start, Unbound):
            return Variable(name, flatten(None)[1], [], start)
        leaves, structure = flatten(start)
        made = [Leaf(x) for x in leaves]
        for leaf in made:
            if isinstance(leaf.start, self.stage.world.tensor) and not self.stage.is_itself(leaf.start):
                leaf.type = self.stage.world.value(leaf.start).tensor
        return Variable(name, structure, made)

    @property
    def everything(self) -> list[Variable]:
        return [*self.variables, *[v for _, v in self.slots.values()]]

    @property
    def carried(self) -> list[Leaf]:
        return [x for v in self.everything if v.dropped is None for x in v.leaves if x.type is not None]

    def settle(self, turn: Callable[[], Any]) -> Turn:
        """Run a turn until the types stay."""
        moment = present()
        for _ in range(ATTEMPTS):
            params = fresh_params(tuple(x.type for x in self.carried if x.type is not None))
            way = alternative(self.stage, lambda params=params: self._turn(params, turn), self.get, self.put)  # type: ignore[misc]  # bound now
            if way is None:
                raise Bottom
            if not self._learn(way):
                return Turn(params, self._results(way), way.result, way.effects, moment)
        raise Unstageable("the types in a loop change with every turn", self.at)

    def _turn(self, params: Sequence[Value], turn: Callable[[], Any]) -> Any:
        values = iter([self.stage.world.wrap(v) for v in params])
        self.put(*[v.at_start(values) for v in self.variables])
        for slot, variable in self.slots.values():
            self.stage.changing(slot)
            slot.fill(variable.at_start(values))
        return turn()

    def _learn(self, way: Way) -> bool:
        """Whether the turn showed that something must be carried otherwise."""
        learned = False
        for variable, after in zip(self.variables, way.variables, strict=True):
            learned |= self._compare(variable, after)
        for slot, content in way.changes:
            if slot.key not in self.slots:
                self.slots[slot.key] = slot, self._variable(str(slot), slot.content())
                learned = True
                continue
            variable = self.slots[slot.key][1]
            learned |= self._compare(variable, content)
            if variable.dropped is not None:
                raise Unstageable(f"{slot} changes in a loop in a way that a graph cannot follow", self.at)
        return learned

    def _compare(self, variable: Variable, after: Any) -> bool:
        if variable.dropped is not None:
            return self._found_late(variable, after)
        leaves, structure = flatten(after)
        if structure != variable.structure:
            return self._drop(variable, after)
        learned = False
        for leaf, now in zip(variable.leaves, leaves, strict=True):
            fits = self._fit(leaf, now)
            if fits is None:
                return self._drop(variable, after)
            learned |= fits
        return learned

    def _found_late(self, variable: Variable, after: Any) -> bool:
        """A variable without a value before the loop gets one in it: it is there afterwards if a turn is certain."""
        filled = variable.name == RESULT or self.runs
        never = variable.dropped is not None and variable.dropped.error is None
        if not filled or not never or isinstance(after, Unbound):
            return False
        leaves, structure = flatten(after)
        made = []
        for x in leaves:
            t = self._type(x)
            if t is None:
                return False
            made.append(Leaf(0, t, weak=True, number=number_type(x) is not None))
        variable.structure, variable.leaves, variable.dropped = structure, made, None
        return True

    def _type(self, x: Any) -> TensorType | None:
        return self.stage.world.value(x).tensor if isinstance(x, self.stage.world.tensor) else number_type(x)

    def _fit(self, leaf: Leaf, now: Any) -> bool | None:
        """Whether a leaf must be carried otherwise; None if it cannot be."""
        if leaf.type is None:
            if now is leaf.start:
                return False
            if isinstance(leaf.start, self.stage.world.tensor):
                leaf.type = self.stage.world.value(leaf.start).tensor  # from now on its numbers, not itself
                return True
            if type(now) is type(leaf.start) and _equal(now, leaf.start):
                return False
            if number_type(leaf.start) is None or self._type(now) is None:
                return None
            is_tensor = isinstance(now, self.stage.world.tensor)
            leaf.type = self._type(now) if is_tensor else widest(number_type(now), number_type(leaf.start))  # type: ignore[arg-type]  # both are numbers
            leaf.weak, leaf.number = True, not is_tensor
            return True
        t = self._type(now)
        if t == leaf.type:
            return False
        if t is not None and not isinstance(now, self.stage.world.tensor):  # a number fits into any tensor of its kind
            if leaf.weak and t.dtype.is_float and not leaf.type.dtype.is_float:
                leaf.type = t
                return True
            return False if t.dtype.kind != "f" or leaf.type.dtype.is_float else None
        if not leaf.weak or t is None:
            return None
        leaf.type = t
        return True

    def _drop(self, variable: Variable, after: Any) -> bool:
        types = [str(x.type) if x.type is not None else described(x.start, self.stage) for x in variable.leaves]
        before = types[0] if variable.structure == LEAF else f"{variable.structure.kind.__name__} of {', '.join(types)}"
        error = BranchError(
            f"`{variable.name}` changes its type from one turn of this loop to the next",
            given={"before": before, "after": described(after, self.stage)},
            at=self.at,
            hint="make the body give the shape and element type that it was given",
        )
        variable.dropped = Unbound(variable.name, error)
        return True

    def _results(self, way: Way) -> list[Value]:
        contents = {slot.key: content for slot, content in way.changes}
        after = [*way.variables, *[contents[key] for key in self.slots]]
        results, ends = [], way.ends
        for variable, x in zip(self.everything, after, strict=True):
            if variable.dropped is None:
                for leaf, now in zip(variable.leaves, flatten(x)[0], strict=True):
                    if leaf.type is not None:
                        results.append(self._value(ends.get(id(now), now), leaf.type))
        return results

    def _value(self, now: Any, t: TensorType) -> Value:
        return self.stage.world.value(now) if isinstance(now, self.stage.world.tensor) else as_type(now, t)

    def only_tensors(self, others: Sequence[int]) -> bool:
        """Whether no Python number was made a tensor, except flags of jumps and the variables in `others`."""
        mine = [v for i, v in enumerate(self.variables) if i not in others and not v.name.startswith("__ms_")]
        slots = [v for _, v in self.slots.values()]
        return not any(x.number for v in (*mine, *slots) for x in v.leaves)

    def starts(self) -> list[Value]:
        """The values that the loop starts from."""
        return [x.first(self.stage) for x in self.carried]

    def finish(self, outs: Sequence[Value]) -> None:
        """Set the variables and places to what the loop leaves."""
        values = iter([self.stage.world.wrap(v) for v in outs])
        after = []
        for v in self.variables:
            if v.dropped is not None and v.dropped.error is None and v.name != RESULT:
                after.append(self._maybe(v))
            else:
                after.append(v.at_start(values))
        self.put(*after)
        for slot, variable in self.slots.values():
            self.stage.changing(slot)
            slot.fill(variable.at_start(values))

    def _maybe(self, variable: Variable) -> Unbound:
        error = BranchError(
            f"`{variable.name}` has a value after this loop only if the loop runs",
            at=self.at,
            hint=f"give `{variable.name}` a value before the loop",
        )
        return Unbound(variable.name, error)


def _equal(a: Any, b: Any) -> bool:
    try:
        return bool(a == b)
    except (ValueError, TypeError):
        return False
