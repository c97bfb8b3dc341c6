"""Sizes that are said beforehand: jit(dynamic=1), Cell.set_inputs, enable_dynamic, input_signature, mutable."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, nn, ops
from mycelia.errors import ArgumentError, DTypeError, ShapeError
from tests.sizes.running import counted

ROWS = Tensor(shape=(None, 3), dtype=ms.float32)


def rows(n: int, width: int = 3, dtype: str = "float32") -> Tensor:
    return Tensor(np.arange(n * width).reshape(n, width).astype(dtype))


class Net(nn.Cell):
    """A layer and a sum."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Dense(3, 2)

    def construct(self, x: Any, scale: Any = 1.0) -> Any:
        return ops.relu(self.layer(x)) * scale


# -------------------------------------------------------------------------------------------------- from the first call


def test_dynamic_programs_are_symbolic_from_the_first_call() -> None:
    f = ms.jit(lambda x: ops.softmax(x, 1) * 2, dynamic=1)
    with counted() as found:
        for n in (4, 7, 2, 30):
            assert f(rows(n)).shape == (n, 3)
    assert len(found) == 1
    assert "f32[s0, s1]" in f.explain()


def test_a_program_that_is_not_dynamic_is_symbolic_from_the_second_shape() -> None:
    f = ms.jit(lambda x: ops.softmax(x, 1) * 2)
    with counted() as found:
        for n in (4, 7, 2, 30):
            f(rows(n))
    assert len(found) == 2


def test_a_described_cell_is_compiled_once_for_all_rows() -> None:
    net = Net()
    net.set_inputs(ROWS)
    f = ms.jit(net)
    with counted() as found:
        for n in (4, 7, 2, 30):
            np.testing.assert_allclose(f(rows(n)).asnumpy(), net(rows(n)).asnumpy(), 1e-6)
    assert len(found) == 1
    assert "f32[s0, 3]" in f.explain()


def test_a_described_cell_in_graph_mode() -> None:
    net = Net()
    net.set_inputs(ROWS)
    eager = [net(rows(n)).asnumpy() for n in (4, 7)]
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        with counted() as found:
            for n, wanted in zip((4, 7), eager, strict=True):
                np.testing.assert_allclose(net(rows(n)).asnumpy(), wanted, 1e-6)
        assert len(found) == 1
        with pytest.raises(ShapeError, match="another shape than described"):
            net(rows(4, 5))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_inputs_are_described_by_name_too() -> None:
    net = Net()
    net.set_inputs(scale=Tensor(shape=(None, 1), dtype=ms.float32), x=ROWS)
    assert net.get_inputs() is not None
    assert net(rows(4), Tensor(np.ones((4, 1), "float32"))).shape == (4, 2)
    with pytest.raises(ShapeError, match="scale has another shape"):
        net(rows(4), Tensor(np.ones((4, 2), "float32")))


def test_enable_dynamic_describes_a_jitted_function() -> None:
    @ms.enable_dynamic(y=Tensor(shape=None, dtype=ms.float32))
    @ms.jit
    def func(x: Any, y: Any) -> Any:
        return x + 1, y + 1

    with counted() as found:
        for n in (2, 5, 9):
            x, y = func(rows(4), rows(n))
            assert y.tolist() == (rows(n).asnumpy() + 1).tolist()
            assert x.shape == (4, 3)
    assert len(found) == 1


def test_descriptions_of_nests() -> None:
    @ms.enable_dynamic(pair=[ROWS, ROWS])
    @ms.jit
    def func(pair: Any) -> Any:
        return pair[0].sum() + pair[1].sum()

    assert func([rows(2), rows(5)]).item() == rows(2).asnumpy().sum() + rows(5).asnumpy().sum()
    with pytest.raises(ArgumentError, match="nested in another way"):
        func([rows(2)])


def test_an_input_signature_is_a_description_in_order() -> None:
    f = ms.jit(lambda x, y: x @ y, input_signature=(ROWS, Tensor(shape=(3, None), dtype=ms.float32)))
    with counted() as found:
        for n in (4, 7, 12):
            assert f(rows(n), rows(3, n + 1)).shape == (n, n + 1)
    assert len(found) == 1
    with pytest.raises(ShapeError, match=r"described: float32\[3, None\]"):
        f(rows(4), rows(4, 5))


# --------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (lambda: rows(4, 5), ShapeError, r"x: float32\[4, 5\]"),
        (lambda: Tensor(np.zeros(3, "float32")), ShapeError, r"described: float32\[None, 3\]"),
        (lambda: rows(4, dtype="float64"), DTypeError, "another element type than described"),
        (lambda: 3.0, ArgumentError, "described as a tensor"),
    ],
)
@pytest.mark.parametrize("how", [lambda net: net, ms.jit], ids=["eager", "jit"])
def test_arguments_that_do_not_fit_are_an_error_with_both(how: Any, given: Any, error: Any, words: str) -> None:
    net = Net()
    net.set_inputs(ROWS)
    run = how(net)
    run(rows(2))
    with pytest.raises(error, match=words):
        run(given())


def test_descriptions_of_what_does_not_exist_are_errors() -> None:
    with pytest.raises(ArgumentError, match="not the parameters of"):
        Net().set_inputs(ROWS, ROWS, ROWS)
    with pytest.raises(ArgumentError, match="describes the arguments"):
        Net().set_inputs()
    with pytest.raises(ArgumentError, match="not the parameters of"):
        ms.enable_dynamic(z=ROWS)(ms.jit(lambda x: x))
    with pytest.raises(ArgumentError, match="goes above jit"):
        ms.enable_dynamic(x=ROWS)(lambda x: x)
    with pytest.raises(ArgumentError, match="described by object"):
        Net().set_inputs(object())


def test_a_tensor_without_data_shows_its_shape_and_is_no_operand() -> None:
    assert ROWS.shape == (None, 3)
    assert ROWS.dtype is ms.float32
    assert (ROWS.ndim, Tensor(shape=None, dtype=ms.float32).ndim) == (2, -1)
    assert repr(ROWS) == "Tensor(shape=[None, 3], dtype=Float32, value=<none>)"
    for use in (
        lambda: ROWS + 1,
        lambda: rows(2) * ROWS,
        lambda: ops.relu(ROWS),
        lambda: ROWS.asnumpy(),
        lambda: ROWS[0],
        lambda: ms.jit(lambda x: x + 1)(ROWS),
        lambda: Tensor(ROWS),
    ):
        with pytest.raises(ArgumentError, match="has no data"):
            use()


# ------------------------------------------------------------------------------------------------------------ mutable


def test_a_mutable_number_is_a_variable_from_the_first_call() -> None:
    f = ms.jit(lambda x, k, s: x * k + s)
    with counted() as found:
        for k in range(2, 8):
            got = f(rows(2), ms.mutable(k), ms.mutable(k / 2))
            np.testing.assert_allclose(got.asnumpy(), rows(2).asnumpy() * k + k / 2, 1e-6)
    assert len(found) == 1


def test_mutable_numbers_in_nests_and_their_behaviour() -> None:
    f = ms.jit(lambda d: d["x"] * d["by"][0] - d["by"][1])
    with counted() as found:
        for k in (2, 3, 4):
            got = f(ms.mutable({"x": rows(2), "by": (k, 0.5)}))
            np.testing.assert_allclose(got.asnumpy(), rows(2).asnumpy() * k - 0.5, 1e-6)
    assert len(found) == 1
    k = ms.mutable(3)
    assert isinstance(k, int)
    assert (k + 1, k == 3, [0] * k, f"{k}") == (4, True, [0, 0, 0], "3")
    assert (rows(2) * k).dtype is ms.float32
    assert ms.mutable([1, rows(1)])[0] == 1


def test_a_mutable_number_that_must_be_known_is_a_constant() -> None:
    f = ms.jit(lambda x, k: x.reshape((k, -1)))
    for k in (1, 2, 3, 6):
        assert f(rows(2), ms.mutable(k)).shape == (k, 6 // k)


def test_what_cannot_be_mutable_is_an_error() -> None:
    with pytest.raises(DTypeError, match="cannot be mutable"):
        ms.mutable(object())
    with pytest.raises(DTypeError, match="only a list or a tuple"):
        ms.mutable({"a": 1}, dynamic_len=True)
    with pytest.raises(ShapeError, match="one type and shape"):
        ms.mutable([rows(2), rows(3)], dynamic_len=True)
