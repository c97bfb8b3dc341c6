"""Processes that fork after compiled code has run on several threads."""

import os
import subprocess
import sys

import pytest

PRODUCTS = """
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

CONVOLUTIONS = """
import os, signal, threading
import numpy as np
import mycelia as ms
from mycelia import Tensor, nn, ops

rng = np.random.default_rng(0)
net = nn.SequentialCell(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 4, 3))
step = ms.jit(ms.value_and_grad(lambda x: net(x).sum()))
x = Tensor(rng.normal(size=(8, 3, 64, 64)).astype(np.float32))
large = Tensor(rng.normal(size=(300, 300)).astype(np.float32))
recursive = ms.jit(lambda x, n: fall(x, n))

def fall(x, n):
    return x if n <= 0 else fall(x @ x * 1e-3, n - 1) + x

def everything():
    value, slope = step(x)
    return [value, slope, net(x), ops.conv2d(x, Tensor(np.ones((2, 3, 3, 3), "f"))), large @ large,
            ops.exp(large).sum(0), recursive(large, Tensor(3))]

wanted = [t.asnumpy() for t in everything()]

def check():
    for got, want in zip(everything(), wanted):
        np.testing.assert_allclose(got.asnumpy(), want, rtol=1e-3, atol=1e-3)

def in_a_child(work):
    child = os.fork()
    if not child:
        signal.alarm(60)
        work()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, "the child failed or hung"

def grandchild():
    check()
    in_a_child(check)

def threads():
    these = [threading.Thread(target=check) for _ in range(3)]
    for t in these:
        t.start()
    for t in these:
        t.join()
    check()

def another():
    fresh = ms.jit(lambda x: ops.conv2d(x, Tensor(np.ones((5, 3, 5, 5), "f"))).sum())
    for n in (64, 32):
        small = np.ones((2, 3, n, n), "f")
        np.testing.assert_allclose(fresh(Tensor(small)).asnumpy(), 2 * 5 * 75 * (n - 4) ** 2, rtol=1e-4)

for work in (check, another, grandchild, threads):
    in_a_child(work)
    check()
"""


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_forked_child_runs_and_compiles_on(threads: int) -> None:
    program = PRODUCTS + CONVOLUTIONS
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
