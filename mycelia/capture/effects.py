"""Effects: what a program does that somebody sees. Printing, and Python functions of arrays, are parts of programs.

A print is an ordered value of the graph: it happens once, in order, where the program comes by. Where a program may
turn out to raise, its words are kept until it has ended well (`texts.keeping`). A Python function of the user may do
anything, so a program that calls one changes nothing outside and may not fail by itself; what it read is compared
again when the function has run.
"""

from __future__ import annotations

import functools
import operator
from collections import OrderedDict
from dis import get_instructions
from types import BuiltinFunctionType, CellType, FunctionType, MethodType
from typing import Any

import numpy as np

from mycelia.capture.holding import held, there
from mycelia.capture.machine import KINDS, Method, distributes
from mycelia.capture.methods import Methods
from mycelia.capture.models import is_text
from mycelia.capture.slots import CONTENTS
from mycelia.capture.tensors import Real
from mycelia.capture.texts import LateText, Nested, Printing, Raw, Shown, places, together
from mycelia.capture.values import Either, HostNumber, Number, is_atom, is_plain
from mycelia.capture.world import is_tensor
from mycelia.eager import Parameter
from mycelia.primitives import Callee, HostCall
from mycelia.sizes import Sym

SETTINGS = {"sep": (str, type(None)), "end": (str, type(None)), "flush": (bool,), "file": (type(None),)}


class Effects(Methods):
    """`print(x)`, `f"{x}"`, `ops.pyfunc(f, like, x)`."""

    # ----------------------------------------------------------------------------------------------------------- texts

    def is_late(self, x: Any) -> bool:
        """Whether a text with this in it has to wait for numbers."""
        x = self.settled(x)
        if is_tensor(x) or isinstance(x, LateText | Number | Either | Sym):
            return True
        if isinstance(x, tuple):
            return any(map(self.is_late, x))
        if type(x) is list:
            return any(map(self.is_late, self.whole(x)))
        return type(x) in (dict, OrderedDict) and any(map(self.is_late, self.whole(x)[1::2]))

    def words(self, x: Any) -> Any:
        """A value as a part of a text, as it is now."""
        x = self.joined(x)
        kind = type(x)
        if kind is Parameter:
            return self.parameter_words(x)
        if is_tensor(x):
            return Shown(self.value(x))
        if isinstance(x, HostNumber | Number | Sym):
            number = self.number_kind(x)
            return Shown(self.select(x, KINDS[number]), number)  # type: ignore[index]
        if isinstance(x, LateText):
            return x
        if kind is tuple:
            return Nested(tuple, tuple(map(self.words, x)))
        if kind is list:
            return Nested(list, tuple(map(self.words, self.whole(x))))
        if kind is dict:
            items = self.whole(x)
            if not all(map(is_text, items[::2])):
                self.refuse("a dictionary with objects as keys is turned into text")
            return Nested(dict, tuple(map(self.words, items[1::2])), items[::2])
        if is_text(x):
            return x
        if isinstance(x, Either):
            self.refuse("one of several values is turned into text")
        return self.refuse(f"a {self.class_of(x).__name__} is turned into text")

    def parameter_words(self, x: Parameter) -> Raw:
        stand_in = object.__new__(Parameter)
        stand_in._data, stand_in._tape = self.value(x), None
        vars(stand_in).update({n: self.plain(self.read(x, ("attr", n))) for n in ("name", "requires_grad")})
        if not all(is_plain(v) for v in vars(stand_in).values()):
            self.refuse("a parameter with an unknown name is turned into text")
        return Raw(Parameter.__repr__(stand_in))

    @distributes
    def text(self, fn: Any, x: Any, *spec: Any) -> Any:
        """A value as text."""
        if self.is_late(x):
            return LateText(fn, (self.words(x), *map(self.plain, spec)))
        return super().text(fn, x, *spec)

    def joined_text(self, parts: list[Any]) -> Any:
        """An f-string."""
        return self.text_of_parts(*parts)

    @distributes
    def text_of_parts(self, *parts: Any) -> Any:
        if any(isinstance(q, LateText) for q in parts):
            return LateText(together, parts)
        return super().joined_text(list(parts))

    def text_operator(self, name: str, x: Any, y: Any) -> Any:
        """`"%s" % x`, `text + text`."""
        if name in ("add", "iadd") and all(isinstance(v, str | LateText) for v in (x, y)):
            return LateText(operator.add, (x, y))
        if name == "mod" and isinstance(x, str | LateText):
            return LateText(operator.mod, (x, self.words(y)))
        return self.refuse("a text about tensors is looked at")

    def call_method(self, fn: Method, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        late = type(fn.owner) is str and not options and any(map(self.is_late, args))
        if late and fn.name == "format":
            return LateText(fn.owner.format, tuple(map(self.words, args)))
        if late and fn.name == "join" and len(args) == 1 and type(args[0]) in (list, tuple):
            items = self.all_items(args[0])
            if all(isinstance(v, str | LateText) for v in items):
                return LateText(fn.owner.join, (Nested(list, items),))
        return super().call_method(fn, args, options)

    # -------------------------------------------------------------------------------------------------------- printing

    def model_print(self, *args: Any, **settings: Any) -> None:
        """`print(...)`."""
        given = {k: self.plain(v) for k, v in settings.items()}
        if any(k not in SETTINGS or type(v) not in SETTINGS[k] for k, v in given.items()):
            self.refuse("print has an effect each time it runs")
        self.printed(given, *map(self.joined, args))

    @distributes
    def printed(self, settings: dict[str, Any], *args: Any) -> None:
        words = tuple(map(self.words, args))
        operands = [place.value for w in words for place in places(w)]
        self.happen(Callee(Printing(words, settings), "print", raises=False), operands)

    def happen(self, callee: Callee, operands: list[Any]) -> None:
        """Python is called here, each time the program comes by."""
        self.check_effects()
        self.located()
        HostCall(callee, ())(*operands)

    # ---------------------------------------------------------------------------------------------- functions of arrays

    def call_python(self, fn: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """`ops.pyfunc(python, like, *args)`."""
        if not args or self.tries or options.keys() - {"stateful"}:
            self.refuse("a Python function is called, which has an effect each time it runs")
        self.check_effects()
        python = Real(self.alone(self.settled(args[0])))
        return self.native(fn, (python, *args[1:]), options)

    def alone(self, fn: Any) -> Any:
        """A Python function as a program calls it: itself, and the same at every call; or one that the program has
        made, with the variables around it as they are now.
        """
        if isinstance(fn, Method) and not self.store.is_fresh(fn.owner) and not is_atom(fn.owner):
            return getattr(self.pinned(fn.owner), fn.name)
        if not self.store.is_fresh(fn):
            if not callable(fn):
                self.refuse("something that is no function is called")
            return OuterFunction(self.pinned(fn, weakly=True))
        if type(fn) is MethodType:
            func, owner = (self.whole(fn, ("field", name)) for name in ("__func__", "__self__"))
            return OuterFunction(self.alone(func), self.pinned(owner, weakly=True))
        if type(fn) is not FunctionType:
            self.refuse("a Python function that the program makes is called")
        fields = {n: self.whole(fn, ("field", n)) for n in ("__code__", "__globals__", "__defaults__", "__closure__")}
        code = fields["__code__"]
        changed = {i.argval for i in get_instructions(code) if i.opname in ("STORE_DEREF", "DELETE_DEREF")}
        if not changed.isdisjoint(code.co_freevars) or not is_plain(fields["__defaults__"]):
            self.refuse("a Python function that the program calls assigns to a variable around it")
        if self.whole(fn, ("field", "__kwdefaults__")) is not None:
            self.refuse("a Python function that the program makes has defaults by name")
        cells = tuple(self.cell_alone(c) for c in fields["__closure__"] or ())
        return FunctionType(code, fields["__globals__"], code.co_name, fields["__defaults__"], cells)

    def cell_alone(self, cell: CellType) -> CellType:
        if not self.store.is_fresh(cell):
            return self.pinned(cell)  # type: ignore[no-any-return]
        held = self.plain(self.whole(cell, CONTENTS))
        if is_tensor(held) or isinstance(held, LateText):
            self.refuse("a Python function that the program calls reads a tensor around it")
        if is_plain(held) or is_atom(held):
            return CellType(held)
        return CellType(self.alone(held) if isinstance(held, FunctionType) else self.pinned(held))

    def pinned(self, thing: Any, weakly: bool = False) -> Any:
        """An object from outside that must be the very same at every call. Where it is not known weakly, it must be
        one that the function itself holds.
        """
        if is_atom(thing) or isinstance(thing, BuiltinFunctionType | np.ufunc):
            return thing
        if self.store.is_fresh(thing) or isinstance(thing, tuple | functools.partial):
            self.refuse(f"a Python function that the program calls knows a {type(thing).__name__} of the program")
        self.store.world.pin(thing, weakly)
        return thing


class OuterFunction:
    """A Python function from outside as a program calls it, alone or as a method: the program does not keep it."""

    def __init__(self, fn: Any, *owner: Any) -> None:
        self.parts = [kept if (kept := held(x)) is not None else x for x in (fn, *owner)]
        self.__name__ = getattr(fn, "__name__", type(fn).__name__)

    def __call__(self, *arrays: Any) -> Any:
        """Call it: the guard says that it is there."""
        fn, *owner = map(there, self.parts)
        return fn(*owner, *arrays)
