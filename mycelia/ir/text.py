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
written. Everything else is: data in full. What must happen though nobody may read it is listed before the results, in
order: `effects %4, %7`.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from mycelia.errors import ArgumentError
from mycelia.ir.function import Function
from mycelia.ir.op import Op, registry
from mycelia.ir.region import region
from mycelia.ir.value import Param, Value
from mycelia.ir.verify import inner_functions
from mycelia.sizes import Sym, text
from mycelia.types import (
    Array,
    DType,
    FrameType,
    SequenceType,
    TensorType,
    TupleType,
    Type,
    dtype_named,
    type_of,
)

FEW = 16  # elements of data that are written as numbers; more are written in base 64


def show(fn: Function) -> str:
    """The text of a function.

    >>> from mycelia.types import float32
    >>> print(show(Function.build(lambda x: x, TensorType(float32, (2,)))))
    fn(%0: f32[2]) {
      return %0
    }
    """
    numbers: dict[Function, str] = {}
    blocks: list[str] = []
    _show_inner(fn, numbers, blocks)
    return "\n\n".join([*blocks, _block(fn, "", numbers)])


def _show_inner(fn: Function, numbers: dict[Function, str], blocks: list[str]) -> None:
    for v in fn.values():
        for inner in reversed(inner_functions(v.op)):
            if inner not in numbers:
                _show_inner(inner, numbers, blocks)
                numbers[inner] = f"@{len(numbers)}"
                blocks.append(_block(inner, " " + numbers[inner], numbers))


def _block(fn: Function, name: str, numbers: dict[Function, str]) -> str:
    names = {v: f"%{i}" for i, v in enumerate(fn.params)}
    head = ", ".join(f"{names[v]}: {type_text(v.type)}" for v in fn.params)
    lines = []
    for v in fn.values():
        if isinstance(v.op, Op):
            names[v] = f"%{len(names)}"
            inputs = ", ".join(names[x] for x in v.inputs)
            lines.append(f"  {names[v]}: {type_text(v.type)} = {_op_text(v.op, numbers)}({inputs})")
    if fn.effects:
        lines.append(f"  effects {', '.join(names[e] for e in fn.effects)}")
    lines.append(f"  return {', '.join(names[r] for r in fn.results)}".rstrip())
    return f"fn{name}({head}) {{\n" + "\n".join(lines) + "\n}"


def _op_text(op: Op, numbers: dict[Function, str]) -> str:
    attributes = ", ".join(f"{k}={_attribute(a, numbers)}" for k, a in op.attributes().items())
    return f"{op.name}[{attributes}]" if attributes else op.name


def _attribute(a: Any, numbers: dict[Function, str]) -> str:
    if isinstance(a, tuple):
        return "(" + ", ".join(_attribute(x, numbers) for x in a) + ("," if len(a) == 1 else "") + ")"
    if isinstance(a, str) or hasattr(a, "written"):  # what lives in this process only has a name
        return json.dumps(getattr(a, "written", a))
    if isinstance(a, Function):
        return numbers[a]
    if isinstance(a, Type):
        return type_text(a)
    if isinstance(a, np.ndarray):
        return _data_text(a)
    if isinstance(a, Sym):
        return text(a)
    assert a is None or isinstance(a, int | float | DType), f"{a!r} has no written form"
    return a.short if isinstance(a, DType) else repr(a)


def type_text(t: Type) -> str:
    """The written form of a type. It differs from `str` where that looks like a tuple.

    >>> from mycelia.types import float32
    >>> type_text(TupleType((TensorType(float32, ()), SequenceType(TensorType(float32, ())))))
    'tuple<f32[], seq<f32[]>>'
    """
    if isinstance(t, TupleType):
        return f"tuple<{', '.join(map(type_text, t.elements))}>"
    if isinstance(t, SequenceType):
        return f"seq<{type_text(t.element)}>"
    return f"frame<{json.dumps(t.name)}>" if isinstance(t, FrameType) else str(t)


def _data_text(data: Array) -> str:
    if data.size <= FEW:
        numbers = [x.item() if data.dtype.kind in "biuf" else float(x) for x in data.reshape(-1)]
        written = [float(repr(x)) if isinstance(x, float) else x for x in numbers]
        if np.array(written, data.dtype).tobytes() == data.tobytes():  # not so for most of the many nans
            return f"{type_of(data)}{{{', '.join(map(repr, numbers))}}}"
    return f"{type_of(data)}{json.dumps(base64.b64encode(data.tobytes()).decode())}"


# ------------------------------------------------------------------------------------------------ parsing

TOKEN = re.compile(
    r'\s*(?:(?P<value>%\d+)|(?P<block>@\d+)|(?P<string>"(?:[^"\\]|\\.)*")'
    r"|(?P<number>-?(?:inf\b|nan\b|\d+(?:\.\d*)?(?:e[+-]?\d+)?))|(?P<word>[A-Za-z_]\w*)|(?P<mark>[^\s\w]))"
)


def parse(text: str) -> Function:
    """The function that `show` wrote.

    >>> parse("fn(%0: f32[2]) { return %0, %0 }").result_types[1]
    TensorType(dtype=float32, shape=(2,))
    """
    reader = _Reader(text)
    functions: dict[str, Function] = {}
    while True:
        name, fn = reader.function(functions)
        if not name:
            reader.end()
            return fn
        functions[name] = fn


class _Reader:
    """Tokens of a text, read from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: Iterator[tuple[str, str, int]] = self._tokens()
        self.next = next(self.tokens)

    def _tokens(self) -> Iterator[tuple[str, str, int]]:
        at, end = 0, len(self.text.rstrip())
        while at < end:
            found = TOKEN.match(self.text, at)
            assert found is not None, "every character is a mark at least"
            assert found.lastgroup is not None, "every alternative is named"
            yield found.lastgroup, found[found.lastgroup], found.start(found.lastgroup)
            at = found.end()
        yield "end", "", end

    def take(self, kind: str, text: str | None = None) -> str:
        """The next token, which must be of this kind."""
        found, content, at = self.next
        if found != kind or (text is not None and content != text):
            line = self.text.count("\n", 0, at) + 1
            raise ArgumentError(
                f"cannot read a function: line {line} has {content!r} where {text or kind} should be",
                given={"line": self.text.splitlines()[line - 1].strip() if self.text.strip() else ""},
                hint="show(fn) writes what parse reads",
            )
        self.next = next(self.tokens, ("end", "", at))
        return content

    def skip(self, text: str) -> bool:
        """Whether the next token was this mark or word."""
        if self.next[1] != text or self.next[0] == "string":
            return False
        self.take(self.next[0])
        return True

    def end(self) -> None:
        self.take("end")

    def several(self, close: str, read: Callable[[], Any]) -> list[Any]:
        """What stands between here and `close`, with commas between."""
        found = []
        while not self.skip(close):
            found.append(read())
            if not self.skip(","):
                self.take("mark", close)
                break
        return found

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
        results = [values[r] for r in self.several("}", lambda: self.take("value"))]
        return name, Function(params, tuple(results), tuple(inside.effects))

    def effects(self, values: dict[str, Value], made: list[Value]) -> None:
        """What is listed as effects, which is what the lines above it say."""
        listed = [values[self.take("value")]]
        while self.skip(","):
            listed.append(values[self.take("value")])
        if listed != made:
            raise ArgumentError(f"{len(listed)} effects are listed, and {len(made)} values have effects")

    def typed(self) -> tuple[str, Type]:
        name = self.take("value")
        self.take("mark", ":")
        return name, self.type()

    def line(self, values: dict[str, Value], functions: dict[str, Function]) -> None:
        name, t = self.typed()
        self.take("mark", "=")
        op = registry[self.take("word")]
        attributes = dict(self.several("]", lambda: self.named(functions))) if self.skip("[") else {}
        self.take("mark", "(")
        inputs = tuple(values[x] for x in self.several(")", lambda: self.take("value")))
        values[name] = made = Value(op(**attributes), inputs)
        if made.type != t:
            raise ArgumentError(f"{name} is written as {t}, but {made.op} gives {made.type}")

    def named(self, functions: dict[str, Function]) -> tuple[str, Any]:
        name = self.take("word")
        self.take("mark", "=")
        return name, self.attribute(functions)

    def attribute(self, functions: dict[str, Function]) -> Any:
        kind, text, _ = self.next
        if kind == "number":
            self.take(kind)
            return int(text) if text.lstrip("-").isdigit() else float(text)
        if kind == "string":
            return json.loads(self.take(kind))
        if kind == "block":
            return functions[self.take(kind)]
        if self.skip("("):
            return tuple(self.several(")", lambda: self.attribute(functions)))
        words = {"None": None, "True": True, "False": False}
        if text in words:
            self.take(kind)
            return words[text]
        return self.type_or_data()

    def type(self) -> Type:
        t = self.type_or_data()
        assert isinstance(t, Type), f"{t} is not a type"
        return t

    def type_or_data(self) -> Any:
        """A type, an element type, or data, which begins with its type."""
        word = self.take("word")
        if self.skip("<"):
            if word == "frame":
                inner: Any = FrameType(json.loads(self.take("string")))
                self.take("mark", ">")
                return inner
            elements = tuple(self.several(">", self.type))
            return TupleType(elements) if word == "tuple" else SequenceType(elements[0])
        dtype = dtype_named(word)
        if not self.skip("["):
            return dtype
        t = TensorType(dtype, tuple(int(e) for e in self.several("]", lambda: self.take("number"))))
        if self.skip("{"):
            return _array(t, self.several("}", lambda: self.attribute({})))
        if self.next[0] == "string":
            raw = base64.b64decode(json.loads(self.take("string")))
            return np.frombuffer(raw, dtype.numpy).reshape(t.shape)
        return t


def _array(t: TensorType, numbers: Sequence[Any]) -> Array:
    return np.array(numbers, t.dtype.numpy).reshape(t.shape)
