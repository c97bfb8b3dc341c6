"""Groups of processes, where there is one."""

from __future__ import annotations

import pytest

import mycelia as ms
from mycelia import Tensor, communication, ops
from mycelia.errors import ArgumentError
from mycelia.primitives import WORLD, groups


class Twins:
    """Two processes that always hold the same."""

    rank, size = 0, 2

    def all_reduce(self, x, reduction):
        return x + x if reduction == "sum" else x


def test_a_program_sees_that_processes_have_joined(monkeypatch):
    @ms.jit
    def mean(x):
        return ops.all_reduce(x) / communication.get_group_size(), communication.get_group_size()

    assert (mean(Tensor([3.0]))[0].tolist(), mean(Tensor([3.0]))[1]) == ([3.0], 1)
    monkeypatch.setitem(groups, WORLD, Twins())
    assert (mean(Tensor([3.0]))[0].tolist(), mean(Tensor([3.0]))[1]) == ([3.0], 2)


def test_one_that_nobody_reads_happens_all_the_same(monkeypatch):
    called = []

    class Counting(Twins):
        def all_reduce(self, x, reduction):
            called.append(x.tolist())
            return super().all_reduce(x, reduction)

    monkeypatch.setitem(groups, WORLD, Counting())

    @ms.jit
    def step(x):
        ops.all_reduce(x)
        ops.all_reduce(x)
        return x

    step(Tensor([1.0]))
    assert called == [[1.0], [1.0]]


@pytest.mark.parametrize("ranks", [[], [1], [-1], [0, 0]])
def test_a_group_of_processes_that_are_not_there_is_refused(ranks):
    with pytest.raises(ArgumentError, match="no processes of this run"):
        communication.create_group("odd", ranks)


def test_mistakes_are_told():
    with pytest.raises(ArgumentError, match="in no group 'nobody'"):
        communication.get_rank("nobody")
    with pytest.raises(ArgumentError, match="in no group 'nobody'"):
        ops.all_reduce(Tensor([1.0]), group="nobody")
    with pytest.raises(ArgumentError, match="cannot be joined by 'smoke'"):
        communication.init("smoke")
    with pytest.raises(ArgumentError, match="stays"):
        communication.destroy_group(WORLD)
    with pytest.raises(ArgumentError, match="cannot reduce by 'mean'"):
        ops.all_reduce(Tensor([1.0]), "mean")
