"""What the texts of functions, kernels and programs share: how sizes, types and data are written, and a reader.

    size s0 2 to inf at 8                a size with a name: its bounds, and the number that the program is written at
    size k1 0 to inf most 2*s0           one that comes out of data
    guard -5 + s0 > 0                    what the program relies on
    f32[2*s0, 3]                         a type
    f32[2]{1.0, -0.0}                    data; many elements are written in base 64
    %3                                   a value
    {s0 + 1}                             a size where a number could stand

Texts differ in what they say with these; each reader is a subclass of `Tokens`.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import Any

import numpy as np

from mycelia.errors import ArgumentError
from mycelia.sizes import Dim, Guard, Name, Scope, Size, Sym, quotient, text
from mycelia.sizes import names as names_of_size
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
SIGNS = {"=": ("=", True), "!=": ("=", False), ">": (">", True), "<=": (">", False)}  # of guards


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


def data_text(data: Array) -> str:
    """Data in full, to the bit.

    >>> data_text(np.array([1, 2], "int8"))
    'i8[2]{1, 2}'
    """
    if data.size <= FEW and data.dtype.kind != "c":
        numbers = [x.item() if data.dtype.kind in "biuf" else float(x) for x in data.reshape(-1)]
        written = [float(repr(x)) if isinstance(x, float) else x for x in numbers]
        if np.array(written, data.dtype).tobytes() == data.tobytes():  # not so for most of the many nans
            return f"{type_of(data)}{{{', '.join(map(repr, numbers))}}}"
    return f"{type_of(data)}{json.dumps(base64.b64encode(data.tobytes()).decode())}"


def dim_text(n: Dim | Sym) -> str:
    """A size where a number could stand.

    >>> dim_text(3), dim_text(Scope().name("n") * 2)
    ('3', '{2*n}')
    """
    return f"{{{text(n)}}}" if isinstance(n, Sym) else str(n)


def tuple_text(parts: Iterable[str]) -> str:
    """Written parts, as a tuple of one or more."""
    found = list(parts)
    return f"({', '.join(found)}{',' if len(found) == 1 else ''})"


def size_lines(found: Iterable[Name]) -> list[str]:
    """What has to be said of the names in a text, before it: those that sizes from data depend on come first."""
    order: dict[Name, None] = {}
    for name in sorted(found, key=repr):
        _with_most(name, order)
    scopes = dict.fromkeys(name.scope for name in order)
    guards = [g for scope in scopes for g in scope.guards]
    for g in guards:
        for name in sorted(g.size.names(), key=repr):
            _with_most(name, order)
    return [*map(_size_line, order), *[f"guard {g}" for g in guards]]


def _with_most(name: Name, order: dict[Name, None]) -> None:
    for needed in sorted(names_of_size(name.most) if name.most is not None else (), key=repr):
        _with_most(needed, order)
    order[name] = None


def _size_line(name: Name) -> str:
    at = f" at {name.scope.hints[name]}" if name in name.scope.hints else ""
    most = "" if name.most is None else f" most {text(name.most)}"
    return f"size {name} {name.low} to {name.high}{at}{most}"


def names_of_type(t: Type) -> set[Name]:
    """The names of sizes that a type mentions."""
    if isinstance(t, TupleType):
        return {n for e in t.elements for n in names_of_type(e)}
    if isinstance(t, SequenceType):
        return names_of_type(t.element)
    return {n for d in t.shape for n in names_of_size(d)} if isinstance(t, TensorType) else set()


# ------------------------------------------------------------------------------------------------ reading

TOKEN = re.compile(
    r'\s*(?:(?P<value>%\d+)|(?P<block>@\d+)|(?P<string>"(?:[^"\\]|\\.)*")'
    r"|(?P<number>-?(?:inf\b|nan\b|\d+(?:\.\d*)?(?:e[+-]?\d+)?))|(?P<word>[A-Za-z_]\w*)|(?P<mark>->|//|!=|<=|[^\s\w]))"
)


class Tokens:
    """Tokens of a text, read from left to right. Sizes are those of `sizes` where it has their name, else new ones."""

    what = "a text"  # in messages

    def __init__(self, text: str, sizes: Mapping[str, Name] | None = None) -> None:
        self.text = text
        self.tokens: Iterator[tuple[str, str, int]] = self._tokens()
        self.next = next(self.tokens)
        self.sizes, self._scope, self._known = dict(sizes or {}), Scope(), frozenset(sizes or ())

    def _tokens(self) -> Iterator[tuple[str, str, int]]:
        at, end = 0, len(self.text.rstrip())
        while at < end:
            found = TOKEN.match(self.text, at)
            assert found is not None, "every character is a mark at least"
            assert found.lastgroup is not None, "every alternative is named"
            yield found.lastgroup, found[found.lastgroup], found.start(found.lastgroup)
            at = found.end()
        yield "end", "", end

    # -------------------------------------------------------------------------------------------- tokens

    def take(self, kind: str, text: str | None = None) -> str:
        """The next token, which must be of this kind."""
        found, content, at = self.next
        if found != kind or (text is not None and content != text):
            raise self.wrong(f"has {content!r} where {text or kind} should be", at)
        self.next = next(self.tokens, ("end", "", at))
        return content

    def wrong(self, why: str, at: int | None = None) -> ArgumentError:
        """An error that tells the line."""
        line = self.text.count("\n", 0, self.next[2] if at is None else at) + 1
        return ArgumentError(
            f"cannot read {self.what}: line {line} {why}",
            given={"line": self.text.splitlines()[line - 1].strip() if self.text.strip() else ""},
            hint="show(…) writes what parse reads",
        )

    def known(self, kind: str, names: Mapping[str, Any]) -> Any:
        """What a token of this kind stands for."""
        at = self.next[2]
        name = self.take(kind)
        if name not in names:
            raise self.wrong(f"mentions {name}, which nothing above it makes", at)
        return names[name]

    def skip(self, text: str) -> bool:
        """Whether the next token was this mark or word."""
        if not self.sees(text):
            return False
        self.take(self.next[0])
        return True

    def sees(self, text: str) -> bool:
        """Whether the next token is this mark or word."""
        return self.next[1] == text and self.next[0] != "string"

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

    def tuple(self, read: Callable[[], Any]) -> tuple[Any, ...]:
        """Several in parentheses."""
        self.take("mark", "(")
        return tuple(self.several(")", read))

    def string(self) -> str:
        return str(json.loads(self.take("string")))

    def number(self) -> Any:
        """An int, or a float."""
        written = self.take("number")
        return int(written) if written.lstrip("-").isdigit() else float(written)

    # -------------------------------------------------------------------------------------------- sizes

    def size_lines(self) -> None:
        """What is said of sizes, before the text itself."""
        while self.sees("size") or self.sees("guard"):
            if self.skip("guard"):
                self._guard()
            else:
                self.take("word", "size")
                self._named_size()

    def _named_size(self) -> None:
        name, low = self.take("word"), self.number()
        self.take("word", "to")
        high: float = self.number()
        hint = self.number() if self.skip("at") else None
        if self.skip("most"):
            most = self.size()
            made = Name(name, low, high, Scope(), most)
            made.scope.names[name] = made
        else:
            (made,) = self._scope.name(name, hint, low, inf if high == inf else int(high)).names()
        self.sizes.setdefault(name, made)

    def _guard(self) -> None:
        size = self.size()
        sign = self.take("mark")
        self.take("number", "0")
        if not self._known:
            self._scope.rely(Guard(size, *SIGNS[sign]))

    def size(self) -> Any:
        """A sum of products of numbers, names and quotients."""
        total = self._product()
        while self.skip("+"):
            total = total + self._product()
        return total

    def _product(self) -> Any:
        made = self._factor()
        while self.skip("*"):
            made = made * self._factor()
        return made

    def _factor(self) -> Size:
        if self.next[0] == "number":
            return int(self.take("number"))
        if self.skip("("):
            over = self.size()
            for mark in (")", "//", "("):
                self.take("mark", mark)
            under = self.size()
            self.take("mark", ")")
            return quotient(over, under)
        return self.known("word", self.sizes).alone()  # type: ignore[no-any-return]

    def dim(self) -> Any:
        """A number, or a size in braces."""
        if not self.skip("{"):
            return int(self.take("number"))
        found = self.size()
        self.take("mark", "}")
        return found

    # -------------------------------------------------------------------------------------------- types and data

    def dtype(self) -> DType:
        return dtype_named(self.take("word"))

    def type(self) -> Type:
        t = self.type_or_data()
        if not isinstance(t, Type):
            raise self.wrong(f"has {t} where a type should be")
        return t

    def type_or_data(self) -> Any:
        """A type, an element type, or data, which begins with its type."""
        word = self.take("word")
        if self.skip("<"):
            if word == "complex":
                real, imag = self.several(">", self.number)
                return complex(real, imag)
            if word == "frame":
                inner: Any = FrameType(self.string())
                self.take("mark", ">")
                return inner
            elements = tuple(self.several(">", self.type))
            return TupleType(elements) if word == "tuple" else SequenceType(elements[0])
        dtype = dtype_named(word)
        if not self.skip("["):
            return dtype
        t = TensorType(dtype, tuple(self.several("]", self.size)))
        if self.skip("{"):
            return _array(t, self.several("}", self.element))
        if self.next[0] == "string":
            return np.frombuffer(base64.b64decode(self.string()), dtype.numpy).reshape(t.shape)
        return t

    def element(self) -> Any:
        """A number or a truth value."""
        return self.skip("True") or (False if self.skip("False") else self.number())


def _array(t: TensorType, numbers: Sequence[Any]) -> Array:
    return np.array(numbers, t.dtype.numpy).reshape(t.shape)
