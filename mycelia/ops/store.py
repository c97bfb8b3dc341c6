"""A few keys and values that processes share by a socket: one of them serves, which is a client, too.

A message is a letter, the lengths of a key and of a value, and both; an answer is a letter, a length and a value. What
comes from outside is bytes and stays bytes, and the lengths are bounded.
"""

from __future__ import annotations

import socket
import struct
import threading
import time
import weakref
from contextlib import suppress
from datetime import timedelta
from typing import Any

from mycelia.errors import ArgumentError, MyceliaError

__all__ = ["TCPStore"]

QUESTION, ANSWER = struct.Struct("<cIQ"), struct.Struct("<cQ")
LONGEST_KEY, LONGEST_VALUE = 4096, 1 << 30
PAUSE = 0.05  # seconds, until somebody asks again


class StoreError(MyceliaError, RuntimeError):
    """A store cannot be reached, has no such key in time, or holds something else than a number."""


def _received(link: socket.socket, count: int) -> bytes:
    found = bytearray()
    while len(found) < count:
        part = link.recv(min(count - len(found), 1 << 20))
        if not part:
            raise ConnectionError("the other side has gone")
        found += part
    return bytes(found)


class _Server:
    """The keys and their values, and a thread for each client."""

    def __init__(self, host: str, port: int) -> None:
        self.values: dict[bytes, bytes] = {}
        self.changed = threading.Condition()
        self.joined = 0
        self.door = socket.create_server((host, port), backlog=128)
        self.port: int = self.door.getsockname()[1]
        self.masters = 0
        threading.Thread(target=self.open, name="TCPStore", daemon=True).start()

    @classmethod
    def at(cls, host: str, port: int) -> _Server:
        """The server of this process at an address, which all its masters share."""
        with _turn:
            server = _servers.get((host, port))
            if server is None:
                server = cls(host, port)
                _servers[host, server.port] = server
            server.masters += 1
            return server

    def left(self, host: str) -> None:
        """A master is gone; the last one closes the door."""
        with _turn:
            self.masters -= 1
            if not self.masters:
                del _servers[host, self.port]
                with suppress(OSError):
                    self.door.shutdown(socket.SHUT_RDWR)  # who waits for the next client holds the address otherwise
                self.door.close()

    def open(self) -> None:
        while True:
            try:
                link, _ = self.door.accept()
            except OSError:  # closed
                return
            threading.Thread(target=self.serve, args=(link,), name="TCPStore client", daemon=True).start()

    def serve(self, link: socket.socket) -> None:
        with link:
            try:
                while True:
                    what, key_length, length = QUESTION.unpack(_received(link, QUESTION.size))
                    if key_length > LONGEST_KEY or length > LONGEST_VALUE:
                        return
                    key, value = _received(link, key_length), _received(link, length)
                    sign, found = self.answer(what, key, value)
                    link.sendall(ANSWER.pack(sign, len(found)) + found)
            except (OSError, ConnectionError):
                return

    def answer(self, what: bytes, key: bytes, value: bytes) -> tuple[bytes, bytes]:
        """What becomes of a question: "y" and a value, or "n" and the reason."""
        with self.changed:
            if what == b"j":
                self.joined += 1
            elif what == b"s":
                self.values[key] = value
            elif what == b"d":
                return b"y", b"1" if self.values.pop(key, None) is not None else b""
            elif what == b"a":
                try:
                    total = int(self.values.get(key, b"0")) + int(value)
                except ValueError:
                    return b"n", self.values[key][:100]
                self.values[key] = str(total).encode()
                return b"y", self.values[key]
            elif what == b"g":
                return (b"y", self.values[key]) if key in self.values else (b"n", b"")
            else:
                return b"n", b""
            self.changed.notify_all()
        return b"y", b""

    def wait(self, count: int, seconds: float) -> bool:
        with self.changed:
            return self.changed.wait_for(lambda: self.joined >= count, seconds)


_turn = threading.RLock()  # a store may be collected meanwhile
_servers: dict[tuple[str, int], _Server] = {}


class TCPStore:
    """Keys and values that processes share: one is the master and serves; the others give its address.

    `get` waits for a key as long as `timeout` says. With a `world_size` the master waits until so many have come.
    `multi_tenant`, `master_listen_fd` and `use_libuv` have no effect, as in MindSpore: masters of one process share
    what they serve.

    >>> store = TCPStore("127.0.0.1", 0, is_master=True)
    >>> store.set("weights", "ready")
    >>> TCPStore("127.0.0.1", store.port).get("weights")
    b'ready'
    >>> store.add("steps", 2), store.add("steps", 3), store.delete_key("steps"), store.delete_key("steps")
    (2, 5, True, False)
    """

    def __init__(
        self,
        host_name: str,
        port: int,
        world_size: int | None = None,
        is_master: bool = False,
        timeout: timedelta = timedelta(seconds=300),
        wait_for_workers: bool = True,
        multi_tenant: bool = False,
        master_listen_fd: int | None = None,
        use_libuv: bool = True,
    ) -> None:
        for name, value, kind in (
            ("host_name", host_name, str), ("port", port, int), ("world_size", world_size, int | None),
            ("is_master", is_master, bool), ("timeout", timeout, timedelta),
            ("wait_for_workers", wait_for_workers, bool),
        ):  # fmt: skip
            if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
                raise ArgumentError(f"{name} of TCPStore cannot be a {type(value).__name__}", given={name: value})
        if not 0 <= port <= 65535:
            raise ArgumentError(f"a port is between 0 and 65535, not {port}", hint="0 lets a master choose a free one")
        if world_size is not None and world_size < 1:
            raise ArgumentError(f"world_size is at least 1, not {world_size}")
        self.host, self.port, self._seconds = host_name, port, timeout.total_seconds()
        self._turn = threading.Lock()
        until = time.monotonic() + self._seconds
        if is_master:
            try:
                server = _Server.at(host_name, port)
            except OSError as error:
                raise StoreError(
                    f"nobody can serve at {host_name}:{port}: {error.strerror or error}",
                    hint="another process serves there, or the address is of another machine; choose another port",
                ) from None
            self.port = server.port
            weakref.finalize(self, server.left, host_name)
        self._link = self._connected(until)
        weakref.finalize(self, self._link.close)
        self._asked(b"j")
        if is_master and world_size is not None and wait_for_workers and not server.wait(world_size, self._seconds):
            raise StoreError(
                f"{server.joined} of {world_size} have come to {self.host}:{self.port} in {self._seconds:g} seconds",
                hint="start the others, or give a longer timeout",
            )

    def _connected(self, until: float) -> socket.socket:
        while True:
            try:
                return socket.create_connection((self.host, self.port), max(until - time.monotonic(), PAUSE))
            except OSError as error:
                if time.monotonic() + PAUSE > until:
                    raise StoreError(
                        f"no store answers at {self.host}:{self.port}: {error.strerror or error}",
                        hint="start the one with is_master=True first, or give a longer timeout",
                    ) from None
                time.sleep(PAUSE)

    def _asked(self, what: bytes, key: Any = "", value: bytes = b"") -> tuple[bool, bytes]:
        if not isinstance(key, str):
            raise ArgumentError(f"a key is a text, not a {type(key).__name__}", given={"key": key})
        name = key.encode()
        if len(name) > LONGEST_KEY or len(value) > LONGEST_VALUE:
            raise ArgumentError(f"a key has at most {LONGEST_KEY} bytes, and a value {LONGEST_VALUE}")
        try:
            with self._turn:
                self._link.settimeout(self._seconds)
                self._link.sendall(QUESTION.pack(what, len(name), len(value)) + name + value)
                sign, length = ANSWER.unpack(_received(self._link, ANSWER.size))
                return sign == b"y", _received(self._link, min(length, LONGEST_VALUE))
        except OSError as error:
            raise StoreError(f"the store at {self.host}:{self.port} does not answer: {error}") from None

    def add(self, key: str, amount: int) -> int:
        """Add to the number under a key, which begins at zero; the sum."""
        if not isinstance(amount, int):
            raise ArgumentError(f"what is added is a whole number, not a {type(amount).__name__}")
        good, found = self._asked(b"a", key, str(int(amount)).encode())
        if not good:
            raise StoreError(f"under {key!r} is no number: {found!r}", hint="delete the key first")
        return int(found)

    def set(self, key: str, value: str | bytes) -> None:
        """Put a value under a key, in place of what was there."""
        if not isinstance(value, str | bytes):
            raise ArgumentError(f"a value is text or bytes, not a {type(value).__name__}", given={"key": key})
        self._asked(b"s", key, value.encode() if isinstance(value, str) else value)

    def get(self, key: str) -> bytes:
        """The value under a key; one that is not there yet is waited for."""
        until = time.monotonic() + self._seconds
        while True:
            good, found = self._asked(b"g", key)
            if good:
                return found
            if time.monotonic() + PAUSE > until:
                raise StoreError(f"nothing came under {key!r} in {self._seconds:g} seconds")
            time.sleep(PAUSE)

    def delete_key(self, key: str) -> bool:
        """Forget a key; whether it was there."""
        return bool(self._asked(b"d", key)[1])
