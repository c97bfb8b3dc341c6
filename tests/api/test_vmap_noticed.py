"""What vmap cannot do is said, whatever the function does with the error: it never goes on as if it were the user's."""

from typing import Any

import pytest

import mycelia as ms
from mycelia import Tensor
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
