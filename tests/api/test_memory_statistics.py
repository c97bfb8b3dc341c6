"""What is told of memory is what the system says, and follows what tensors hold."""

import numpy as np
import pytest

import mycelia as ms
from mycelia import hal
from mycelia.api import memory
from mycelia.errors import ArgumentError


def test_arrays_count_once_and_views_hold_nothing_of_their_own(monkeypatch):
    x, y = (ms.Tensor(np.ones((n,), np.float32)) for n in (1000, 10))
    for objects, expected in (([x], (1, 4000)), ([x, y, "x"], (2, 4040)), ([x, x[:10]], (2, 4000)), ([], (0, 0))):
        monkeypatch.setattr(memory.gc, "get_objects", lambda objects=objects: objects)
        assert memory.tensors() == expected


def test_living_tensors_are_seen():
    x = ms.Tensor(np.ones((1 << 20,), np.float32))
    assert hal.memory_stats()["tensor_memory"] >= x.nbytes


def test_the_most_is_no_less_than_what_there_is_and_begins_anew():
    hal.reset_peak_memory_stats()
    assert hal.max_memory_allocated() >= 0.9 * hal.memory_allocated() > 0
    assert hal.memory_reserved() > 0
    assert "tensor_memory" in hal.memory_summary()


def test_there_is_one_device():
    assert hal.memory_allocated("CPU") > 0
    with pytest.raises(ArgumentError, match="device_target"):
        hal.memory_allocated("Ascend")
