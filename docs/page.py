"""Runs the code on a page, and writes below each block what it prints.

    python docs/page.py docs/capture.md

Blocks of `python` run one after the other, as one program whose lines are those of the page; a block of `text` that
follows one shows what it printed. A test holds the page to it.
"""

from __future__ import annotations

import contextlib
import io
import json
import linecache
import re
import subprocess
import sys
from pathlib import Path

END = "\0"  # what the end of a block prints
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


def run(name: str, page: str) -> list[str]:
    """What each block of a page prints, in order. They are one program, whose lines are those of the page."""
    program = [""] * page.count("\n")
    for m in BLOCK.finditer(page):
        first, lines = page.count("\n", 0, m.start(1)), m[1].splitlines()
        program[first : first + len(lines) + 1] = [*lines, f"print({END!r}, end='')"]
    text = "\n".join(program) + "\n"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)  # there jit looks for functions
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(text, name, "exec", dont_inherit=True), {"__name__": "page"})
    return out.getvalue().split(END)[:-1]


def printed(name: str, page: str) -> list[str]:
    """The same, in a process of its own, where nothing has run before."""
    child = [sys.executable, __file__, "--run", name]
    ran = subprocess.run(child, input=page, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise ValueError(ran.stderr)
    return json.loads(ran.stdout)  # type: ignore[no-any-return]  # a list of texts


def rendered(name: str, page: str) -> str:
    """The page with what its blocks print now.

    >>> rendered("x.md", "```python\\nprint(1 + 1)\\n```\\n\\n```text\\n3\\n```\\n").splitlines()[5]
    '2'
    """
    texts = iter(printed(name, page))

    def block(m: re.Match[str]) -> str:
        text = next(texts)
        if m[2] is None and text:
            raise ValueError(f"{name} has no block of text for what is printed: {text}")
        shown = f"\n```text\n{text}```\n" if m[2] is not None else ""
        return f"```python\n{m[1]}```\n{shown}"

    return BLOCK.sub(block, page)


def main() -> None:
    """Write pages anew."""
    if sys.argv[1] == "--run":
        print(json.dumps(run(sys.argv[2], sys.stdin.read())))
        return
    for path in map(Path, sys.argv[1:]):
        text = path.read_text()
        while (new := rendered(path.name, text)) != text:  # lines move when texts grow
            text = new
        path.write_text(text)


if __name__ == "__main__":
    main()
