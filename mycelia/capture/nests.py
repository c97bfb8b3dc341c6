"""Nests of tuples, lists and dictionaries, as the interpreter holds them: flattened and rebuilt like `mycelia.tree`."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from mycelia.tree import LEAF, Structure


def flattened(machine: Any, nest: Any) -> tuple[list[Any], Structure]:
    """The leaves of a nest, in order, and its structure."""
    leaves: list[Any] = []
    return leaves, _flatten(machine, nest, leaves)


def _flatten(machine: Any, nest: Any, leaves: list[Any]) -> Structure:
    nest = machine.settled(nest)
    if isinstance(nest, tuple):
        return Structure(type(nest), (), tuple(_flatten(machine, x, leaves) for x in nest))
    if type(nest) is list:
        return Structure(list, (), tuple(_flatten(machine, x, leaves) for x in machine.whole(nest)))
    if type(nest) in (dict, OrderedDict):
        items = machine.whole(nest)
        return Structure(type(nest), items[::2], tuple(_flatten(machine, x, leaves) for x in items[1::2]))
    if nest is None:
        return Structure(type(None))
    if getattr(type(nest), "__tree__", False):
        machine.refuse("a dataclass that is a nest")
    leaves.append(nest)
    return LEAF


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
