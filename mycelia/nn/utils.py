"""Small helps around cells, where published programs import them from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mycelia.names import missing_in

__all__ = ["no_init_parameters"]
__getattr__ = missing_in(__name__)


@contextmanager
def no_init_parameters() -> Iterator[None]:
    """Around a network whose weights are loaded afterwards. Weights are numbers from the first moment here, so those
    that are not loaded are as their initializers say.

    >>> from mycelia.nn import Dense
    >>> with no_init_parameters():
    ...     net = Dense(2, 1)
    >>> net.weight.shape
    (1, 2)
    """
    yield
