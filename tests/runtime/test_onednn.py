"""oneDNN computes what NumPy computes, on every layout we hand it, and owns no memory of ours."""

from __future__ import annotations

import ctypes
import gc

import ml_dtypes
import numpy as np
import pytest
from scipy import special

from mycelia.runtime import onednn
from mycelia.runtime.onednn import DataType, Layout

RNG = np.random.default_rng(7)
F32 = DataType.f32


def normal(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


def close(got: np.ndarray, expected: np.ndarray, terms: int) -> None:
    """Equal up to the rounding of a sum of `terms` products of unit normals in f32."""
    np.testing.assert_allclose(got, expected, rtol=0, atol=4e-7 * terms)


def product(lhs: np.ndarray, rhs: np.ndarray, out: np.ndarray) -> np.ndarray:
    onednn.matmul(Layout.of(lhs), Layout.of(rhs), Layout.of(out)).run(lhs, rhs, out)
    return out


# --- matmul


@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 1), (5, 7, 3), (128, 33, 64), (1, 96, 40), (64, 1, 17)])
@pytest.mark.parametrize("lhs_transposed", [False, True])
@pytest.mark.parametrize("rhs_transposed", [False, True])
def test_a_product_needs_no_copy_of_a_transposed_operand(m, n, k, lhs_transposed, rhs_transposed):
    lhs = normal(k, m).T if lhs_transposed else normal(m, k)
    rhs = normal(n, k).T if rhs_transposed else normal(k, n)
    close(product(lhs, rhs, np.empty((m, n), np.float32)), lhs @ rhs, k)


def test_heads_split_out_of_the_time_axis_need_no_copy():
    queries, keys = (normal(2, 6, 4, 8).transpose(0, 2, 1, 3) for _ in range(2))  # (batch, heads, time, size)
    scores = product(queries, keys.swapaxes(-1, -2), np.empty((2, 4, 6, 6), np.float32))
    close(scores, queries @ keys.swapaxes(-1, -2), 8)
    merged = np.empty((2, 6, 4, 8), np.float32)
    product(scores, keys, merged.transpose(0, 2, 1, 3))
    close(merged.transpose(0, 2, 1, 3), scores @ keys, 48)


def test_a_batch_axis_of_size_one_or_of_stride_zero_is_broadcast():
    lhs, rhs = normal(3, 2, 4, 5), normal(5, 6)
    out = np.empty((3, 2, 4, 6), np.float32)
    close(product(lhs, rhs[None, None], out), lhs @ rhs, 5)
    close(product(lhs, np.broadcast_to(rhs, (3, 2, 5, 6)), out), lhs @ rhs, 5)


ACTIVATIONS = {
    "relu": (onednn.RELU, lambda x: np.maximum(x, 0)),
    "tanh": (onednn.TANH, np.tanh),
    "sigmoid": (onednn.SIGMOID, lambda x: 1 / (1 + np.exp(-x))),
    "silu": (onednn.SILU, lambda x: x / (1 + np.exp(-x))),
    "gelu_tanh": (onednn.GELU_TANH, lambda x: x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))),
    "gelu_erf": (onednn.GELU_ERF, lambda x: x / 2 * (1 + special.erf(x / np.sqrt(2)))),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_bias_and_activation_are_part_of_the_product(name):
    post_op, meaning = ACTIVATIONS[name]
    lhs, rhs, bias, out = normal(9, 12), normal(12, 20), normal(20), np.empty((9, 20), np.float32)
    onednn.matmul(Layout.of(lhs), Layout.of(rhs), Layout.of(out), bias=True, post_ops=(post_op,)).run(
        lhs, rhs, bias, out
    )
    np.testing.assert_allclose(out, meaning((lhs @ rhs + bias).astype(np.float64)), rtol=1e-5, atol=1e-5)


def test_a_product_adds_to_what_the_output_holds():
    lhs, rhs, out = normal(9, 12), normal(12, 20), normal(9, 20)
    expected = lhs @ rhs + out / 2
    onednn.matmul(Layout.of(lhs), Layout.of(rhs), Layout.of(out), post_ops=(onednn.Accumulate(0.5),)).run(lhs, rhs, out)
    close(out, expected, 12)


def test_a_residual_and_a_mask_are_operands_of_the_product():
    lhs, rhs, out = normal(9, 12), normal(12, 20), np.empty((9, 20), np.float32)
    residual, scale = normal(9, 20), normal(1, 20)
    chain = (
        onednn.Combine(onednn.Algorithm.mul, Layout.of(scale)),
        onednn.RELU,
        onednn.Combine(onednn.Algorithm.add, Layout.of(residual)),
    )
    prepared = onednn.matmul(Layout.of(lhs), Layout.of(rhs), Layout.of(out), post_ops=chain)
    assert [slot.name for slot in prepared.slots][:5] == ["lhs", "rhs", "out", "operand0", "operand2"]
    prepared.run(lhs, rhs, out, scale, residual)
    close(out, np.maximum(lhs @ rhs * scale, 0) + residual, 12)


def test_packed_weights_give_the_same_product():
    lhs, rhs, out = normal(32, 48), normal(48, 80), np.empty((32, 80), np.float32)
    prepared = onednn.matmul(Layout.of(lhs), Layout.chosen(rhs.shape, F32), Layout.of(out))
    packing = prepared.slot("rhs").layout
    packed = np.empty(packing.bytes, np.uint8)
    onednn.reorder(Layout.of(rhs), packing).run(rhs, packed)
    prepared.run(lhs, packed, out)
    close(out, lhs @ rhs, 48)


def test_bfloat16_products_round_once_at_the_end():
    lhs, rhs = normal(16, 24).astype(ml_dtypes.bfloat16), normal(24, 8).astype(ml_dtypes.bfloat16)
    out = np.empty((16, 8), np.float32)
    try:
        product(lhs, rhs, out)
    except onednn.Refused:
        pytest.skip("this processor has no bfloat16 products in oneDNN")
    close(out, lhs.astype(np.float32) @ rhs.astype(np.float32), 24)


# --- the contract with generated code


def test_a_refusal_says_what_was_asked():
    x = Layout.rows((4, 4), F32)
    with pytest.raises(onednn.Refused, match=r"refuses this matmul(.|\n)*dims=\(3, 3\)"):
        onednn.matmul(x, x, Layout.rows((3, 3), F32))


def test_machine_code_executes_with_addresses_alone():
    lhs, rhs, out = normal(5, 6), normal(6, 7), np.empty((5, 7), np.float32)
    prepared = onednn.matmul(Layout.of(lhs), Layout.of(rhs), Layout.of(out))
    lib = onednn.library()
    set_handle = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(
        lib.address("dnnl_memory_set_data_handle")
    )
    execute = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)(
        lib.address("dnnl_primitive_execute")
    )
    scratchpad = np.empty(prepared.bytes("scratchpad") + 1, np.uint8)
    for slot, array in zip(prepared.slots, (lhs, rhs, out, scratchpad), strict=False):
        assert set_handle(slot.memory, array.ctypes.data) == 0
    assert execute(prepared.primitive, prepared.stream, len(prepared.slots), prepared.args) == 0
    close(out, lhs @ rhs, 6)


def test_the_wrong_number_of_operands_is_told():
    x = Layout.rows((4, 4), F32)
    with pytest.raises(onednn.OneDnnError, match="1 operands for"):
        onednn.matmul(x, x, x).run(0)


def test_a_closed_or_collected_primitive_gives_its_objects_back():
    x = Layout.rows((4, 4), F32)
    prepared = onednn.matmul(x, x, x)
    owners = [slot.owner for slot in prepared.slots]
    prepared.close()
    assert not any(owner.close.alive for owner in owners)
    finalizer = onednn.matmul(x, x, x)._primitive.close
    gc.collect()
    assert not finalizer.alive


def test_the_layout_of_a_view_is_the_layout_of_its_array():
    array = normal(2, 3, 4, 5)
    assert Layout.of(array) == Layout.rows(array.shape, F32)
    view = np.ascontiguousarray(array.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    assert Layout.of(view) == Layout.channels_last(array.shape, F32)


def test_a_reorder_moves_elements_between_layouts_and_dtypes():
    x, out = normal(4, 6, 5), np.empty((5, 4, 6), ml_dtypes.bfloat16).transpose(1, 2, 0)
    onednn.reorder(Layout.of(x), Layout.of(out)).run(x, out)
    np.testing.assert_array_equal(out, x.astype(ml_dtypes.bfloat16))
