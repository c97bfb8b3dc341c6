r"""Regular expressions in ICU's notation, as Python's: properties \p{...}, set algebra, blanks and words by Unicode.

A set of characters is a table of truth values, one for each code point, so that union, intersection and complement
are those of NumPy; only when it is written down does it become ranges.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache
from itertools import chain
from typing import Any

import numpy as np

from mycelia.dataset.text.scripts import BARE_MARKS, SCRIPTS, ranges
from mycelia.dataset.transforms.base import Array
from mycelia.errors import ArgumentError

SIZE = 0x110000
BLANKS = "\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
LINE_ENDS = "\n-\r\u0085\u2028\u2029"
LINE_END = f"(?:\r\n|[{LINE_ENDS}])"
UNSPLIT = "(?!(?<=\r)\n)"  # not between the two characters of one line end
LAST = f"(?={LINE_END}?\\Z){UNSPLIT}"
CIRCLED = ((0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189))  # signs that are letters
LONG_NAMES = {
    "letter": "L", "uppercaseletter": "Lu", "lowercaseletter": "Ll", "titlecaseletter": "Lt", "modifierletter": "Lm",
    "otherletter": "Lo", "mark": "M", "nonspacingmark": "Mn", "spacingmark": "Mc", "enclosingmark": "Me",
    "number": "N", "decimalnumber": "Nd", "letternumber": "Nl", "othernumber": "No", "punctuation": "P", "punct": "P",
    "connectorpunctuation": "Pc", "dashpunctuation": "Pd", "openpunctuation": "Ps", "closepunctuation": "Pe",
    "initialpunctuation": "Pi", "finalpunctuation": "Pf", "otherpunctuation": "Po", "symbol": "S", "mathsymbol": "Sm",
    "currencysymbol": "Sc", "modifiersymbol": "Sk", "othersymbol": "So", "separator": "Z", "spaceseparator": "Zs",
    "lineseparator": "Zl", "paragraphseparator": "Zp", "other": "C", "control": "Cc", "cntrl": "Cc", "format": "Cf",
    "surrogate": "Cs", "privateuse": "Co", "unassigned": "Cn", "digit": "Nd",
}  # fmt: skip
ESCAPES = {"a": "\a", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
CODE = re.compile(
    r"\\(?:x\{([0-9a-fA-F]{1,8})\}|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|0([0-7]{1,3}))"
)
PROPERTY = re.compile(r"\\([pP])\{([^{}^]+)\}")
POSIX = re.compile(r"\[:(\^?)([^\[\]:]+):\]")


@cache
def kinds() -> Array:
    """The general category of every code point."""
    return np.array([unicodedata.category(chr(code)) for code in range(SIZE)], "U2")


def ranged(*spans: tuple[int, int]) -> Array:
    """The set of some ranges of code points, both ends included."""
    found = np.zeros(SIZE, bool)
    for first, last in spans:
        found[first : last + 1] = True
    return found


def of_kinds(*names: str) -> Array:
    """The set of the characters whose general category begins with one of the names."""
    found = np.zeros(SIZE, bool)
    for name in names:
        found |= np.char.startswith(kinds(), name)
    return found


@cache
def character_set(name: str) -> Array:
    r"""The set that \p{name} means: a general category, a script, or one of a few properties.

    >>> character_set("Lu")[ord("A")], character_set("Greek")[ord("ω")], character_set("script=Han")[ord("a")]
    (np.True_, np.True_, np.False_)
    """
    _, _, value = name.rpartition("=")
    plain = re.sub(r"[\s_-]", "", value).lower().removeprefix("is")
    scripts = {re.sub("_", "", s).lower(): s for s in SCRIPTS}
    category = LONG_NAMES.get(plain, plain.capitalize())
    match plain:
        case "any":
            return np.ones(SIZE, bool)
        case "ascii":
            return ranged((0, 127))
        case "assigned":
            return ~of_kinds("Cn")
        case "space" | "whitespace":
            return _table(BLANKS)
        case "alpha" | "alphabetic":
            return (of_kinds("L", "M", "Nl") | ranged(*CIRCLED)) & ~ranged(*ranges(BARE_MARKS))
        case "alnum":
            return character_set("alpha") | character_set("Nd")
        case "word":
            return of_kinds("L", "M", "Nd", "Nl", "Pc") | ranged((0x200C, 0x200D), *CIRCLED)
        case "upper" | "uppercase":
            return np.array([chr(code).isupper() for code in range(SIZE)])
        case "lower" | "lowercase":
            return np.array([chr(code).islower() for code in range(SIZE)])
        case "xdigit":
            return ranged((48, 57), (65, 70), (97, 102)) | of_kinds("Nd") | ranged(
                (0xFF21, 0xFF26), (0xFF41, 0xFF46))  # fmt: skip
        case _ if plain in scripts:
            return ranged(*ranges(SCRIPTS[scripts[plain]]))
        case _ if re.fullmatch("[CLMNPSZ][a-z]?", category) and (found := of_kinds(category)).any():
            return found
    raise ArgumentError(
        f"there is no Unicode property {name!r} here",
        hint="a general category (L, Lu, P, Mn, ...), a script (Han, Greek, ...), Uppercase, Lowercase, White_Space",
    )


def _table(spans: str) -> Array:
    """The set written as ranges of a regular expression."""
    return ranged(*((ord(a), ord(b or a)) for a, b in re.findall("(.)(?:-(.))?", spans, re.DOTALL)))


def written(table: Array) -> str:
    """A set as ranges within brackets.

    >>> written(ranged((97, 99), (120, 120)))
    'a-cx'
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], table, [False]]).astype(np.int8)))
    pairs = zip(edges[::2].tolist(), (edges[1::2] - 1).tolist(), strict=True)
    return "".join(re.escape(chr(a)) + (f"-{re.escape(chr(b))}" if b > a else "") for a, b in pairs)


@cache
def category(name: str) -> str:
    """All characters of a general category, a script or a property, as ranges within a regular-expression set.

    >>> category("Zs")[:2]
    '\\\\ '
    """
    return written(character_set(name))


SHORT = {"d": "Nd", "s": "White_Space", "w": "word"}


class ExpressionReader:
    """Reads an expression from left to right."""

    def __init__(self, icu: str) -> None:
        self.icu, self.at = icu, 0
        flags = "".join(re.findall(r"\(\?([a-z]+)[:)-]", icu))
        self.dot = "(?:\r\n|.)" if "s" in flags else f"[^{LINE_ENDS}]"
        self.start = f"(?:\\A|(?<=[{LINE_ENDS}])(?!\\Z){UNSPLIT})" if "m" in flags else "^"
        self.end = f"(?=[{LINE_ENDS}]|\\Z){UNSPLIT}" if "m" in flags else LAST

    def take(self, expression: re.Pattern[str]) -> re.Match[str] | None:
        """What stands here, if it matches; reading goes on after it."""
        found = expression.match(self.icu, self.at)
        self.at = found.end() if found else self.at
        return found

    def property(self) -> Array | None:
        r"""A set that stands here with a backslash: \p{...}, \d, \s, \w, \h, \v and their opposites."""
        if found := self.take(PROPERTY):
            return ~character_set(found[2]) if found[1] == "P" else character_set(found[2])
        letter = self.icu[self.at + 1 : self.at + 2] if self.icu[self.at] == "\\" else ""
        if not letter or letter.lower() not in "dswhv":
            return None
        self.at += 2
        match letter.lower():
            case "h":
                table = of_kinds("Zs") | ranged((9, 9))
            case "v":
                table = _table(LINE_ENDS)
            case short:
                table = character_set(SHORT[short])
        return table if letter.islower() else ~table

    def character(self) -> str:
        """One character, plain or with a backslash."""
        if code := self.take(CODE):
            return chr(int(next(filter(None, code.groups())), 8 if code[5] else 16))
        letter = self.icu[self.at]
        self.at += 1
        if letter != "\\" or self.at >= len(self.icu):
            return letter
        self.at += 1
        escaped = self.icu[self.at - 1]
        if escaped == "c" and self.at < len(self.icu):
            self.at += 1
            return chr(ord(self.icu[self.at - 1]) & 31)
        return ESCAPES.get(escaped, escaped)

    def set(self) -> Array:
        """A set in brackets, with sets inside it: union, && or & for what is in both, -- or - for what is not."""
        start = self.at
        self.at += 1
        negated = self.icu[self.at : self.at + 1] == "^"
        self.at += negated
        table = np.zeros(SIZE, bool)
        combine: Callable[[Array, Array], Array] = np.logical_or
        first = self.at
        while self.at < len(self.icu):
            if self.icu[self.at] == "]" and self.at > first:
                self.at += 1
                return ~table if negated else table
            operator = self.take(re.compile(r"&&|--|[&-](?=\[)"))
            if operator:
                combine = np.logical_and if operator[0][0] == "&" else lambda x, y: x & ~y
                continue
            table, combine = combine(table, self.member()), np.logical_or
        raise ArgumentError("a set is not closed", given={"pattern": self.icu, "set": self.icu[start:]})

    def member(self) -> Array:
        """A member of a set: a set within, a property, a character or a range of them."""
        if found := self.take(POSIX):
            return ~character_set(found[2]) if found[1] else character_set(found[2])
        if self.icu[self.at] == "[":
            return self.set()
        table = self.property()
        if table is not None:
            return table
        first = last = self.character()
        if re.compile(r"-[^\]\[-]").match(self.icu, self.at):
            self.at += 1
            last = self.character()
        if last < first:
            raise ArgumentError("a range of a set ends before it begins", given={"range": f"{first}-{last}"})
        return ranged((ord(first), ord(last)))

    def part(self) -> str:
        """The next part of the expression in Python's notation."""
        if found := self.take(re.compile(r"\\Q(.*?)(?:\\E|\Z)", re.DOTALL)):
            return re.escape(found[1])
        if found := self.take(re.compile(r"\(\?<([A-Za-z]\w*)>")):
            return f"(?P<{found[1]}>"
        if found := self.take(re.compile(r"\\k<([A-Za-z]\w*)>")):
            return f"(?P={found[1]})"
        if self.icu[self.at] == "[":
            return _brackets(self.set())
        table = self.property()
        if table is not None:
            return _brackets(table)
        if CODE.match(self.icu, self.at) or re.compile(r"\\[ec]").match(self.icu, self.at):
            return re.escape(self.character())
        found = self.take(re.compile(r"\\.|.", re.DOTALL))
        assert found is not None, "there is a character to read"
        word = category("word")
        return {
            ".": self.dot,
            "^": self.start,
            "$": self.end,
            r"\Z": LAST,
            r"\z": r"\Z",
            r"\R": LINE_END,
            r"\b": f"(?:(?<=[{word}])(?![{word}])|(?<![{word}])(?=[{word}]))",
            r"\B": f"(?:(?<=[{word}])(?=[{word}])|(?<![{word}])(?![{word}]))",
        }.get(found[0], found[0])


def _brackets(table: Array) -> str:
    """A set as an expression; the empty one matches nothing."""
    inside = written(table)
    return f"[{inside}]" if inside else "(?!)"


@lru_cache(maxsize=256)
def pattern(icu: str) -> re.Pattern[str]:
    r"""A regular expression in ICU's notation.

    >>> pattern(r"\p{Lu}+|[\x{4E00}-\x{9FFF}]").findall("aBC中")
    ['BC', '中']
    >>> pattern(r"[\P{L}&&[^ ]]").findall("a b!")
    ['!']
    """
    reader, parts = ExpressionReader(icu), []
    while reader.at < len(icu):
        parts.append(reader.part())
    try:
        return re.compile("".join(parts))
    except (re.error, OverflowError) as error:
        raise ArgumentError(f"not a regular expression: {error}", given={"pattern": icu}) from None


def expand(template: str, match: re.Match[str]) -> str:
    r"""A replacement in ICU's notation: $1 or ${name} is a group, a backslash makes the next character plain.

    >>> expand(r"${word}-$1\$", re.match("(?P<word>a)b", "ab"))
    'a-a$'
    """
    return "".join(chain.from_iterable(_filled(m, match) for m in TEMPLATE.finditer(template)))


TEMPLATE = re.compile(r"\\(.|\Z)|\$(\d)|\$\{([A-Za-z]\w*)\}|(.)", re.DOTALL)


def _filled(piece: re.Match[str], match: re.Match[str]) -> Any:
    """A piece of a template: plain, or the group that it names."""
    plain, number, name, other = piece.groups()
    try:
        if plain is None and other in (None, "$"):
            return match[int(number) if number else name] or ""
        return plain if other is None else other
    except (IndexError, KeyError, TypeError):
        raise ArgumentError("the replacement names a group that the pattern lacks", given={"group": piece[0]}) from None
