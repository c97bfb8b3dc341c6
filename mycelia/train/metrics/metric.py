"""What a metric is: it is cleared, told of batches, and asked."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from mycelia.eager import Tensor
from mycelia.errors import ArgumentError, CallError, MyceliaError, ShapeError
from mycelia.types import Array

M = TypeVar("M", bound="Metric")


class NothingMeasured(MyceliaError, RuntimeError):
    """A metric was asked before it was told of anything."""


def rearrange_inputs(func: Callable[..., Any]) -> Callable[..., Any]:
    """Let `update` take of its inputs those that `set_indexes` has chosen, in that order.

    >>> class Last(Metric):
    ...     @rearrange_inputs
    ...     def update(self, *inputs):
    ...         return inputs
    >>> Last().set_indexes([2, 0]).update("a", "b", "c")
    ('c', 'a')
    """

    @functools.wraps(func)
    def update(self: Any, *inputs: Any) -> Any:
        indexes = self.indexes
        if indexes:
            if max(indexes) >= len(inputs) or min(indexes) < -len(inputs):
                raise ArgumentError(f"{type(self).__name__} is to take inputs {indexes} of {len(inputs)}")
            inputs = tuple(inputs[i] for i in indexes)
        return func(self, *inputs)

    return update


class Metric:
    """The base of metrics. A kind of one's own defines `clear`, `update` and `eval`.

    >>> class Largest(Metric):
    ...     def clear(self):
    ...         self.largest = -np.inf
    ...     def update(self, *inputs):
    ...         self.largest = max(self.largest, inputs[0].max().item())
    ...     def eval(self):
    ...         return self.largest
    >>> metric = Largest()
    >>> metric.clear()
    >>> metric.update(Tensor([1.0, 3.0]))
    >>> metric.eval()
    3.0
    """

    def __init__(self) -> None:
        self._indexes: list[int] | None = None

    @property
    def indexes(self) -> list[int] | None:
        """Which inputs of `update` are taken, and in which order; None for all."""
        return getattr(self, "_indexes", None)

    def set_indexes(self: M, indexes: list[int]) -> M:
        """Choose which of the inputs `update` takes, in which order.

        >>> Metric().set_indexes([2, 0]).indexes
        [2, 0]
        """
        if not isinstance(indexes, list) or not all(type(i) is int for i in indexes):
            raise ArgumentError(f"indexes are a list of whole numbers, not {indexes!r}", hint="for example [0, 2]")
        self._indexes = indexes
        return self

    def clear(self) -> None:
        """Forget all batches."""
        raise ArgumentError(f"{type(self).__name__} does not say how it is cleared", hint="define clear(self)")

    def update(self, *inputs: Any) -> None:
        """Take a batch into account: usually predictions and labels."""
        raise ArgumentError(f"{type(self).__name__} does not say what it measures", hint="define update(self, *inputs)")

    def eval(self) -> Any:
        """What was measured since `clear`."""
        raise ArgumentError(f"{type(self).__name__} does not say what it gives", hint="define eval(self)")

    def __call__(self, *inputs: Any) -> Any:
        """What this one batch gives: `clear`, `update` and `eval` in one.

        >>> from mycelia.train import MAE
        >>> MAE()(Tensor([1.0, 2.0]), Tensor([1.0, 4.0]))
        1.0
        """
        self.clear()
        self.update(*inputs)
        return self.eval()

    def _convert_data(self, data: Any) -> Array:
        """An input as an array, under the name by which MindSpore's own pages teach it to metrics of one's own."""
        return as_array(data, f"{type(self).__name__}'s input")

    def _taken(self, inputs: tuple[Any, ...], *names: str) -> list[Array]:
        """The inputs as arrays, if there are as many as `names`."""
        if len(inputs) != len(names):
            raise ArgumentError(f"{type(self).__name__} takes {', '.join(names)}, and got {len(inputs)} inputs")
        return [as_array(value, f"{type(self).__name__}'s {name}") for value, name in zip(inputs, names, strict=True)]

    def _measured(self, count: float) -> None:
        """Complain if nothing was measured."""
        if not count:
            raise NothingMeasured(f"{type(self).__name__} has seen no samples", hint="call update before eval")


def as_array(value: Any, name: str) -> Array:
    """A tensor, array, list or number as an array.

    >>> as_array(Tensor([1.0]), "x")
    array([1.], dtype=float32)
    """
    if isinstance(value, Tensor):
        return value.asnumpy()
    if isinstance(value, np.ndarray | np.generic | list | tuple | int | float):
        return np.asarray(value)
    raise CallError(f"{name} must be a tensor, an array or a list, and is a {type(value).__name__}")


def one_hot(labels: Array) -> bool:
    """Whether each row of an array is zero but for one 1.

    >>> one_hot(np.eye(3)), one_hot(np.ones((2, 2))), one_hot(np.array([1, 0]))
    (True, False, False)
    """
    return labels.ndim > 1 and bool(np.all((labels == 0) | (labels == 1)) and np.all(labels.sum(1) == 1))


def same_shape(metric: Metric, predictions: Array, labels: Array) -> None:
    """Complain about shapes that differ.

    >>> same_shape(Metric(), np.zeros(2), np.zeros(2))
    >>> same_shape(Metric(), np.zeros(2), np.zeros(3))
    Traceback (most recent call last):
    mycelia.errors.ShapeError: Metric takes predictions and labels of one shape...
    """
    if predictions.shape != labels.shape:
        raise ShapeError(
            f"{type(metric).__name__} takes predictions and labels of one shape",
            given={"predictions": predictions.shape, "labels": labels.shape},
        )


def share(part: Any, whole: Any) -> Any:
    """The quotient, and 0 where there is nothing to divide by.

    >>> share(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    array([0.5, 0. ])
    """
    return np.divide(part, whole, out=np.zeros(np.broadcast(part, whole).shape), where=np.asarray(whole) != 0)
