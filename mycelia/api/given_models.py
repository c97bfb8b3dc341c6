"""What a gradient that the user gives (`api.given`) means inside a captured program."""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType
from typing import Any

from mycelia.api import given
from mycelia.api.models import moved_positions
from mycelia.api.nested import enclosed, forked
from mycelia.capture.nests import flattened, rebuilt
from mycelia.capture.registered import REGISTERED
from mycelia.capture.texts import LateText
from mycelia.capture.values import Either, Number, UserError
from mycelia.capture.world import is_tensor
from mycelia.ir import Value, fresh_params, region


class EnclosedCall:
    """A call on tensors of its own, as a closed function of them and of what it reads beside them."""

    def __init__(self, machine: Any, originals: Sequence[Value], fn: Any, args: Any) -> None:
        params = fresh_params(tuple(v.type for v in originals))
        base = machine.store
        asked, machine.positions = machine.positions, {}
        try:
            with forked(machine) as inner:
                with region() as inside:
                    result = machine.joined(machine.call(fn, args([inner.tensor(v) for v in params]), {}))
                found, self.shape = flattened(machine, result)
                self.found = [machine.joined(x) for x in found]
                if any(isinstance(x, LateText | Either | Number) for x in self.found):
                    machine.refuse("a function with a gradient of its own returns what depends on values")
                outs = [machine.value(x) for x in self.found if is_tensor(x)]
            self.positions = machine.positions
        finally:
            machine.positions = asked
        if inside.effects or any(id(obj) not in inner.made for obj, _, _ in inner.differences(base)):
            machine.refuse("a function with a gradient of its own changes something outside")
        self.params = params
        self.function, self.captured = enclosed(machine, params, outs)


def model_with_gradient(machine: Any, fn: FunctionType, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """`with_gradient(construct, bprop, args)`: one value of the graph, with both functions."""
    construct, bprop, items = args
    leaves, nest = flattened(machine, machine.all_items(items))
    originals = [machine.value(x) for x in leaves if is_tensor(x)]
    n = len(originals)
    forward = EnclosedCall(
        machine, originals, construct, lambda new: rebuilt(machine, nest, given.with_tensors(leaves, new, is_tensor))
    )
    new = dict(zip(forward.params, originals, strict=True))
    machine.positions = machine.positions | moved_positions(forward.positions, new)
    if not forward.function.results:
        machine.refuse("a function with a gradient of its own returns no tensor")
    outs = list(forward.function(*originals, *forward.captured))
    m = len(outs)

    def call(machine: Any, tensors: list[Any]) -> tuple[Any, ...]:
        arguments = rebuilt(machine, nest, given.with_tensors(leaves, tensors[:n], is_tensor))
        out, dout = (
            rebuilt(machine, forward.shape, given.with_tensors(forward.found, t, is_tensor))
            for t in (tensors[n : n + m], tensors[n + m :])
        )
        return (*machine.all_items(arguments), out, dout)

    try:
        back = EnclosedCall(machine, [*originals, *outs, *outs], bprop, lambda tensors: call(machine, tensors))
    except UserError:
        machine.refuse("a gradient of its own raises")  # perhaps nobody asks for it
    if back.positions:
        machine.refuse("positions that a gradient of its own computes")
    try:
        gradients = given.gradient_places(
            back.function, back.shape, [is_tensor(x) for x in back.found], nest, [is_tensor(x) for x in leaves]
        )
    except given.UnlikeArgument:
        machine.refuse("gradients that do not fit the arguments")
    parts = given.Closure(forward.function, forward.captured), given.Closure(back.function, back.captured)
    made = [machine.store.tensor(v) for v in given.one_value(*parts, originals, gradients)]
    return rebuilt(machine, forward.shape, given.with_tensors(forward.found, made, is_tensor))


REGISTERED[given.with_gradient.__code__] = model_with_gradient
