"""The boundary of the library: public functions that know other words for their arguments, and explain a wrong call.

What Python or NumPy raise somewhere inside, over arguments that nobody expected, becomes an error of ours here, with
the values that were given; what code of the user raises passes as it is.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from types import CodeType, FunctionType
from typing import Any, TypeVar

from mycelia.errors import ArgumentError, CallError, MyceliaError, is_library, is_ours
from mycelia.names.habits import KEYWORDS, SYNONYMS

F = TypeVar("F", bound=Callable[..., Any])
FOREIGN = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError)  # what others raise over arguments


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
        except FOREIGN as error:
            named = renamed(function, kwargs)
            if not of_the_call(error) or not fits(function, args, named):
                own = translated(error, function, args, kwargs)
                if own is error:
                    raise
                raise own from None
        return call(*args, **named)

    call.listens = True  # type: ignore[attr-defined]
    return call  # type: ignore[return-value]


def explaining(*kinds: type) -> None:
    """Let classes, and those they derive from, explain what they take when an instance cannot be made."""
    bases = dict.fromkeys(base for kind in kinds for base in kind.__mro__ if base is not object)
    for base in bases:
        if "__init__" in vars(base) and base.__module__.startswith("mycelia."):
            base.__init__ = listening(base.__init__)  # type: ignore[misc]


def explaining_methods(kind: type) -> None:
    """Let the methods of a class explain what they take."""
    for name, method in [*vars(kind).items()]:
        if type(method) is FunctionType and not name.startswith("_"):
            setattr(kind, name, listening(method))


def asking_methods(kind: type) -> None:
    """Let the methods of a class tell how they are called where a call does not fit; what they raise stays."""
    for name, method in [*vars(kind).items()]:
        if type(method) is FunctionType and not name.startswith("_"):
            setattr(kind, name, asking(method))


def asking(function: F) -> F:
    """The function, which explains what it takes when a call does not fit.

    >>> @asking
    ... def train(epoch):
    ...     return epoch
    >>> train(epochs=2)
    Traceback (most recent call last):
    mycelia.errors.CallError: train has no argument epochs...
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            if of_the_call(error) and not fits(function, args, kwargs):
                raise misfit(function, args, kwargs) from None
            raise

    return call  # type: ignore[return-value]


def boundary(names: dict[str, Any]) -> None:
    """Let the functions of a module explain what they take; those that are ours, and do not yet."""
    for name, x in [*names.items()]:
        if name.startswith("_"):
            continue
        if type(x) is FunctionType and x.__module__.startswith("mycelia.") and not hasattr(x, "listens"):
            names[name] = listening(x)


def renamed(function: Callable[..., Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Keywords as the function calls them.

    >>> renamed(lambda x, axis: x, {"dim": 1})
    {'axis': 1}
    """
    if not kwargs:
        return kwargs
    known = _arguments(function)
    others = {w: mine for words in SYNONYMS for mine in words if mine in known for w in words if w not in known}
    named = {others.get(k, k): v for k, v in kwargs.items()}
    return named if len(named) == len(kwargs) else kwargs


def _arguments(function: Callable[..., Any]) -> set[str]:
    code = inspect.unwrap(function).__code__
    return set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])


def translated(
    error: Exception, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], name: str = ""
) -> Exception:
    """What to say in place of an error that a call has raised; the error itself if it is ours or the user's."""
    if isinstance(error, MyceliaError):
        return error
    if of_the_call(error) or not fits(function, args, kwargs):
        return misfit(function, args, kwargs, name)
    return error if of_the_user(error) else explained(function, args, kwargs, error, name)


handing_on: set[CodeType] = set()  # of functions that call another one with what they were called with


def of_the_call(error: Exception) -> bool:
    """Whether an error that was just caught was raised by a call itself, and not by what was called."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None and trace.tb_next.tb_frame.f_code in handing_on:
        trace = trace.tb_next
    return isinstance(error, TypeError) and trace is not None and trace.tb_next is None


def of_the_user(error: Exception) -> bool:
    """Whether code of the user, which the function has called, raised an error."""
    trace, inside = error.__traceback__, True
    while trace is not None:
        inside = is_ours(trace.tb_frame) or (inside and is_library(trace.tb_frame))
        trace = trace.tb_next
    return not inside


def explained(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception, name: str = ""
) -> MyceliaError:
    """What an error of Python or NumPy means to the user: the function does not take what it was given."""
    kind = CallError if isinstance(error, TypeError | AttributeError) else ArgumentError
    bound = inspect.signature(function).bind(*args, **kwargs).arguments
    owner = bound.pop("self", None) if function.__name__ == "__init__" else None
    name = name or (function.__name__ if owner is None else type(owner).__name__)
    return kind(
        f"{name} cannot be computed of these arguments: {error}",
        given={k: repr(v) if isinstance(v, str) else v for k, v in bound.items()},
        hint=f"check the kind of each; help({name}) tells what they mean",
    )


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
        return CallError(f"{name} has no argument {unknown[0]}", given=given, hint=meant(unknown[0], named))
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


def meant(word: str, named: Iterable[str]) -> str:
    """What a keyword is called here.

    >>> meant("epochs", ["epoch", "callbacks"]), meant("calbacks", ["epoch", "callbacks"])
    ('it is called epoch here', 'did you mean callbacks?')
    """
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
