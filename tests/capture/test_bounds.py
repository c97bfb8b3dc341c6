"""What would become too large a program is left to Python, in time, and `explain` says so."""

from __future__ import annotations

from typing import Any

import pytest

import mycelia as ms
from mycelia import Tensor
from mycelia.capture import machine, nests, tensors, world


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds that a small program reaches: a large one takes seconds."""
    monkeypatch.setattr(tensors, "MOST_OPERATIONS", 60)
    monkeypatch.setattr(machine, "MOST_NODES", 4000)
    monkeypatch.setattr(world, "MOST_ITEMS", 40)
    monkeypatch.setattr(nests, "MOST", 500)


@pytest.mark.usefixtures("small")
def test_a_list_of_tensors_that_doubles_at_each_call_ends_in_python() -> None:
    made: list[Any] = []

    def doubled(x: Tensor) -> Tensor:
        made.extend([z * 0.5 + x for z in made] or [x])
        return sum(made)  # type: ignore[arg-type, return-value]  # of tensors

    compiled = ms.jit(doubled)
    got = [compiled(Tensor([1.0, 2.0])).tolist() for _ in range(8)]
    assert len(made) == 2**7
    made.clear()
    assert got == [doubled(Tensor([1.0, 2.0])).tolist() for _ in range(8)]
    assert "would be" in compiled.explain()


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    "make", [list, tuple, set, lambda n: dict.fromkeys(n, 1.0)], ids=["list", "tuple", "set", "dict"]
)
def test_many_items_are_not_compared_at_every_call(make: Any) -> None:
    @ms.jit
    def shifted(x: Tensor, items: Any) -> Any:
        return x + len(items), 3 in items

    x = Tensor([1.0])
    for n in (4, 100, 101):
        moved, found = shifted(x, make(range(n)))
        assert (moved.tolist(), found) == ([1.0 + n], True)
    assert "items would be compared one by one at every call" in shifted.explain()


@pytest.mark.usefixtures("small")
def test_calls_that_branch_at_each_level_end_in_python() -> None:
    def tree(x: Tensor, n: int) -> Tensor:
        return x if n == 0 else tree(x * 1.5, n - 1) + tree(x * 0.5, n - 1)

    grown = ms.jit(tree)
    assert grown(Tensor([1.0]), 8).tolist() == [2.0**8]
    assert "too large a program" in grown.explain()


def test_tuples_that_stand_in_many_places_are_one() -> None:
    @ms.jit
    def folded(x: Tensor) -> Any:
        nest: Any = (x, x * 2.0)
        for _ in range(40):
            nest = (nest, nest)
        return nest

    found = folded(Tensor([1.0]))
    while len(found) == 2 and type(found[0]) is tuple:
        assert found[0] is found[1]
        found = found[0]
    assert [x.tolist() for x in found] == [[1.0], [2.0]]
    assert "one native call" in folded.explain()


def folded() -> Any:
    """As many ways to a number as there are atoms in some things."""
    nest: Any = (1,)
    for _ in range(60):
        nest = (nest, nest)
    return nest


@pytest.mark.parametrize(
    "use",
    [
        lambda x: x * 2.0 if (k := folded()) in [k] else x,
        lambda x: x * (1 + (k := folded()).index(k[0]) + k.count(k[1])),
        lambda x: x * 2.0 if (k := folded()) == (k[0], k[1]) else x,
        lambda x: x * len([(k := folded())] and ((k, k) if x.sum() > 0 else (k[0], k))),
        lambda x: x * 2.0 if isinstance(k := folded(), tuple) and k[0] != 1 else x,
    ],
    ids=["member", "found", "equal", "either", "kind"],
)
def test_constants_that_stand_in_many_places_are_looked_at_once(use: Any) -> None:
    compiled = ms.jit(use)
    assert compiled(Tensor([1.0])).tolist() == use(Tensor([1.0])).tolist()
    assert "one native call" in compiled.explain()


@pytest.mark.parametrize(("depth", "width"), [(60, 2), (400, 1)])
def test_tuples_in_tuples_from_outside_are_left_to_python_in_time(depth: int, width: int) -> None:
    nest: Any = (1,)
    for _ in range(depth):
        nest = (nest,) * width
    halved = ms.jit(lambda x, nest: x * len(nest))
    for _ in range(2):
        assert halved(Tensor([0.5]), nest).tolist() == [0.5 * width]
    assert "runs in Python: " in halved.explain()
    assert "fault" not in halved.explain()


@pytest.mark.usefixtures("small")
def test_a_nest_of_too_many_ways_is_left_to_python() -> None:
    nest: Any = ()
    for _ in range(30):
        nest = [nest, nest]
    halved = ms.jit(lambda x, nest: x * len(nest))
    for _ in range(2):
        assert halved(Tensor([0.5]), nest).tolist() == [1.0]
        assert halved(Tensor([0.5]), tuple(nest)).tolist() == [1.0]
    assert "would be looked through" in halved.explain()


@pytest.mark.usefixtures("small")
def test_lists_that_each_of_many_branches_may_make_longer_end_in_python() -> None:
    @ms.jit
    def counted(x: Tensor) -> Tensor:
        found: list[int] = []
        for i in range(9):
            if x.sum() > i:
                found = found + [i]  # noqa: RUF005
        return x * len(found)

    assert counted(Tensor([3.0])).tolist() == [9.0]
    assert "too large a program" in counted.explain()


@pytest.mark.usefixtures("small")
def test_a_dictionary_that_grows_and_grows_ends_in_python() -> None:
    def table(n: int) -> dict[Any, int]:
        found: dict[Any, int] = {}
        for i in range(n):
            found[i, "of", n] = i
        return found

    numbered = ms.jit(lambda x: x * len(table(400)))
    assert numbered(Tensor([1.0])).tolist() == [400.0]
    assert "too large a program" in numbered.explain()


@pytest.mark.usefixtures("small")
def test_a_copy_of_some_hundred_items_costs_little() -> None:
    @ms.jit
    def longer(x: Tensor) -> Tensor:
        items = [0] * 300
        for _ in range(40):
            items.insert(0, 1)
        return x * len(items)

    assert longer(Tensor([1.0])).tolist() == [340.0]
    assert "would be" not in longer.explain()


@pytest.mark.parametrize("most", [9, 10])
def test_a_program_has_as_many_operations_as_it_may(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensors, "MOST_OPERATIONS", most)

    @ms.jit
    def doubled(x: Tensor) -> Tensor:
        for _ in range(10):
            x = x + x
        return x

    assert doubled(Tensor([1.0])).tolist() == [1024.0]
    assert ("too large a program" in doubled.explain()) == (most < 10)
