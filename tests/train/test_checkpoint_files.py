"""Files that were damaged, cut, encrypted or written elsewhere: they load as what they were, or not at all."""

import errno
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import mycelia as ms
from mycelia import nn, train
from mycelia.errors import ArgumentError, MyceliaError

KEY = b"0123456789ABCDEF"
# what MindSpore 2.10 wrote with this key: {"w": [0, 1, 2]} in AES-GCM
ENCRYPTED_BY_MINDSPORE = bytes.fromhex(
    "d85e3a7f4a414a61c3707eb42e1af02d12bba493380000001000000059dd9226612defee1350ce4d90efe847200000009c0ce1827f9efdde"
    "21dcca84f796b970d4032b2ec04c3c87f6172aa1252392f5"
)
TENSORS = {
    "a.w": np.arange(60, dtype=np.float32).reshape(3, 20),
    "b.count": np.array(7, np.int32),
    "b.half": np.linspace(0, 1, 9).astype(np.float16),
    "b.flags": np.array([True, False, True]),
}


def saved(path, **options):
    ms.save_checkpoint({name: ms.Tensor(a) for name, a in TENSORS.items()}, path, **options)
    return path


def loads_as_it_was(path, **options):
    """Whether a file loads, which must give what was saved."""
    try:
        found = ms.load_checkpoint(path, **options)
    except MyceliaError:
        return False
    assert sorted(found) == sorted(TENSORS)
    for name, array in TENSORS.items():
        got = found[name].asnumpy()
        assert got.dtype == array.dtype
        np.testing.assert_array_equal(got, array)
    return True


def mutated(content, rng):
    """Another file: bytes changed, left out, put in, moved, or cut off."""
    at, size = int(rng.integers(len(content))), int(rng.integers(1, 9))
    match int(rng.integers(6)):
        case 0:
            return content[:at] + bytes([content[at] ^ int(rng.integers(1, 256))]) + content[at + 1 :]
        case 1:
            return content[:at] + content[at + size :]
        case 2:
            return content[:at] + rng.bytes(size) + content[at:]
        case 3:
            return content[:at] + rng.bytes(size) + content[at + size :]
        case 4:
            return content[at:] + content[:at]
        case _:
            return content[:at]


@pytest.mark.parametrize("count", [100, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["net.ckpt", "net.safetensors", "encrypted.ckpt"])
def test_damaged_files_never_load_as_something_else(tmp_path, kind, count):
    keys = ({"enc_key": KEY}, {"dec_key": KEY}) if kind == "encrypted.ckpt" else ({}, {})
    path = saved(tmp_path / kind, **keys[0])
    whole, rng = path.read_bytes(), np.random.default_rng(1)
    assert loads_as_it_was(path, **keys[1])
    loaded = 0
    for _ in range(count):
        other = mutated(whole, rng)
        path.write_bytes(other)
        loaded += loads_as_it_was(path, **keys[1]) and other != whole
    assert loaded < count / 10  # harmless ones, such as in the padding of a head


def test_an_encrypted_file_of_mindspore_is_read(tmp_path):
    path = tmp_path / "net.ckpt"
    path.write_bytes(ENCRYPTED_BY_MINDSPORE)
    assert ms.load_checkpoint(path, dec_key=KEY)["w"].tolist() == [0.0, 1.0, 2.0]
    for key in (b"0123456789ABCDEX", KEY * 2):
        with pytest.raises(ArgumentError, match="the key is another one"):
            ms.load_checkpoint(path, dec_key=key)
    with pytest.raises(ArgumentError, match="it is encrypted, and there is no dec_key"):
        ms.load_checkpoint(path)


@pytest.mark.parametrize("size", [16, 24, 32])
def test_encrypted_files_in_several_blocks_come_back(tmp_path, size, monkeypatch):
    monkeypatch.setattr("mycelia.train.encryption.BLOCK", 50)
    path, key = tmp_path / "net.ckpt", os.urandom(size)
    saved(path, enc_key=key)
    assert loads_as_it_was(path, dec_key=key)
    content = path.read_bytes()
    block = 28 + 16 + 4 + 50
    for blocks in range(len(content) // block + 1):  # cut after any block
        path.write_bytes(content[: blocks * block])
        with pytest.raises(ArgumentError):
            ms.load_checkpoint(path, dec_key=key)


def test_saving_in_the_background_takes_the_numbers_of_its_moment(tmp_path):
    net = nn.Dense(2, 1, weight_init="ones")
    go = threading.Event()
    from mycelia.train.background import SAVING

    SAVING.begin(go.wait)
    waiting = threading.Thread(target=ms.save_checkpoint, args=(net, tmp_path / "first.ckpt", True, True))
    waiting.start()
    assert train.async_ckpt_thread_status()
    go.set()
    waiting.join()
    ms.save_checkpoint(net, tmp_path / "net.ckpt", async_save=True)
    net.weight.set_data(ms.Tensor([[9.0, 9.0]]))
    train.serialization.finish_saving()
    assert not train.async_ckpt_thread_status()
    assert ms.load_checkpoint(tmp_path / "net.ckpt")["weight"].tolist() == [[1.0, 1.0]]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["first.ckpt", "net.ckpt"]


@pytest.mark.parametrize("later", [False, True])
def test_a_full_disk_is_told_and_the_old_file_stays(tmp_path, monkeypatch, later):
    path = saved(tmp_path / "net.ckpt")
    before = path.read_bytes()

    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("mycelia.train.ckpt._write_value", full)

    def save():
        ms.save_checkpoint({"w": ms.Tensor([2.0])}, path, async_save=later)
        train.serialization.finish_saving()

    with pytest.raises(OSError, match=r"net\.ckpt could not be written, and the file that was there .* No space left"):
        save()
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["net.ckpt"]


FULL = """
import os, resource, sys
import numpy as np
import mycelia.dataset as ds
from mycelia import nn, train
net = nn.Dense(6, 40)
model = train.Model(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 0.01))
rows = ds.NumpySlicesDataset({"x": np.ones((8, 6), np.float32), "y": np.ones((8, 40), np.float32)}).batch(2)
backup = train.BackupAndRestore(sys.argv[1], delete_checkpoint=False)
model.train(1, rows, callbacks=backup)
before = backup.file.read_bytes()
resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, resource.RLIM_INFINITY))
try:
    model.train(3, rows, callbacks=backup)
except OSError as error:
    assert "File too large" in str(error), error
    assert backup.file.read_bytes() == before
    assert os.listdir(sys.argv[1]) == ["backup.ckpt"]
    print("told")
"""


@pytest.mark.slow
def test_a_file_that_the_system_does_not_let_grow_leaves_the_last_backup(tmp_path):
    ran = subprocess.run([sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "told"


def test_names_of_other_frameworks_are_mapped(tmp_path):
    path = tmp_path / "torch.safetensors"
    ms.save_checkpoint({"fc.weight": ms.Tensor([[1.0, 2.0]]), "fc.bias": ms.Tensor([3.0])}, path)
    net = nn.Dense(2, 1)
    ms.load_checkpoint(path, net, name_map=lambda name: name.removeprefix("fc."))
    assert net.weight.tolist() == [[1.0, 2.0]]
    found = ms.load_checkpoint(path, name_map={"fc.weight": "w"})
    assert sorted(found) == ["fc.bias", "w"]
    with pytest.raises(ArgumentError, match="that of another"):
        ms.load_checkpoint(path, name_map=lambda name: "same")


def test_files_are_converted_in_folders(tmp_path):
    saved(tmp_path / "a/one.ckpt")
    saved(tmp_path / "a/b/two.ckpt")
    train.ckpt_to_safetensors(tmp_path / "a", tmp_path / "out", file_name_regex="two")
    assert [str(p.relative_to(tmp_path)) for p in (tmp_path / "out").rglob("*.*")] == ["out/b/two.safetensors"]
    assert loads_as_it_was(tmp_path / "out/b/two.safetensors")
    train.safetensors_to_ckpt(tmp_path / "out", processes_num=2)
    assert loads_as_it_was(tmp_path / "out/b/two.ckpt")
    with pytest.raises(ArgumentError, match=r"there is no \.ckpt file"):
        train.ckpt_to_safetensors(tmp_path / "none")


MISTAKES = {
    "a key is 16, 24 or 32 bytes": {"enc_key": b"short"},
    "encrypted by AES-GCM, not by 'AES-CBC'": {"enc_key": KEY, "enc_mode": "AES-CBC"},
    "only .ckpt files are encrypted": {"enc_key": KEY, "format": "safetensors"},
    "async_save is True, False, thread or process": {"async_save": "fiber"},
}


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes_are_told(tmp_path, message):
    with pytest.raises(ArgumentError, match=message):
        ms.save_checkpoint({"w": ms.Tensor([1.0])}, tmp_path / "net", **MISTAKES[message])


def test_a_checksum_can_be_asked_for(tmp_path):
    for suffix in ("ckpt", "safetensors"):
        path = saved(tmp_path / f"net.{suffix}", crc_check=False)
        assert loads_as_it_was(path)
        with pytest.raises(ArgumentError, match="it has no checksum"):
            ms.load_checkpoint(path, crc_check=True)
        assert loads_as_it_was(saved(path), crc_check=True)


THERE = """
import sys, numpy as np, mindspore as ms
from mindspore import nn
net = nn.SequentialCell(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Flatten(), nn.Dense(32, 3))
for name, key in (("plain", None), ("hidden", b"0123456789ABCDEF")):
    missing = ms.load_param_into_net(net, ms.load_checkpoint(f"{sys.argv[1]}/{name}.ckpt", dec_key=key))
    assert missing == ([], []), missing
x = np.load(sys.argv[1] + "/x.npy")
np.save(sys.argv[1] + "/y.npy", net.set_train(False)(ms.Tensor(x)).asnumpy())
ms.save_checkpoint(net, sys.argv[1] + "/theirs.ckpt", enc_key=b"0123456789ABCDEF")
ms.save_checkpoint(net, sys.argv[1] + "/theirs.safetensors", format="safetensors", crc_check=True)
"""


@pytest.mark.peer
def test_files_go_to_mindspore_and_back(tmp_path):
    python = os.environ.get("MINDSPORE_PYTHON")
    if not python:
        pytest.skip("MINDSPORE_PYTHON names a Python that has MindSpore")
    make = lambda: nn.SequentialCell(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Flatten(), nn.Dense(32, 3))  # noqa: E731
    net, x = make().set_train(False), np.random.default_rng(0).normal(size=(2, 1, 4, 4)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    ms.save_checkpoint(net, tmp_path / "plain.ckpt")
    ms.save_checkpoint(net, tmp_path / "hidden.ckpt", enc_key=KEY)
    subprocess.run([python, "-c", THERE, str(tmp_path)], check=True)
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), net(ms.Tensor(x)).asnumpy(), rtol=1e-4, atol=1e-5)
    for file, options in (("theirs.ckpt", {"dec_key": KEY}), ("theirs.safetensors", {})):
        back = make().set_train(False)
        assert ms.load_param_into_net(back, ms.load_checkpoint(tmp_path / file, **options)) == ([], [])
        np.testing.assert_array_equal(back(ms.Tensor(x)).asnumpy(), net(ms.Tensor(x)).asnumpy())
