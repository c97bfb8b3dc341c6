"""Plain words from the markup of Wikipedia, by the rules of Mahoney's wikifil."""

from __future__ import annotations

import re

from mycelia.dataset.text.base import StringOperation
from mycelia.frozen import frozen

DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
RULES = [
    (r"&amp;", "&"),
    (r"&lt;", "<"),
    (r"&gt;", ">"),
    (r"<ref[^<]*</ref>", ""),  # references
    (r"<[^>]*>", ""),  # tags
    (r"\[http:[^] ]*", "["),  # addresses; their text stays
    (r"(?i)\|thumb", ""),
    (r"(?i)\|left", ""),
    (r"(?i)\|right", ""),
    (r"(?i)\|\d+px", ""),
    (r"(?i)\[\[image:[^\[\]]*\|", ""),  # pictures; their caption stays
    (r"(?i)\[\[category:([^|\]]*)[^]]*\]\]", r"[[\1]]"),
    (r"\[\[[a-z\-]*:[^\]]*\]\]", ""),  # the same article in other languages
    (r"\[\[[^\|\]]*\|", "[["),  # a link keeps the text shown
    (r"\{\{[^}]*\}\}", ""),
    (r"\{[^}]*\}", ""),
    (r"\[|\]", ""),
    (r"&[^;]*;", " "),
]


@frozen
class FilterWikipediaXML(StringOperation):
    """Wikipedia's markup as lower-case words a to z with single blanks; digits are spelled out.

    >>> str(FilterWikipediaXML()("<b>Welcome</b> to [[China|the Land]] 25!"))
    'welcome to the land two five'
    """

    def change(self, string: str) -> str:
        """Rule after rule; then only letters stay."""
        for pattern, replacement in RULES:
            string = re.sub(pattern, replacement, string)
        string = string.lower()
        for digit, word in enumerate(DIGITS):
            string = string.replace(str(digit), f" {word} ")
        return re.sub("[^a-z]+", " ", string).strip()
