"""Characters by kind: categories and scripts of Unicode, regular expressions in ICU's notation, case folding."""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache, lru_cache
from itertools import groupby

from mycelia.dataset.text.modes import NormalizeForm
from mycelia.errors import ArgumentError

# characters that case folding drops: they have no shape of their own
IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
WIDTH = re.compile("^(?:HALFWIDTH|FULLWIDTH) ")


def normalize(text: str, form: NormalizeForm) -> str:
    """A string in a Unicode normalisation form.

    >>> normalize("ﬁ", NormalizeForm.NFKC)
    'fi'
    """
    match form:
        case NormalizeForm.NFC:
            return unicodedata.normalize("NFC", text)
        case NormalizeForm.NFKC:
            return unicodedata.normalize("NFKC", text)
        case NormalizeForm.NFD:
            return unicodedata.normalize("NFD", text)
        case NormalizeForm.NFKD:
            return unicodedata.normalize("NFKD", text)
        case _:
            return text


def fold(text: str) -> str:
    """A string for comparison regardless of case and compatibility (NFKC case folding).

    >>> fold("Straße")
    'strasse'
    """
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", "".join(map(_folded, text)))


@lru_cache(maxsize=65536)
def _folded(character: str) -> str:
    """What a single character is folded to; nothing, when it has no shape of its own."""
    folded = character
    for _ in range(2):  # compatibility forms may bring capitals to light
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKD", folded).casefold())
    return IGNORABLE.sub("", folded)


@cache
def categories() -> dict[str, list[tuple[int, int]]]:
    """The ranges of code points of every general category, from one walk over all of Unicode."""
    ranges: dict[str, list[tuple[int, int]]] = {}
    walk = groupby(range(sys.maxunicode + 1), lambda code: unicodedata.category(chr(code)))
    for name, run in walk:
        codes = list(run)
        ranges.setdefault(name, []).append((codes[0], codes[-1]))
    return ranges


@cache
def category(name: str) -> str:
    """All characters whose general category begins with `name`, as ranges within a regular-expression set.

    >>> category("Zs")[:2]
    '\\\\ '
    """
    found = [span for kind, spans in categories().items() if kind.startswith(name) for span in spans]
    if not found:
        raise ArgumentError(f"there is no Unicode category {name!r}", hint="for example L, Lu, P, Mn, Cc")
    return "".join(re.escape(chr(a)) + (f"-{re.escape(chr(b))}" if b > a else "") for a, b in found)


@lru_cache(maxsize=256)
def pattern(icu: str) -> re.Pattern[str]:
    r"""A regular expression in ICU's notation, \p{...} and \x{...} included.

    >>> pattern(r"\p{Lu}+|[\x{4E00}-\x{9FFF}]").findall("aBC中")
    ['BC', '中']
    """
    parts, inside, i = [], False, 0
    while i < len(icu):
        braced = re.compile(r"\\([pPx])\{\^?(\w+)\}").match(icu, i)
        if braced:
            kind, name = braced.groups()
            parts.append(re.escape(chr(int(name, 16))) if kind == "x" else _set(kind, name, inside))
            i = braced.end()
            continue
        step = 2 if icu[i] == "\\" else 1
        inside = (inside or icu[i] == "[") and icu[i] != "]"
        parts.append(icu[i : i + step])
        i += step
    try:
        return re.compile("".join(parts))
    except re.error as error:
        raise ArgumentError(f"not a regular expression: {error}", given={"pattern": icu}) from None


def _set(kind: str, name: str, inside: bool) -> str:
    """A category as a set, or as part of a set that is already open."""
    if inside and kind == "P":
        raise ArgumentError(r"\P{...} inside [...] is not supported", hint=r"write [^...] or an alternative with |")
    ranges = category(name)
    return ranges if inside else f"[{'^' if kind == 'P' else ''}{ranges}]"


@cache
def names_a_script(word: str) -> bool:
    """Whether a first word of character names is that of a script: some letter A, KA or ALPHA is called so.

    >>> names_a_script("GREEK"), names_a_script("EXCLAMATION")
    (True, False)
    """
    letters = ("LETTER A", "CAPITAL LETTER A", "LETTER KA", "CAPITAL LETTER ALPHA", "LETTER ALEF", "LETTER ALPHA",
               "CHARACTER KO KAI", "LETTER KO", "SYLLABLE A")  # fmt: skip
    return any(_exists(f"{word} {letter}") for letter in letters)


def _exists(name: str) -> bool:
    try:
        unicodedata.lookup(name)
    except KeyError:
        return False
    return True


@lru_cache(maxsize=65536)
def script(character: str) -> str:
    """The script of a character, told from its Unicode name; COMMON for what belongs to none or to many.

    >>> [script(c) for c in "aЯ中!5"]
    ['LATIN', 'CYRILLIC', 'CJK', 'COMMON', 'COMMON']
    """
    name = WIDTH.sub("", unicodedata.name(character, ""))
    kind = unicodedata.category(character)
    if "SOUND MARK" in name or not name:
        return "COMMON"
    if "ROMAN NUMERAL" in name:
        return "LATIN"
    first = name.split()[0]
    match first:
        case "CJK" | "HANGZHOU":
            return "CJK"
        case "IDEOGRAPHIC":
            return "CJK" if kind.startswith("L") or kind == "Nl" else "COMMON"
        case "COMBINING":
            second = name.split()[1]
            return second if second not in ("LATIN", "GREEK") and names_a_script(second) else "INHERITED"
        case "EXTENDED":
            return name.split()[1].split("-")[0]
        case "MODIFIER":
            other = "LATIN" if "LETTER" in name else "COMMON"
            return next((w for w in ("GREEK", "CYRILLIC", "GEORGIAN") if w in name), other)
        case _:
            return first if kind != "Sc" and names_a_script(first) else "COMMON"
