"""Functions that were exported to C compute, without Python, what they compute here, bit for bit."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

import mycelia as ms
from mycelia import Parameter, Tensor, nn, ops
from mycelia.errors import ArgumentError, DependencyError
from mycelia.lite import Exported, export_c

HERE = Path(__file__).parent
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
needs_c = pytest.mark.skipif(COMPILER is None, reason="no C compiler: on Debian, apt install gcc")


def lenet() -> tuple[nn.Cell, Any]:
    ms.set_seed(5)
    net = nn.SequentialCell(
        nn.Conv2d(1, 6, 5, pad_mode="valid", has_bias=True), nn.ReLU(), nn.MaxPool2d(2, 2),
        nn.Conv2d(6, 16, 5, pad_mode="valid", has_bias=True), nn.ReLU(), nn.MaxPool2d(2, 2),
        nn.Flatten(), nn.Dense(256, 84), nn.ReLU(), nn.Dense(84, 10),
    )  # fmt: skip
    optimizer, loss_fn = nn.Momentum(net.trainable_params(), 0.05, 0.9), nn.CrossEntropyLoss()
    both = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, optimizer.parameters)

    def step(x, y):
        loss, grads = both(x, y)
        optimizer(grads)
        return loss

    return net, ms.jit(step)


class Library:
    """An exported library as Python can call it, beside a model that is open."""

    def __init__(self, exported: Exported, name: str) -> None:
        self.name, self.native = name, ctypes.CDLL(str(exported.library))
        open_ = getattr(self.native, f"{name}_open")
        open_.restype = ctypes.c_void_p
        status = ctypes.c_int()
        self.model = ctypes.c_void_p(open_(str(exported.weights).encode(), ctypes.byref(status)))
        self.status = status.value

    def call(self, function: str, *arrays: Any) -> int:
        """The status of a call; arrays are arguments and results."""
        pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in arrays]
        return getattr(self.native, f"{self.name}_{function}")(self.model, *pointers)


@needs_c
def test_lenet_predicts_and_trains_in_c_as_in_python(tmp_path):
    net, step = lenet()
    predict = ms.jit(net)
    x = np.random.default_rng(0).normal(size=(16, 1, 28, 28)).astype(np.float32)
    labels = (np.arange(16) % 10).astype(np.int32)
    exported = export_c(tmp_path, "lenet", predict=(predict, Tensor(x)), train_step=(step, Tensor(x), Tensor(labels)))
    program = tmp_path / "program"
    built = [COMPILER, "-std=c11", "-Wall", "-Wextra", "-Werror", "-I", tmp_path, HERE / "lenet.c", "-o", program]
    subprocess.run([*built, exported.library, f"-Wl,-rpath,{tmp_path}"], check=True)
    (tmp_path / "data").write_bytes(x.tobytes() + labels.tobytes())
    paths = [exported.weights, tmp_path / "data", tmp_path / "results", tmp_path / "trained.safetensors"]
    ran = subprocess.run([program, *paths], env={}, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    got = np.frombuffer((tmp_path / "results").read_bytes(), np.float32)
    first = predict(Tensor(x)).asnumpy().ravel()
    losses = [step(Tensor(x), Tensor(labels)).asnumpy() for _ in range(3)]
    want = np.concatenate([first, losses, predict(Tensor(x)).asnumpy().ravel()])
    np.testing.assert_array_equal(got, want)
    trained = load_file(tmp_path / "trained.safetensors")
    for parameter in net.trainable_params():
        np.testing.assert_array_equal(trained[parameter.name], parameter.asnumpy())


@needs_c
def test_exporting_runs_nothing_and_changes_nothing(tmp_path):
    net, step = lenet()
    before = [p.asnumpy().copy() for p in net.trainable_params()]
    x, labels = Tensor(np.zeros((2, 1, 28, 28), np.float32)), Tensor(np.zeros(2, np.int32))
    export_c(tmp_path, "m", step=(step, x, labels))
    for now, then in zip(net.trainable_params(), before, strict=True):
        np.testing.assert_array_equal(now.asnumpy(), then)


FUNCTIONS = {
    "several results": (lambda x, y: (x @ y, [x.sum(), y * 2]), [(3, 4), (4, 5)], np.float32),
    "one result twice": (lambda x: (lambda y: (y, y))(ops.tanh(x)), [(7,)], np.float32),
    "double": (lambda x, y: ops.exp(x @ y) + 1, [(33, 17), (17, 9)], np.float64),
    "whole numbers": (lambda x: (x * 3 + 1, x.max()), [(5, 2)], np.int64),
    "one number": (lambda x: x * x + 0.5, [()], np.float32),
    "a large result, past the cache": (lambda x: ops.exp(x) * 2, [(3, 1_000_003)], np.float32),
    "sorted": (lambda x: ops.sort(x)[0], [(4, 9)], np.float32),
    "normalised": (lambda x: {"a": ops.softmax(x, -1), "b": (ops.sigmoid(x), x)}, [(5, 6)], np.float32),
    "its argument": (lambda x: x, [(3,)], np.float32),
    "half": (lambda x: ops.relu(x) * 2, [(9,)], np.float16),
}  # fmt: skip


def spectrum(x):
    return ops.abs(ops.fft(x)), ops.irfft(ops.rfft(x), 12)


FUNCTIONS["transforms of Fourier, complex inside"] = (spectrum, [(4, 12)], np.float32)
FUNCTIONS["a gradient through them"] = (ms.grad(lambda x: ops.abs(ops.fft(x)).sum()), [(9,)], np.float64)
FUNCTIONS["a cell in another type"] = (nn.Dense(4, 3).to_float(ms.float16), [(2, 4)], np.float32)
FUNCTIONS["complex"] = (lambda x, y: (ops.exp(x) * y, ops.abs(y), x), [(3, 2), (2,)], np.complex64)


def newton(a):
    x = a
    while ops.abs(x * x - a) > 1e-3:
        x = 0.5 * (x + a / x)
    return x


FUNCTIONS["a loop that ends by its numbers"] = (newton, [()], np.float32)


@needs_c
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_gives_the_same_bits_in_c(name, tmp_path):
    fn, shapes, dtype = FUNCTIONS[name]
    rng = np.random.default_rng(1)
    arrays = [np.asarray(np.abs(rng.normal(size=s)) * 4 + 1).astype(dtype) for s in shapes]
    want = ms.jit(fn)(*map(Tensor, arrays))
    flat = leaves(want)
    library = Library(export_c(tmp_path, "m", f=(fn, *map(Tensor, arrays))), "m")
    assert library.status == 0
    for shift in (0, 1):  # also where results do not lie at a line of the cache
        rooms = [np.zeros(a.size + 1, a.dtype) for a in flat]
        results = [r[shift : shift + a.size] for r, a in zip(rooms, flat, strict=True)]
        assert library.call("f", *arrays, *results) == 0
        for got, expected in zip(results, flat, strict=True):
            np.testing.assert_array_equal(got, expected.ravel())


def leaves(nest: Any) -> list[np.ndarray]:
    if isinstance(nest, Tensor):
        return [nest.asnumpy()]
    return [leaf for x in (nest.values() if isinstance(nest, dict) else nest) for leaf in leaves(x)]


@needs_c
def test_functions_share_state_and_a_second_model_has_its_own(tmp_path):
    count = Parameter(Tensor([0.0, 10.0]), name="count")

    def add(x):
        ops.assign(count, count + x)
        return count * 1.0

    exported = export_c(tmp_path, "m", add=(add, Tensor([1.0, 1.0])), read=(lambda x: count + x, Tensor([0.0, 0.0])))
    one, two = Library(exported, "m"), Library(exported, "m")
    step, zero, out = np.array([1, 2], "f"), np.zeros(2, "f"), np.empty(2, "f")
    assert [one.call("add", step, out), out.tolist()] == [0, [1, 12]]
    assert [one.call("read", zero, out), out.tolist()] == [0, [1, 12]]
    assert [two.call("read", zero, out), out.tolist()] == [0, [0, 10]]
    assert count.tolist() == [0, 10]


@needs_c
def test_weights_that_are_not_its_own_are_refused(tmp_path):
    net = nn.Dense(3, 2)
    exported = export_c(tmp_path, "m", f=(net, Tensor([[1.0, 2.0, 3.0]])))
    whole = exported.weights.read_bytes()
    damaged = {"cut": whole[:-1], "longer": whole + b"x", "empty": b"", "other": whole[:20] + b"?" + whole[21:]}
    for name, content in damaged.items():
        exported.weights.write_bytes(content)
        library = Library(exported, "m")
        assert (library.status, library.model.value) == (3, None), name
    exported.weights.unlink()
    assert Library(exported, "m").status == 2
    exported.weights.write_bytes(whole)
    assert Library(exported, "m").status == 0


@pytest.mark.parametrize(
    ("fn", "args", "words"),
    [
        (lambda x: print(x), [Tensor([1.0])], "Python"),
        (lambda x: float(x.sum()), [Tensor([1.0])], "returns a|Python would have to run"),
        (lambda x, k: x * k, [Tensor([1.0]), 3], "tensors as arguments"),
        (lambda x: None, [Tensor([1.0])], "returns no tensor|NoneType"),
    ],
    ids=["prints", "gives a number", "takes a number", "gives nothing"],
)
def test_what_c_cannot_do_is_told(fn, args, words, tmp_path):
    with pytest.raises(ArgumentError, match=words):
        export_c(tmp_path, "m", f=(fn, *args))


@needs_c
def test_an_assertion_that_fails_is_a_status_and_changes_nothing(tmp_path):
    count = Parameter(Tensor([0.0]), name="count")

    def counted(x):
        ops.assign(count, count + 1)
        assert x.sum() > 0
        return count + x

    library = Library(export_c(tmp_path, "m", f=(counted, Tensor([1.0]))), "m")
    given, out = np.ones(1, "f"), np.zeros(1, "f")
    assert [library.call("f", sign * given, out) for sign in (1, -1, -1, 1)] == [0, 5, 5, 0]
    assert out.tolist() == [3]


def test_mistakes_are_told(tmp_path, monkeypatch):
    x = Tensor([1.0])
    for name in ("my model", "fü", 3):
        with pytest.raises(ArgumentError, match="cannot be a name in C"):
            export_c(tmp_path, name, f=(ops.relu, x))
    with pytest.raises(ArgumentError, match="'a b' cannot be a name in C"):
        export_c(tmp_path, "m", **{"a b": (ops.relu, x)})
    with pytest.raises(ArgumentError, match="m_open is there in each library"):
        export_c(tmp_path, "m", open=(ops.relu, x))
    with pytest.raises(ArgumentError, match="leaves some open"):
        export_c(tmp_path, "m", f=(ops.relu, Tensor(shape=(None, 3), dtype=ms.float32)))
    with pytest.raises(ArgumentError, match="sizes that come out of data"):
        export_c(tmp_path, "m", f=(lambda x: x[x > 0].sum(), x))
    kept = Parameter(Tensor(np.ones(1, "complex64")), name="kept")
    with pytest.raises(ArgumentError, match="keeps complex numbers between calls"):
        export_c(tmp_path, "m", f=(lambda x: kept * x, x))
    with pytest.raises(ArgumentError, match="each given with its arguments"):
        export_c(tmp_path, "m", f=ops.relu)
    with pytest.raises(ArgumentError, match="different tensors"):
        export_c(tmp_path, "m", f=(lambda a, b: a + b, x, x))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DependencyError, match="C compiler"):
        export_c(tmp_path, "m", f=(ops.relu, x))
