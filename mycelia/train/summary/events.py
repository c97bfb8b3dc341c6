"""Events of TensorBoard: a file of records, each a message with a time, a step and values.

A record is the length of the message, the checksum of the length, the message and its checksum (CRC-32C, masked). The
messages are those of TensorFlow's `event.proto` and `summary.proto`; field numbers stand beside the names below.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mycelia.errors import ArgumentError
from mycelia.frozen import frozen
from mycelia.train.protobuf import double, doubles, field, fields, single, whole
from mycelia.train.summary.pictures import png
from mycelia.types import Array

VERSION = "brain.Event:2"  # how a file of events begins
FLOAT, STRING = 1, 7  # element types of a tensor of TensorFlow
BUCKETS = 30  # of a histogram


def _table() -> list[int]:
    out = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        out.append(byte)
    return out


TABLE = _table()


def checksum(content: bytes) -> int:
    """The checksum of a record: CRC-32C, turned and moved, so that one of data with checksums in it differs.

    >>> hex(checksum(b"123456789"))
    '0xc78ab0e5'
    """
    crc = 0xFFFFFFFF
    for byte in content:
        crc = TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return (crc >> 15 | crc << 17) + 0xA282EAD8 & 0xFFFFFFFF


def record(message: bytes) -> bytes:
    """A message as a record of a file.

    >>> len(record(b"abc"))
    19
    """
    size = struct.pack("<Q", len(message))
    return b"".join([size, struct.pack("<I", checksum(size)), message, struct.pack("<I", checksum(message))])


# ----------------------------------------------------------------------------------------------------------- messages


def event(time: float, step: int, content: bytes) -> bytes:
    """Event: 1 wall_time, 2 step, and one of 3 file_version, 4 graph_def, 5 summary."""
    return double(1, time) + whole(2, step) + content


def version(time: float) -> bytes:
    """What a file begins with."""
    return double(1, time) + field(3, VERSION)


def summary(*values: bytes) -> bytes:
    """Event.5 summary: 1 value, repeated."""
    return field(5, b"".join(field(1, value) for value in values))


def scalar(tag: str, number: float) -> bytes:
    """Value: 1 tag, 2 simple_value."""
    return field(1, tag) + single(2, number)


def image(tag: str, pixels: Array) -> bytes:
    """Value: 1 tag, 4 image (1 height, 2 width, 3 colorspace, 4 encoded_image_string); pixels are (h, w, channels)."""
    height, width, channels = pixels.shape
    return field(1, tag) + field(4, whole(1, height) + whole(2, width) + whole(3, channels) + field(4, png(pixels)))


def histogram(tag: str, numbers: Array) -> bytes:
    """Value: 1 tag, 5 histo (1 min, 2 max, 3 num, 4 sum, 5 sum_squares, 6 bucket_limit, 7 bucket).

    What is not finite has no place in it.
    """
    given = np.asarray(numbers, np.float64).reshape(-1)
    flat = given[np.isfinite(given)]
    if not flat.size:
        return field(1, tag) + field(5, double(1, 0.0) + double(2, 0.0) + double(3, 0.0) + doubles(6, [0.0])
                                     + doubles(7, [0.0]))  # fmt: skip
    low, high = float(flat.min()), float(flat.max())
    counts, edges = np.histogram(flat, BUCKETS, (low, high) if low < high else (low - 0.5, high + 0.5))
    parts = double(1, low) + double(2, high) + double(3, flat.size) + double(4, flat.sum())
    parts += double(5, np.square(flat).sum()) + doubles(6, edges[1:]) + doubles(7, counts)
    return field(1, tag) + field(5, parts)


def about(plugin: str, content: bytes = b"") -> bytes:
    """Value.9 metadata: 1 plugin_data (1 plugin_name, 2 content)."""
    return field(9, field(1, field(1, plugin) + (field(2, content) if content else b"")))


def text(tag: str, words: str) -> bytes:
    """Value: 1 tag, 8 tensor (1 dtype, 2 tensor_shape, 8 string_val), 9 metadata of the plugin for texts."""
    shape = field(2, field(2, whole(1, 1)))
    return field(1, tag) + field(8, whole(1, STRING) + shape + field(8, words)) + about("text")


def tensor(tag: str, numbers: Array) -> bytes:
    """Value: 1 tag, 8 tensor (1 dtype, 2 tensor_shape, 4 tensor_content)."""
    held = np.ascontiguousarray(numbers, np.float32)
    shape = field(2, b"".join(field(2, whole(1, extent)) for extent in held.shape))
    return field(1, tag) + field(8, whole(1, FLOAT) + shape + field(4, held.tobytes()))


def hyperparameters(chosen: Mapping[str, Any], measured: Iterable[str], time: float) -> tuple[bytes, bytes]:
    """Two values of the plugin for hyperparameters: which there are, with what they lead to; and those of this run."""
    infos = b"".join(field(4, field(1, name) + whole(4, _kind(value))) for name, value in chosen.items())
    metrics = b"".join(field(5, field(1, field(2, tag))) for tag in measured)
    experiment = field(2, double(3, time) + infos + metrics)
    entries = b"".join(field(1, field(1, name) + field(2, _value(value))) for name, value in chosen.items())
    begin = field(3, entries + double(5, time))
    return tuple(
        field(1, f"_hparams_/{name}") + about("hparams", content)
        for name, content in (("experiment", experiment), ("session_start_info", begin))
    )  # type: ignore[return-value]  # of a pair, a pair


def _kind(value: Any) -> int:
    """The kind of a hyperparameter, as the plugin counts them.

    >>> [_kind(value) for value in (True, 3, 0.5, "adam")]
    [2, 3, 3, 1]
    """
    return 2 if isinstance(value, bool) else 3 if isinstance(value, int | float) else 1


def _value(value: Any) -> bytes:
    """A value of `struct.proto`: 2 number_value, 3 string_value, 4 bool_value."""
    if isinstance(value, bool):
        return whole(4, int(value))
    return double(2, float(value)) if isinstance(value, int | float) else field(3, str(value))


@frozen
class GraphNode:
    """A node of a graph: its name, with slashes between the parts it lies in, what it does, and what it reads."""

    name: str
    op: str
    inputs: tuple[str, ...] = ()
    shape: tuple[int, ...] | None = None


def graph(nodes: Sequence[GraphNode]) -> bytes:
    """Event.4 graph_def: GraphDef (1 node: 1 name, 2 op, 3 input, 5 attr), 4 versions (1 producer)."""
    parts = []
    for node in nodes:
        told = field(1, node.name) + field(2, node.op) + b"".join(field(3, name) for name in node.inputs)
        if node.shape is not None:
            shape = b"".join(field(2, whole(1, extent)) for extent in node.shape)
            told += field(5, field(1, "_output_shapes") + field(2, field(1, field(7, shape))))
        parts.append(field(1, told))
    return field(4, b"".join([*parts, field(4, whole(1, 22))]))


# ------------------------------------------------------------------------------------------------------------ reading


def messages(path: str | Path) -> Iterator[memoryview]:
    """The messages of a file, checked."""
    raw, at = memoryview(Path(path).read_bytes()), 0
    while at < len(raw):
        if at + 12 > len(raw):
            raise ArgumentError(f"{Path(path).name} ends inside a record, at byte {at}", hint="it is still written to")
        (size,) = struct.unpack("<Q", raw[at : at + 8])
        end = at + 12 + size + 4
        if end > len(raw):
            raise ArgumentError(f"{Path(path).name} ends inside a record, at byte {at}", hint="it is still written to")
        message = raw[at + 12 : end - 4]
        for content, place in ((raw[at : at + 8], at + 8), (message, end - 4)):
            if checksum(bytes(content)) != struct.unpack("<I", raw[place : place + 4])[0]:
                raise ArgumentError(f"{Path(path).name} is damaged: a checksum at byte {place} is wrong")
        yield message
        at = end


def scalars(path: str | Path) -> dict[str, list[tuple[int, float]]]:
    """The numbers in a file of events: for each tag, steps with numbers."""
    found: dict[str, list[tuple[int, float]]] = {}
    for message in messages(path):
        held = dict(fields(message))
        for _, value in fields(held[5]) if 5 in held else ():
            pair = dict(fields(value))
            if 2 in pair:
                found.setdefault(bytes(pair[1]).decode(), []).append((held.get(2, 0), pair[2]))
    return found
