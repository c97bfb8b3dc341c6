"""What is kept is enough, and nothing smaller is: SciPy's flow and trying everything out are the judges."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from mycelia.mincut import Network, least_kept

Graph = dict[int, list[int] | None]


def random_graph(seed: int, n: int, dear: float = 0.2) -> tuple[Graph, list[int], list[int]]:
    """Values made from earlier ones, or from nothing, or not at all; their sizes; and those that are wanted."""
    rng = np.random.default_rng(seed)
    made: Graph = {}
    for v in range(n):
        few = int(rng.integers(0, 4))
        made[v] = None if rng.random() < dear else sorted({int(x) for x in rng.integers(0, v, few)} if v else set())
    wanted = sorted({int(x) for x in rng.integers(0, n, max(n // 3, 1))})
    return made, [int(s) for s in rng.integers(1, 20, n)], wanted


def enough(kept: set[int], made: Graph, wanted: list[int]) -> bool:
    """Whether everything wanted can be made from what is kept."""
    have: set[int] = set()
    for v, inputs in made.items():  # inputs have smaller numbers
        if v in kept or (inputs is not None and have.issuperset(inputs)):
            have.add(v)
    return have.issuperset(wanted)


@pytest.mark.many("seed", range(150), pack=100)
def test_what_is_kept_is_enough_and_the_smallest(seed):
    made, size, wanted = random_graph(seed, 2 + seed % 9)
    kept = least_kept(wanted, made.get, size)
    assert enough(set(kept), made, wanted)
    every = [set(c) for k in range(len(made) + 1) for c in combinations(made, k)]
    assert sum(size[v] for v in kept) == min(sum(size[v] for v in c) for c in every if enough(c, made, wanted))


@pytest.mark.parametrize("seed", range(20))
def test_as_much_flows_as_scipy_says(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    capacity = rng.integers(0, 50, (n, n)) * (rng.random((n, n)) < 0.2)
    np.fill_diagonal(capacity, 0)
    pipes = Network(n)
    for a, b in zip(*np.nonzero(capacity), strict=True):
        pipes.add(int(a), int(b), int(capacity[a, b]))
    assert pipes.saturate(0, n - 1) == maximum_flow(csr_array(capacity.astype(np.int32)), 0, n - 1).flow_value


def test_the_nearest_of_equal_cuts_is_taken():
    made: Graph = {0: None, **{v: [v - 1] for v in range(1, 10)}}
    assert least_kept([9], made.get, [4] * 10) == [9]
    assert least_kept([9], made.get, [4, 4, 2, 4, 4, 2, 4, 4, 4, 4]) == [5]


def test_large_graphs_are_cut():
    made, size, wanted = random_graph(0, 10_000)
    kept = least_kept(wanted, made.get, size)
    assert enough(set(kept), made, wanted)
    assert sum(size[v] for v in kept) < sum(size[v] for v in wanted)
