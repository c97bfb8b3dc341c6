"""The written form of functions, for people and for files: `parse(show(fn)) == fn`.

    fn @0(%0: f32[]) {
      %1: f32[] = multiply(%0, %0)
      return %1
    }

    fn(%0: f32[3], %1: f32[]) {
      %2: f32[3] = full[number=2.0, dtype=f32, shape=(3,)]()
      %3: tuple<f32[]> = call[fn=@0](%1)
      ...
    }

Functions among the attributes of ops stand before the function that mentions them, under a number. Locations are not
written. Everything else is: data in full, and what is known of sizes (see `mycelia.notation`). What must happen though
nobody may read it is listed before the results, in order: `effects %4, %7`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from mycelia.ir.function import Function
from mycelia.ir.op import Op, registry
from mycelia.ir.region import region
from mycelia.ir.value import Param, Value
from mycelia.ir.verify import inner_functions
from mycelia.notation import Tokens, data_text, dim_text, names_of_type, size_lines, tuple_text, type_text
from mycelia.sizes import Name, Sym
from mycelia.types import DType, Type


def show(fn: Function) -> str:
    """The text of a function.

    >>> from mycelia.types import TensorType, float32
    >>> print(show(Function.build(lambda x: x, TensorType(float32, (2,)))))
    fn(%0: f32[2]) {
      return %0
    }
    """
    writer = _Writer()
    writer.inner(fn)
    last = writer.block(fn, "")
    sizes = "\n".join(size_lines(writer.sizes))
    return "\n\n".join([*([sizes] if sizes else []), *writer.blocks, last])


class _Writer:
    """What is written so far: inner functions, and the names of sizes."""

    def __init__(self) -> None:
        self.numbers: dict[Function, str] = {}
        self.blocks: list[str] = []
        self.sizes: set[Name] = set()

    def inner(self, fn: Function) -> None:
        """Write the functions among the attributes of ops."""
        for v in fn.values():
            for inner in reversed(inner_functions(v.op)):
                if inner not in self.numbers:
                    self.inner(inner)
                    self.numbers[inner] = f"@{len(self.numbers)}"
                    self.blocks.append(self.block(inner, " " + self.numbers[inner]))

    def block(self, fn: Function, name: str) -> str:
        names = {v: f"%{i}" for i, v in enumerate(fn.params)}
        head = ", ".join(f"{names[v]}: {self.type(v.type)}" for v in fn.params)
        lines = []
        for v in fn.values():
            if isinstance(v.op, Op):
                names[v] = f"%{len(names)}"
                inputs = ", ".join(names[x] for x in v.inputs)
                lines.append(f"  {names[v]}: {self.type(v.type)} = {self.op(v.op)}({inputs})")
        if fn.effects:
            lines.append(f"  effects {', '.join(names[e] for e in fn.effects)}")
        lines.append(f"  return {', '.join(names[r] for r in fn.results)}".rstrip())
        return f"fn{name}({head}) {{\n" + "\n".join(lines) + "\n}"

    def op(self, op: Op) -> str:
        attributes = ", ".join(f"{k}={self.attribute(a)}" for k, a in op.attributes().items())
        return f"{op.name}[{attributes}]" if attributes else op.name

    def type(self, t: Type) -> str:
        self.sizes |= names_of_type(t)
        return type_text(t)

    def attribute(self, a: Any) -> str:
        if isinstance(a, tuple):
            return tuple_text(map(self.attribute, a))
        if isinstance(a, str) or hasattr(a, "written"):  # what lives in this process only has a name
            return json.dumps(getattr(a, "written", a))
        if isinstance(a, Function):
            return self.numbers[a]
        if isinstance(a, Type):
            return self.type(a)
        if isinstance(a, np.ndarray):
            return data_text(a)
        if isinstance(a, Sym):
            self.sizes |= a.names()
            return dim_text(a)
        if isinstance(a, complex):
            return f"complex<{a.real!r}, {a.imag!r}>"
        assert a is None or isinstance(a, int | float | DType), f"{a!r} has no written form"
        return a.short if isinstance(a, DType) else repr(a)


# ------------------------------------------------------------------------------------------------ parsing


def parse(text: str, sizes: Mapping[str, Name] | None = None) -> Function:
    """The function that `show` wrote. Names of sizes are taken from `sizes`, if it has them; else they are new.

    >>> parse("fn(%0: f32[2]) { return %0, %0 }").result_types[1]
    TensorType(dtype=float32, shape=(2,))
    """
    reader = _Reader(text, sizes)
    reader.size_lines()
    functions: dict[str, Function] = {}
    while True:
        name, fn = reader.function(functions)
        if not name:
            reader.end()
            return fn
        functions[name] = fn


class _Reader(Tokens):
    """Functions, line by line."""

    what = "a function"

    def function(self, functions: dict[str, Function]) -> tuple[str, Function]:
        self.take("word", "fn")
        name = self.take("block") if self.next[0] == "block" else ""
        self.take("mark", "(")
        values: dict[str, Value] = {}
        for slot, (param, t) in enumerate(self.several(")", self.typed)):
            values[param] = Value(Param(slot, t))
        params = tuple(values.values())
        self.take("mark", "{")
        with region(closed=True) as inside:
            while not self.skip("return"):
                if self.skip("effects"):
                    self.effects(values, inside.effects)
                else:
                    self.line(values, functions)
        results = self.several("}", lambda: self.known("value", values))
        return name, Function(params, tuple(results), tuple(inside.effects))

    def effects(self, values: dict[str, Value], made: list[Value]) -> None:
        """What is listed as effects, which is what the lines above it say."""
        listed = [self.known("value", values)]
        while self.skip(","):
            listed.append(self.known("value", values))
        if listed != made:
            raise self.wrong(f"lists {len(listed)} effects, and {len(made)} values have effects")

    def typed(self) -> tuple[str, Type]:
        name = self.take("value")
        self.take("mark", ":")
        return name, self.type()

    def line(self, values: dict[str, Value], functions: dict[str, Function]) -> None:
        at = self.next[2]
        name, t = self.typed()
        self.take("mark", "=")
        op = self.known("word", registry)
        attributes = dict(self.several("]", lambda: self.named(functions))) if self.skip("[") else {}
        self.take("mark", "(")
        inputs = tuple(self.several(")", lambda: self.known("value", values)))
        values[name] = made = Value(op(**attributes), inputs)
        if made.type != t:
            raise self.wrong(f"is not right: {name} is written as {t}, but {made.op} gives {made.type}", at)

    def named(self, functions: dict[str, Function]) -> tuple[str, Any]:
        name = self.take("word")
        self.take("mark", "=")
        return name, self.attribute(functions)

    def attribute(self, functions: dict[str, Function]) -> Any:
        kind, text, _ = self.next
        if kind == "number":
            return self.number()
        if kind == "string":
            return self.string()
        if kind == "block":
            return self.known(kind, functions)
        if self.sees("{"):
            return self.dim()
        if self.skip("("):
            return tuple(self.several(")", lambda: self.attribute(functions)))
        words = {"None": None, "True": True, "False": False}
        if text in words:
            self.take(kind)
            return words[text]
        return self.type_or_data()
