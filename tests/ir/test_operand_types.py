"""Values in, values out; tensors in, tensors out: what the type checker knows of an op's result."""

import subprocess
import sys

import pytest

PROGRAM = """
from typing import assert_type

from mycelia import primitives as p
from mycelia.eager import Tensor
from mycelia.ir import Value


def of_values(x: Value, y: Value) -> None:
    assert_type(p.exp(x), Value)
    assert_type(p.Add()(x, y), Value)
    assert_type(p.reshape(x, (1,)), Value)
    assert_type(p.reduce_sum(p.gather(x, y, 0)), Value)
    assert_type(p.dynamic_update(x, y, (x,)), Value)


def of_tensors(x: Tensor, y: Tensor) -> None:
    assert_type(p.exp(x), Tensor)
    assert_type(p.Add()(x, y), Tensor)
    assert_type(p.transpose(p.broadcast(x, (2, 3)), (1, 0)), Tensor)
    assert_type(p.scatter_add(x, y, x, 0), Tensor)


def of_functions(loop: p.While, x: Value) -> None:
    assert_type(loop(x), tuple[Value, ...])


def wrong(x: Value) -> Tensor:
    return p.exp(x)
"""


@pytest.mark.slow
def test_the_checker_knows_what_ops_give(tmp_path):
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", str(file)], capture_output=True, text=True)
    told, total = done.stdout.splitlines()
    assert 'Incompatible return value type (got "Value", expected "Tensor")' in told
    assert f":{PROGRAM.count(chr(10))}:" in told  # the last line
    assert total == "Found 1 error in 1 file (checked 1 source file)"
