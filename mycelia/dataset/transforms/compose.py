"""Transforms made of transforms: in sequence, at random, in random order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from mycelia.checks import number
from mycelia.dataset import random
from mycelia.dataset.transforms.base import TensorOperation
from mycelia.dataset.transforms.validators import check_random_transform_ops
from mycelia.frozen import frozen

Function = Callable[..., Any]


def run(transforms: Sequence[Function], columns: tuple[Any, ...]) -> Any:
    """Feed columns through transforms, one after another; a single column comes back bare.

    >>> run([abs, float], (-2,))
    2.0
    """
    for transform in transforms:
        out = transform(*columns)
        columns = out if isinstance(out, tuple) else (out,)
    return columns[0] if len(columns) == 1 else columns


@frozen
class Compose(TensorOperation):
    """Transforms applied one after another.

    >>> Compose([abs, lambda x: x + 1])(-2)
    3
    """

    transforms: Sequence[Function]

    def __post_init__(self) -> None:
        check_random_transform_ops(self.transforms)

    def __call__(self, *columns: Any) -> Any:
        return run(self.transforms, columns)

    @staticmethod
    def decompose(operations: Sequence[Function]) -> list[Function]:
        """The operations, with those that a Compose holds in its place.

        >>> Compose.decompose([abs, Compose([float, Compose([int])])])
        [<built-in function abs>, <class 'float'>, <class 'int'>]
        """
        return [
            inner
            for operation in operations
            for inner in (Compose.decompose(operation.transforms) if isinstance(operation, Compose) else [operation])
        ]

    @staticmethod
    def reduce(operations: Sequence[Function]) -> list[Function]:
        """The operations, with neighbours that are plain functions put together into one Compose.

        >>> from mycelia.dataset.transforms import Fill
        >>> Compose.reduce([abs, float, Fill(3), int])
        [Compose(transforms=[<built-in function abs>, <class 'float'>]), Fill(fill_value=3), <class 'int'>]
        """
        made: list[Function] = []
        for own, group in groupby(operations, lambda operation: isinstance(operation, TensorOperation)):
            members = list(group)
            made += members if own or len(members) == 1 else [Compose(members)]
        return made

    def release_resource(self) -> None:
        """Give back what a worker holds for the transform: nothing, as transforms are plain functions here.

        >>> Compose([abs]).release_resource() is None
        True
        """


@frozen
class RandomApply(TensorOperation):
    """All transforms in sequence with probability `prob`, else nothing.

    >>> RandomApply([abs], prob=1.0)(-2)
    2
    """

    transforms: Sequence[Function]
    prob: float = 0.5

    def __post_init__(self) -> None:
        check_random_transform_ops(self.transforms)
        number(self, "prob", self.prob, 0, 1)

    def __call__(self, *columns: Any) -> Any:
        applied = random.current().random() < self.prob
        return run(self.transforms if applied else (), columns)


@frozen
class RandomChoice(TensorOperation):
    """One of the transforms, each equally likely.

    >>> RandomChoice([abs])(-2)
    2
    """

    transforms: Sequence[Function]

    def __post_init__(self) -> None:
        check_random_transform_ops(self.transforms)

    def __call__(self, *columns: Any) -> Any:
        chosen = self.transforms[int(random.current().integers(len(self.transforms)))]
        return run([chosen], columns)


@frozen
class RandomOrder(TensorOperation):
    """All transforms, in an order drawn anew each time.

    >>> RandomOrder([abs, float])(-2)
    2.0
    """

    transforms: Sequence[Function]

    def __post_init__(self) -> None:
        check_random_transform_ops(self.transforms)

    def __call__(self, *columns: Any) -> Any:
        order = random.current().permutation(len(self.transforms))
        return run([self.transforms[i] for i in order], columns)
