"""Random numbers: a key that the seed gives, and a counter of draws. The same seed gives the same numbers."""

from __future__ import annotations

import secrets

import numpy as np

from mycelia import primitives as p
from mycelia.eager.dispatch import mode
from mycelia.eager.tensor import Tensor, wrap
from mycelia.errors import ArgumentError
from mycelia.ir import Value
from mycelia.types import Array, uint32

ONE = np.array([1, 0], np.uint32)


class Generator:
    """A stream of random numbers. Key and counter are tensors, so that a graph can carry them as its state.

    >>> g = Generator().manual_seed(5)
    >>> g.initial_seed()
    5
    """

    def __init__(self) -> None:
        self._seed = 0
        self.key = wrap(_words(0))
        self.counter = wrap(_words(0))

    def manual_seed(self, seed: int) -> Generator:
        """Begin again from `seed`.

        >>> Generator().manual_seed(3).get_state()
        Tensor(shape=[4], dtype=UInt32, value= [3, 0, 0, 0])
        """
        if not isinstance(seed, int) or not 0 <= seed < 2**64:
            raise ArgumentError(f"a seed is a whole number from 0 to 2**64 - 1, not {seed!r}", hint="for example 42")
        self._seed = seed
        self.key._data, self.counter._data = _words(seed), _words(0)
        return self

    def seed(self) -> int:
        """Begin again from a seed that nobody can foresee, which comes back.

        >>> g = Generator()
        >>> g.seed() == g.initial_seed()
        True
        """
        return self.manual_seed(secrets.randbits(63)).initial_seed()

    def initial_seed(self) -> int:
        """The seed that this stream began from.

        >>> Generator().initial_seed()
        0
        """
        return self._seed

    def get_state(self) -> Tensor:
        """Where the stream is now.

        >>> Generator().get_state().shape
        (4,)
        """
        return p.concat((self.key, self.counter), 0)  # type: ignore[no-any-return]

    def set_state(self, state: Tensor) -> None:
        """Go on from where a stream was.

        >>> g, h = Generator().manual_seed(4), Generator()
        >>> h.set_state(g.get_state())
        >>> h.get_state().tolist()
        [4, 0, 0, 0]
        """
        words = Tensor(state).numbers()
        if words.shape != (4,):
            raise ArgumentError(f"the state of a generator has four words, not shape {words.shape}")
        self.key._data, self.counter._data = words[:2].astype(np.uint32), words[2:].astype(np.uint32)

    def draw(self) -> tuple[Tensor, Tensor]:
        """The key and the counter of one draw, after which the stream has moved on."""
        if mode.held is not None and self is default_generator:
            return self._draw_in_program()
        key, counter = self.key.alias(), self.counter.alias()
        if counter._data.__class__ is not Value:
            low, high = counter._data.tolist()
            self.counter._data = _words((high << 32) + low + 1 & 0xFFFFFFFFFFFFFFFF)
            return key, counter
        self.counter.become(_moved(counter))
        return key, counter

    def _draw_in_program(self) -> tuple[Tensor, Tensor]:
        """A draw while a program is captured: the stream is a part of its state."""
        key, counter = mode.held.read(self.key), mode.held.read(self.counter)
        mode.held.write(self.counter, _moved(counter))
        return key, counter


def _moved(counter: Tensor) -> Tensor:
    """The counter of the next draw, in two words."""
    moved = counter + wrap(ONE)
    carry = p.cast(p.equal(p.take(moved, 0, 0, 1), 0), uint32)
    return moved + p.concat((carry * 0, carry), 0)  # type: ignore[no-any-return]


def _words(number: int) -> Array:
    return np.array([number & 0xFFFFFFFF, number >> 32], np.uint32)


default_generator = Generator()
