"""Functions that understand keywords by another name, and say what they take when a call does not fit them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any, TypeVar

from mycelia.errors import CallError
from mycelia.names.habits import KEYWORDS, SYNONYMS

F = TypeVar("F", bound=Callable[..., Any])
OFTEN = frozenset(word for words in SYNONYMS[:2] for word in words)  # axes, and whether they stay


def listening(function: F) -> F:
    """The function, which explains what it takes when a call does not fit, and knows other words for its arguments.

    >>> @listening
    ... def total(x, axis=None):
    ...     return axis
    >>> total(1.0, dim=2)
    2
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            if not of_the_call(error):
                raise
        named = renamed(function, kwargs)
        if not fits(function, args, named):
            raise misfit(function, args, kwargs)
        return function(*args, **named)

    return call  # type: ignore[return-value]


def explaining(*kinds: type) -> None:
    """Let classes, and those they derive from, explain what they take when an instance cannot be made."""
    bases = dict.fromkeys(base for kind in kinds for base in kind.__mro__ if base is not object)
    for base in bases:
        if "__init__" in vars(base):
            base.__init__ = listening(base.__init__)  # type: ignore[misc]


def listens(function: Callable[..., Any]) -> bool:
    """Whether a function takes something that others call by another name.

    >>> listens(lambda x, axis: x), listens(lambda y: y)
    (True, False)
    """
    return not _arguments(function).isdisjoint(OFTEN)


def renamed(function: Callable[..., Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Keywords as the function calls them.

    >>> renamed(lambda x, axis: x, {"dim": 1})
    {'axis': 1}
    """
    known = _arguments(function)
    others = {w: mine for words in SYNONYMS for mine in words if mine in known for w in words if w not in known}
    named = {others.get(k, k): v for k, v in kwargs.items()}
    return named if len(named) == len(kwargs) else kwargs


def _arguments(function: Callable[..., Any]) -> set[str]:
    code = function.__code__
    return set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])


def of_the_call(error: TypeError) -> bool:
    """Whether an error that was just caught was raised by a call itself, and not by what was called."""
    trace = error.__traceback__
    return trace is not None and trace.tb_next is None


def fits(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a function can be called with these arguments.

    >>> fits(lambda x: x, (1,), {}), fits(lambda x: x, (), {})
    (True, False)
    """
    try:
        inspect.signature(function).bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def misfit(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], name: str = "") -> CallError:
    """The error for a call that does not fit."""
    parameters = list(inspect.signature(function).parameters.values())
    if parameters and parameters[0].name == "self":  # which is none of the user's
        name = name or (type(args[0]).__name__ if function.__name__ == "__init__" else function.__name__)
        parameters, args = parameters[1:], args[1:]
    name = name or function.__name__
    named = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    taken = {p.name for p in positional[: len(args)]}
    takes = ", ".join(str(p.replace(annotation=p.empty)) for p in parameters)
    given = {"takes": f"({takes})"}
    unknown = [k for k in kwargs if k not in named]
    twice = [k for k in kwargs if k in taken]
    lacking = [p.name for p in positional if p.default is p.empty and p.name not in taken and p.name not in kwargs]
    lacking += [
        p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty and p.name not in kwargs
    ]
    if unknown:
        return CallError(f"{name} has no argument {unknown[0]}", given=given, hint=_meant(unknown[0], named))
    if twice:
        return CallError(f"{name} was given {twice[0]} twice", given=given, hint="give it by its name or by its place")
    if len(args) > len(positional) and not any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return CallError(
            f"{name} takes {_count(len(positional))} by place, and was given {len(args)}",
            given=given,
            hint="several sizes or axes go into one tuple" if len(positional) > 1 else "leave the others out",
        )
    told = " and ".join(lacking)
    return CallError(f"{name} was not given {told}", given=given, hint=f"add {told}")


def _count(n: int) -> str:
    return f"{n} argument" + "s" * (n != 1)


def _meant(word: str, named: Iterable[str]) -> str:
    """What a keyword is called here."""
    names = list(named)
    same = next((n for words in SYNONYMS if word in words for n in words if n in names), None)
    if same is not None:
        return f"it is called {same} here"
    told = KEYWORDS.get(word)
    if told == "":
        return "leave it out"
    if told is not None and told.split()[0] in names:
        return f"it is called {told} here"
    near = get_close_matches(word, names, 1, 0.6)
    return f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}" if names else "leave it out"
