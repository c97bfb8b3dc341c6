"""What the processor says of itself (CPUID), where the system does not pass it on.

The tiles of AMX are used by palettes, and leaf 0x1D says how large the tiles of a palette are. Some virtual machines
announce AMX and leave that leaf empty: oneDNN then configures tiles of no size, and its first product in bfloat16 or
int8 ends the process with an illegal instruction. What is not known to work is not used.
"""

from __future__ import annotations

import ctypes
import mmap

from mycelia.frozen import frozen

TILES = 0x1D  # the leaf of palettes
CODE = bytes.fromhex(
    "53"  # push rbx
    "4989d0"  # mov r8, rdx
    "89f8"  # mov eax, edi: the leaf
    "89f1"  # mov ecx, esi: the part of it
    "0fa2"  # cpuid
    "418900"  # mov [r8], eax
    "41895804"  # mov [r8 + 4], ebx
    "41894808"  # mov [r8 + 8], ecx
    "4189500c"  # mov [r8 + 12], edx
    "5b"  # pop rbx
    "c3"  # ret
)


@frozen
class Leaf:
    """An answer: four numbers of 32 bits, each of which means something else in each leaf."""

    eax: int
    ebx: int
    ecx: int
    edx: int


NOTHING = Leaf(0, 0, 0, 0)


def asked(leaf: int, part: int = 0) -> Leaf:
    """What the processor answers; nothing for a leaf that it does not have, and where the system lets nobody write
    machine code.

    >>> asked(0).eax > 0, asked(0xFFFF)
    (True, Leaf(eax=0, ebx=0, ecx=0, edx=0))
    """
    try:
        page = mmap.mmap(-1, len(CODE), prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    except OSError:
        return NOTHING
    page.write(CODE)
    start = ctypes.c_char.from_buffer(page)  # as long as it lives, so does the page
    call = ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p)(ctypes.addressof(start))

    def answer(leaf: int, part: int) -> Leaf:
        numbers = (ctypes.c_uint32 * 4)()
        call(leaf, part, ctypes.addressof(numbers))
        return Leaf(*numbers)

    return answer(leaf, part) if leaf <= answer(0, 0).eax else NOTHING  # beyond the last one, the last one answers


def has_tiles(palettes: Leaf, first: Leaf) -> bool:
    """Whether tiles can be used: there is a palette, and its tiles have rows, and rows have bytes.

    >>> has_tiles(Leaf(1, 0, 0, 0), Leaf(0x04002000, 0x00080040, 0x10, 0)), has_tiles(NOTHING, NOTHING)
    (True, False)
    """
    return palettes.eax >= 1 and first.ebx & 0xFFFF > 0 and first.ebx >> 16 > 0 and first.ecx & 0xFFFF > 0


def tiles() -> bool:
    """Whether the tiles of this processor can be used, if it has any."""
    return has_tiles(asked(TILES), asked(TILES, 1))
