"""Products go on in a forked child: nobody there waits for threads that only its parent has."""

import subprocess
import sys

import pytest

PROGRAM = """
import os
import numpy as np
from mycelia import primitives as p
from mycelia.ir import Function
from mycelia.testing import compile
from mycelia.types import type_of

rng = np.random.default_rng(0)
x, y = (rng.normal(size=(300, 300)).astype({dtype!r}) for _ in range(2))
run = compile(Function.build(p.matmul, *map(type_of, (x, y))), threads=2)
want = run(x, y)[0]
child = os.fork()
if child == 0:
    os._exit(0 if np.array_equal(run(x, y)[0], want) else 3)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0, status
assert np.array_equal(run(x, y)[0], want)
"""


@pytest.mark.parametrize("dtype", ["float64", "int32"])
def test_tiles_run_in_a_forked_child(dtype):
    subprocess.run([sys.executable, "-c", PROGRAM.format(dtype=dtype)], check=True, timeout=120)
