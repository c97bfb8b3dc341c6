"""Runs a program of the corpus eagerly and as one jitted function, and counts what is compiled."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import mycelia as ms
from mycelia import Tensor
from mycelia.runtime import stages
from mycelia.tree import flatten
from tests.sizes.corpus import Case

TOLERANCE = {"float16": 1e-2, "bfloat16": 4e-2, "float32": 3e-4, "float64": 1e-9}


@contextmanager
def counted() -> Iterator[list[Any]]:
    """Inside the block programs are written down that go through the compiler."""
    found: list[Any] = []
    plain = stages.compiled

    def compiled(fn: Any, donated: Any, options: Any) -> Any:
        found.append(fn)
        return plain(fn, donated, options)

    stages.compiled = compiled
    try:
        yield found
    finally:
        stages.compiled = plain


def equal(got: Any, wanted: Any, what: str) -> None:
    """Both are the same nest of tensors and numbers."""
    these, structure = flatten(got)
    those, expected = flatten(wanted)
    assert structure == expected, what
    for i, (a, b) in enumerate(zip(these, those, strict=True)):
        if not isinstance(b, Tensor):
            assert type(a) is type(b), f"{what}, part {i}: {a!r}, not {b!r}"
            assert a == b, f"{what}, part {i}: {a!r}, not {b!r}"
            continue
        assert isinstance(a, Tensor), f"{what}, part {i}: {a!r}"
        assert a.dtype == b.dtype, f"{what}, part {i}: {a.dtype}, not {b.dtype}"
        assert a.shape == b.shape, f"{what}, part {i}: {a.shape}, not {b.shape}"
        bound = TOLERANCE.get(str(b.dtype).lower(), 0)
        x, y = (t.asnumpy().astype("float64" if bound else t.asnumpy().dtype) for t in (a, b))
        np.testing.assert_allclose(x, y, bound, bound, err_msg=f"{what}, part {i}")


class Both:
    """A program of the corpus, eager and jitted, with the same parameters at the start."""

    def __init__(self, case: Case, **settings: Any) -> None:
        self.case = case
        ms.set_seed(1)
        self.eager, self.kept = case.build()
        ms.set_seed(1)
        fn, self.changed = case.build()
        self.jitted = ms.jit(fn, **settings)
        self.programs = 0  # that were compiled for the jitted function

    def check(self, r: np.random.Generator, sizes: tuple[int, ...]) -> None:
        """The same results, errors and parameters at these sizes; the next call starts from the same ones."""
        args = self.case.draw(r, *sizes)
        what = f"{self.case.name} at {sizes}"
        ms.set_seed(7)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            wanted = _outcome(self.eager, args)
            ms.set_seed(7)
            with counted() as found:
                got = _outcome(self.jitted, args)
            self.programs += len(found)
        if isinstance(wanted, Exception) or isinstance(got, Exception):
            assert type(got) is type(wanted), f"{what}: {got!r}, not {wanted!r}"
            return
        equal(got, wanted, what)
        for p, q in zip(self.changed, self.kept, strict=True):
            equal(Tensor(p.asnumpy()), Tensor(q.asnumpy()), f"{what}, {p.name}")
            q.set_data(Tensor(p.asnumpy()))


def _outcome(fn: Any, args: tuple[Any, ...]) -> Any:
    try:
        return fn(*args)
    except Exception as error:
        return error


def drawn(case: Case, r: np.random.Generator, least: int = 0) -> tuple[int, ...]:
    """Sizes of all kinds: none, one, small, prime, round, equal to one another."""
    kinds = [n for n in (0, 1, 2, 3, 4, 5, 7, 8, 11, 16, 17, 23, 31, 32, 37) if least <= n <= case.limit]
    sizes = [int(r.choice(kinds)) for _ in range(case.sizes)]
    if case.sizes > 1 and r.random() < 0.2:
        sizes[1] = sizes[0]
    return tuple(sizes)
