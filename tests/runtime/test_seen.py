"""Arrays are known by themselves while they live, and never by what another one has left behind."""

import gc
import random
import weakref
from itertools import count

import numpy as np
import pytest

from mycelia.runtime import seen as seen_module
from mycelia.runtime.seen import FEW, PATIENCE, Seen, version


def test_what_is_not_reported_as_changed_is_the_array_that_was_kept():
    random.seed(0)
    numbers = count()

    def new():
        return np.full(3, next(numbers))  # by which it can be known when it is gone

    for _ in range(50):
        places = random.randrange(6)
        seen, kept = Seen(places), {}
        pool = [new() for _ in range(4)]
        for _ in range(60):
            if random.random() < 0.5:
                pool[random.randrange(4)] = new()  # where another one was, perhaps
            arrays = tuple(random.choice(pool) for _ in range(places))
            changed = seen.changed(arrays)
            for i, x in enumerate(arrays):
                assert i in changed or kept[i] == x[0]
            if random.random() < 0.8:
                some = [i for i in changed if random.random() < 0.8]
                seen.keep(arrays, changed if len(some) == len(changed) else some)
                kept |= {i: arrays[i][0] for i in some}


def test_an_array_that_lies_where_another_one_lay_is_new():
    many, arrays = [Seen(1) for _ in range(2000)], [np.zeros(2) for _ in range(2000)]
    for seen, x in zip(many, arrays, strict=True):
        seen.keep((x,), [0])
        assert list(seen.changed((x,))) == []
    here = {id(x): seen for x, seen in zip(arrays, many, strict=True)}
    arrays, x = [], None
    reused = [y for y in [np.zeros(2) for _ in range(4000)] if id(y) in here]
    assert reused, "no array came to lie where another one was: the test shows nothing"
    for y in reused:
        assert list(here[id(y)].changed((y,))) == [0]


def test_arrays_that_stay_are_known_beside_one_that_always_changes():
    stay, seen = [np.zeros(1) for _ in range(3)], Seen(4)
    for n in range(2 * PATIENCE):
        arrays = (stay[0], stay[1], np.full(1, n), stay[2])
        changed = seen.changed(arrays)
        assert list(changed) == ([0, 1, 2, 3] if not n else [2])
        seen.keep(arrays, changed)


def test_all_may_be_replaced_a_few_times():
    seen = Seen(3)
    for _ in range(PATIENCE):
        arrays = tuple(np.zeros(1) for _ in range(3))
        for wanted in ([0, 1, 2], []):
            assert list(seen.changed(arrays)) == wanted
            seen.keep(arrays, wanted)


def test_what_is_known_goes_at_once_and_leaves_nothing_to_collect():
    arrays, seen = (np.zeros(1), np.zeros(2)), Seen(2)
    seen.keep(arrays, [0, 1])
    known = weakref.ref(seen._watch)
    gc.disable()
    try:
        del seen
        assert known() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("places", [1, FEW - 1, FEW, FEW + 1, 3 * FEW])
def test_where_nothing_changes_nothing_is_looked_at_one_by_one(places):
    arrays, seen = tuple(np.zeros(1) for _ in range(places)), Seen(places)
    seen.keep(arrays, range(places))
    assert seen.changed(arrays) is seen._watch.restless


def test_a_place_is_left_out_when_it_has_changed_so_often():
    stays, seen = np.zeros(1), Seen(2)
    for n in range(PATIENCE + 1):
        assert seen._watch.restless == ()
        arrays = (stays, np.full(1, n))
        seen.keep(arrays, seen.changed(arrays))
    assert seen._watch.restless == (1,)


def test_a_python_that_keeps_no_versions_of_dictionaries_is_found_out(monkeypatch):
    assert seen_module._has_versions() == (version({}) is not None)
    changing = count()
    monkeypatch.setattr(seen_module, "_raw", lambda address, size: bytes(size))
    assert not seen_module._has_versions()  # what lies there stays
    monkeypatch.setattr(seen_module, "_raw", lambda address, size: next(changing).to_bytes(size, "little"))
    assert not seen_module._has_versions()  # what lies there changes by itself


@pytest.mark.parametrize("direct", [False, True])
@pytest.mark.parametrize("count", [0, FEW, FEW + 1, 3 * FEW])
def test_things_are_told_apart_wherever_python_keeps_them(monkeypatch, direct, count):
    monkeypatch.setattr(seen_module, "_DIRECT", direct and seen_module._DIRECT)
    things = tuple(object() for _ in range(count))
    told = seen_module.identities(things)
    assert isinstance(told, list) == (count <= FEW or not seen_module._DIRECT)
    assert told == seen_module.identities(things)
    assert count < 2 or told != seen_module.identities((*things[1:], things[0]))
