"""The weights file of an exported library: a safetensors file whose beginning the library knows by heart."""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np

from mycelia.types import Array

NAMES = {
    "float32": "F32", "float64": "F64", "float16": "F16", "bfloat16": "BF16", "int8": "I8", "int16": "I16",
    "int32": "I32", "int64": "I64", "uint8": "U8", "uint16": "U16", "uint32": "U32", "uint64": "U64", "bool": "BOOL",
}  # fmt: skip


def header(arrays: Mapping[str, Array], name: str) -> bytes:
    """What stands before the numbers: the length of a description, and the description.

    >>> header({"w": np.zeros((2, 3), "f")}, "model")[8:].decode().strip()
    '{"__metadata__":{"mycelia":"model"},"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}'
    """
    about: dict[str, object] = {"__metadata__": {"mycelia": name}}
    at = 0
    for key, a in arrays.items():
        about[key] = {"dtype": NAMES[a.dtype.name], "shape": list(a.shape), "data_offsets": [at, at + a.nbytes]}
        at += a.nbytes
    text = json.dumps(about, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def weights(arrays: Mapping[str, Array], name: str) -> bytes:
    """The whole file.

    >>> len(weights({"w": np.zeros((2, 3), "f")}, "model")) - len(header({"w": np.zeros((2, 3), "f")}, "model"))
    24
    """
    return b"".join([header(arrays, name), *(np.ascontiguousarray(a).tobytes() for a in arrays.values())])
