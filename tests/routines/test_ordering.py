"""Rows in order: as Python inside its arrays, as machine code in many threads and sizes, always what NumPy says."""

from __future__ import annotations

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.api.options import options
from mycelia.codegen.own_routines import bits_of
from mycelia.ir import Function
from mycelia.loops import OrderCall, SearchCall
from mycelia.primitives.ordering import Search, Sort, TopK
from mycelia.routines import ordering, searching
from mycelia.runtime.own_routines import sized
from mycelia.runtime.resizable import Resizable
from mycelia.runtime.warm import compile
from mycelia.sizes import Scope
from mycelia.types import DTYPES, TensorType, bool_, float16, float32, float64, int8, int32, int64, uint8, uint64

REAL = [d for d in DTYPES if not d.is_complex]


class Guarded:
    """Elements that are Python's own numbers, and refuse an index outside."""

    def __init__(self, array):
        self.array = array

    def __getitem__(self, i):
        assert 0 <= i < len(self.array), f"{i} is outside of {len(self.array)}"
        return int(self.array[i])

    def __setitem__(self, i, value):
        assert 0 <= i < len(self.array), f"{i} is outside of {len(self.array)}"
        self.array[i] = value


def drawn(dtype, shape, seed=0, spread=50.0):
    rng = np.random.default_rng(seed)
    x = (rng.standard_normal(shape) * spread).astype(dtype.numpy)
    if dtype.is_float and x.size > 12:
        x.reshape(-1)[3:11] = [np.nan, -0.0, 0.0, -np.nan, np.inf, -np.inf, -0.0, np.nan]
    return x


def same(got, want):
    for a, b in zip(got, want, strict=True):
        assert a.dtype == b.dtype
        assert a.tobytes() == b.tobytes()


def python_order(x, kept, descending, threads):
    """The routine, interpreted, with the sizes and the room that machine code is given."""
    outer, length, inner = x.shape
    dtype = next(d for d in REAL if d.numpy == x.dtype)
    call = OrderCall(dtype, outer, length, inner, kept, descending, True, True)
    ready = sized(call, threads)
    kind = np.dtype(f"i{dtype.itemsize}")
    out, places = np.zeros((outer, kept, inner), kind), np.zeros((outer, kept, inner), np.int64)
    arrays = [x.copy().view(kind).reshape(-1), out.reshape(-1), places.reshape(-1), np.zeros(ready.room // 8, np.int64)]
    wide = 2 if dtype.itemsize == 8 else 1
    for phase in range(ready.words[ordering.PHASES]):
        for me in range(ready.words[ordering.THREADS]):
            all_ = int(ready.words[ordering.THREADS])
            guarded = [Guarded(a) for a in (*arrays, ready.words)]
            ordering.put_in_order(*guarded, phase, me, all_, 1, 1, wide, *bits_of(dtype))
    return out.view(x.dtype), places


@pytest.mark.parametrize("dtype", [float32, int8, uint64, float64])
def test_as_python_it_stays_inside_its_arrays_and_says_what_numpy_says(dtype, monkeypatch):
    for name, small in (("FIRST", 4), ("BINS", 16), ("LONG", 64), ("SHORT", 8), ("MORE", 8)):
        monkeypatch.setattr(ordering, name, small)
    monkeypatch.setattr("mycelia.runtime.own_routines.LONG", 64)
    monkeypatch.setattr("mycelia.runtime.own_routines.WORTH_A_THREAD", 0)
    for shape, kept in (
        ((1, 300, 1), 300),
        ((2, 70, 3), 70),
        ((2, 90, 2), 5),
        ((3, 6, 2), 6),
        ((2, 0, 2), 0),
        ((1, 1, 1), 1),
        ((2, 40, 1), 0),
    ):
        for threads in (1, 2, 3):
            sized.cache_clear()
            x = drawn(dtype, shape)
            same(python_order(x, kept, threads == 2, threads), TopK(1, threads == 2, kept).reference(x))
    sized.cache_clear()


@pytest.mark.parametrize("dtype", [float16, int32, float64])
def test_search_as_python_stays_inside_its_arrays(dtype):
    for sequences, length, count, right in ((1, 9, 20, False), (3, 5, 4, True), (1, 0, 3, True)):
        rows, wanted = np.sort(drawn(dtype, (sequences, length))), drawn(dtype, (sequences, count), 1)
        out, kind = np.zeros((sequences, count), np.int64), np.dtype(f"i{dtype.itemsize}")
        words = sized(SearchCall(dtype, sequences, length, count, right), 1).words
        arrays = [rows.view(kind).reshape(-1), wanted.view(kind).reshape(-1), out.reshape(-1), np.zeros(0), words]
        for me in range(3):
            searching.find_places(*[Guarded(a) for a in arrays], 0, me, 3, *bits_of(dtype))
        same([out], [Search(right).reference(rows, wanted)])


def compiled(op, *types):
    return compile(Function.build(op, *types), {}, options())


@pytest.mark.parametrize("dtype", REAL, ids=str)
def test_machine_code_sorts_every_type_to_the_bit_along_any_axis_of_any_size(dtype):
    scope = Scope()
    sizes = tuple(scope.name(n, low=0, hint=9) for n in "abc")
    for axis, descending in ((1, False), (2, True)):
        run = compiled(Sort(axis, descending), TensorType(dtype, sizes))
        assert isinstance(run, Resizable)
        for shape in ((2, 700, 3), (3, 5, 40), (1, 0, 2), (0, 3, 3), (2, 33, 64)):
            x = drawn(dtype, shape)
            same(run(x), Sort(axis, descending).reference(x))


@pytest.mark.parametrize("dtype", [float32, int64, uint8], ids=str)
def test_long_rows_are_sorted_to_the_bit_whatever_they_hold(dtype):
    n = 300_000
    run, first = compiled(Sort(0, True), TensorType(dtype, (n,))), compiled(TopK(0, True, 50), TensorType(dtype, (n,)))
    rows = [drawn(dtype, n), drawn(dtype, n, spread=1.0), np.sort(drawn(dtype, n)), np.zeros(n, dtype.numpy)]
    few = np.arange(n).astype(dtype.numpy)
    few[7] = np.finfo(np.float32).max if dtype.is_float else np.iinfo(dtype.numpy).max
    for x in (*rows, few):
        want = Sort(0, True).reference(x)
        same(run(x), want)
        same(first(x), [w[:50] for w in want])


def test_only_what_is_read_is_computed():
    x = TensorType(float32, (8,))
    texts = [
        str(compiled_program(fn, x))
        for fn in (lambda x: p.sort(x, 0)[0], lambda x: p.sort(x, 0)[1], lambda x: p.sort(x, 0))
    ]
    assert ["values=true, positions=false" in t.lower() for t in texts] == [True, False, False]
    assert ["values=false, positions=true" in t.lower() for t in texts] == [False, True, False]


def compiled_program(fn, *types):
    from mycelia.testing import lower, optimise

    return lower(optimise(Function.build(fn, *types)))


def test_a_mask_is_sorted_too():
    x = np.array([True, False, True, False])
    same(compiled(Sort(0, False), TensorType(bool_, (4,)))(x), Sort(0, False).reference(x))
