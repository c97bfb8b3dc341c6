"""Calls of Python from inside a program: a function of arrays that the program calls where it stands, on the thread
that called the program. It is an effect: it happens exactly once, in order, whether or not somebody reads the result.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import count
from typing import Any, ClassVar
from weakref import WeakValueDictionary

import numpy as np

from mycelia import primitives as p
from mycelia.errors import ArgumentError, DTypeError, ShapeError
from mycelia.frozen import frozen
from mycelia.ir import Lowered, Mistake, Purity, Sample, Several, Value, no_gradient
from mycelia.types import Array, TensorType, TupleType, Type, float64, int64

__all__ = ["Callee", "HostCall", "replaying", "writing_down"]

_numbers = count()
_named: WeakValueDictionary[str, Callee] = WeakValueDictionary()


@frozen(eq=False)
class Callee:
    """A Python function that programs call: from arrays, which it may keep and change, to a sequence of arrays. In
    written programs it has a name, which means something while the callee lives.

    >>> Callee(np.cumsum).name.split(".")[0]
    'cumsum'
    """

    python: Callable[..., Any]
    name: str = ""
    raises: bool = True  # whether an exception is to be expected from it

    def __post_init__(self) -> None:
        called = self.name or getattr(self.python, "__qualname__", type(self.python).__name__)
        object.__setattr__(self, "name", f"{called}.{next(_numbers)}")
        _named[self.name] = self

    @staticmethod
    def of(known: Callee | str) -> Callee:
        """A callee by the name that it has in written programs."""
        if isinstance(known, Callee):
            return known
        if known not in _named:
            raise ArgumentError(
                f"a program calls {known}, which this process does not know",
                hint="a written program can be read where it was written: it does not hold its Python functions",
            )
        return _named[known]

    @property
    def written(self) -> str:
        """What stands for it in written programs."""
        return self.name

    def __str__(self) -> str:
        return self.name

    def __call__(self, arrays: Sequence[Array], types: Sequence[TensorType]) -> tuple[Array, ...]:
        """What the function gives, as arrays of these types; what it gave before, if the past is being replayed."""
        if _past.read is not None and (found := next(_past.read, None)) is not None:
            results = found
        else:
            results = self._called(arrays, types)
        if _past.written is not None:
            _past.written.append(results)
        if isinstance(results, BaseException):
            raise results
        return results

    def _called(self, arrays: Sequence[Array], types: Sequence[TensorType]) -> tuple[Array, ...] | BaseException:
        try:
            with _presently():
                given = self.python(*[np.array(a) for a in arrays])
            return self._checked(given, types)
        except BaseException as error:  # it is raised again, and once more if the past is replayed
            return error

    def _checked(self, given: Any, types: Sequence[TensorType]) -> tuple[Array, ...]:
        if not types:
            return ()
        results = tuple(given) if isinstance(given, tuple | list) else (given,)
        if len(results) != len(types):
            raise ArgumentError(f"{self.name} gave {len(results)} results, and the program expects {len(types)}")
        return tuple(self._typed(np.asarray(r), t) for r, t in zip(results, types, strict=True))

    def _typed(self, result: Array, t: TensorType) -> Array:
        if t.static and result.shape != t.shape:
            raise ShapeError(
                f"{self.name} gave an array of shape {result.shape}, and the program expects {t}",
                hint="the types of what a Python function gives are said beforehand",
            )
        if not np.can_cast(result.dtype, t.dtype.numpy, "same_kind"):
            raise DTypeError(f"{self.name} gave numbers of type {result.dtype}, and the program expects {t}")
        return result.astype(t.dtype.numpy, copy=False)


class _Past(threading.local):
    """What callees gave: written down while somebody wants to know, and read instead of calling them again."""

    written: list[tuple[Array, ...] | BaseException] | None = None
    read: Iterator[tuple[Array, ...] | BaseException] | None = None


_past = _Past()


@contextmanager
def _told(written: list[Any] | None, read: Iterator[Any] | None) -> Iterator[None]:
    before = _past.written, _past.read
    _past.written, _past.read = written, read
    try:
        yield
    finally:
        _past.written, _past.read = before


def _presently() -> Any:
    """What a callee itself calls is nobody's past."""
    return _told(None, None)


@contextmanager
def writing_down() -> Iterator[list[Any]]:
    """Inside the block, what callees give or raise is written into the list.

    >>> with writing_down() as past:
    ...     _ = Callee(np.negative)([np.ones(2)], [TensorType(float64, (2,))])
    >>> past
    [(array([-1., -1.]),)]
    """
    past: list[Any] = []
    around = _past.written
    try:
        with _told(past, _past.read):
            yield past
    finally:
        if around is not None:
            around.extend(past)


@contextmanager
def replaying(past: Sequence[tuple[Array, ...] | BaseException]) -> Iterator[None]:
    """Inside the block callees are not called: they give what they gave before, in order, and are called after that. So
    a program can be computed again, for another derivative, while its effects happen once.

    >>> with replaying([(np.zeros(2),)]):
    ...     Callee(print)([np.ones(2)], [TensorType(float64, (2,))])
    (array([0., 0.]),)
    """
    with _told(_past.written, iter(past)):
        yield


@frozen
class HostCall(Several):
    """What a Python function gives, as tensors of types that are said beforehand. One without a state (`stateful` is
    false) may be left out where nobody reads what it gives, or be called again; it is never called where the program
    would not have called it.
    """

    callee: Callee
    result_types: tuple[TensorType, ...] = ()
    stateful: bool = True
    name: ClassVar[str] = "host_call"
    native: ClassVar[Lowered] = Lowered.STEP
    vjp = no_gradient("Python computes it")

    def __post_init__(self) -> None:
        object.__setattr__(self, "callee", Callee.of(self.callee))

    @cached_property
    def purity(self) -> Purity:  # type: ignore[override]  # of the call, not of the class
        """What may be done with it."""
        return Purity.ORDERED if self.stateful else Purity.PARTIAL

    def infer(self, *inputs: Type) -> TupleType:
        for t in inputs:
            if not isinstance(t, TensorType):
                raise ArgumentError(f"a Python function is called with tensors, not with {t}")
        return TupleType(self.result_types)

    def reference(self, *inputs: Any) -> tuple[Array, ...]:
        return self.callee(inputs, self.result_types)

    def vmap(self, size: int, mapped: tuple[bool, ...], *inputs: Value) -> Any:
        types = [x.tensor.with_shape(x.shape[1:]) if m else x.type for x, m in zip(inputs, mapped, strict=True)]
        return p.control.each(self, size, types, inputs)

    def axes(self, *inputs: Any) -> str:
        """No axis is split: Python sees the whole."""
        whole = [" ".join("1" * t.rank) for t in (*inputs, *self.result_types)]
        return f"{', '.join(whole[: len(inputs)])} -> {', '.join(whole[len(inputs) :])}"

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        x = np.linspace(-1, 1, 6).reshape(2, 3)
        whole, row = TensorType(int64, (2, 3)), TensorType(int64, (3,))
        yield Sample(cls(Callee(_order), (whole,)), (x,), smooth=False)
        yield Sample(cls(Callee(_less_and_count), (whole, row), stateful=False), (x, x * x), smooth=False)

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        pair, three = TensorType(float64, (2,)), np.zeros(3)
        yield Mistake(lambda: cls(Callee(np.sin), (pair,)).reference(three), ShapeError, "gave an array of shape (3,)")
        yield Mistake(lambda: cls(Callee(np.sin), (pair, pair)).reference(three), ArgumentError, "expects 2")
        yield Mistake(lambda: cls("nobody.0"), ArgumentError, "which this process does not know")  # type: ignore[arg-type]  # as it stands in a text


def _order(x: Array) -> Any:
    return np.argsort(x, 1, kind="stable")


def _less_and_count(x: Array, y: Array) -> Any:
    return (x < y).astype(np.int64), (x < y).sum(0, dtype=np.int64)
