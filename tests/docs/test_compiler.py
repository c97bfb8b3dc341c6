"""The page about the compiler shows what its code prints, and every place that it names exists."""

import re

import pytest

from tests.docs.test_capture import DOCS, tool
from tests.docs.test_pages import missing

PAGE = (DOCS / "compiler.md").read_text()
PLACES = sorted(set(re.findall(r"`((?:\w+/)*\w+\.py)(?:: ([\w.]+))?", PAGE)))


def test_the_page_shows_what_its_code_prints():
    assert tool().rendered("compiler.md", PAGE) == PAGE, "python docs/page.py docs/compiler.md writes it anew"


@pytest.mark.many(("path", "name"), PLACES, pack=100)
def test_every_place_that_the_page_names_exists(path, name):
    assert missing(path, name) is None


def test_the_four_questions_are_answered():
    for question in ("Where a value is decided to be stored", "Why two kernels were fused", "Who owns a buffer",
                     "What happens when LLVM fails"):  # fmt: skip
        assert f"**{question}" in PAGE
