"""Going back along a tape: from cotangents of results to cotangents of the inputs of one gradient."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mycelia.cost import HOLDERS_FROM
from mycelia.eager.dispatch import Ready
from mycelia.eager.quiet import quietly
from mycelia.eager.tape import Tape
from mycelia.eager.tensor import Tensor, wrap
from mycelia.primitives import Slice


def pull_back(tape: Tape, seeds: Mapping[int, Any], leaves: Sequence[int], used_up: bool = False) -> list[Any]:
    """First derivatives, along a whole tape: arrays in, arrays out, None where nothing flows.

    `used_up`: the records may go as we pass them, and what they hold with them.
    """
    return quietly(_pull_back, tape, seeds, leaves, used_up)  # type: ignore[no-any-return]


def _pull_back(tape: Tape, seeds: Mapping[int, Any], leaves: Sequence[int], used_up: bool) -> list[Any]:
    cts: list[Any] = [None] * len(tape)
    own: set[int] = set()  # places whose cotangent nobody else holds: it may be added to where it lies
    for place, seed in seeds.items():
        cts[place] = seed
    for here in range(len(tape) - 1, -1, -1):
        step, places, needed, inputs, out = tape.pop() if used_up else tape[here]
        if step is None:
            continue
        ct = cts[here]
        if out.__class__ is tuple:
            ct = tuple(cts[here + 1 : here + 1 + len(out)])
            if all(c is None for c in ct):
                continue
        elif ct is None:
            continue
        cts[here] = None
        own.discard(here)
        if step.__class__ is Ready and step.op.__class__ is Slice and inputs[0].size >= HOLDERS_FROM:
            (place,) = places
            cts[place] = _added_at(step.op, cts[place], place in own, ct, inputs[0])
            own.add(place)
            continue
        for place, flowing in zip(places, step.pull(needed, ct, out, inputs), strict=True):
            if flowing is not None and place >= 0:
                before = cts[place]
                if before is None:
                    cts[place] = flowing
                elif place in own:
                    before += flowing
                else:
                    cts[place] = before + flowing
                    if flowing.size >= HOLDERS_FROM:
                        own.add(place)
    return [cts[place] for place in leaves]


def _added_at(op: Slice, before: Any, own: bool, ct: Any, x: Any) -> Any:
    """What flows to a tensor of which a part was taken: the part's is added where it lies, and nothing else is touched.
    So a tensor that is cut into pieces is gone through once, and not once for each of them.
    """
    if before is None:
        total = np.zeros(x.shape, ct.dtype)
        op.reference(total)[...] = ct
        return total
    total = before if own else before.copy()
    op.reference(total)[...] += ct
    return total


def derive_back(
    tape: Tape, start: int, stop: int, seeds: Mapping[int, Tensor], leaves: Sequence[int]
) -> list[Tensor | None]:
    """Derivatives that can be differentiated again: tensors in, tensors out, every step recorded."""
    needed_places = _dependent(tape, start, stop, leaves)
    cts: dict[int, Tensor] = dict(seeds)
    for here in range(stop - 1, start - 1, -1):
        if here not in needed_places:
            continue
        step, places, _, inputs, out = tape[here]
        if step is None or here in leaves:
            continue
        if out.__class__ is tuple:
            ct: Any = tuple(cts.pop(here + 1 + i, None) for i in range(len(out)))
            if all(c is None for c in ct):
                continue
            result: Any = tuple(wrap(o, tape, here + 1 + i) for i, o in enumerate(out))
        else:
            if here not in cts:
                continue
            ct, result = cts.pop(here), wrap(out, tape, here)
        needed = tuple(place in needed_places for place in places)
        tensors = tuple(wrap(x, tape, place) for x, place in zip(inputs, places, strict=True))
        for place, wanted, flowing in zip(places, needed, step.derive(needed, ct, result, tensors), strict=True):
            if wanted and flowing is not None:
                cts[place] = as_tensor(flowing) if place not in cts else cts[place] + as_tensor(flowing)
    return [cts.get(place) for place in leaves]


def as_tensor(x: Any) -> Tensor:
    """A cotangent that is a constant comes as a value of the graph."""
    return x if isinstance(x, Tensor) else Tensor(x)


def _dependent(tape: Tape, start: int, stop: int, leaves: Sequence[int]) -> set[int]:
    """The places of everything on this stretch that depends on the leaves."""
    found = set(leaves)
    for here in range(start, stop):
        _, places, _, _, out = tape[here]
        if any(place in found for place in places):
            found.add(here)
            if out.__class__ is tuple:
                found.update(range(here + 1, here + 1 + len(out)))
    return found
