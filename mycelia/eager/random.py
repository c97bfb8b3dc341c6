"""Random numbers: a key that the seed gives, and a counter of draws. The same seed gives the same numbers."""

from __future__ import annotations

import os
from weakref import WeakSet

import numpy as np

from mycelia import primitives as p
from mycelia.eager.dispatch import mode
from mycelia.eager.tensor import Tensor, wrap
from mycelia.errors import ArgumentError, MyceliaError
from mycelia.ir import Value
from mycelia.runtime.arena import Arena
from mycelia.types import Array, uint32

ONE = np.array([1, 0], np.uint32)
APART = np.array([0xFFFFFFFF], np.uint32)  # the high word of a counter that no stream comes to
REFUSED = "error"  # a lane of a `vmap` inside which nothing random may happen


class Generator:
    """A stream of random numbers. Key and counter are tensors, so that a graph can carry them as its state.

    Its state is a tensor, which can be saved: where it is set again, the same numbers follow.

    >>> g = Generator().manual_seed(5)
    >>> g.initial_seed()
    5
    """

    def __init__(self) -> None:
        self.key = wrap(_words(0))
        self.counter = wrap(_words(0))

    def manual_seed(self, seed: int) -> Generator:
        """Begin again from `seed`.

        >>> Generator().manual_seed(3).get_state()
        Tensor(shape=[4], dtype=UInt32, value= [3, 0, 0, 0])
        """
        if not isinstance(seed, int) or not 0 <= seed < 2**64:
            raise ArgumentError(f"a seed is a whole number from 0 to 2**64 - 1, not {seed!r}", hint="for example 42")
        self.key._data, self.counter._data = _words(seed), _words(0)
        return self

    def seed(self) -> int:
        """Begin again from a seed that nobody can foresee, which comes back.

        >>> g = Generator()
        >>> g.seed() == g.initial_seed()
        True
        """
        return self.manual_seed(int.from_bytes(os.urandom(8)) >> 1).initial_seed()

    def initial_seed(self) -> int:
        """The seed that this stream began from.

        >>> Generator().initial_seed()
        0
        """
        low, high = self.key.tolist()
        return int(low) + (int(high) << 32)

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
        if words.dtype == np.uint8 and words.shape == (16,):  # the same words, byte by byte, as MindSpore keeps them
            words = np.ascontiguousarray(words).view(np.uint32)
        if words.shape != (4,) or words.dtype.kind not in "iu":
            raise ArgumentError(
                f"the state of a generator is four whole numbers, not {words.dtype} of shape {words.shape}",
                hint="give what get_state() gave",
            )
        self.key._data, self.counter._data = words[:2].astype(np.uint32), words[2:].astype(np.uint32)

    def split(self, num: int = 2) -> tuple[Generator, ...]:
        """As many new streams, which have nothing to do with one another or with what follows in this one.

        >>> left, right = Generator().manual_seed(4).split()
        >>> left.initial_seed() != right.initial_seed()
        True
        """
        if not isinstance(num, int) or num < 0:
            raise ArgumentError(f"a generator is split into a whole number of streams, not {num!r}")
        keys = p.random_bits(*self.draw(), (num, 2)).numbers().tolist()
        return tuple(Generator().manual_seed(low + (high << 32)) for low, high in keys)

    def draw(self) -> tuple[Tensor, Tensor]:
        """The key and the counter of one draw, after which the stream has moved on. Inside `vmap` the key is another
        one for each example.
        """
        key, counter = self._draw()
        for lane in mode.lanes:
            if lane is REFUSED:
                raise MyceliaError(
                    "random numbers are drawn inside vmap, and randomness='error' was asked for",
                    hint="randomness='different' gives each example its own numbers, 'same' gives all the same",
                )
            place = p.concat((p.reshape(lane, (1,)), wrap(APART)), 0)
            key = p.random_bits(key, place, (2,))
        return key, counter

    def _draw(self) -> tuple[Tensor, Tensor]:
        if mode.held is not None:
            return self._draw_in_program()
        if self.counter._data.__class__ is Value:
            key, counter = self.key.alias(), self.counter.alias()
            self.counter.become(_moved(counter))
            return key, counter
        with Arena.turn:  # a program that runs in another thread may draw too
            if mode.drawn is not None:
                mode.drawn.append((self, self.counter._data))
            key, counter = self.key.alias(), self.counter.alias()
            low, high = counter.tolist()
            self.counter._data = _words((high << 32) + low + 1 & 0xFFFFFFFFFFFFFFFF)
        return key, counter

    def _draw_in_program(self) -> tuple[Tensor, Tensor]:
        """A draw while a program is captured: the stream is a part of its state."""
        _drawn_in_programs.add(self)
        key, counter = mode.held.read(self.key), mode.held.read(self.counter)
        mode.held.write(self.counter, _moved(counter))
        return key, counter


def seeded(seed: int) -> tuple[Tensor, Tensor]:
    """The key and the counter of a draw that is repeatable by itself: the same for all examples of a `vmap` too.

    >>> [x.tolist() for x in seeded(3)]
    [[3, 0], [0, 0]]
    """
    start = Generator().manual_seed(seed)
    return start.key, start.counter


def _moved(counter: Tensor) -> Tensor:
    """The counter of the next draw, in two words."""
    moved = counter + wrap(ONE)
    carry = p.cast(p.equal(p.take(moved, 0, 0, 1), 0), uint32)
    return moved + p.concat((carry * 0, carry), 0)  # type: ignore[no-any-return]


def is_counter(x: Tensor) -> bool:
    """Whether a tensor is the counter of a stream that programs draw from."""
    return any(stream.counter is x for stream in _drawn_in_programs)


def furthest(counters: Tensor) -> Tensor:
    """The counter of the example that drew most: the stream goes on behind it. Counters stand in rows.

    >>> furthest(Tensor([[7, 0], [1, 2], [3, 1]], uint32)).tolist()
    [1, 2]
    """
    high = p.reduce_max(p.take(counters, 1, 1, 2), (0,))
    low = p.reduce_max(p.select(p.equal(p.take(counters, 1, 1, 2), high), p.take(counters, 1, 0, 1), 0), (0,))
    return p.concat((low, high), 0)  # type: ignore[no-any-return]


def _words(number: int) -> Array:
    return np.array([number & 0xFFFFFFFF, number >> 32], np.uint32)


_drawn_in_programs: WeakSet[Generator] = WeakSet()
default_generator = Generator()
