"""Encrypted record files: AES-GCM over the whole file, with a key that is set for the process."""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from mycelia.errors import ArgumentError, DependencyError
from mycelia.mindrecord.errors import RecordError
from mycelia.mindrecord.filebytes import BytesInMemory, FileBytes

SEALED = b"MYCSEAL1"
CHUNK = 1 << 20
NONCE = 12


class _Keys:
    """The key of this process, if there is one."""

    key: bytes | None = None


def set_enc_key(enc_key: str | None) -> None:
    """Encrypt record files from now on, and decrypt those that are; None stops it. 16, 24 or 32 characters.

    >>> set_enc_key(None)
    >>> set_enc_key("short")
    Traceback (most recent call last):
    mycelia.errors.ArgumentError: a key has 16, 24 or 32 bytes, and this one has 5...
    """
    if enc_key is not None and len(enc_key.encode()) not in (16, 24, 32):
        raise ArgumentError(f"a key has 16, 24 or 32 bytes, and this one has {len(enc_key.encode())}")
    _Keys.key = None if enc_key is None else enc_key.encode()


def set_enc_mode(enc_mode: str = "AES-GCM") -> None:
    """How files are encrypted: AES-GCM is the one way there is.

    >>> set_enc_mode("AES-GCM")
    >>> set_enc_mode("AES-CBC")
    Traceback (most recent call last):
    mycelia.errors.ArgumentError: enc_mode is "AES-GCM", and was 'AES-CBC'...
    """
    if enc_mode != "AES-GCM":
        raise ArgumentError(f'enc_mode is "AES-GCM", and was {enc_mode!r}')


def set_dec_mode(dec_mode: str = "AES-GCM") -> None:
    """How files are decrypted: AES-GCM is the one way there is.

    >>> set_dec_mode("AES-GCM")
    >>> set_dec_mode("AES-CBC")
    Traceback (most recent call last):
    mycelia.errors.ArgumentError: enc_mode is "AES-GCM", and was 'AES-CBC'...
    """
    set_enc_mode(dec_mode)


def _cipher() -> Any:
    if find_spec("cryptography") is None:
        raise DependencyError("encrypted record files need the library cryptography", hint="pip install cryptography")
    return import_module("cryptography.hazmat.primitives.ciphers.aead").AESGCM(_Keys.key)


def encrypt_file(path: Path) -> None:
    """Encrypt a file in place, when a key is set."""
    if _Keys.key is None:
        return
    cipher, nonce = _cipher(), os.urandom(NONCE - 4)
    plain = path.read_bytes()
    with path.open("wb") as file:
        file.write(SEALED + nonce)
        for i in range(0, len(plain), CHUNK):
            last = i + CHUNK >= len(plain)
            file.write(cipher.encrypt(nonce + (i // CHUNK).to_bytes(4, "big"), plain[i : i + CHUNK], b"%d" % last))


def decrypted(raw: FileBytes, path: str) -> FileBytes | BytesInMemory:
    """The plain bytes of a file; those of a file that is not encrypted are left where they are."""
    if raw[:8] != SEALED:
        return raw
    if _Keys.key is None:
        raise RecordError("a record file is encrypted", given={"file": path}, hint="call mindrecord.set_enc_key first")
    cipher, start = _cipher(), 8 + NONCE - 4
    nonce, sealed = raw[8:start], CHUNK + 16
    plain = bytearray()
    for i, at in enumerate(range(start, len(raw), sealed)):
        last = at + sealed >= len(raw)
        try:
            plain += cipher.decrypt(nonce + i.to_bytes(4, "big"), raw[at : at + sealed], b"%d" % last)
        except Exception as error:
            raise RecordError("a record file is damaged, or the key is another", given={"file": path}) from error
    return BytesInMemory(bytes(plain))
