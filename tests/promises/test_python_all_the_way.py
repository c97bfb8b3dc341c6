"""The README: there is no C++ in it; you can read the whole way from `loss = net(x)` to the machine code."""

from __future__ import annotations

from pathlib import Path

import mycelia as ms

PACKAGE = Path(ms.__file__).parent
TEXT = {".py", ".txt", ".typed", ".pyi", ".md", ".json", ".toml", ".csv"}


def test_the_package_is_python():
    files = [p for p in PACKAGE.rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    assert {p.suffix for p in files} <= TEXT, sorted({p.suffix for p in files} - TEXT)
    assert sum(p.suffix == ".py" for p in files) > 100


def test_every_module_says_what_it_is():
    silent = [
        p for p in PACKAGE.rglob("*.py") if p.stat().st_size and not p.read_text().lstrip().startswith(('"""', 'r"""'))
    ]
    assert not silent
