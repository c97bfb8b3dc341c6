"""oneDNN computes what NumPy computes, on every layout we hand it, and owns no memory of ours."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
from dataclasses import dataclass

import ml_dtypes
import numpy as np
import pytest
from scipy import special

from mycelia import onednn
from mycelia.errors import DependencyError
from mycelia.onednn import DataType, Layout, Window
from mycelia.threads.openmp import load_openmp

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


@pytest.mark.parametrize("lhs_transposed", [False, True])
@pytest.mark.parametrize("rhs_transposed", [False, True])
def test_one_primitive_multiplies_matrices_of_all_sizes(lhs_transposed, rhs_transposed):
    used = set()
    for m, n, k in [(1, 1, 1), (5, 7, 3), (128, 33, 64), (1, 96, 40), (64, 1, 17), (33, 40, 700)]:
        lhs = normal(k, m + 3).T[:m] if lhs_transposed else normal(m, k + 3)[:, :k]
        rhs = normal(n, k + 5).T[:k] if rhs_transposed else normal(k, n + 5)[:, :n]
        out = np.empty((m, n + 1), np.float32)[:, :n]
        prepared = onednn.matmul_of_any_size(Layout.of(lhs), Layout.of(rhs), Layout.of(out))
        prepared.run(lhs, rhs, out)
        close(out, lhs @ rhs, k)
        used.add(prepared.primitive)
        prepared.close()  # which leaves the primitive to the others
    assert len(used) == 1


def test_one_primitive_multiplies_batches_of_all_sizes():
    used = set()
    for batch, time, size in [(1, 1, 1), (2, 6, 8), (3, 33, 5), (2, 5, 40)]:
        queries, keys, values = normal(batch, time, 3, 4, size).transpose(2, 0, 3, 1, 4)  # (batch, heads, time, size)
        weights = normal(batch, 4, time, time)
        out = np.empty((batch, time, 4, size), np.float32).transpose(0, 2, 1, 3)
        for lhs, rhs in ((weights, values), (weights.swapaxes(-1, -2), queries), (weights, keys)):
            prepared = onednn.matmul_of_any_size(Layout.of(lhs), Layout.of(rhs), Layout.of(out))
            prepared.run(lhs, rhs, out)
            close(out, lhs @ rhs, time)
            used.add(prepared.primitive)
    assert len(used) <= 3  # a matrix of one row or column lies in rows and in columns


def test_overlapping_rows_are_no_product_of_any_size():
    hankel = Layout((40, 8), DataType.f32, (1, 1))
    assert not onednn.may_be_of_any_size(
        hankel, Layout.rows((8, 40), DataType.f32), Layout.rows((40, 40), DataType.f32)
    )


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
    assert [port.name for port in prepared.ports][:5] == ["lhs", "rhs", "out", "operand0", "operand2"]
    prepared.run(lhs, rhs, out, scale, residual)
    close(out, np.maximum(lhs @ rhs * scale, 0) + residual, 12)


def test_packed_weights_give_the_same_product():
    lhs, rhs, out = normal(32, 48), normal(48, 80), np.empty((32, 80), np.float32)
    prepared = onednn.matmul(Layout.of(lhs), Layout.chosen(rhs.shape, F32), Layout.of(out))
    packing = prepared.port("rhs").layout
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


# --- convolution


@dataclass(frozen=True)
class Case:
    """A convolution and its meaning in NumPy, in f64."""

    source: tuple[int, ...]
    weights: tuple[int, ...]
    window: Window
    groups: int = 1

    @property
    def rank(self) -> int:
        return len(self.source) - 2

    @property
    def out(self) -> tuple[int, ...]:
        return (self.source[0], self.weights[0], *self.window.extent(self.source[2:], self.weights[2:]))

    def places(self, offset: tuple[int, ...]) -> tuple[object, ...]:
        """Where in the padded source the window's element at `offset` lies, for all places of the window."""
        along = zip(offset, self.window.dilations, self.window.strides, self.out[2:], strict=True)
        return (..., *(slice(o * d, o * d + s * (n - 1) + 1, s) for o, d, s, n in along))

    def padded(self, source: np.ndarray) -> np.ndarray:
        edges = ((0, 0), (0, 0), *zip(self.window.before, self.window.after, strict=True))
        return np.pad(source.astype(np.float64), edges)

    def per_group(self, x: np.ndarray, axis: int) -> list[np.ndarray]:
        return np.split(x, self.groups, axis)

    def forward(self, source: np.ndarray, weights: np.ndarray) -> np.ndarray:
        def one(x: np.ndarray, w: np.ndarray) -> np.ndarray:
            return sum(
                np.einsum("nc...,oc->no...", x[self.places(offset)], w[(..., *offset)])
                for offset in np.ndindex(*self.weights[2:])
            )

        groups = zip(self.per_group(self.padded(source), 1), self.per_group(weights, 0), strict=True)
        return np.concatenate([one(x, w) for x, w in groups], 1)

    def gradients(self, source: np.ndarray, weights: np.ndarray, ct: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        padded = self.padded(source)
        sources, cts = np.zeros_like(padded), np.zeros(self.weights)
        groups = [self.per_group(x, a) for x, a in ((padded, 1), (weights, 0), (ct, 1), (sources, 1), (cts, 0))]
        for x, w, c, dx, dw in zip(*groups, strict=True):
            for offset in np.ndindex(*self.weights[2:]):
                dx[self.places(offset)] += np.einsum("no...,oc->nc...", c, w[(..., *offset)])
                flat = x[self.places(offset)].reshape(*x.shape[:2], -1)
                dw[(..., *offset)] = np.einsum("ncp,nop->oc", flat, c.reshape(*c.shape[:2], -1))
        inside = tuple(slice(b, b + n) for b, n in zip(self.window.before, self.source[2:], strict=True))
        return sources[(..., *inside)], cts


CASES = {
    "1d": Case((2, 3, 17), (4, 3, 5), Window.moving((2,), padding=(2,))),
    "2d": Case((2, 6, 14, 14), (16, 6, 5, 5), Window.moving((1, 1))),
    "2d one channel": Case((3, 1, 12, 12), (6, 1, 5, 5), Window.moving((1, 1), padding=(2, 2))),
    "2d strided dilated": Case((2, 8, 13, 15), (8, 8, 3, 3), Window.moving((2, 1), dilations=(1, 2), padding=(1, 2))),
    "2d uneven padding": Case((1, 4, 8, 8), (4, 4, 3, 3), Window((2, 2), (1, 1), (0, 0), (1, 1))),
    "2d groups": Case((2, 8, 9, 9), (12, 2, 3, 3), Window.moving((1, 1), padding=(1, 1)), groups=4),
    "2d depthwise": Case((2, 8, 9, 9), (8, 1, 3, 3), Window.moving((1, 1), padding=(1, 1)), groups=8),
    "3d": Case((1, 3, 6, 7, 8), (5, 3, 3, 3, 3), Window.moving((1, 1, 1), padding=(1, 1, 1))),
}
PHYSICAL = {"rows": Layout.rows, "channels last": Layout.channels_last}

every_convolution = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
every_order = pytest.mark.parametrize("physical", PHYSICAL.values(), ids=PHYSICAL)


def laid_out(layout: Layout, values: np.ndarray | None = None) -> np.ndarray:
    """An array with the logical dims and the physical order of the layout, all NaN or holding `values`."""
    size = 1 + sum(s * (d - 1) for s, d in zip(layout.strides, layout.dims, strict=True))
    flat = np.full(size, np.nan, np.float32)
    array = np.lib.stride_tricks.as_strided(flat, layout.dims, [4 * s for s in layout.strides])
    if values is not None:
        array[...] = values
    return array


@every_convolution
@every_order
def test_a_convolution_is_the_sum_over_its_window(case, physical):
    source, weights, out = (physical(shape, F32) for shape in (case.source, case.weights, case.out))
    x, w, bias = laid_out(source, normal(*case.source)), laid_out(weights, normal(*case.weights)), normal(case.out[1])
    y = laid_out(out)
    onednn.convolution(source, weights, out, case.window, groups=case.groups, bias=True, post_ops=(onednn.RELU,)).run(
        x, w, bias, y
    )
    expected = np.maximum(case.forward(x, w) + bias.reshape(-1, *[1] * case.rank), 0)
    close(y, expected, w[0].size)


@every_convolution
@every_order
def test_the_gradients_of_a_convolution_are_its_transposes(case, physical):
    source, weights, out = (physical(shape, F32) for shape in (case.source, case.weights, case.out))
    x, w, ct = (laid_out(a, normal(*a.dims)) for a in (source, weights, out))
    dx, dw, db = laid_out(source), laid_out(weights), np.empty(case.out[1], np.float32)
    onednn.convolution_source_gradient(source, weights, out, case.window, groups=case.groups).run(ct, w, dx)
    onednn.convolution_weights_gradient(source, weights, out, case.window, groups=case.groups, bias=True).run(
        x, ct, dw, db
    )
    expected_dx, expected_dw = case.gradients(x, w, ct)
    places = ct[:, 0].size
    close(dx, expected_dx, case.weights[0] * w[0, 0].size)
    close(dw, expected_dw, places)
    close(db, ct.sum((0, *range(2, ct.ndim)), dtype=np.float64), places)


@every_convolution
def test_packed_weights_give_the_same_convolution_and_gradients(case):
    source, out = Layout.channels_last(case.source, F32), Layout.channels_last(case.out, F32)
    given, packed = Layout.rows(case.weights, F32), Layout.chosen(case.weights, F32)
    x, w, ct = (laid_out(a, normal(*a.dims)) for a in (source, given, out))
    y, dx, dw = laid_out(out), laid_out(source), laid_out(given)

    def pack(prepared: onednn.Prepared) -> np.ndarray:
        packing = prepared.port("weights").layout
        room = np.zeros(packing.bytes, np.uint8)
        onednn.reorder(given.grouped(case.groups), packing).run(w, room)
        return room

    forward = onednn.convolution(source, packed, out, case.window, groups=case.groups)
    forward.run(x, pack(forward), y)
    close(y, case.forward(x, w), w[0].size)

    to_source = onednn.convolution_source_gradient(source, packed, out, case.window, groups=case.groups)
    to_source.run(ct, pack(to_source), dx)
    to_weights = onednn.convolution_weights_gradient(source, packed, out, case.window, groups=case.groups)
    packing = to_weights.port("weights_gradient").layout
    room = np.zeros(packing.bytes, np.uint8)
    to_weights.run(x, ct, room)
    onednn.reorder(packing, given.grouped(case.groups)).run(room, dw)
    expected_dx, expected_dw = case.gradients(x, w, ct)
    close(dx, expected_dx, case.weights[0] * w[0, 0].size)
    close(dw, expected_dw, ct[:, 0].size)


def test_packed_weights_spare_a_channels_last_convolution_the_reference_loops():
    case = CASES["2d"]
    source, out = Layout.channels_last(case.source, F32), Layout.channels_last(case.out, F32)
    weights = Layout.chosen(case.weights, F32)
    assert not onednn.convolution(source, weights, out, case.window).reference
    assert not onednn.convolution_source_gradient(source, weights, out, case.window).reference
    assert not onednn.convolution_weights_gradient(source, weights, out, case.window).reference


@every_order
def test_a_residual_is_added_before_the_activation(physical):
    case = CASES["2d groups"]
    source, weights, out = (physical(shape, F32) for shape in (case.source, case.weights, case.out))
    x, w, residual = (laid_out(a, normal(*a.dims)) for a in (source, weights, out))
    y = laid_out(out)
    chain = (onednn.Combine(onednn.Algorithm.add, out), onednn.RELU)
    onednn.convolution(source, weights, out, case.window, groups=case.groups, post_ops=chain).run(x, w, y, residual)
    close(y, np.maximum(case.forward(x, w) + residual, 0), w[0].size)
    total = laid_out(out, residual)
    chain = (onednn.Accumulate(), onednn.RELU)
    onednn.convolution(source, weights, out, case.window, groups=case.groups, post_ops=chain).run(x, w, total)
    close(total, y, w[0].size)


# --- pooling

POOLS = {
    "1d": ((2, 3, 11), (3,), Window.moving((2,), padding=(1,))),
    "2d": ((2, 6, 8, 8), (2, 2), Window.moving((2, 2))),
    "2d overlapping": ((2, 8, 9, 11), (3, 3), Window.moving((2, 1), padding=(1, 1))),
    "2d uneven padding": ((1, 5, 7, 7), (3, 2), Window((2, 2), (1, 1), (0, 1), (1, 0))),
    "3d": ((1, 4, 6, 6, 6), (2, 2, 2), Window.moving((2, 2, 2))),
}
KINDS = {"max": onednn.MAX, "average": onednn.AVERAGE, "average with padding": onednn.AVERAGE_WITH_PADDING}


def pooled(kind: onednn.Algorithm, x: np.ndarray, case: Case) -> tuple[np.ndarray, np.ndarray]:
    """The values of all windows along a new last axis, and the weight with which each counts."""
    padded, inside = case.padded(x), case.padded(np.ones_like(x))
    offsets = list(np.ndindex(*case.weights[2:]))
    values = np.stack([padded[case.places(o)] for o in offsets], -1)
    counts = np.stack([inside[case.places(o)] for o in offsets], -1)
    if kind == onednn.MAX:
        return values, np.arange(len(offsets)) == np.argmax(np.where(counts > 0, values, -np.inf), -1)[..., None]
    size = len(offsets) if kind == onednn.AVERAGE_WITH_PADDING else counts.sum(-1, keepdims=True)
    return values, counts / size


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize(("shape", "kernel", "window"), POOLS.values(), ids=POOLS)
@every_order
def test_pooling_weighs_each_window_and_its_gradient_spreads_by_the_same_weights(kind, shape, kernel, window, physical):
    case = Case(shape, (shape[1], 1, *kernel), window)
    source, out = physical(case.source, F32), physical(case.out, F32)
    x, ct, y, dx = laid_out(source, normal(*shape)), laid_out(out, normal(*case.out)), laid_out(out), laid_out(source)
    values, weights = pooled(kind, x, case)

    onednn.pooling(kind, source, out, kernel, window, training=False).run(x, y)
    close(y, (values * weights).sum(-1), 2)

    training = onednn.pooling(kind, source, out, kernel, window, training=True)
    workspace = [np.zeros(training.bytes("workspace"), np.uint8)] if kind == onednn.MAX else []
    y[...] = np.nan
    training.run(x, y, *workspace)
    close(y, (values * weights).sum(-1), 2)

    onednn.pooling_gradient(kind, source, out, kernel, window).run(ct, dx, *workspace)
    spread = case.padded(np.zeros_like(x))
    for i, offset in enumerate(np.ndindex(*kernel)):
        spread[case.places(offset)] += ct * weights[..., i]
    inside = tuple(slice(b, b + n) for b, n in zip(window.before, shape[2:], strict=True))
    close(dx, spread[(..., *inside)], 9)


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
    for port, array in zip(prepared.ports, (lhs, rhs, out, scratchpad), strict=False):
        assert set_handle(port.memory, array.ctypes.data) == 0
    assert execute(prepared.primitive, prepared.stream, len(prepared.ports), prepared.args) == 0
    close(out, lhs @ rhs, 6)


def test_a_missing_openmp_names_the_package_that_brings_it(monkeypatch):
    def absent(*_: object, **__: object) -> None:
        raise OSError("libgomp.so.1: cannot open shared object file")

    monkeypatch.setattr(ctypes, "CDLL", absent)
    with pytest.raises(DependencyError, match="apt install libgomp1"):
        load_openmp.__wrapped__()


def test_the_wrong_number_of_operands_is_told():
    x = Layout.rows((4, 4), F32)
    with pytest.raises(onednn.OneDnnError, match="1 operands for"):
        onednn.matmul(x, x, x).run(0)


@pytest.mark.parametrize("how", ["closed", "collected"])
def test_a_closed_or_collected_primitive_gives_its_objects_back(how):
    x = Layout.rows((4, 4), F32)
    prepared = onednn.matmul(x, x, x)
    owned = {prepared.primitive, prepared.made.descriptor.address, *(port.memory for port in prepared.ports)}
    given = []
    for owner in (prepared.made.owner, prepared.made.descriptor, *(port.owner for port in prepared.ports)):
        owner.destroy = lambda at, destroy=owner.destroy: given.append(at) or destroy(at)
    if how == "closed":
        prepared.close()
        prepared.close()
    del prepared, owner
    gc.collect()
    assert sorted(given) == sorted(owned)


def test_the_layout_of_a_view_is_the_layout_of_its_array():
    array = normal(2, 3, 4, 5)
    assert Layout.of(array) == Layout.rows(array.shape, F32)
    view = np.ascontiguousarray(array.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    assert Layout.of(view) == Layout.channels_last(array.shape, F32)


def test_a_reorder_moves_elements_between_layouts_and_dtypes():
    x, out = normal(4, 6, 5), np.empty((5, 4, 6), ml_dtypes.bfloat16).transpose(1, 2, 0)
    onednn.reorder(Layout.of(x), Layout.of(out)).run(x, out)
    np.testing.assert_array_equal(out, x.astype(ml_dtypes.bfloat16))


def test_threads_that_ask_for_the_library_at_once_get_one():
    code = """
from threading import Barrier, Thread
from mycelia.onednn import library
found, gate = [], Barrier(8)
def ask():
    gate.wait()
    found.append(library())
threads = [Thread(target=ask) for _ in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
assert len(found) == 8 and len(set(map(id, found))) == 1, found
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
