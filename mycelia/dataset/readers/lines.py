"""Text files read whole: their lines, each with its number, so that a bad one can be told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from mycelia.dataset.errors import DataError
from mycelia.plainfiles import content_of

T = TypeVar("T")


def text_of(path: str | Path) -> str:
    """The text of a UTF-8 file, without a byte order mark.

    >>> text_of(__file__)[3:13]
    'Text files'
    """
    try:
        raw = content_of(path)
    except OSError as error:
        raise DataError(f"a file of the dataset is missing: {error.strerror}", given={"file": str(path)}) from error
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = {"file": str(path), "line": raw.count(b"\n", 0, error.start) + 1, "byte": error.start}
        hint = "convert it: iconv -f latin1 -t utf-8, or whatever its encoding is"
        raise DataError("a text file is not UTF-8", given=where, hint=hint) from error


def split_lines(text: str) -> list[str]:
    """Lines end with a newline, or with a carriage return and a newline; other separators belong to the text.

    >>> split_lines("a\\r\\nb\\u2028c\\n")
    ['a', 'b\\u2028c']
    """
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def numbered(path: str | Path) -> list[tuple[int, str]]:
    """The lines of a text file that are not empty, each with its number.

    >>> numbered(__file__)[1][0]
    3
    """
    return [(i, line) for i, line in enumerate(split_lines(text_of(path)), 1) if line.strip()]


def lines_of(path: str | Path) -> list[str]:
    """The lines of a text file that are not empty.

    >>> lines_of(__file__)[0][3:13]
    'Text files'
    """
    found = [line for _, line in numbered(path)]
    if not found:
        raise DataError("a list is empty", given={"file": str(path)})
    return found


def parsed(path: str | Path, parse: Callable[[str], T], form: str, skip: int = 0) -> list[T]:
    """What every line after the first `skip` means; a line that does not have its form is told with its number.

    >>> parsed(__file__, str.strip, "text")[1]
    'from __future__ import annotations'
    """
    found = [parsed_line(path, number, line, parse, form) for number, line in numbered(path)[skip:]]
    if not found:
        raise DataError(f"a list is empty; its lines are {form}", given={"file": str(path)})
    return found


def parsed_line(path: str | Path, number: int, line: str, parse: Callable[[str], T], form: str) -> T:
    """What one line means.

    >>> parsed_line("a.txt", 3, "4 x", lambda line: int(line.split()[0]), "a number and a letter")
    4
    """
    try:
        return parse(line)
    except (ValueError, IndexError, KeyError, TypeError, AttributeError, RecursionError) as error:
        where = {"file": str(path), "line": number, "reads": line[:120]}
        raise DataError(f"a line is not {form}", given=where, hint="mend the line, or take it out") from error
