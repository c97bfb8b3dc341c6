"""Nested tuples, lists, dicts and dataclasses of leaves: flattened for functions, rebuilt for people."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any


@dataclasses.dataclass(frozen=True, slots=True)
class Structure:
    """The shape of a nest, without its leaves. Equal structures rebuild equal nests."""

    kind: Any  # None for a leaf, else the class of the container
    keys: tuple[Any, ...] = ()
    children: tuple[Structure, ...] = ()

    @property
    def leaves(self) -> int:
        return 1 if self.kind is None else sum(c.leaves for c in self.children)


LEAF = Structure(None)


def flatten(nest: Any) -> tuple[list[Any], Structure]:
    """The leaves of a nest, in order, and the structure that rebuilds it.

    >>> leaves, structure = flatten({"a": 1, "b": (2, [3])})
    >>> leaves, unflatten(structure, [10, 20, 30])
    ([1, 2, 3], {'a': 10, 'b': (20, [30])})
    """
    leaves: list[Any] = []
    return leaves, _flatten(nest, leaves)


def _flatten(nest: Any, leaves: list[Any]) -> Structure:
    opened = _open(nest)
    if opened is None:
        leaves.append(nest)
        return LEAF
    keys, children = opened
    return Structure(type(nest), keys, tuple(_flatten(c, leaves) for c in children))


def _open(nest: Any) -> tuple[tuple[Any, ...], Iterable[Any]] | None:
    """The keys and children of a container, or None for a leaf."""
    if isinstance(nest, tuple | list):
        return (), nest
    if isinstance(nest, dict):
        return tuple(nest), nest.values()
    if nest is None:
        return (), ()
    if dataclasses.is_dataclass(nest) and not isinstance(nest, type) and getattr(nest, "__tree__", False):
        names = tuple(f.name for f in dataclasses.fields(nest))
        return names, [getattr(nest, n) for n in names]
    return None


def unflatten(structure: Structure, leaves: Sequence[Any]) -> Any:
    """The nest of this structure around `leaves`.

    >>> unflatten(flatten([1, None, (2,)])[1], "ab")
    ['a', None, ('b',)]
    """
    return _unflatten(structure, iter(leaves))


def _unflatten(structure: Structure, leaves: Any) -> Any:
    kind = structure.kind
    if kind is None:
        return next(leaves)
    children = [_unflatten(c, leaves) for c in structure.children]
    if kind is type(None):
        return None
    if issubclass(kind, dict):
        return kind(dict(zip(structure.keys, children, strict=True)))  # of pairs, a Counter would count them
    if structure.keys:
        return kind(**dict(zip(structure.keys, children, strict=True)))
    if hasattr(kind, "_fields"):
        return kind(*children)
    return kind(children)


def tree_map(f: Callable[..., Any], nest: Any, *others: Any) -> Any:
    """The nest with `f` applied to every leaf, together with the leaves of nests of the same structure.

    >>> tree_map(lambda x, y: x + y, {"a": 1, "b": [2]}, {"a": 10, "b": [20]})
    {'a': 11, 'b': [22]}
    """
    leaves, structure = flatten(nest)
    columns = [leaves]
    for other in others:
        more, same = flatten(other)
        if same != structure:
            raise ValueError(f"nests differ in structure: {structure} and {same}")
        columns.append(more)
    return unflatten(structure, [f(*row) for row in zip(*columns, strict=True)])
