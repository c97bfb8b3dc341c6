"""Programs for NumPy, of different fields, run by changing their import: the same numbers, eagerly and compiled.

Each has `run`, and `inputs` of a size. `benchmarks/numpy_programs.py` times them beside NumPy.
"""

import linecache
from pathlib import Path
from types import ModuleType

import numpy
import pytest

import mycelia as ms
from mycelia import Tensor

PROGRAMS = {path.stem: path for path in sorted((Path(__file__).parent / "programs").glob("*.py"))}
NATIVE = set(PROGRAMS) - {"kmeans", "markov", "picture"}  # those ask for numbers in the middle


def loaded(path: Path, imported: str) -> ModuleType:
    """A program, with another import."""
    text, name = path.read_text().replace("import numpy as np", imported), f"<{path.stem}: {imported}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    module = ModuleType(path.stem)
    exec(compile(text, name, "exec"), vars(module))
    return module


def same(got: tuple[object, ...], want: tuple[object, ...]) -> None:
    assert len(got) == len(want)
    for mine, theirs in zip(got, want, strict=True):
        a, b = mine.asnumpy() if isinstance(mine, Tensor) else numpy.asarray(mine), numpy.asarray(theirs)
        assert a.shape == b.shape
        assert a.dtype.kind == b.dtype.kind
        numpy.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-3)  # what is made anew is float32


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_for_numpy_gives_the_same(name):
    plain, mine = (loaded(PROGRAMS[name], f"import {m} as np") for m in ("numpy", "mycelia.numpy"))
    want = plain.run(*plain.inputs(12))
    same(mine.run(*mine.inputs(12)), want)
    compiled = ms.jit(mine.run)
    for _ in range(2):
        same(compiled(*mine.inputs(12)), want)
    assert ("in Python" not in compiled.explain()) == (name in NATIVE)


def test_there_are_ten_fields():
    assert len(PROGRAMS) >= 10
