"""The page about errors shows what happens."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "errors.md"


def test_the_page_runs():
    text = PAGE.read_text().replace("\n```\n", "\n\n")
    test = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    assert len(test.examples) == 9
    assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).run(test).failed == 0
