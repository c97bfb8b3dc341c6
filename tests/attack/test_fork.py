"""Processes that fork after compiled code has run on several threads."""

import os
import subprocess
import sys

PROGRAM = """
import os, signal
import numpy as np
import mycelia as ms
from mycelia import Tensor, ops

known = ms.jit(lambda x: ops.softmax(x @ x.T + 1, 1).sum(0))
x = Tensor(np.random.default_rng(0).normal(size=(600, 600)).astype(np.float32))
wanted = known(x).asnumpy()
child = os.fork()
if not child:
    signal.alarm(30)  # a child that hangs is ended
    np.testing.assert_allclose(known(x).asnumpy(), wanted, rtol=1e-4)
    new = ms.jit(lambda x: ops.exp(x * 0.1) @ x)
    np.testing.assert_allclose(new(x).asnumpy(), np.exp(x.asnumpy() * 0.1) @ x.asnumpy(), rtol=1e-3, atol=1e-3)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
np.testing.assert_allclose(known(x).asnumpy(), wanted, rtol=1e-4)
"""


def test_a_forked_child_runs_and_compiles_on() -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
