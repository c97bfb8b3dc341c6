"""Checkpoints under a key, as MindSpore writes them: blocks of AES in Galois/counter mode.

    block: magic number, 4 bytes; tag, 16 bytes; length of the rest, 4 bytes
    rest:  length of the vector, 4 bytes; the vector, of which 12 bytes count; length of the text, 4 bytes; the text

Numbers are little-endian. A tag proves that a block is as it was written by someone who has the key. Where blocks are
missing, the checkpoint that they hold says so: it counts its values and ends with a checksum.
"""

from __future__ import annotations

import importlib
import os
import struct
from typing import Any

from mycelia.errors import ArgumentError, DependencyError

MAGIC = 0x7F3A5ED8
BLOCK = 64 << 20  # bytes of text in a block
TAG, VECTOR, COUNTS = 16, 16, 12
MODES = ("AES-GCM",)


def check_key(key: Any, mode: str) -> bytes:
    """A key of 16, 24 or 32 bytes, and a mode that there is.

    >>> check_key(b"0" * 16, "AES-GCM")
    b'0000000000000000'
    """
    if not isinstance(key, bytes) or len(key) not in (16, 24, 32):
        raise ArgumentError(
            f"a key is 16, 24 or 32 bytes, not {f'{len(key)} bytes' if isinstance(key, bytes) else type(key).__name__}"
        )
    if mode not in MODES:
        raise ArgumentError(f"checkpoints are encrypted by {' or '.join(MODES)}, not by {mode!r}")
    return key


def _cipher(key: bytes) -> Any:
    try:
        return importlib.import_module("cryptography.hazmat.primitives.ciphers.aead").AESGCM(key)
    except ModuleNotFoundError:
        raise DependencyError("encrypted checkpoints need cryptography", hint="pip install cryptography") from None


def encrypted(content: bytes, key: bytes) -> bytes:
    """Content under a key.

    >>> decrypted(encrypted(b"weights", b"0" * 16), b"0" * 16)
    b'weights'
    """
    cipher, out = _cipher(key), bytearray()
    for start in range(0, max(len(content), 1), BLOCK):
        vector = os.urandom(VECTOR)
        both = cipher.encrypt(vector[:COUNTS], content[start : start + BLOCK], None)
        text, tag = both[:-TAG], both[-TAG:]
        out += struct.pack("<I", MAGIC) + tag + struct.pack("<II", 8 + VECTOR + len(text), VECTOR) + vector
        out += struct.pack("<I", len(text)) + text
    return bytes(out)


def decrypted(content: bytes, key: bytes) -> bytes:
    """What was encrypted; a ValueError where the key is another one or anything was changed."""
    cipher, out, at = _cipher(key), bytearray(), 0
    while at < len(content) or not content:
        if at and content[at : at + 7] == b"crc_num" and at + 17 == len(content):
            break  # of an encrypted file MindSpore adds the checksum of nothing
        if len(content) - at < 28 + VECTOR or struct.unpack_from("<I", content, at)[0] != MAGIC:
            raise ValueError("it is not encrypted, or cut off")
        tag = content[at + 4 : at + 20]
        rest, count = struct.unpack_from("<II", content, at + 20)
        begin = at + 28 + count
        if not COUNTS <= count <= 64 or begin + 4 > len(content):
            raise ValueError("it is cut off or damaged")
        (size,) = struct.unpack_from("<I", content, begin)
        if rest != 8 + count + size or begin + 4 + size > len(content):
            raise ValueError("it is cut off or damaged")
        vector, text = content[at + 28 : at + 28 + COUNTS], content[begin + 4 : begin + 4 + size]
        try:
            out += cipher.decrypt(vector, text + tag, None)
        except Exception as reason:
            if type(reason).__name__ != "InvalidTag":
                raise
            raise ValueError("the key is another one, or it was damaged after it was written") from None
        at = begin + 4 + size
    return bytes(out)


def is_encrypted(content: bytes) -> bool:
    """Whether a file begins as encrypted ones do.

    >>> is_encrypted(encrypted(b"", b"0" * 16)), is_encrypted(b"")
    (True, False)
    """
    return len(content) >= 4 and struct.unpack_from("<I", content)[0] in (MAGIC, MAGIC + 1)
