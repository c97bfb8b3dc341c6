"""Batches that somebody holds keep their numbers, however many are made after them."""

import gc

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.dataset.flow import buffers
from mycelia.dataset.flow.buffers import KEPT, LIGHT, SMALL, room

ROWS, BATCH = 60, 4
WIDE = SMALL // 4 // BATCH + 16  # numbers of a row such that the memory of a batch is used again


def rows(processes, where):
    source = ds.NumpySlicesDataset(np.arange(ROWS), ["x"], shuffle=False)
    if where == "batched":  # rows are put together
        wide = source.map(
            lambda x: np.full(WIDE, x, "f"), "x", num_parallel_workers=2, python_multiprocessing=processes
        )
        return wide.batch(BATCH)
    return source.batch(BATCH).map(  # whole batches are made
        lambda x: np.repeat(x[:, None], WIDE, 1).astype("f"), "x", num_parallel_workers=2,
        python_multiprocessing=processes,
    )  # fmt: skip


@pytest.mark.parametrize("numpy", [True, False])
@pytest.mark.parametrize("processes", [False, True])
@pytest.mark.parametrize("where", ["batched", "mapped"])
def test_batches_that_are_held_are_not_written_over(processes, numpy, where):
    held, views = [], []
    for (batch,) in rows(processes, where).create_tuple_iterator(num_epochs=1, output_numpy=numpy):
        array = batch if numpy else batch.asnumpy()
        first = len(held) * BATCH
        np.testing.assert_array_equal(array[:, 0], np.arange(first, first + BATCH))
        if len(held) % 2:
            held.append(batch)
        else:  # a view is enough
            held.append(None)
            views.append((first, array[1:3, 5:9]))
    assert len(held) == ROWS // BATCH
    for i, batch in enumerate(held):
        if batch is not None:
            array = np.asarray(batch if numpy else batch.asnumpy())
            assert (array == np.arange(i * BATCH, i * BATCH + BATCH)[:, None]).all()
    for first, view in views:
        assert (view == np.arange(first + 1, first + 3)[:, None]).all()


def test_memory_of_batches_comes_back_when_the_last_view_is_gone(monkeypatch):
    store = buffers._Store()
    monkeypatch.setattr(buffers, "_store", store)
    first = room((SMALL,), np.dtype("u1"))
    view = first[3:5].reshape(2, 1)
    del first
    gc.collect()
    assert not store.free  # it is held
    other = room((SMALL,), np.dtype("u1"))
    assert not np.shares_memory(view, other)
    place = view.ctypes.data - 3
    del view
    assert [b.ctypes.data for b in store.free[SMALL]] == [place]
    again = room((SMALL // 4,), np.dtype("f"))
    assert again.ctypes.data == place
    assert again.dtype == np.float32
    assert not store.free[SMALL]


def test_small_arrays_and_objects_are_not_kept(monkeypatch):
    store = buffers._Store()
    monkeypatch.setattr(buffers, "_store", store)
    for shape, dtype in (((SMALL - 1,), "u1"), ((SMALL,), "O"), ((0, 5), "f")):
        made = room(shape, np.dtype(dtype))
        assert (made.shape, made.dtype) == (shape, np.dtype(dtype))
        del made
    assert not store.free


def test_what_waits_for_use_is_bounded():
    store = buffers._Store()
    large = LIGHT // KEPT + 1
    for _ in range(3 * KEPT):
        store.give(np.empty(large, np.uint8))
    assert len(store.free[large]) == KEPT
    for i in range(8 * KEPT):
        store.give(np.empty(large + i, np.uint8))
    assert sum(size * len(blocks) for size, blocks in store.free.items()) <= 2 * LIGHT + large * 2 or (
        sum(map(len, store.free.values())) <= 4 * KEPT
    )
    assert len(store.free[large + 8 * KEPT - 1]) == 1  # the newest stays
