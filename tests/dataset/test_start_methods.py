"""Worker processes begin anew where they would see the same world, and are copies of the reader where not."""

from __future__ import annotations

import importlib
import os
import sys
from time import sleep

import numpy as np
import pytest

import mycelia.dataset as ds
from mycelia.dataset.flow import servers
from mycelia.dataset.flow.servers import Fresh
from mycelia.dataset.flow.worlds import portable, world

MODULE = """
import os
import random
from dataclasses import dataclass

import numpy as np

SCALE, TABLE, SETTINGS = 2, np.arange(3), {"depth": [1, 2]}


@dataclass
class Offset:
    by: int = 1


offset = Offset()


def scaled(x):
    drawn = np.array([np.random.get_state()[1][5], random.getstate()[1][5]], np.int64)
    return x * SCALE + offset.by, np.array(os.getppid()), np.array(os.environ.get("A_WORD", "")), drawn
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module of the user, imported."""
    (tmp_path / "of_the_user.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    ds.config.set_multiprocessing_start_method("auto")
    yield importlib.import_module("of_the_user")
    del sys.modules["of_the_user"]


def rows(function):
    dataset = ds.NumpySlicesDataset(np.arange(8), ["x"], shuffle=False).map(
        function, "x", ["x", "parent", "word", "drawn"], num_parallel_workers=2, python_multiprocessing=True
    )
    made = list(dataset.batch(2).create_tuple_iterator(num_epochs=1, output_numpy=True))
    x, parents, words, drawn = (np.concatenate(column) for column in zip(*made, strict=True))
    assert len(set(parents)) == 1
    return x.tolist(), int(parents[0]), set(words.tolist()), {tuple(d) for d in drawn.tolist()}


def test_a_function_of_a_module_is_called_in_processes_that_begin_anew_in_the_same_surroundings(module, monkeypatch):
    monkeypatch.setenv("A_WORD", "said")
    np.random.seed(3)
    x, parent, words, drawn = rows(module.scaled)
    assert x == [2 * i + 1 for i in range(8)]
    assert parent == servers._server._forkserver_pid != os.getpid()
    assert words == {"said"}
    assert drawn == {tuple(module.scaled(0)[3].tolist())}


@pytest.mark.parametrize("what", ["a number", "a field", "an item", "an array", "a function", "a closure", "more"])
def test_a_world_that_the_program_has_changed_is_told_from_the_imported_one(module, what, tmp_path):
    fresh = Fresh.of((module.scaled, 0))
    assert fresh is not None
    assert fresh.world == world(fresh.modules)
    if what == "a number":
        module.SCALE = 3
    elif what == "a field":
        module.offset.by = 5
    elif what == "an item":
        module.SETTINGS["depth"][1] = 4
    elif what == "an array":
        module.TABLE[0] = 7
    elif what == "a function":
        module.Offset.__init__ = lambda self: None
    elif what == "a closure":
        module.hook = (lambda held: lambda: held)(object())
    else:
        module.more = 1
    assert fresh.world != world(fresh.modules)


def test_where_the_world_differs_or_cannot_be_sent_the_reader_is_copied(module):
    module.SCALE = 10  # an import elsewhere would find 2
    x, parent, _, _ = rows(module.scaled)
    assert x == [10 * i + 1 for i in range(8)]
    assert parent == os.getpid()
    module.SCALE = 2
    x, parent, _, _ = rows(lambda x: module.scaled(x))
    assert x == [2 * i + 1 for i in range(8)]
    assert parent == os.getpid()


def test_functions_of_the_script_large_plans_and_odd_globals_stay_here(module, monkeypatch):
    monkeypatch.setattr(module.scaled, "__module__", "__main__")
    monkeypatch.setattr(sys.modules["__main__"], "scaled", module.scaled, raising=False)
    assert portable(module.scaled) is None
    assert portable(np.zeros(1 << 22)) is None
    module.opened = open(os.devnull)  # noqa: SIM115 - nothing that could be compared
    assert world(["of_the_user"]) is None
    module.opened.close()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn", "auto"])
def test_a_worker_that_is_not_asked_for_long_waits(module, method):
    ds.config.set_multiprocessing_start_method(method)
    dataset = ds.NumpySlicesDataset(np.arange(40), ["x"], shuffle=False)
    dataset = dataset.map(module.scaled, "x", ["x", "p", "w", "d"], num_parallel_workers=1, python_multiprocessing=True)
    iterator = dataset.batch(2).create_tuple_iterator(num_epochs=1, output_numpy=True)
    got = [next(iterator)[0]]
    (worker,) = iterator.pipeline.stage.workers.workers
    sleep(2.5)
    got += [row[0] for row in iterator]
    assert np.concatenate(got).tolist() == [2 * i + 1 for i in range(40)]
    assert worker.answered
