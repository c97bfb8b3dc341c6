"""Nests of tuples, lists and dictionaries, as the interpreter holds them: flattened and rebuilt like `mycelia.tree`."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from itertools import count
from typing import Any

from mycelia.capture.values import Either
from mycelia.tree import LEAF, Structure

MOST = 50_000  # leaves and nests inside: one that stands in several places counts as often


def flattened(machine: Any, nest: Any, as_one: bool = False) -> tuple[list[Any], Structure]:
    """The leaves of a nest, in order, and its structure. Nests of two ways are `as_one` if they have one structure:
    each of the leaves is then one of two.
    """
    leaves: list[Any] = []
    return leaves, _flatten(machine, nest, leaves, as_one, count())


def _flatten(machine: Any, nest: Any, leaves: list[Any], as_one: bool, met: Iterator[int]) -> Structure:
    if next(met) > MOST:
        machine.refuse(f"a nest of more than {MOST} things would be looked through")
    if nest.__class__ is Either:
        nest = machine.joined(nest) if as_one else machine.settled(nest)
        if as_one and isinstance(nest, Either):
            return _flatten_both(machine, nest, leaves)

    def flatten(parts: tuple[Any, ...]) -> tuple[Structure, ...]:
        return tuple([_flatten(machine, x, leaves, as_one, met) for x in parts])

    if isinstance(nest, tuple):
        return Structure(type(nest), (), flatten(nest))
    if type(nest) is list:
        return Structure(list, (), flatten(machine.whole(nest)))
    if type(nest) in (dict, OrderedDict):
        items = machine.whole(nest)
        return Structure(type(nest), items[::2], flatten(items[1::2]))
    if nest is None:
        return Structure(type(None))
    if getattr(type(nest), "__tree__", False):
        machine.refuse("a dataclass that is a nest")
    leaves.append(nest)
    return LEAF


def _flatten_both(machine: Any, nest: Either, leaves: list[Any]) -> Structure:
    sides = []
    for side, taken in ((nest.yes, True), (nest.no, False)):
        with machine.under(nest.cond, taken):
            sides.append(flattened(machine, side, as_one=True))
    (yes, structure), (no, other) = sides
    if structure != other:
        machine.refuse("two ways give nests of different structures")
    leaves += [a if a is b else machine.joined(Either(nest.cond, a, b)) for a, b in zip(yes, no, strict=True)]
    return structure


def rebuilt(machine: Any, structure: Structure, leaves: list[Any]) -> Any:
    """The nest of this structure around `leaves`."""
    return _rebuild(machine, structure, iter(leaves))


def _rebuild(machine: Any, structure: Structure, leaves: Any) -> Any:
    kind = structure.kind
    if kind is None:
        return next(leaves)
    children = tuple([_rebuild(machine, c, leaves) for c in structure.children])
    if kind is type(None):
        return None
    if kind is list:
        return machine.store.container(list, children)
    if kind in (dict, OrderedDict):
        pairs = tuple(x for pair in zip(structure.keys, children, strict=True) for x in pair)
        return machine.store.container(kind, pairs)
    return tuple.__new__(kind, children)
