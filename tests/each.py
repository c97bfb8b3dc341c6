"""Many small cases in one test: pytest takes longer to prepare a case than most of them take to be checked."""

from collections.abc import Callable, Iterable
from typing import Any


def each(check: Callable[..., Any], cases: Iterable[tuple[object, tuple[Any, ...]]]) -> None:
    """Check every case, of which each has a name; all that fail are told, each with its name.

    >>> def positive(x: int) -> None:
    ...     assert x > 0
    >>> each(positive, [("one", (1,)), ("two", (2,))])
    >>> try:
    ...     each(positive, [("one", (1,)), ("minus two", (-2,)), ("minus three", (-3,))])
    ... except ExceptionGroup as failed:
    ...     print(failed.message, [e.__notes__ for e in failed.exceptions])
    2 of 3 cases fail [['in the case minus two'], ['in the case minus three']]
    """
    failures, met = [], 0
    for name, given in cases:
        met += 1
        try:
            check(*given)
        except Exception as error:
            error.add_note(f"in the case {name}")
            failures.append(error)
    assert met, "there is no case"
    if failures:
        raise ExceptionGroup(f"{len(failures)} of {met} cases fail", failures)
