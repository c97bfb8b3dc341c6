"""Keys and values that processes share: set, got, counted, waited for; what is wrong is said."""

import socket
import struct
import threading
import time
from datetime import timedelta

import pytest

from mycelia.errors import ArgumentError
from mycelia.ops.communication import TCPStore

HERE = "127.0.0.1"
SOON = timedelta(seconds=0.3)


def test_clients_see_what_others_set_and_count_together():
    master = TCPStore(HERE, 0, is_master=True)
    others = [TCPStore(HERE, master.port) for _ in range(4)]
    master.set("a", "one")
    others[0].set("b", b"\x00\xff")
    assert [s.get("a") for s in others] == [b"one"] * 4
    assert master.get("b") == b"\x00\xff"

    def count(store):
        for _ in range(50):
            store.add("n", 1)

    threads = [threading.Thread(target=count, args=(s,)) for s in others]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert (master.add("n", 0), master.add("n", -200), master.get("n")) == (200, 0, b"0")
    assert (others[1].delete_key("a"), master.delete_key("a")) == (True, False)


def test_a_key_is_waited_for():
    master = TCPStore(HERE, 0, is_master=True)
    waiting = TCPStore(HERE, master.port, timeout=timedelta(seconds=20))
    later = threading.Timer(0.1, lambda: master.set("late", "here"))
    later.start()
    assert waiting.get("late") == b"here"
    with pytest.raises(RuntimeError, match=r"nothing came under 'never' in 0\.3 seconds"):
        TCPStore(HERE, master.port, timeout=SOON).get("never")


def test_a_master_waits_for_all():
    found = []
    free = socket.create_server((HERE, 0))
    port = free.getsockname()[1]
    free.close()
    thread = threading.Thread(target=lambda: found.append(TCPStore(HERE, port)))
    thread.start()
    master = TCPStore(HERE, port, world_size=2, is_master=True)
    thread.join()
    assert found[0].port == master.port
    with pytest.raises(RuntimeError, match="1 of 3 have come"):
        TCPStore(HERE, 0, world_size=3, is_master=True, timeout=SOON)


def test_mistakes_are_told():
    master = TCPStore(HERE, 0, is_master=True)
    with socket.create_server((HERE, 0)) as taken, pytest.raises(RuntimeError, match="nobody can serve"):
        TCPStore(HERE, taken.getsockname()[1], is_master=True)
    with pytest.raises(RuntimeError, match="no store answers"):
        TCPStore(HERE, 1, timeout=SOON)
    master.set("text", "three")
    with pytest.raises(RuntimeError, match="under 'text' is no number: b'three'"):
        master.add("text", 1)
    for wrong in (
        lambda: TCPStore(1, 0), lambda: TCPStore(HERE, "0"), lambda: TCPStore(HERE, 70000), lambda: master.set(1, "x"),
        lambda: TCPStore(HERE, 0, 0), lambda: TCPStore(HERE, True), lambda: master.set("x", 1),
        lambda: master.add("x", 1.5), lambda: master.get("k" * 5000),
    ):  # fmt: skip
        with pytest.raises(ArgumentError):
            wrong()
    assert master.get("text") == b"three"


def test_what_strangers_send_harms_nobody():
    master = TCPStore(HERE, 0, is_master=True)
    master.set("a", "1")
    for message in (b"", b"\x00" * 3, struct.pack("<cIQ", b"s", 1 << 31, 1 << 62), struct.pack("<cIQ", b"?", 0, 0)):
        with socket.create_connection((HERE, master.port)) as link:
            link.sendall(message)
            link.settimeout(5)
            if len(message) < 13 or message[:1] == b"s":
                link.shutdown(socket.SHUT_WR)
                assert link.recv(10) == b""
    assert master.get("a") == b"1"


def test_masters_of_one_process_share_what_they_serve():
    master = TCPStore(HERE, 0, is_master=True)
    again = TCPStore(HERE, master.port, is_master=True)
    master.set("a", "1")
    port = master.port
    del master
    assert again.get("a") == TCPStore(HERE, port).get("a") == b"1"


def test_a_store_that_is_gone_serves_no_longer():
    master = TCPStore(HERE, 0, is_master=True)
    port = master.port
    del master
    until = time.monotonic() + 5
    while time.monotonic() < until:
        try:
            TCPStore(HERE, port, timeout=timedelta(seconds=0.1))
        except RuntimeError:
            return
        time.sleep(0.05)
    raise AssertionError("it still serves")
