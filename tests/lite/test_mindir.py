"""A network that was written into a file and read again is the same network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mycelia as ms
from mycelia import Parameter, Tensor, nn, ops
from mycelia.errors import ArgumentError


def drawn(*shape: int) -> Tensor:
    return Tensor(np.random.default_rng(0).normal(size=shape).astype(np.float32))


def close(a: Tensor, b: Tensor) -> None:
    np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-5, atol=1e-6)


def again(folder: Path, net: Any, *inputs: Any, **options: Any) -> Any:
    ms.export(net, *inputs, file_name=str(folder / "net"), file_format="MINDIR", **options)
    key = {"dec_key": options["enc_key"]} if "enc_key" in options else {}
    return nn.GraphCell(ms.load(str(folder / "net.mindir"), **key))


class Small(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.SequentialCell(nn.Dense(4, 2), nn.BatchNorm1d(2), nn.ReLU(), nn.Dense(2, 3))

    def construct(self, x: Tensor) -> Tensor:
        return self.body(x)


def test_values_and_gradients_are_those_of_the_network(tmp_path: Path) -> None:
    net, x = Small(), drawn(5, 4)
    same = again(tmp_path, net, x)
    assert [p.name for p in same.get_parameters()] == [p.name for p in net.get_parameters()]
    assert [p.name for p in same.trainable_params()] == [p.name for p in net.trainable_params()]
    for call in (lambda f: f(x), lambda f: ms.jit(f)(x), lambda f: ms.grad(lambda y: f(y).square().sum())(x)):
        close(call(same), call(net))
    found = [ms.grad(lambda y, f=f: f(y).square().sum(), None, f.trainable_params())(x) for f in (net, same)]
    for a, b in zip(*found, strict=True):
        close(a, b)


class Counted(nn.Cell):
    """How often it was called is a parameter without axes."""

    def __init__(self) -> None:
        super().__init__()
        self.turns = Parameter(Tensor(0.0), name="turns", requires_grad=False)
        self.dense = nn.Dense(4, 3).to_float(ms.float16)

    def construct(self, x: Tensor) -> Tensor:
        self.turns += 1.0
        return self.dense(x).astype(ms.float32) * self.turns


def test_numbers_are_parameters_and_cells_compute_in_another_type(tmp_path: Path) -> None:
    net, x = Counted(), drawn(5, 4)
    same = again(tmp_path, net, x)
    for _ in range(3):
        close(same(x), net(x))
    assert [(p.name, p.shape, p.item()) for p in same.get_parameters() if p.ndim == 0] == [("turns", (), 3.0)]


def test_open_dimensions_take_every_size_and_nothing_else(tmp_path: Path) -> None:
    def net(x: Tensor, y: Tensor) -> Tensor:
        return ops.softmax(x @ y, -1).reshape(-1)

    same = again(tmp_path, net, Tensor(shape=(None, 3), dtype=ms.float32), Tensor(shape=(3, None), dtype=ms.float32))
    for n, m in ((1, 1), (1, 5), (4, 1), (2, 2), (6, 9)):
        close(same(drawn(n, 3), drawn(3, m)), net(drawn(n, 3), drawn(3, m)))
    for shapes in (((2, 4), (4, 2)), ((2, 3, 1), (3, 2)), ((2, 3), (2, 3))):
        with pytest.raises(ArgumentError, match="exported for other arguments"):
            same(*[drawn(*shape) for shape in shapes])
    with pytest.raises(ArgumentError, match="exported for other arguments"):
        same(drawn(2, 3).astype(ms.float64), drawn(3, 2))


def test_what_a_network_relies_on_at_its_sizes_is_asked_again(tmp_path: Path) -> None:
    def net(x: Tensor) -> Tensor:
        return x * 2 if x.shape[0] > 5 else x + 1

    same = again(tmp_path, net, Tensor(shape=(None,), dtype=ms.float32))
    close(same(drawn(8)), net(drawn(8)))
    close(same(drawn(1)), net(drawn(1)))
    with pytest.raises(ArgumentError, match="exported for other arguments"):
        same(drawn(3))


class Counting(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.weight = Parameter(np.arange(3, dtype=np.float32))
        self.offset = Tensor([5.0])

    def construct(self, x: Tensor, pair: Any, position: Tensor) -> Any:
        result = x * self.weight + pair["a"][position] - self.offset
        self.weight += 1.0
        return result, (x, self.weight * 2)


@pytest.mark.parametrize("jitted", [False, True])
def test_a_network_that_changes_its_parameters_does_so_from_the_file(tmp_path: Path, jitted: bool) -> None:
    net, inputs = Counting(), (drawn(3), {"a": drawn(4)}, Tensor(2))
    same = again(tmp_path, net, *inputs, enc_key=b"0123456789abcdef")
    assert net.weight.tolist() == [0, 1, 2]  # nothing was run
    run = ms.jit(same) if jitted else same
    for _ in range(3):
        first, (second, third) = net(*inputs)
        for a, b in zip((first, second, third), run(*inputs), strict=True):
            close(a, b)
    assert same.parameters_dict()["weight"].tolist() == [3, 4, 5]
    with pytest.raises(IndexError, match="does not exist"):
        run(inputs[0], inputs[1], Tensor(4))
    assert same.parameters_dict()["weight"].tolist() == [3, 4, 5]
    with pytest.raises(ArgumentError, match="encrypted"):
        ms.load(str(tmp_path / "net.mindir"))
    graph = ms.load(str(tmp_path / "net.mindir"), dec_key=b"0123456789abcdef")
    new = nn.GraphCell(graph, {"weight": Tensor([7.0, 7.0, 7.0]), "nobody": Tensor([1.0])})
    assert new.trainable_params()[0].tolist() == [7, 7, 7]


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    x = drawn(2)
    for format in ("ONNX", "AIR"):
        with pytest.raises(ArgumentError, match="exported as MINDIR"):
            ms.export(lambda x: x, x, file_name=str(tmp_path / "net"), file_format=format)
    with pytest.raises(ArgumentError, match="obf_config"):
        ms.export(lambda x: x, x, file_name=str(tmp_path / "net"), file_format="MINDIR", obf_config={})
    with pytest.raises(ArgumentError, match="Python would have to run"):
        ms.export(lambda x: x * float(x.sum()), x, file_name=str(tmp_path / "net"), file_format="MINDIR")
    assert not list(tmp_path.iterdir())


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    again(tmp_path, nn.Dense(2, 1), drawn(3, 2))
    file, random = tmp_path / "net.mindir", np.random.default_rng(1)
    whole = file.read_bytes()
    for _ in range(30):
        raw = bytearray(whole)
        raw[random.integers(len(raw))] ^= 1 << random.integers(8)
        file.write_bytes(bytes(raw[: random.integers(1, len(raw))]) if random.random() < 0.3 else bytes(raw))
        with pytest.raises(ArgumentError, match="no graph that Mycelia has written"):
            ms.load(str(file))
