"""Checkpoints that MindSpore wrote mean here what they mean there, and ours there what they mean here."""

import importlib.util
import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import mycelia as ms
from mycelia.errors import ArgumentError, DTypeError, ShapeError

HERE = Path(__file__).parent / "recorded"
FILES = HERE / "checkpoints"
SPEC = importlib.util.spec_from_file_location("checkpoint_cases", HERE / "checkpoint_cases.py")
cases = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(cases)
SAID = np.load(FILES / "said.npz")
TOLD = json.loads((FILES / "said.json").read_text())
CLOSE = {"rtol": 2e-4, "atol": 2e-5}


@pytest.mark.parametrize("file", ["layers.ckpt", "checked.ckpt", "layers.safetensors"])
def test_layers_give_what_they_gave_there(file):
    net = cases.layers(ms)
    assert ms.load_param_into_net(net, ms.load_checkpoint(FILES / file), strict_load=True) == ([], [])
    for name, out in cases.outputs(ms, net).items():
        np.testing.assert_allclose(out, SAID[f"layer.{name}"], err_msg=name, **CLOSE)


def test_a_training_goes_on_as_it_went_on_there():
    net, step = cases.training(ms)
    found = ms.load_checkpoint(FILES / "training.ckpt")
    assert ms.load_param_into_net(step, found, strict_load=True) == ([], list(cases.added(ms)))
    np.testing.assert_allclose(cases.trained(ms, step, 3, first=3), SAID["losses"][3:], **CLOSE)
    for p in step.get_parameters():
        np.testing.assert_allclose(p.asnumpy(), SAID[f"end.{p.name}"], err_msg=p.name, **CLOSE)
    x = ms.Tensor(cases.numbers(2, 1, 4, 4, seed=7))
    np.testing.assert_allclose(net.set_train(False)(x).asnumpy(), SAID["prediction"], **CLOSE)


@pytest.mark.parametrize("name", cases.OPTIMIZERS)
def test_an_optimizer_goes_on_as_it_went_on_there(name):
    held = cases.Held(ms, name)
    found = ms.load_checkpoint(FILES / f"optimizer.{name}.ckpt")
    assert ms.load_param_into_net(held.cell, found) == ([], [])
    for key, weight in held.steps(3, 6).items():
        np.testing.assert_allclose(weight, SAID[f"{name}.{key}"], err_msg=key, **CLOSE)


@pytest.mark.parametrize("name", cases.OPTIMIZERS)
def test_an_optimizer_is_saved_under_the_names_and_shapes_of_mindspore(name, tmp_path):
    held = cases.Held(ms, name)
    held.steps(0, 3)
    ms.save_checkpoint(held.cell, tmp_path / "net.ckpt")
    ours, theirs = ms.load_checkpoint(tmp_path / "net.ckpt"), ms.load_checkpoint(FILES / f"optimizer.{name}.ckpt")
    assert {k: (p.shape, p.dtype) for k, p in ours.items()} == {k: (p.shape, p.dtype) for k, p in theirs.items()}
    for key, parameter in ours.items():
        np.testing.assert_allclose(parameter.asnumpy(), theirs[key].asnumpy(), err_msg=key, **CLOSE)


def test_the_momentum_of_a_checkpoint_is_taken(tmp_path):
    one, other = (nn_momentum(momentum) for momentum in (0.5, 0.9))
    ms.save_checkpoint(one, tmp_path / "net.ckpt")
    assert ms.load_param_into_net(other, ms.load_checkpoint(tmp_path / "net.ckpt")) == ([], [])
    assert other.momentum == 0.5


def nn_momentum(momentum):
    return ms.nn.Momentum([ms.Parameter(ms.Tensor([1.0]), name="w")], 0.1, momentum)


@pytest.mark.parametrize("file", TOLD)
def test_what_a_file_holds_is_what_mindspore_finds_in_it(file):
    assert cases.seen(ms.load_checkpoint(FILES / file)) == TOLD[file]


def test_every_type_comes_back():
    found = cases.seen(ms.load_checkpoint(FILES / "types.ckpt"))
    wanted = cases.seen(cases.tensors(ms))
    wanted.pop("no.rows")  # MindSpore does not save what has no elements
    assert found == wanted
    safe = cases.seen(ms.load_checkpoint(FILES / "types.safetensors"))
    assert safe == {k: v for k, v in cases.seen(cases.tensors(ms)).items() if v[0] != "BFloat16"}


def test_encrypted_files_need_their_key():
    for file in ("AES-GCM.ckpt", "both.ckpt"):
        assert ms.load_checkpoint(FILES / file, dec_key=cases.KEY)["w"].tolist() == [1.0, 2.0]
        with pytest.raises(ArgumentError, match="the key is another one"):
            ms.load_checkpoint(FILES / file, dec_key=b"0" * 16)
    for file in ("AES-GCM.ckpt", "both.ckpt", "AES-CBC.ckpt"):
        with pytest.raises(ArgumentError, match="it is encrypted, and there is no dec_key"):
            ms.load_checkpoint(FILES / file)
    with pytest.raises(ArgumentError, match="encrypted by AES-GCM, not by 'AES-CBC'"):
        ms.load_checkpoint(FILES / "AES-CBC.ckpt", dec_key=cases.KEY, dec_mode="AES-CBC")
    with pytest.raises(ArgumentError, match="no checkpoint that can be read"):
        ms.load_checkpoint(FILES / "AES-CBC.ckpt", dec_key=cases.KEY)


@pytest.mark.parametrize("damage", [lambda raw: raw[:-1], lambda raw: raw[:-40], lambda raw: raw[:50] + raw[51:]])
def test_files_of_mindspore_with_a_checksum_are_checked(damage, tmp_path):
    path = tmp_path / "net.ckpt"
    path.write_bytes(damage((FILES / "checked.ckpt").read_bytes()))
    with pytest.raises(ArgumentError):
        ms.load_checkpoint(path, crc_check=True)


def test_texts_and_numbers_are_added(tmp_path):
    net = ms.nn.Dense(2, 1)
    ms.save_checkpoint(net, tmp_path / "net.ckpt", append_dict={**cases.added(ms), "": "", "emoji": "🍄"})
    found = ms.load_checkpoint(tmp_path / "net.ckpt", net)
    assert (found["note"], found["epoch_num"].item(), found["emoji"], found[""]) == ("grüße, 世界", 3, "🍄", "")
    with pytest.raises(ArgumentError, match=r"only \.ckpt files hold texts, such as note"):
        ms.save_checkpoint(net, tmp_path / "net.safetensors", append_dict={"note": "a"})
    with pytest.raises(ArgumentError, match="a checkpoint cannot hold"):
        ms.save_checkpoint(net, tmp_path / "net.ckpt", append_dict={"note": "a\0"})
    assert sorted(p.name for p in tmp_path.iterdir()) == ["net.ckpt"]


def holder(array, dtype):
    net = ms.nn.Cell()
    net.w = ms.Parameter(ms.Tensor(array, dtype), name="w")
    return net


FLOATS = (ms.float16, ms.bfloat16, ms.float32, ms.float64)
WHOLE = (ms.int8, ms.int16, ms.int32, ms.int64)
OTHERS = (ms.bool_, ms.uint8, ms.uint16, ms.uint32, ms.uint64, ms.complex64)


@pytest.mark.many("held", [*FLOATS, *WHOLE, *OTHERS], pack=100, ids=str)
@pytest.mark.parametrize("given", [*FLOATS, *WHOLE, *OTHERS], ids=str)
def test_element_types_are_converted_within_their_kind_and_never_strictly(held, given):
    new = {"w": ms.Parameter(ms.Tensor([1, 0, 1], given), name="w")}
    may = held is given or any({held, given} <= set(kinds) for kinds in (FLOATS, WHOLE))
    for strict, allowed in ((False, may), (True, held is given)):
        net = holder([0, 1, 0], held)
        if allowed:
            assert ms.load_param_into_net(net, new, strict_load=strict) == ([], [])
            assert net.w.dtype is held
            assert net.w.asnumpy().tolist() == [1, 0, 1]
        else:
            with pytest.raises(DTypeError, match=f"parameter w holds {held!r}, in the checkpoint {given!r}"):
                ms.load_param_into_net(net, new, strict_load=strict)


def test_numbers_that_do_not_fit_are_refused():
    net = holder([1], ms.int8)
    with pytest.raises(DTypeError, match="too large"):
        ms.load_param_into_net(net, {"w": ms.Parameter(ms.Tensor([300], ms.int32))})
    assert net.w.tolist() == [1]


def test_ones_at_the_end_of_a_shape_are_left_out():
    net = holder([[1.0, 2.0]], ms.float32)
    ms.load_param_into_net(net, {"w": ms.Parameter(ms.Tensor(np.full((1, 2, 1, 1), 3.0, np.float32)))})
    assert net.w.tolist() == [[3.0, 3.0]]
    with pytest.raises(ShapeError, match="has shape"):
        ms.load_param_into_net(net, {"w": ms.Parameter(ms.Tensor(np.ones((1, 1, 2), np.float32)))})


def test_a_choice_that_leaves_nothing_is_told(tmp_path):
    ms.save_checkpoint(ms.nn.Dense(2, 1), tmp_path / "net.ckpt")
    with pytest.raises(ArgumentError, match="none of the 2 names"):
        ms.load_checkpoint(tmp_path / "net.ckpt", specify_prefix="conv")


@pytest.mark.peer
def test_ours_mean_there_what_they_mean_here(tmp_path):
    python = os.environ.get("MINDSPORE_PYTHON")
    if not python:
        pytest.skip("MINDSPORE_PYTHON names a Python that has MindSpore")
    net = cases.changed(ms, cases.layers(ms))
    ms.save_checkpoint(net, tmp_path / "layers.ckpt")
    tensors = cases.tensors(ms)
    ms.save_checkpoint(tensors, tmp_path / "types.ckpt", append_dict=cases.added(ms))
    ms.save_checkpoint(tensors, tmp_path / "hidden.ckpt", enc_key=cases.KEY)
    ms.save_checkpoint(tensors, tmp_path / "bare.ckpt", crc_check=False)
    held = {k: v for k, v in tensors.items() if v.dtype is not ms.bfloat16}  # NumPy's reader there has no such type
    ms.save_checkpoint(held, tmp_path / "types.safetensors")
    _, step = cases.training(ms)
    cases.trained(ms, step, 3)
    ms.save_checkpoint(step, tmp_path / "training.ckpt", append_dict=cases.added(ms))
    optimizers = {name: cases.Held(ms, name) for name in cases.OPTIMIZERS}
    for name, each in optimizers.items():
        each.steps(0, 3)
        ms.save_checkpoint(each.cell, tmp_path / f"optimizer.{name}.ckpt")
    files = tmp_path / "files"
    files.mkdir()
    for file in (*tmp_path.glob("*.ckpt"), *tmp_path.glob("*.safetensors")):
        shutil.move(file, files)
    subprocess.run([python, HERE / "record_checkpoints.py", "read", files], check=True)
    told = json.loads((files / "read.json").read_text())
    assert told["left"] == [[], []]
    assert told["left of training"] == [[], list(cases.added(ms))]
    wanted = cases.outputs(ms, net)
    for name, each in optimizers.items():
        assert told[f"left of {name}"] == [[], []], name
        wanted |= {f"{name}.{k}": w for k, w in each.steps(3, 6).items()}
    for name, out in np.load(files / "outputs.npz").items():
        np.testing.assert_allclose(out, wanted[name], err_msg=name, **CLOSE)
    np.testing.assert_allclose(told["losses"], cases.trained(ms, step, 3, first=3), **CLOSE)
    for file in ("types.ckpt", "hidden.ckpt", "bare.ckpt", "types.safetensors"):
        assert told[file] == cases.seen(ms.load_checkpoint(files / file, dec_key=cases.KEY if "hid" in file else None))
