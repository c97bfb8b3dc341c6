"""Many small cases in one test: pytest takes longer to prepare a case than most of them take to be checked."""

import re
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from _pytest.mark import ParameterSet

Case = tuple[str, tuple[Any, ...]]


def each(check: Callable[..., Any], cases: Iterable[tuple[object, tuple[Any, ...]]]) -> None:
    """Check every case, of which each has a name; all that fail are told, each with its name. One may be skipped.

    >>> def positive(x: int) -> None:
    ...     assert x > 0
    >>> each(positive, [("one", (1,)), ("two", (2,))])
    >>> try:
    ...     each(positive, [("one", (1,)), ("minus two", (-2,)), ("minus three", (-3,))])
    ... except ExceptionGroup as failed:
    ...     print(failed.message, [e.__notes__ for e in failed.exceptions])
    2 of 3 cases fail [['in the case minus two'], ['in the case minus three']]
    """
    failures: list[BaseException] = []
    skipped: list[BaseException] = []
    met = 0
    for name, given in cases:
        met += 1
        try:
            check(*given)
        except (Exception, pytest.fail.Exception) as error:
            error.add_note(f"in the case {name}")
            failures.append(error)
        except pytest.skip.Exception as reason:
            skipped.append(reason)
    assert met, "there is no case"
    if len(skipped) == met:
        raise skipped[0]
    if failures:
        raise BaseExceptionGroup(f"{len(failures)} of {met} cases fail", failures)


ADDRESS = re.compile(r" at 0x\w+")  # another one in every process, which must agree about the names


def named(names: str | tuple[str, ...]) -> tuple[str, ...]:
    """The names of the arguments that a case gives."""
    return (names,) if isinstance(names, str) else names


def packed(
    names: str | tuple[str, ...],
    cases: Iterable[Any],
    pack: int = 50,
    ids: Callable[[Any], object] = str,
    *,
    apart: bool = False,
) -> list[list[Case]]:
    """Cases with their names, a pack for each test.

    >>> packed("x", [1, 2, 3], 2)
    [[('1', (1,)), ('2', (2,))], [('3', (3,))]]
    >>> packed(("x", "y"), [(1, 2), pytest.param(3, 4, id="last")], apart=True)
    [[('(1, 2)', (1, 2))], [('last', (3, 4))]]
    """
    found: list[Case] = []
    for case in cases:
        if isinstance(case, ParameterSet):
            found.append((str(case.id), tuple(case.values)))
        else:
            name = ADDRESS.sub("", str(ids(case)))
            found.append((name, (case,) if isinstance(names, str) else tuple(case)))
    size = 1 if apart else pack
    return [found[start : start + size] for start in range(0, len(found), size)]


def called(pack: list[Case]) -> str:
    """What a pack is called: by its first case, and how many there are beside it.

    >>> called([("a", (1,))]), called([("a", (1,)), ("b", (2,))])
    ('a', 'a and 1 more')
    """
    return pack[0][0] if len(pack) == 1 else f"{pack[0][0]} and {len(pack) - 1} more"
