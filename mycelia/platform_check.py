"""The machines that this version runs on, asked when this is imported, before anything else is."""

from __future__ import annotations

import os
import sys

MACHINES = ("x86_64", "AMD64")


def check(machine: str | None = None, width: int | None = None) -> None:
    """Complain on a machine for which compiled code would be wrong: it sets registers that only x86-64 has.

    >>> check("aarch64")
    Traceback (most recent call last):
    ImportError: Mycelia compiles for x86-64 processors only, and this is aarch64...
    >>> check("x86_64", 64)
    """
    if machine is None:
        machine = os.uname().machine if hasattr(os, "uname") else os.environ.get("PROCESSOR_ARCHITECTURE", "")
    width = sys.maxsize.bit_length() + 1 if width is None else width
    if machine not in MACHINES or width != 64:
        word = "" if width == 64 else f" with a Python of {width} bits"
        raise ImportError(
            f"Mycelia compiles for x86-64 processors only, and this is {machine or 'an unknown machine'}{word}\n"
            "hint: run it on an x86-64 machine, or in an x86-64 container or emulator"
        )


check()
