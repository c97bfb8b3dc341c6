"""Checkpoints from strangers: an answer or an error of ours, never a crash, a hang, memory, or half a network."""

from __future__ import annotations

import json
import os
import struct
import zlib

import numpy as np
import pytest

import mycelia as ms
from mycelia import nn
from mycelia.errors import ArgumentError, MyceliaError, ShapeError
from mycelia.train.ckpt import COUNT
from mycelia.train.resuming import ARRAY, STATE, load_training, save_training
from mycelia.wire import NUMBER, field, varint


def tensor(kind: str = "Float32", content: bytes = b"\0\0\x80?", extents: tuple[int, ...] = (1,)) -> bytes:
    shape = b"".join(varint(1 << 3) + varint(extent) for extent in extents)
    return shape + field(2, kind.encode()) + field(3, content)


def value(name: str, content: bytes) -> bytes:
    return field(1, field(1, name.encode()) + field(2, content))


FORGED = {
    "a number without end": b"\x80" * (1 << 20),
    "a number without end inside": value("w", b"\x08" + b"\xff" * (1 << 20)),
    "a name that is a number": field(1, b"\x08" + varint(1 << 40) + field(2, tensor())),
    "a type that is a number": value("w", b"\x08\x01\x10" + varint(1 << 40) + field(3, b"")),
    "content that is a number": value("w", b"\x08\x01" + field(2, b"Float32") + b"\x18" + varint(1 << 40)),
    "a tensor that is a number": field(1, field(1, b"w") + b"\x10\x05"),
    "a value that is a number": b"\x08\x05",
    "an axis of all numbers": value("w", tensor(extents=(1 << 63,))),
    "axes that are large together": value("w", tensor(extents=(1 << 62, 1 << 62))),
    "an axis below zero": value("w", tensor(extents=(-1,))),
    "an axis too many": value("w", tensor(extents=(2, 3))),
    "half an element": value("w", tensor(content=b"\0\0\x80?\0")),
    "no type": field(
        1,
        field(1, b"w") + field(2, field(3, b"")),
    ),
    "another type": value("w", tensor("Object")),
    "a type of code": value("w", tensor("__import__('os')")),
    "no name": field(1, field(2, tensor())),
    "parts of two types": value("w", tensor(extents=(2,))) + value("w", tensor("Int32", extents=(2,))),
    "parts of two shapes": value("w", tensor(extents=(1,))) + value("w", tensor(extents=(2,))),
    "a field that there is not": value("w", tensor()) + field(7, b"ab"),
    "a name that is no text": field(1, field(1, b"\xff\xfe") + field(2, tensor())),
    "a count of bytes": field(COUNT, b"ab") + value("w", tensor()),
    "a count without a sum": varint(COUNT << 3 | NUMBER) + varint(1) + value("w", tensor()),
}


@pytest.mark.parametrize("summed", [False, True])
@pytest.mark.parametrize("name", FORGED)
def test_a_forged_checkpoint_is_refused(name, summed, tmp_path):
    if summed and name == "a count without a sum":
        pytest.skip("with a sum it is whole")
    body = FORGED[name]
    end = b"crc_num" + zlib.crc32(body).to_bytes(10, "big") if summed else b""
    (tmp_path / "a.ckpt").write_bytes(body + end)
    with pytest.raises(ArgumentError, match="no checkpoint that can be read"):
        ms.load_checkpoint(tmp_path / "a.ckpt")


def test_what_the_forged_ones_are_made_of_is_read(tmp_path):
    (tmp_path / "a.ckpt").write_bytes(value("w", tensor()) + value("t", tensor("Bool", b"\0\1\2", (3,))))
    found = ms.load_checkpoint(tmp_path / "a.ckpt")
    assert found["w"].asnumpy().tolist() == [1.0]
    assert found["t"].asnumpy().view(np.uint8).tolist() == [0, 1, 1]  # a truth is one or zero


def safetensors(head: object, body: bytes = b"", length: int | None = None) -> bytes:
    text = head if isinstance(head, bytes) else json.dumps(head).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + body


def about(kind: str = "F32", shape: object = (1,), offsets: object = (0, 4)) -> dict[str, object]:
    return {"dtype": kind, "shape": shape, "data_offsets": offsets}


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\xff" * 8,
        safetensors({"w": about()}, length=1 << 62),
        safetensors({"w": about()}, length=1 << 40),
        safetensors(b"[" * 100_000),
        safetensors(b"[]"),
        safetensors(b"null"),
        safetensors({"w": about()}),
        safetensors({"w": about(offsets=(4, 0))}, bytes(4)),
        safetensors({"w": about(offsets=(0, 1 << 60), shape=(1 << 58,))}, bytes(4)),
        safetensors({"w": about(shape=(-1,))}, bytes(4)),
        safetensors({"w": about(shape=(1 << 63, 2))}, bytes(4)),
        safetensors({"w": about(), "v": about()}, bytes(4)),  # two tensors in one place
        safetensors({"w": about("O")}, bytes(4)),
        safetensors({"w": about("F8_E8M0", (4,))}, bytes(4)),
        safetensors({"w": about(), "__metadata__": {"crc_num": 5}}, bytes(4)),
        safetensors({"w": about(), "__metadata__": {"crc_num": "5"}}, bytes(4)),
        safetensors({"w": about(), "__metadata__": []}, bytes(4)),
        safetensors({"t": about("BOOL", (3,), (0, 3))}, b"\0\1\2"),
        b"\x80\x04cbuiltins\nexec\n.",
        b"PK\x03\x04" + bytes(60),
    ],
)
def test_forged_safetensors_are_refused(raw, tmp_path):
    (tmp_path / "a.safetensors").write_bytes(raw)
    with pytest.raises(ArgumentError, match=r"a\.safetensors"):
        ms.load_checkpoint(tmp_path / "a.safetensors")


@pytest.mark.parametrize("suffix", ["ckpt", "safetensors"])
def test_what_is_no_plain_file_is_no_checkpoint(suffix, tmp_path):
    pipe, device = tmp_path / f"pipe.{suffix}", tmp_path / f"device.{suffix}"
    os.mkfifo(pipe)
    device.symlink_to("/dev/zero")
    for place in (pipe, device):
        with pytest.raises(ArgumentError, match="no checkpoint"):
            ms.load_checkpoint(place)


def test_a_network_gets_all_parameters_or_none():
    net = nn.SequentialCell(nn.Dense(2, 2), nn.Dense(2, 2))
    before = {n: p.asnumpy().copy() for n, p in net.parameters_dict().items()}
    wrong = {n: ms.Parameter(np.full(p.shape, 7, np.float32)) for n, p in net.parameters_dict().items()}
    wrong[list(wrong)[-1]] = ms.Parameter(np.zeros(9, np.float32))
    with pytest.raises(ShapeError):
        ms.load_param_into_net(net, wrong)
    for name, parameter in net.parameters_dict().items():
        np.testing.assert_array_equal(parameter.asnumpy(), before[name])


def resumed(path, state: bytes, **arrays) -> None:
    """A training whose parameters are right, and which tells this of the rest."""
    named = {name: ms.Tensor(np.zeros(p.shape, np.float32)) for name, p in nn.Dense(1, 1).parameters_dict().items()}
    told = {STATE: ms.Tensor(np.frombuffer(state, np.uint8))}
    ms.save_checkpoint({**named, **told, **{f"{ARRAY}.{n}": ms.Tensor(a) for n, a in arrays.items()}}, path)


@pytest.mark.parametrize(
    "state",
    [
        b"",
        b"\xff",
        b"[" * 100_000,
        b"[]",
        b"5",
        b"{}",
        b'{"random": 5}',
        b'{"random": null}',
        b'{"random": [1]}',
        b'{"random": {"mycelia.array": "none"}}',
        b'{"random": {"mycelia.array": [1]}}',
        b'{"random": {"mycelia.array": "0"}}',
        b'{"random": {"mycelia.array": "1"}}',
    ],
)
def test_a_training_that_tells_nonsense_is_not_taken_up(state, tmp_path):
    resumed(tmp_path / "a.ckpt", state, **{"0": np.zeros(3, np.float32), "1": np.zeros((2, 2), np.int64)})
    net = nn.Dense(1, 1)
    before = ms.get_rng_state().asnumpy().tolist()
    with pytest.raises(MyceliaError):
        load_training(tmp_path / "a.ckpt", net)
    assert ms.get_rng_state().asnumpy().tolist() == before


def test_a_part_that_is_not_told_of_leaves_the_network_as_it_was(tmp_path):
    net = nn.Dense(1, 1, weight_init="ones")
    save_training(tmp_path / "a.ckpt", nn.Dense(1, 1, weight_init="zeros"), epoch=1)
    with pytest.raises(ArgumentError, match="does not tell of rows"):
        load_training(tmp_path / "a.ckpt", net, rows=object())
    assert net.weight.asnumpy().tolist() == [[1.0]]
