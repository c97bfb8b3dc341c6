"""Shared memory between a worker process and its reader: nameless blocks, so that nothing is left behind by any death.

A worker packs an answer with pickle's out-of-band buffers into a block and sends only the skeleton. The reader's arrays
are views of the block; when the last of them is gone the block goes back to the worker.
"""

from __future__ import annotations

import mmap
import os
import pickle
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing import reduction
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

ALIGN = 64
GRAIN = 1 << 16
MOST = 32  # blocks of one worker that the reader may hold; beyond, answers are copied
SMALLEST = 1 << 14  # answers below this travel in the message itself

available = hasattr(os, "memfd_create")


@dataclass
class SharedBlock:
    """One piece of memory that both sides see."""

    number: int
    size: int
    memory: mmap.mmap


@dataclass
class Giver:
    """The worker's side: blocks that are free, and how to get more."""

    connection: Connection
    reader: int  # process id
    limit: float  # bytes of an answer that may go through shared memory
    free: list[SharedBlock] = field(default_factory=list)
    lent: dict[int, SharedBlock] = field(default_factory=dict)
    count: int = 0

    def send(self, task: int, answer: Any) -> None:
        """Hand over an answer."""
        buffers: list[pickle.PickleBuffer] = []
        skeleton = pickle.dumps(answer, protocol=5, buffer_callback=buffers.append if self.limit else None)
        raws = [b.raw() for b in buffers]
        size = sum(-(-r.nbytes // ALIGN) * ALIGN for r in raws)
        if not raws or not SMALLEST <= size <= self.limit or len(self.lent) >= MOST:
            copies = [bytes(r) for r in raws]
            self.connection.send_bytes(pickle.dumps((task, skeleton, None, copies)))
            return
        block, fresh = self._take(size)
        places, at = [], 0
        for raw in raws:
            block.memory[at : at + raw.nbytes] = raw
            places.append((at, raw.nbytes))
            at += -(-raw.nbytes // ALIGN) * ALIGN
        self.lent[block.number] = block
        told = (block.number, block.size if fresh is not None else 0)
        self.connection.send_bytes(pickle.dumps((task, skeleton, told, places)))
        if fresh is not None:
            reduction.send_handle(self.connection, fresh, self.reader)
            os.close(fresh)

    def _take(self, size: int) -> tuple[SharedBlock, int | None]:
        fitting = [b for b in self.free if b.size >= size]
        if fitting:
            block = min(fitting, key=lambda b: b.size)
            self.free.remove(block)
            return block, None
        room = -(-size // GRAIN) * GRAIN
        handle = os.memfd_create("mycelia-data")
        os.ftruncate(handle, room)
        self.count += 1
        return SharedBlock(self.count, room, mmap.mmap(handle, room)), handle

    def back(self, numbers: list[int]) -> list[int]:
        """Blocks that the reader has let go; those that are too many are given up, and their numbers returned."""
        for number in numbers:
            self.free.append(self.lent.pop(number))
        given_up = []
        while len(self.free) > 4:
            smallest = min(self.free, key=lambda b: b.size)
            self.free.remove(smallest)
            smallest.memory.close()
            given_up.append(smallest.number)
        return given_up


@dataclass
class Taker:
    """The reader's side of one worker: the blocks it knows, and those it has let go."""

    connection: Connection
    blocks: dict[int, SharedBlock] = field(default_factory=dict)
    held: dict[int, tuple[weakref.ref[Any], int]] = field(default_factory=dict)  # by the address of the reference
    returned: deque[weakref.ref[Any]] = field(default_factory=deque)

    def receive(self) -> tuple[int, Any]:
        """The next answer, with the number of its task."""
        task, skeleton, told, places = pickle.loads(self.connection.recv_bytes())
        if told is None:
            return task, pickle.loads(skeleton, buffers=[bytearray(p) for p in places])
        number, size = told
        if size:
            handle = reduction.recv_handle(self.connection)
            self.blocks[number] = SharedBlock(number, size, mmap.mmap(handle, size))
            os.close(handle)
        block = self.blocks[number]
        owner = np.frombuffer(block.memory, np.uint8)
        # no Python code runs when the last view is gone, so that Ctrl-C cannot fall into it and be lost
        reference = weakref.ref(owner, self.returned.append)
        self.held[id(reference)] = reference, number
        whole = owner.data
        return task, pickle.loads(skeleton, buffers=[whole[at : at + size] for at, size in places])

    def let_go(self) -> list[int]:
        """The blocks that came back since the last time."""
        gone = []
        while self.returned:
            gone.append(self.held.pop(id(self.returned.popleft()))[1])
        return gone

    def forget(self, numbers: list[int]) -> None:
        """Blocks that the worker has given up."""
        for number in numbers:
            self.blocks.pop(number, None)


Report = Callable[[int, Any], None]
