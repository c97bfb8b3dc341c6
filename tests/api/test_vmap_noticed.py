"""What vmap cannot do is said, whatever the function does with the error: it never goes on as if it were the user's."""

import random
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import mycelia as ms
from mycelia import Tensor
from mycelia.api.seeming import must_run_once
from mycelia.errors import CaptureError

X = Tensor([[1.0, 2.0], [9.0, 4.0], [-1.0, 0.5]])


def decided_in_a_block(row: Tensor) -> Any:
    class Says:  # which is left to Python
        def __enter__(self) -> None: ...
        def __exit__(self, kind: Any, *_: Any) -> None:
            if kind is not None:
                raise ValueError("from the block")

    with Says():
        if row.sum() > 100:
            raise KeyError
    return row * 2


def decided_and_caught(row: Tensor) -> Any:
    class Left: ...

    try:
        return row * 2 if row.sum() > 3 else row
    except BaseException:
        return row - Left.__name__.count("L")


def written_where_elements_repeat(row: Tensor) -> Any:
    class Left: ...

    wide = row[:1].expand((3,))
    try:
        wide[0] = 5.0
    except Exception:
        return row, Left.__name__
    return row, wide


@pytest.mark.parametrize("fn", [decided_in_a_block, decided_and_caught, written_where_elements_repeat])
@pytest.mark.parametrize("outside", [lambda fn: fn, ms.jit], ids=["eager", "jit"])
@pytest.mark.filterwarnings("ignore:.*left to Python:RuntimeWarning")
def test_an_error_of_vmap_that_the_function_replaces_is_told(fn: Any, outside: Any) -> None:
    with pytest.raises(CaptureError, match="while many examples are computed at once"):
        outside(lambda x: ms.vmap(fn)(x))(X)
    assert ms.vmap(lambda row: row + 1)(X).shape == X.shape  # nothing is left of it


def test_a_function_that_runs_in_vmap_handles_no_error_of_ours() -> None:
    import sys

    seen: list[Any] = []

    def noted(row: Tensor) -> Tensor:
        class Left: ...

        seen.append((Left.__name__, sys.exc_info()[0]))
        return row * 2

    assert ms.vmap(noted)(X).tolist() == (X * 2).tolist()
    assert {kind for _, kind in seen} == {None}


HELD, WEIGHT = [0], ms.Parameter([1.0], name="w")
STEP = ms.nn.SGD([WEIGHT], 0.1)
CHANGING: dict[str, Callable[[Any], Any]] = {
    "an item": lambda x: HELD.__setitem__(0, 1),
    "a list": lambda x: HELD.append(x),
    "a parameter": lambda x: ms.ops.assign(WEIGHT, WEIGHT + 1),
    "a parameter by +": lambda x: ms.ops.assign_add(WEIGHT, WEIGHT),
    "an optimizer": lambda x: STEP((WEIGHT,)),
    "the context": lambda x: ms.set_context(mode=ms.PYNATIVE_MODE),
    "a seed": lambda x: ms.set_seed(3),
    "something elsewhere": lambda x: random.seed(x),
}
DECIDING: dict[str, Callable[[Any], Any]] = {
    "a branch": lambda x: x if x > 0 else -x,
    "a number": lambda x: x.item(),
    "any": lambda x: any(x),
    "a comparison in a sort": lambda x: sorted([x, x]),
}
PLAIN: dict[str, Callable[[Any], Any]] = {
    "an operation": lambda x: ms.ops.exp(x) + 1,
    "a layer": ms.nn.ReLU(),
    "a tuple": lambda x: (x, len(x.shape)),
}


def one_after_the_other(first: Callable[[Any], Any], second: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: (first(x), [second(y) for y in (x, x)])


@pytest.mark.parametrize("plain", PLAIN)
@pytest.mark.parametrize("change", CHANGING)
@pytest.mark.parametrize("decision", DECIDING)
def test_what_changes_something_and_decides_something_runs_once(plain: str, change: str, decision: str) -> None:
    nothing, changes, decides = PLAIN[plain], CHANGING[change], DECIDING[decision]
    assert must_run_once(one_after_the_other(changes, decides))
    assert must_run_once(one_after_the_other(decides, changes))
    assert must_run_once(one_after_the_other(nothing, one_after_the_other(changes, decides)))
    assert not must_run_once(one_after_the_other(nothing, decides))
    assert not must_run_once(nothing)


def test_what_is_stored_by_statements_is_a_change() -> None:
    def stores(x: Any) -> Any:
        HELD[0] = x
        return [y if y > 0 else -y for y in (x, x)]

    def stores_last(x: Any) -> Any:
        made = [(lambda z: z if z > 0 else -z)(y) for y in (x, x)]
        HELD[0] = made
        return made

    def only_stores(x: Any) -> Any:
        HELD[0] = x
        return [y + 1 for y in (x, x)]

    def inside(x: Any) -> Any:
        def deeper(y: Any) -> Any:
            HELD[0] = y

        deeper(x)
        return x if x > 0 else -x

    assert [must_run_once(f) for f in (stores, stores_last, inside, only_stores)] == [True, True, True, False]


def test_what_vmap_was_given_does_not_live_on_after_its_error() -> None:
    class Held:
        """Something that is given to all examples."""

    def refused(row: Tensor, held: Any) -> Any:
        return row if row.sum() > 3 else held

    for _ in range(3):
        held = Held()
        watched = weakref.ref(held)
        with pytest.raises(CaptureError):
            ms.vmap(lambda row, held=held: refused(row, held))(X)
        del held
        assert watched() is None, "without a collection"
