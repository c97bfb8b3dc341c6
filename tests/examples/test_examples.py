"""Every example runs, if only for a few steps."""

import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import mycelia as ms
from tests.examples.test_native import assert_native, watched

EXAMPLES = Path(__file__).parents[2] / "examples"


def native(name, *options):
    """What an example prints, of which nothing is left to Python."""
    said, explained = watched(EXAMPLES / name, "--quick", *options)
    assert_native(explained)
    return said


# what these say at their end; they run in this process, which has loaded all that they need
SMALL = {
    "augmented": "epoch 2: reads", "cartpole": "the poles stand for", "chargpt": "by chance: 'Love ",
    "distillation": "taught it reads", "lengths": "of new texts", "meta": "after learning to learn", "ode": "loss",
    "physics": "from the sine", "pictures": "drew 32 digits", "search": "of 1: rate", "timeseries": "off by",
    "transfer": "weights rested",
}  # fmt: skip


SCIENCE = {
    "fit_ode": "rates", "gaussian_process": "noise", "heat": "misfit", "kalman": "in truth", "molecules": "molecules",
    "spectral": "highest",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", SCIENCE)
def test_a_program_of_science_runs_quickly(name, capsys):
    assert {path.stem for path in (EXAMPLES / "science").glob("*.py")} == set(SCIENCE)
    spec = importlib.util.spec_from_file_location(f"science_{name}", EXAMPLES / "science" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main(["--quick"])
    assert SCIENCE[name] in capsys.readouterr().out.splitlines()[-1]


def test_every_example_has_a_test():
    alone = {"digits", "generate", "images", "lenet"}
    assert {path.stem for path in EXAMPLES.glob("*.py")} == alone | set(SMALL)


@pytest.mark.parametrize("name", SMALL)
def test_a_small_program_runs_quickly(name, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    random = ms.get_rng_state()
    try:
        module.main(["--quick"])
    finally:
        ms.set_rng_state(random)
    assert SMALL[name] in capsys.readouterr().out.splitlines()[-1]


def test_the_digits_run_quickly(tmp_path):
    assert "compiled is" in native("digits.py", "--model", tmp_path / "model.safetensors")
    assert (tmp_path / "model.safetensors").stat().st_size > 0


def test_the_generated_text_comes_quickly():
    said = native("generate.py").splitlines()
    assert said[1].startswith("the ")
    assert len(said[1]) == 24


def test_the_images_run_quickly_and_name_the_bottleneck():
    pytest.importorskip("PIL", reason="writing JPEG files needs Pillow")
    said = native("images.py")
    assert "samples/s; bottleneck: " in said
    assert "while training, the bottleneck is" in said
    assert "of the test pictures" in said


def trained_lenet(folder, level):
    said, _ = watched(EXAMPLES / "lenet.py", "--quick", "--folder", folder, "--level", level)
    assert "epoch 2: loss" in said
    assert "checkpoints: lenet-1_8.ckpt, lenet-2_8.ckpt" in said


def test_lenet_is_trained_quickly(tmp_path):
    trained_lenet(tmp_path, "O2")  # all that it does in 32 bits, and casts


@pytest.mark.slow
@pytest.mark.parametrize("level", ["O0", "O1", "O3"])
def test_lenet_is_trained_at_every_level(tmp_path, level):
    trained_lenet(tmp_path, level)


@pytest.mark.slow
def test_the_digits_are_read_after_training(tmp_path):
    script = Path(__file__).parents[2] / "examples" / "digits.py"
    ran = subprocess.run(
        [sys.executable, script, "--model", tmp_path / "model.safetensors"], capture_output=True, text=True, check=True
    )
    shares = [float(line.split()[1].rstrip("%")) for line in ran.stdout.splitlines() if line.startswith("  reads")]
    assert len(shares) == 2
    assert min(shares) >= 97.0
