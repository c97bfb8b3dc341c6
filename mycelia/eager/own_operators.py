"""Whether operators of tensors are ours: somebody may put another one on `Tensor`, as on any class of Python.

Compiled programs hold what our operators compute. While another one stands on the class, Python runs what was compiled,
and asks it. Looking at all of them takes microseconds, so no program guards those that it used, and they are looked at
again only when the dictionary of the class has changed in any way: it has a version, in Pythons up to 3.12.
"""

from __future__ import annotations

from gc import get_referents
from operator import itemgetter
from types import MappingProxyType
from typing import Any

from mycelia.eager.parameter import Parameter
from mycelia.eager.tensor import Tensor
from mycelia.runtime.seen import version


class OwnOperators:
    """The special methods that a class has now, and whether they are still those and no others.

    >>> class Number:
    ...     __neg__ = __abs__ = lambda self: self
    >>> own = OwnOperators(vars(Number))
    >>> Number.__neg__ = lambda self: 0
    >>> own.stand()
    False
    """

    def __init__(self, members: MappingProxyType[str, Any]) -> None:
        self.members = members
        (self.dictionary,) = get_referents(members)
        self.notice()

    def notice(self) -> None:
        """Take what stands on the class now for ours."""
        self.names = frozenset(_special(self.members))
        self.found = itemgetter(*sorted(self.names))
        self.ours, self.known = self.found(self.members), frozenset(self.members)
        self.version: bytes | None = None  # with which all stood

    def stand(self) -> bool:
        """Whether nobody has put another one in the place of one, taken one away, or added one."""
        now = version(self.dictionary)
        if now is not None and now == self.version:
            return True
        stand = self._all_stand()
        self.version = now if stand else None
        return stand

    def _all_stand(self) -> bool:
        try:
            if self.found(self.members) != self.ours:
                return False
        except KeyError:
            return False
        if self.members.keys() == self.known:
            return True
        if self.names == frozenset(_special(self.members)):  # methods that are loaded when they are asked for
            self.known = frozenset(self.members)
            return True
        return False


def _special(members: MappingProxyType[str, Any]) -> list[str]:
    return [name for name, x in members.items() if name in TYPES or (name.startswith("__") and callable(x))]


TYPES = frozenset(("shape", "dtype", "ndim", "size", "itemsize", "nbytes", "strides", "device"))  # known of a program


of_tensors, of_parameters = OwnOperators(vars(Tensor)), OwnOperators(vars(Parameter))
