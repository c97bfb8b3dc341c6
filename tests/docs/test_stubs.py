"""What editors see of tensors, operations and readers is what there is."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from mycelia import Tensor, ops

ROOT = Path(__file__).parents[2]


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_stubs", ROOT / "docs" / "stubs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


stubs = _load()


@pytest.mark.parametrize("name", ["methods", "classes", "readers"])
def test_the_stub_is_up_to_date(name: str) -> None:
    assert stubs.FILES[name].read_text() == getattr(stubs, name)(), "python docs/stubs.py writes it anew"


def test_a_stub_holds_what_users_type() -> None:
    methods, classes = stubs.FILES["methods"].read_text(), stubs.FILES["classes"].read_text()
    assert "    def astype(self, dtype: " in methods
    assert "class Cast(_Primitive):" in classes
    assert hasattr(Tensor, "astype")
    assert hasattr(ops, "Cast")


PROGRAM = """
import mycelia as ms
import mycelia.dataset as ds
from mycelia import Tensor, nn, ops


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(4, 2)
        self.cast = ops.Cast()

    def construct(self, x: Tensor) -> Tensor:
        return ops.relu(self.dense(self.cast(x, ms.float32))).mean(0)


x = Tensor([[1.0, 2.0, 3.0, 4.0]])
reveal_type(x.sum(1))
reveal_type(ops.Concat(axis=1)((x, x)))
x.transposed()
ds.MnistDataset("folder", usage="train", suffle=True)
ds.MnistDataset("folder", num_samples="ten")
reveal_type(ds.MnistDataset("folder", usage="train", shuffle=False).batch(3).take(2))
ops.Softmax(axis=-1, dim=2)
"""


@pytest.mark.slow
def test_a_type_checker_sees_tensors_operations_and_readers(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    told = subprocess.run(
        [sys.executable, "-m", "mypy", "--follow-imports=silent", "program.py"],
        cwd=tmp_path, env={**os.environ, "MYPYPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    ).stdout  # fmt: skip
    assert told.count('Revealed type is "mycelia.eager.tensor.Tensor"') == 2
    assert '"Tensor" has no attribute "transposed"' in told
    assert 'Unexpected keyword argument "dim" for "Softmax"' in told
    assert 'Unexpected keyword argument "suffle" for "MnistDataset"' in told
    assert 'Argument "num_samples" to "MnistDataset" has incompatible type "str"' in told
    assert 'Revealed type is "mycelia.dataset.dataset.Dataset"' in told
    assert told.count("error:") == 4
