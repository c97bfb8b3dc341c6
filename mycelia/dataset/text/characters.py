"""Characters in their standard forms: Unicode normalisation and case folding."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from mycelia.dataset.text.modes import NormalizeForm

# characters that case folding drops: they have no shape of their own
IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


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
