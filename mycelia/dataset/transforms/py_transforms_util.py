"""The plain functions beneath the transforms, under MindSpore's module name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mycelia.dataset.transforms.arrays import OneHot
from mycelia.dataset.transforms.base import Array
from mycelia.dataset.transforms.compose import RandomApply, RandomChoice, RandomOrder, run


def all_numpy(args: Any) -> bool:
    """Whether a value, or every member of a tuple, is a NumPy array.

    >>> all_numpy((np.zeros(1), np.ones(2)))
    True
    """
    return all(isinstance(x, np.ndarray) for x in (args if isinstance(args, tuple) else (args,)))


def compose(transforms: Sequence[Callable[..., Any]], *args: Any) -> tuple[Any, ...]:
    """Feed columns through transforms; always a tuple.

    >>> compose([abs], -1)
    (1,)
    """
    out = run(transforms, args)
    return out if isinstance(out, tuple) else (out,)


def one_hot_encoding(label: Array, num_classes: int, epsilon: float) -> Any:
    """Labels as smoothed rows.

    >>> one_hot_encoding(np.array(1), 2, 0.0)
    array([0, 1])
    """
    return OneHot(num_classes, epsilon)(label)


def random_order(img: Any, transforms: Sequence[Callable[..., Any]]) -> Any:
    """All transforms in a random order.

    >>> random_order(-1, [abs])
    1
    """
    return RandomOrder(transforms)(img)


def random_apply(img: Any, transforms: Sequence[Callable[..., Any]], prob: float) -> Any:
    """All transforms, with a probability.

    >>> random_apply(-1, [abs], 1.0)
    1
    """
    return RandomApply(transforms, prob)(img)


def random_choice(img: Any, transforms: Sequence[Callable[..., Any]]) -> Any:
    """One of the transforms.

    >>> random_choice(-1, [abs])
    1
    """
    return RandomChoice(transforms)(img)
