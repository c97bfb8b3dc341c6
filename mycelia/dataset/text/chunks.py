"""Tokens of texts by their chunks: a word that was met before is looked up by machine code, a new one is asked for.

A chunk begins where a text does, or at a space that is followed by a printable ASCII character. For the tokenizers that
`hub.py` lets in, the tokens of a text are those of its chunks, one after the other.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from weakref import WeakSet

import numpy as np

from mycelia.api.options import options
from mycelia.dataset.flow.ragged import Ragged
from mycelia.routines.words import Bytes, Longs, Words
from mycelia.runtime.routine import Routine
from mycelia.types import Array

LONGEST = 64  # bytes of a chunk; a text with a longer one is encoded as a whole
ENTRIES = 1 << 20  # chunks that are remembered, at most
SPACE = 32
KEEP = (1 << 48) - 1
FACTOR = 16381
FIELDS = 4  # of a chunk: where its bytes begin, how many there are, where its tokens begin, and how many


def look(
    data: Bytes, ends: Longs, count: int, cuts: Bytes,
    slots: Words, mask: int, marks: Longs, entries: Longs, keys: Bytes, sizes: Longs, found: Words, firsts: Longs,
) -> int:  # fmt: skip
    """The chunks of texts, each by its number in the table; one that is not there is put there, without its tokens.

    `found` gets the numbers, `firsts` where those of every text begin. A text with a chunk that is too long has one
    number below zero. `sizes` holds how many chunks and bytes there are in the table. The caller has made room: every
    space could begin a chunk, every byte could be new, and half of the slots stay empty.
    """
    total, odd = 0, 0
    known, stored = sizes[0], sizes[1]
    for text in range(count):
        firsts[text] = total
        at, end, begin = ends[text], ends[text + 1], total
        while at < end:
            mark, i = 7, at
            # a chunk has one byte at least: its first may be the space that it begins at
            while i < end and (i == at or data[i] != SPACE or i + 1 == end or cuts[data[i + 1]] == 0):
                mark = ((mark * FACTOR) ^ data[i]) & KEEP
                i += 1
            size = i - at
            if size > LONGEST:
                odd += 1
                total = begin
                found[total] = 0 - odd
                total += 1
                break
            slot = (mark ^ (mark >> 23)) & mask
            number = -1
            while number < 0:
                entry = slots[slot]
                if entry == 0:
                    slots[slot] = known + 1
                    marks[slot] = mark
                    place = known * FIELDS
                    entries[place] = stored
                    entries[place + 1] = size
                    entries[place + 2] = 0
                    entries[place + 3] = 0
                    for j in range(size):
                        keys[stored + j] = data[at + j]
                    stored += size
                    number = known
                    known += 1
                elif marks[slot] == mark and entries[(entry - 1) * FIELDS + 1] == size:
                    key, j = entries[(entry - 1) * FIELDS], 0
                    while j < size and keys[key + j] == data[at + j]:
                        j += 1
                    if j == size:
                        number = entry - 1
                slot = (slot + 1) & mask
            found[total] = number
            total += 1
            at = i
    firsts[count] = total
    sizes[0] = known
    sizes[1] = stored
    return odd


def lengths(
    found: Words, firsts: Longs, count: int, entries: Longs, wholes: Longs, ends: Longs, around: int
) -> int:  # fmt: skip
    """Where the tokens of every text end, with `around` more for each; how many tokens there are."""
    total = 0
    ends[0] = 0
    for text in range(count):
        total += around
        for i in range(firsts[text], firsts[text + 1]):
            number = found[i]
            if number < 0:
                total += wholes[0 - number] - wholes[-1 - number]
            else:
                total += entries[number * FIELDS + 3]
        ends[text + 1] = total
    return total


def gather(
    found: Words, firsts: Longs, count: int, entries: Longs, tokens: Words, wholes: Longs, apart: Words, ends: Longs,
    ahead: int, out: Words,
) -> int:  # fmt: skip
    """The tokens of all texts, one after the other, each `ahead` behind where its place begins."""
    for text in range(count):
        at = ends[text] + ahead
        for i in range(firsts[text], firsts[text + 1]):
            number = found[i]
            if number < 0:
                for j in range(wholes[-1 - number], wholes[0 - number]):
                    out[at] = apart[j]
                    at += 1
            else:
                place = entries[number * FIELDS + 2]
                for j in range(entries[number * FIELDS + 3]):
                    out[at] = tokens[place + j]
                    at += 1
    return 0


_look, _lengths, _gather = (Routine(f, options) for f in (look, lengths, gather))
_all: WeakSet[Chunks] = WeakSet()


def _anew() -> None:
    """In a forked child: a thread that was not copied may have been amid a change."""
    for each in _all:
        each.forget()


os.register_at_fork(after_in_child=_anew)


class Chunks:
    """The tokens of chunks, as `encode` gives them for many texts; threads take turns.

    >>> def count(texts): return [[len(t)] for t in texts]
    >>> Chunks(count, b"").encode(np.frombuffer(b"to be to be", np.uint8), np.array([0, 11]), [], []).values
    array([2, 3, 3, 3], dtype=int32)
    """

    def __init__(self, encode: Callable[[list[str]], Sequence[Sequence[int]]], kept: bytes) -> None:
        self._encode = encode
        self.cuts = np.zeros(256, np.uint8)  # bytes before which a space begins a chunk
        self.cuts[33:127] = 1
        self.cuts[np.frombuffer(kept, np.uint8)] = 0
        self.forget()
        _all.add(self)

    def forget(self) -> None:
        """Begin anew."""
        self.lock = threading.Lock()
        self.asked = self.new = 0  # chunks that were looked up, and those among them that were new
        self._empty()

    def _empty(self) -> None:
        self.slots, self.marks = np.zeros(1, np.int32), np.zeros(1, np.int64)
        self.entries, self.keys = np.zeros(0, np.int64), np.zeros(0, np.uint8)
        self.tokens, self.used = np.zeros(0, np.int32), 0
        self.sizes = np.zeros(2, np.int64)

    @property
    def useful(self) -> bool:
        """Whether most chunks have been met before; at first it is."""
        return self.asked < 1 << 16 or self.new * 4 < self.asked

    def encode(self, data: Array, ends: Array, before: Sequence[int], after: Sequence[int]) -> Ragged:
        """The tokens of texts, with some before and after those of each."""
        data, ends, count = np.ascontiguousarray(data), np.ascontiguousarray(ends, np.int64), len(ends) - 1
        with self.lock:
            done = False
            try:
                chunks = int(np.count_nonzero(data == SPACE)) + count
                self._room(chunks, len(data))
                found, firsts = np.empty(chunks, np.int32), np.empty(count + 1, np.int64)
                old = int(self.sizes[0])
                odd = _look(
                    data, ends, count, self.cuts, self.slots, len(self.slots) - 1, self.marks, self.entries, self.keys,
                    self.sizes, found, firsts,
                )  # fmt: skip
                full = np.flatnonzero(np.diff(firsts)) if odd else firsts[:0]
                whole = [data[ends[i] : ends[i + 1]] for i in full[found[firsts[full]] < 0].tolist()]
                wholes, apart = self._learn(old, whole)
                self.asked += int(firsts[-1])
                self.new += int(self.sizes[0]) - old
                around = len(before) + len(after)
                places = np.empty(count + 1, np.int64)
                out = np.empty(_lengths(found, firsts, count, self.entries, wholes, places, around), np.int32)
                _gather(
                    found, firsts, count, self.entries, self.tokens, wholes, apart, places, len(before), out
                )  # fmt: skip
                done = True
            finally:
                if not done:
                    self._empty()  # chunks without their tokens
        for i, token in enumerate(before):
            out[places[:-1] + i] = token
        for i, token in enumerate(reversed(after)):
            out[places[1:] - 1 - i] = token
        return Ragged(out, places)

    def _room(self, chunks: int, size: int) -> None:
        """See that so many chunks and bytes have room; when there are too many, all are forgotten."""
        known, stored = self.sizes.tolist()
        if known > ENTRIES:
            self._empty()
            known = stored = 0
        if len(self.entries) < (known + chunks) * FIELDS:
            self.entries = _longer(self.entries, known * FIELDS, (known + chunks) * FIELDS)
        if len(self.keys) < stored + size:
            self.keys = _longer(self.keys, stored, stored + size)
        if len(self.slots) < 2 * (known + chunks):
            wide = 1 << (2 * (known + chunks)).bit_length()
            marks, held = self.marks[self.slots > 0], self.slots[self.slots > 0]
            self.slots, self.marks = np.zeros(wide, np.int32), np.zeros(wide, np.int64)
            _place(held, marks, len(held), self.slots, self.marks, wide - 1)

    def _learn(self, old: int, whole: Sequence[Array]) -> tuple[Array, Array]:
        """Have the new chunks encoded, and some whole texts: where the tokens of these end, and what they are."""
        new = self.entries[old * FIELDS : int(self.sizes[0]) * FIELDS].reshape(-1, FIELDS)
        texts = [self.keys[a : a + n].tobytes().decode() for a, n in new[:, :2].tolist()]
        texts += [t.tobytes().decode() for t in whole]
        made = self._encode(texts) if texts else []
        counts = np.array([len(m) for m in made], np.int64)
        flat = np.fromiter((t for m in made for t in m), np.int32, int(counts.sum()))
        inside = int(counts[: len(new)].sum())
        if len(self.tokens) < self.used + inside:
            self.tokens = _longer(self.tokens, self.used, self.used + inside)
        self.tokens[self.used : self.used + inside] = flat[:inside]
        new[:, 3] = counts[: len(new)]
        new[:, 2] = self.used + np.cumsum(counts[: len(new)]) - counts[: len(new)]
        self.used += inside
        return np.append(0, np.cumsum(counts[len(new) :])), np.append(flat[inside:], np.int32(0))


def place(held: Words, marks: Longs, count: int, slots: Words, wide: Longs, mask: int) -> int:
    """Put the entries of a table into a wider one."""
    for i in range(count):
        slot = (marks[i] ^ (marks[i] >> 23)) & mask
        while slots[slot] != 0:
            slot = (slot + 1) & mask
        slots[slot] = held[i]
        wide[slot] = marks[i]
    return 0


_place = Routine(place, options)


def _longer(array: Array, used: int, wanted: int) -> Array:
    """The array with room for more; what is used of it is kept."""
    made = np.zeros(max(wanted, 2 * len(array), 1), array.dtype)
    made[:used] = array[:used]
    return made
