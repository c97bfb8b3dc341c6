"""What every example would change in its own way is an error, after which all is as it was."""

from collections.abc import Callable
from typing import Any

import pytest

import mycelia as ms
from mycelia import Parameter, Tensor, ops
from mycelia.errors import ArgumentError, CaptureError

X = Tensor([[1.0, 2.0], [3.0, 4.0]])


def assigned_in_a_gradient(outer: Any, row: Tensor) -> Any:
    def loss(v: Tensor) -> Tensor:
        ops.assign(outer, v * 2.0)
        return (outer * v).sum()

    return ms.value_and_grad(loss, 0, [outer])(row)


def returned(outer: Any, row: Tensor) -> Any:
    outer[0] = row[0]
    return outer


def through_a_view(outer: Any, row: Tensor) -> Any:
    part = outer[:1]
    part[0] = row[0]
    return row


def then_decided(outer: Any, row: Tensor) -> Any:
    outer[0] = row[0]
    return row if row.sum() > 0 else -row


WRITES = [(write, kind) for write in (returned, through_a_view, then_decided) for kind in (Tensor, Parameter)]


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize(("write", "kind"), [*WRITES, (assigned_in_a_gradient, Parameter)])
def test_a_tensor_from_outside_is_not_written_to_by_each_example(
    write: Callable[..., Any], kind: Any, compiled: bool
) -> None:
    outer = kind(Tensor([5.0, 6.0]))
    mapped = ms.vmap(lambda row: write(outer, row))
    told = "a number was asked for" if write is then_decided else "each would change"
    with pytest.raises((ArgumentError, CaptureError), match=told):
        (ms.jit(mapped) if compiled else mapped)(X)
    assert outer.tolist() == [5.0, 6.0]


def test_another_error_leaves_what_was_written_to_as_it_was() -> None:
    outer = Tensor([5.0, 6.0])

    def fails(row: Tensor) -> Tensor:
        outer[0] = row[0]
        raise KeyError("of the user")

    with pytest.raises(KeyError):
        ms.vmap(fails)(X)
    assert outer.tolist() == [5.0, 6.0]


def test_what_a_function_makes_itself_it_may_write_to() -> None:
    def own(row: Tensor) -> tuple[Tensor, Tensor]:
        made, again = Tensor([0.0, 0.0]), Tensor([0.0, 0.0])

        def down(n: int) -> None:  # a cycle, in which `again` stays until it is collected
            again[0] = row[1]
            if n:
                down(n - 1)

        down(1)
        made[0] = row[0]
        return made, again * 1.0

    for mapped in (ms.vmap(own), ms.jit(ms.vmap(own))):
        assert [x.tolist() for x in mapped(X)] == [[[1.0, 0.0], [3.0, 0.0]], [[2.0, 0.0], [4.0, 0.0]]]


def test_what_is_the_same_for_all_examples_is_written() -> None:
    outer = Tensor([5.0, 6.0])

    def counts(row: Tensor) -> Tensor:
        outer[1] = 9.0
        return row * outer

    assert ms.vmap(counts)(X).tolist() == [[5.0, 18.0], [15.0, 36.0]]
    assert outer.tolist() == [5.0, 9.0]
