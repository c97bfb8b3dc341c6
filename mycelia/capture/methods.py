"""Methods of built-in types, on values of the interpreter."""

from __future__ import annotations

from typing import Any

from mycelia.capture import models
from mycelia.capture.iteration import Iteration
from mycelia.capture.machine import DictView, Method, distributes
from mycelia.capture.slots import CONTAINERS, ITEMS, MAPPINGS
from mycelia.capture.values import UserError, is_atom, is_long, is_plain
from mycelia.capture.world import is_tensor


class Methods(Iteration):
    """`l.append(x)`, `d.get(k)`, `"".join(l)`."""

    def call_method(self, fn: Method, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        owner, name = fn.owner, fn.name
        if is_tensor(owner):
            found = getattr(type(owner), name)
            if name == "item" and not args and not options:
                value = self.value(owner)
                if not value.closed:
                    self.refuse("the number in a tensor is known only when the program runs")
            return self.native(found, (owner, *args), options)
        kind = type(owner)
        if kind in MAPPINGS and name in ("items", "keys", "values") and not args:
            return DictView(owner, name)
        if kind in CONTAINERS:
            return self.container_call(owner, name, args, options)
        if isinstance(owner, tuple):
            return self.tuple_call(owner, name, args)
        if kind is str and name == "join" and len(args) == 1:
            args = (self.all_items(args[0]),)
        if name in ("__init__", "__init_subclass__") and not is_atom(owner):
            return None if not args and not options else self.refuse("object.__init__ takes no arguments")
        if name == "__setattr__" and len(args) == 2:
            return self.set_usual(owner, args[0], (args[1],))
        if name == "__delattr__" and len(args) == 1:
            return self.set_usual(owner, args[0], ())
        return self.plain_method(owner, name, options, *args)

    def tuple_call(self, owner: Any, name: str, args: tuple[Any, ...]) -> Any:
        given = tuple(map(self.plain, (*owner, *args)))
        if not all(map(is_plain, given)):
            self.refuse("a search among values")
        return self.real(getattr(tuple(owner), name), *args)

    @distributes
    def plain_method(self, owner: Any, name: str, options: dict[str, Any], *args: Any) -> Any:
        given = [self.plain(a) for a in (owner, *args)]
        named = {k: self.plain(v) for k, v in options.items()}
        if not all(map(is_plain, (*given, *named.values()))) or (type(given[0]), name) not in models.METHODS:
            self.refuse(f"{name} of a {type(owner).__name__}")
        if (
            type(given[0]) is str
            and name in ("format", "format_map")
            and (not all(map(models.is_text, given)) or is_long(tuple(given)))
        ):
            self.refuse("objects are turned into text")
        return self.constant_result(self.real(getattr(given[0], name), *given[1:], **named))

    def container_call(self, owner: Any, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """A method of a list, dictionary or the like."""
        kind = type(owner)
        if (kind, name) not in models.CONTAINER_METHODS:
            self.refuse(f"{name} of a {kind.__name__}")
        least, most = models.ARGUMENTS[name]
        unknown = name != "update" and options.keys() - models.NAMED.get(name, set())
        if not least <= len(args) <= most or unknown:
            self.refuse(f"the arguments of {name} do not fit")
        if name == "copy":
            return self.store.container(kind, self.whole(owner))
        if kind is list and name == "extend":
            return self.extend(owner, args[0])
        elif kind is list and name == "sort":
            return self.sort(owner, **options)
        elif kind in MAPPINGS and name == "update":
            for a in args:
                self.update(owner, a)
            args = ()
        elif kind in MAPPINGS or name in ("pop", "insert", "remove", "index", "count"):
            args = (*map(self.plain, args[:1]), *args[1:])
        return self.container_method(owner, name, args, options)

    def sort(self, owner: Any, key: Any = None, reverse: Any = False) -> None:
        before = self.whole(owner)
        self.store.write(owner, ITEMS, ())  # it is empty while it is sorted
        try:
            ordered = self.model_sorted(before, key=key, reverse=reverse)
        except UserError:
            self.store.write(owner, ITEMS, before)
            raise
        if self.whole(owner) != ():
            self.refuse("a list is changed while it is sorted")
        self.store.write(owner, ITEMS, self.whole(ordered))
