"""Saved parameters come back, from either format; what does not fit is told."""

import subprocess
import sys
import zlib
from contextlib import nullcontext

import ml_dtypes
import numpy as np
import pytest
from safetensors.numpy import load_file

import mycelia as ms
from mycelia import nn
from mycelia.errors import ArgumentError, DTypeError, ShapeError

# a checkpoint that MindSpore 2.10 wrote: float32 [2, 3], int32 [], float16 [1], bool [2], bfloat16 [2]
WRITTEN_BY_MINDSPORE = (
    b"\n.\n\x03a.w\x12'\x08\x02\x08\x03\x12\x07Float32\x1a\x18\x00\x00\x00\x00\x00\x00\x80?\x00\x00\x00@\x00\x00@@\x00\x00"
    b"\x80@\x00\x00\xa0@\n\x12\n\x01s\x12\r\x12\x05Int32\x1a\x04\x03\x00\x00\x00\n\x16\n\x03one\x12\x0f\x08\x01\x12\x07"
    b"Float16\x1a\x02\x00A\n\x11\n\x01b\x12\x0c\x08\x02\x12\x04Bool\x1a\x02\x01\x00\n\x18\n\x02bf\x12\x12\x08\x02\x12\x08"
    b"BFloat16\x1a\x04\x80?\x00@"
)
TENSORS = {
    "a.w": np.arange(6, dtype=np.float32).reshape(2, 3),
    "s": np.array(3, np.int32),
    "one": np.array([2.5], np.float16),
    "b": np.array([True, False]),
    "bf": np.array([1, 2], ml_dtypes.bfloat16),
}


def network():
    return nn.SequentialCell(nn.Conv2d(1, 2, 3, has_bias=True), nn.BatchNorm2d(2), nn.Dense(3, 4))


def test_a_checkpoint_is_byte_for_byte_that_of_mindspore(tmp_path):
    path = tmp_path / "net.ckpt"
    ms.save_checkpoint({name: ms.Tensor(a) for name, a in TENSORS.items()}, path, crc_check=False)
    assert path.read_bytes() == WRITTEN_BY_MINDSPORE


@pytest.mark.parametrize("suffix", ["ckpt", "safetensors"])
def test_a_file_that_was_cut_or_damaged_anywhere_is_refused(tmp_path, suffix):
    path = tmp_path / f"net.{suffix}"
    ms.save_checkpoint({name: ms.Tensor(a) for name, a in TENSORS.items()}, path)
    whole = path.read_bytes()
    assert sorted(ms.load_checkpoint(path)) == sorted(TENSORS)
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(ArgumentError, match=path.name):
            ms.load_checkpoint(path)
    start = 0 if suffix == "ckpt" else len(whole) - 40  # the head of the other format has spaces that mean nothing
    for place in range(start, len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        with pytest.raises(ArgumentError, match=path.name):
            ms.load_checkpoint(path)


def test_a_checksum_is_where_mindspore_reads_it(tmp_path):
    path = tmp_path / "net.ckpt"
    ms.save_checkpoint({}, path)
    content = path.read_bytes()
    assert content[-17:-10] == b"crc_num"
    assert int.from_bytes(content[-10:], "big") == zlib.crc32(content[:-17])
    assert ms.load_checkpoint(path) == {}


def test_a_checkpoint_of_mindspore_is_read(tmp_path):
    path = tmp_path / "net.ckpt"
    path.write_bytes(WRITTEN_BY_MINDSPORE)
    found = ms.load_checkpoint(path)
    assert list(found) == list(TENSORS)
    for name, array in TENSORS.items():
        assert found[name].asnumpy().dtype == array.dtype
        np.testing.assert_array_equal(found[name].asnumpy(), array)


@pytest.mark.parametrize("suffix", ["ckpt", "safetensors"])
def test_a_network_comes_back(tmp_path, suffix):
    first, second = network(), network()
    ms.save_checkpoint(first, str(tmp_path / f"deep/in/net.{suffix}"))
    found = ms.load_checkpoint(tmp_path / f"deep/in/net.{suffix}", second, strict_load=True)
    assert ms.load_param_into_net(second, found) == ([], [])
    for name, parameter in second.parameters_dict().items():
        np.testing.assert_array_equal(parameter.asnumpy(), first.parameters_dict()[name].asnumpy())
    assert [path.name for path in (tmp_path / "deep/in").iterdir()] == [f"net.{suffix}"]


def test_other_programs_read_safetensors(tmp_path):
    ms.save_checkpoint({"w": ms.Tensor([1.0, 2.0])}, tmp_path / "net", format="safetensors")
    np.testing.assert_array_equal(load_file(tmp_path / "net.safetensors")["w"], [1.0, 2.0])


def test_large_tensors_are_written_in_parts_and_read_whole(tmp_path, monkeypatch):
    monkeypatch.setattr("mycelia.train.ckpt.PART", 16)
    tensor = ms.Tensor(np.arange(24, dtype=np.float32).reshape(2, 12))
    ms.save_checkpoint({"w": tensor, "empty": ms.Tensor(np.zeros((0, 3), np.float32))}, tmp_path / "net.ckpt")
    found = ms.load_checkpoint(tmp_path / "net.ckpt")
    np.testing.assert_array_equal(found["w"].asnumpy(), tensor.asnumpy())
    assert found["empty"].shape == (0, 3)


def test_names_can_be_chosen(tmp_path):
    path = tmp_path / "net.ckpt"
    listed = [{"name": name, "data": ms.Tensor([1.0])} for name in ("a.w", "a.b", "c.w")]
    ms.save_checkpoint(listed, path, append_dict={"epoch": 3}, choice_func=lambda name: name != "a.b")
    assert sorted(ms.load_checkpoint(path)) == ["a.w", "c.w", "epoch"]
    assert list(ms.load_checkpoint(path, filter_prefix="a.")) == ["c.w", "epoch"]
    assert list(ms.load_checkpoint(path, specify_prefix=["c", "e"], choice_func=lambda n: n != "epoch")) == ["c.w"]
    assert ms.load_checkpoint(path)["epoch"].item() == 3


def test_what_fits_nowhere_is_named():
    net = nn.Dense(2, 1)
    found = {"weight": ms.Parameter(ms.Tensor([[1.0, 2.0]])), "extra": ms.Parameter(ms.Tensor([1.0]))}
    assert ms.load_param_into_net(net, found) == (["bias"], ["extra"])
    np.testing.assert_array_equal(net.weight.asnumpy(), [[1.0, 2.0]])


PREFIXED = {  # as MindSpore 2.10 does it: what is there, and which names are said to have found nothing
    "both": (["p.weight", "p.bias"], ["p.weight", "p.bias"]),
    "one": (["p.weight", "bias"], ["p.weight"]),
    "other": (["weight", "p.bias"], ["p.bias"]),
    "two prefixes": (["a.weight", "p.bias"], ["a.weight", "p.bias"]),
}


@pytest.mark.parametrize("case", PREFIXED)
def test_without_strictness_names_may_have_a_prefix(case):
    names, left = PREFIXED[case]
    found = dict(zip(names, (ms.Parameter([[1.0, 2.0]]), ms.Parameter([5.0])), strict=True))
    net = nn.Dense(2, 1, weight_init="zeros", bias_init="zeros")
    missing = [name for name in ("weight", "bias") if name not in names]
    told = nullcontext() if len(missing) < 2 else pytest.warns(RuntimeWarning, match="nothing was loaded")
    with told:
        assert ms.load_param_into_net(net, found, strict_load=True) == (missing, left)
    assert all((p.asnumpy() == 0).all() for p in net.get_parameters() if p.name in missing)
    with pytest.warns(RuntimeWarning, match="names that begin with") as said:
        assert ms.load_param_into_net(net, found) == ([], left)
    assert len(said) == len({name.partition(".")[0] for name in left})
    np.testing.assert_array_equal(net.weight.asnumpy(), [[1.0, 2.0]])
    np.testing.assert_array_equal(net.bias.asnumpy(), [5.0])


@pytest.mark.parametrize("dtype", [ms.float16, ms.float64, ms.bfloat16])
def test_without_strictness_floating_numbers_are_converted(dtype):
    net = nn.Dense(2, 1)
    ms.load_param_into_net(net, {"weight": ms.Parameter(ms.Tensor([[1.5, 2.0]], dtype))})
    assert net.weight.dtype == ms.float32
    np.testing.assert_array_equal(net.weight.asnumpy(), [[1.5, 2.0]])


@pytest.mark.parametrize("bad", [ms.Tensor([1.0, 2.0]), ms.Tensor([1]), 3.0])
def test_where_one_does_not_fit_nothing_is_changed(bad):
    net = nn.Dense(2, 1, weight_init="zeros", bias_init="zeros")
    with pytest.raises((ShapeError, DTypeError, ArgumentError)):
        ms.load_param_into_net(net, {"weight": ms.Parameter([[1.0, 2.0]]), "bias": bad})
    assert not net.weight.asnumpy().any()


def test_loading_copies(tmp_path):
    net, other = nn.Dense(1, 1), nn.Dense(1, 1)
    found = dict(net.parameters_dict())
    ms.load_param_into_net(other, found)
    other.weight.set_data(ms.Tensor([[9.0]]))
    assert net.weight.item() != 9.0


def test_an_interrupted_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "net.ckpt"
    ms.save_checkpoint({"w": ms.Tensor([1.0])}, path)

    def full(*args):
        raise OSError("disk full")

    monkeypatch.setattr("mycelia.train.ckpt.write", full)
    with pytest.raises(OSError, match="disk full"):
        ms.save_checkpoint({"w": ms.Tensor([2.0])}, path)
    assert ms.load_checkpoint(path)["w"].item() == 1.0
    assert [p.name for p in tmp_path.iterdir()] == ["net.ckpt"]


def test_mistakes_are_told_in_words(tmp_path):
    net = nn.Dense(2, 1)
    with pytest.raises(ArgumentError, match=r"there is no checkpoint(?s:.*)its folder holds no checkpoints"):
        ms.load_checkpoint(tmp_path / "none.ckpt")
    with pytest.raises(ArgumentError, match=r"there is no folder .* either"):
        ms.load_checkpoint(tmp_path / "no" / "none.ckpt")
    ms.save_checkpoint(net, tmp_path / "net-3_63.ckpt")
    with pytest.raises(ArgumentError, match=r"its folder holds net-3_63\.ckpt"):
        ms.load_checkpoint(tmp_path / "net-3_79.ckpt")
    with pytest.raises(ArgumentError, match="is a folder, and a checkpoint is a file"):
        ms.load_checkpoint(tmp_path)
    (tmp_path / "net.pth").write_bytes(b"PK")
    with pytest.raises(ArgumentError, match=r"net.pth is no checkpoint by its name: those end with .ckpt or .safe"):
        ms.load_checkpoint(tmp_path / "net.pth")
    other = nn.SequentialCell(nn.Dense(2, 3), nn.Dense(3, 5))
    held = nn.SequentialCell(nn.Dense(2, 3), nn.Dense(3, 7)).parameters_dict()
    with pytest.raises(ShapeError, match=r'(?s)1.weight has .*1.bias: \(5,\), in the checkpoint.*filter_prefix="1."'):
        ms.load_param_into_net(other, held)
    with pytest.raises(ShapeError, match=r"parameter weight has shape \(1, 2\), in the checkpoint \(3,\)"):
        ms.load_param_into_net(net, {"weight": ms.Parameter(ms.Tensor([1.0, 2.0, 3.0]))})
    with pytest.raises(DTypeError, match="holds float32, in the checkpoint float16"):
        ms.load_param_into_net(net, {"bias": ms.Parameter(ms.Tensor([1.0], ms.float16))}, strict_load=True)
    with pytest.raises(ArgumentError, match="names a folder, and a checkpoint is a file"):
        ms.load_checkpoint(".")
    with pytest.raises(OSError, match=r"net-3_63\.ckpt.a\.ckpt could not be written: (Not a directory|File exists)"):
        ms.save_checkpoint(net, tmp_path / "net-3_63.ckpt" / "a.ckpt")
    with pytest.warns(RuntimeWarning, match=r"nothing was loaded: the network has '0\.weight'"):
        ms.load_param_into_net(nn.SequentialCell(nn.Dense(2, 1)), {"weight": ms.Parameter([[1.0, 2.0]])})
    with pytest.raises(ArgumentError, match="which a checkpoint cannot hold"):
        ms.save_checkpoint({"w": ["text"]}, tmp_path / "net.ckpt")
    for suffix in ("ckpt", "safetensors"):
        (tmp_path / f"cut.{suffix}").write_bytes(WRITTEN_BY_MINDSPORE[:-3])
        with pytest.raises(ArgumentError, match=f"cut.{suffix}"):
            ms.load_checkpoint(tmp_path / f"cut.{suffix}")


def test_the_package_says_its_version():
    asked = "import mycelia; print(mycelia.__version__)"
    shown = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "0.1.0"
