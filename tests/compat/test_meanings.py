"""What MindSpore 2.10 means, where Mycelia once meant something else: its answers, or a law that they follow."""

import numpy as np
import pytest

import mycelia as ms
from mycelia import Parameter, Tensor, nn, ops
from mycelia.common.initializer import Initializer, initializer
from mycelia.errors import ArgumentError, MyceliaError, ShapeError

M = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
BOTH = pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "jit"])


@BOTH
def test_the_gradient_of_a_frozen_weight_is_zero(run):
    w, v = Parameter([2.0, 3.0], name="w", requires_grad=False), Parameter([4.0, 5.0], name="v")
    step = run(lambda x: ms.grad(lambda x: (x * w * v).sum(), None, [w, v])(x))
    assert [g.tolist() for g in step(Tensor([1.0, 1.0]))] == [[0.0, 0.0], [2.0, 3.0]]
    w.requires_grad = True
    assert [g.tolist() for g in step(Tensor([1.0, 1.0]))] == [[4.0, 5.0], [2.0, 3.0]]


def test_parameters_without_a_name_have_different_ones_until_a_cell_names_them():
    first, second = Parameter([1.0]), Parameter([1.0])
    assert first.name != second.name
    assert first.name.startswith("Parameter#")

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a, self.b = Parameter([1.0]), Parameter([2.0])

    assert [p.name for p in Net().get_parameters()] == ["a", "b"]


@BOTH
def test_the_mean_of_whole_numbers_is_whole_and_rounded_towards_zero(run):
    for numbers, mean in (([1, 2], 1), ([-1, -2], -1), ([-3, 2, 0], 0), ([7], 7)):
        for dtype in (ms.int8, ms.int32, ms.int64):
            found = run(lambda x: ops.mean(x))(Tensor(numbers, dtype))
            assert (found.item(), found.dtype) == (mean, dtype)
    assert Tensor([[1, 2], [4, 5]]).mean(axis=1).tolist() == [1, 4]
    assert Tensor([True, False]).mean().item() == 0.5


def test_a_tensor_of_a_shape_and_a_type_alone_holds_zeros_and_of_an_open_shape_nothing():
    assert Tensor(shape=(2, 2), dtype=ms.float32).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert Tensor(shape=(2, None), dtype=ms.float32).ndim == 2
    assert ms.tensor([1, 2], ms.float16).dtype is ms.float16


@BOTH
def test_alpha_multiplies_the_other(run):
    x, y = Tensor([1.0, 2.0, 3.0]), Tensor([1.0, 1.0, 1.0])
    assert run(lambda x, y: x.add(y, alpha=2))(x, y).tolist() == [3.0, 4.0, 5.0]
    assert run(lambda x, y: x.sub(y, alpha=2))(x, y).tolist() == [-1.0, 0.0, 1.0]
    assert ops.add(Tensor([1]), Tensor([1]), alpha=0.5).tolist() == [1.5]


def test_dropout_gives_what_was_kept_as_numbers():
    x = Tensor(np.zeros((100, 100), np.float32))
    out, mask = ops.Dropout(keep_prob=0.25)(x)
    assert (mask.dtype, out.tolist()) == (ms.float32, x.tolist())
    assert set(np.unique(mask.asnumpy())) == {0.0, 1.0}
    assert abs(mask.mean().item() - 0.25) < 0.03
    out, mask = ops.Dropout(keep_prob=0.5)(x + 1)
    assert (out / 2).tolist() == mask.tolist()


@BOTH
def test_layer_norm_gives_means_and_variances_too(run):
    gamma, beta = Tensor([1.0, 2.0, 3.0]), Tensor([0.0, 1.0, 0.0])
    out, mean, variance = run(lambda x: ops.LayerNorm(begin_norm_axis=-1, begin_params_axis=-1)(x, gamma, beta))(M)
    data = M.asnumpy()
    assert (mean.tolist(), variance.shape) == ([[1.0], [4.0]], (2, 1))
    want = (data - data.mean(1, keepdims=True)) / np.sqrt(data.var(1, keepdims=True) + 1e-7)
    np.testing.assert_allclose(out.asnumpy(), want * gamma.asnumpy() + beta.asnumpy(), rtol=1e-6)
    np.testing.assert_allclose(variance.asnumpy(), data.var(1, keepdims=True), rtol=1e-6)


@BOTH
@pytest.mark.parametrize("dtype", [ms.float32, ms.int32, ms.int8])
def test_running_sums_without_the_element_and_from_the_end(run, dtype):
    x = Tensor([1, 2, 3], dtype)
    answers = {(0, 0): [1, 3, 6], (1, 0): [0, 1, 3], (0, 1): [6, 5, 3], (1, 1): [5, 3, 0]}
    for (exclusive, reverse), want in answers.items():
        found = run(lambda x, e=bool(exclusive), r=bool(reverse): ops.CumSum(e, r)(x, 0))(x)
        assert (found.tolist(), found.dtype) == (want, dtype)


def test_batches_of_matrices_may_have_more_axes():
    a, b = np.random.default_rng(0).normal(size=(2, 2, 3, 4)), np.random.default_rng(1).normal(size=(2, 2, 4, 5))
    np.testing.assert_allclose(ops.bmm(Tensor(a), Tensor(b)).asnumpy(), a @ b)
    with pytest.raises(ShapeError, match="two batches of matrices"):
        ops.bmm(Tensor(np.ones((1, 3, 4))), Tensor(np.ones((2, 4, 3))))


def test_differences_with_more_before_and_behind():
    x = np.array([[1.0, 4.0, 9.0], [2.0, 2.0, 7.0]])
    for n in (0, 1, 2):
        for axis in (0, 1):
            np.testing.assert_array_equal(ops.diff(Tensor(x), n, axis).asnumpy(), np.diff(x, n, axis))
    more = np.ones((2, 1))
    found = ops.diff(Tensor(x), 1, 1, Tensor(more), Tensor(more * 2))
    np.testing.assert_array_equal(found.asnumpy(), np.diff(x, 1, 1, more, more * 2))
    flags = np.array([True, False, False])
    np.testing.assert_array_equal(ops.diff(Tensor(flags)).asnumpy(), np.diff(flags))


def test_extremes_that_are_bounded_tell_the_first_place_of_the_bound():
    values, places = ops.max(M, 1, initial=10.0)
    assert (values.tolist(), places.tolist()) == ([10.0, 10.0], [0, 0])
    values, places = ops.max(M, 1, initial=-1.0, where=M > 1)
    assert (values.tolist(), places.tolist()) == ([2.0, 5.0], [2, 2])
    values, places = ops.min(M, 1, initial=1.5, where=M > 1)
    assert (values.tolist(), places.tolist()) == ([1.5, 1.5], [0, 0])


def _pooled(x, k, s, pad, d):
    """Values and places by going through every window."""
    n, c, h, w = x.shape
    out = [(e + 2 * pad - (k - 1) * d - 1) // s + 1 for e in (h, w)]
    values, places = np.zeros((n, c, *out), x.dtype), np.zeros((n, c, *out), np.int64)
    for b, ch, i, j in np.ndindex(n, c, *out):
        cells = [
            (x[b, ch, y, z], y * w + z)
            for y in (i * s - pad + d * np.arange(k))
            for z in (j * s - pad + d * np.arange(k))
            if 0 <= y < h and 0 <= z < w
        ]
        best = max(v for v, _ in cells)
        values[b, ch, i, j], places[b, ch, i, j] = next((v, q) for v, q in cells if v == best)
    return values, places


@BOTH
@pytest.mark.parametrize(("k", "s", "pad", "d"), [(2, 2, 0, 1), (3, 1, 1, 1), (2, 1, 1, 2), (3, 2, 1, 2)])
def test_pooling_with_places_and_windows_that_are_apart(run, k, s, pad, d):
    x = np.random.default_rng(0).integers(-5, 5, size=(2, 3, 6, 7)).astype(np.float32)
    values, places = run(lambda x: ops.max_pool2d(x, k, s, pad, d, True))(Tensor(x))
    want, where = _pooled(x, k, s, pad, d)
    np.testing.assert_array_equal(values.asnumpy(), want)
    np.testing.assert_array_equal(places.asnumpy(), where)
    np.testing.assert_array_equal(run(lambda x: ops.max_pool2d(x, k, s, pad, d))(Tensor(x)).asnumpy(), want)


def test_the_gradient_of_pooling_with_places_goes_to_the_place():
    x = np.random.default_rng(0).normal(size=(1, 1, 4, 4)).astype(np.float32)
    found = ms.grad(lambda x: ops.max_pool2d(x, 2, 2, 0, 1, True)[0].sum())(Tensor(x)).asnumpy()
    want = np.zeros(16)
    want[_pooled(x, 2, 2, 0, 1)[1].flatten()] = 1
    np.testing.assert_array_equal(found.flatten(), want)


def test_a_last_window_that_is_not_whole_counts_with_ceil_mode():
    x = Tensor(np.arange(25, dtype=np.float32).reshape(1, 1, 5, 5))
    want = [[[[6.0, 8.0, 9.0], [16.0, 18.0, 19.0], [21.0, 23.0, 24.0]]]]
    assert ops.max_pool2d(x, 2, 2, 0, 1, False, True).tolist() == want
    values, places = ops.max_pool2d(x, 2, 2, 0, 1, True, True)
    assert (values.tolist(), places.tolist()) == (want, want)
    cube = Tensor(np.arange(64, dtype=np.float32).reshape(1, 1, 4, 4, 4))
    values, places = ops.max_pool3d(cube, 2, 2, 0, 1, False, True)
    assert values.tolist() == places.tolist()


def test_the_state_of_a_generator_goes_by_words_or_bytes():
    first, second = ms.Generator().manual_seed(5), ms.Generator()
    state = first.get_state()
    second.set_state(Tensor(state.asnumpy().view(np.uint8)))
    assert second.initial_seed() == 5
    second.set_state(state)
    assert second.get_state().tolist() == state.tolist()
    with pytest.raises(ArgumentError, match="four whole numbers"):
        second.set_state(Tensor([1.0, 2.0, 3.0, 4.0]))


def test_bytes_are_read_as_another_type():
    data = np.array([[1.0, 2.0, 3.0]], np.float32)
    for dtype in (ms.int32, ms.int8, ms.float16):
        np.testing.assert_array_equal(Tensor(data).view(dtype).asnumpy(), data.view(dtype.numpy))
    assert Tensor([[1, 2]], ms.int32).view(ms.int64).tolist() == [[8589934593]]
    with pytest.raises(ShapeError, match="no whole numbers"):
        Tensor([1, 2, 3], ms.int32).view(ms.int64)
    assert M.view(3, 2).shape == (3, 2)
    assert M.stride() == [3, 1]


def test_assigned_values_may_be_of_another_shape_and_type():
    x = Tensor([1.0, 2.0, 3.0, 4.0])
    assert x.assign_value(Tensor([[1, 2]])) is x
    assert (x.tolist(), x.dtype) == ([[1, 2]], ms.int64)


def test_rows_of_a_table_are_shortened_before_they_are_read():
    table = Parameter([[3.0, 4.0], [6.0, 8.0]], name="t")
    found = ops.embedding(Tensor([0]), table, max_norm=1.0)
    np.testing.assert_allclose(found.asnumpy(), [[0.6, 0.8]], rtol=1e-6)
    np.testing.assert_allclose(table.asnumpy(), [[0.6, 0.8], [6.0, 8.0]], rtol=1e-6)


def test_gradients_of_rows_are_divided_by_how_often_they_were_asked_for():
    table = Parameter(np.ones((3, 2), np.float32), name="t")

    def loss(i):
        return ops.embedding(i, table, scale_grad_by_freq=True).sum()

    assert ms.grad(loss, None, table)(Tensor([0, 0, 2])).tolist() == [[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]]


def test_an_initialiser_may_fill_an_array():
    class Seven(Initializer):
        def _initialize(self, arr):
            arr[:] = 7

    assert initializer(Seven(), [2], ms.float32).init_data().tolist() == [7.0, 7.0]
    assert nn.Dense(2, 1, weight_init=Seven()).weight.tolist() == [[7.0, 7.0]]


@BOTH
def test_a_list_of_cells_is_mapped_cell_by_cell(run):
    cells = nn.CellList([nn.Dense(3, 2, weight_init=float(k), bias_init=0.0) for k in (1, 2)])
    x = Tensor(np.ones((2, 3), np.float32))
    mapped = run(lambda x: ms.vmap(cells, in_axes=0)(x))
    assert mapped(x).tolist() == [[3.0, 3.0], [6.0, 6.0]]
    assert ms.vmap(cells, in_axes=None, out_axes=1)(x[0]).tolist() == [[3.0, 6.0], [3.0, 6.0]]
    with pytest.raises(ArgumentError, match="2 cells are given as many examples"):
        ms.vmap(cells)(Tensor(np.ones((3, 3), np.float32)))


def test_element_types_have_short_names():
    assert (ms.bool, ms.float, ms.half, ms.long, ms.dtype.int) == (
        ms.bool_,
        ms.float32,
        ms.float16,
        ms.int64,
        ms.int32,
    )
    assert ms.jit(lambda x: x.astype(ms.float))(Tensor([1])).dtype is ms.float32


def test_numpys_functions_take_tensors():
    x = Tensor([0.5, 2.0, -1.0])
    assert np.all(x < 3)
    assert np.sum(x) == 1.5
    assert np.argmax(x) == 1
    assert np.concatenate([x, x]).shape == (6,)
    assert np.where(x > 1, x, 0).tolist() == [0, 2, 0]
    assert np.allclose(x, x)
    assert np.max(x, axis=0) == 2.0


def test_rounding_by_python_and_to_decimals():
    x = Tensor([0.1, 4.51, 9.9, -123.456])
    assert round(x).tolist() == [0, 5, 10, -123]
    assert ms.jit(lambda x: round(x))(x).tolist() == [0, 5, 10, -123]
    assert round(x, 1).tolist() == np.round(x.asnumpy(), 1).tolist()
    assert ops.round(x, decimals=-1).tolist() == [0, 0, 10, -120]


def test_mutable_numbers_are_differentiated():
    by = ops.GradOperation()(lambda x, y: x * y)
    assert by(ms.mutable(2), 3) == 3
    assert by(ms.mutable(2.0), 3) == 3
    assert ms.jit(ms.grad(lambda x, y: x * y))(ms.mutable(2), 3) == 3


def test_lists_of_changing_length():
    total = ms.jit(lambda numbers: sum(numbers))
    for n in (2, 3, 5):
        assert total(ms.mutable([Tensor(1.0)] * n, dynamic_len=True)) == n
    with pytest.raises(ValueError, match="one type and shape"):
        ms.mutable([Tensor(1.0), Tensor([1.0])], dynamic_len=True)


def test_wrong_arguments_are_errors_of_both_kinds():
    for kind in (TypeError, ValueError):
        with pytest.raises(kind):
            nn.exponential_decay_lr("a", 0.9, 6, 2, 1)


def test_gradients_of_processes_are_added_up_unless_the_context_says_mean():
    weights = [Parameter([1.0], name="w")]
    assert not nn.DistributedGradReducer(weights).mean
    ms.set_auto_parallel_context(gradients_mean=True)
    try:
        assert nn.DistributedGradReducer(weights).mean
        assert not nn.DistributedGradReducer(weights, mean=False).mean
    finally:
        ms.reset_auto_parallel_context()


@pytest.mark.parametrize("setting", [{"exc_mode": "sink"}, {"debug_level": "DEBUG"}, {"infer_boost": "on"}])
def test_settings_without_effect_say_so(setting):
    with pytest.warns(UserWarning, match="has no effect"):
        ms.JitConfig(**setting)


def test_other_words_reach_functions_whose_results_share_memory():
    assert [part.tolist() for part in ops.chunk(Tensor([1, 2, 3, 4]), 2, dim=0)] == [[1, 2], [3, 4]]
    assert Tensor([1, 2, 3, 4]).chunk(2, dim=0)[1].tolist() == [3, 4]


@pytest.mark.parametrize("way", [lambda f: f, ms.jit], ids=["eager", "jit"])
def test_one_position_in_a_tuple_gives_one_gradient(way):
    x, y, w = Tensor([2.0]), Tensor([5.0]), ms.Parameter(Tensor([3.0]), name="w")

    def product(a, b):
        return a * b * w

    assert way(ms.grad(product, (1,)))(x, y).tolist() == [6.0]
    by_argument, by_weight = way(ms.grad(product, (0,), [w]))(x, y)
    assert (by_argument.tolist(), [g.tolist() for g in by_weight]) == ([15.0], [[10.0]])
    assert [g.tolist() for g in way(ms.grad(product, (0, 1)))(x, y)] == [[15.0], [6.0]]
    assert way(ms.value_and_grad(product, (0,)))(x, y)[1].tolist() == [15.0]
    assert ms.jacrev(product, (0,))(x, y).shape == ms.jacfwd(product, (0,))(x, y).shape == (1, 1)
    assert isinstance(way(ops.GradOperation(get_all=True)(lambda a: a * a))(x), tuple)


NAN = float("nan")
AT = Tensor([NAN, 1.0, 2.0, 2.0]), Tensor([1.0, NAN, 2.0, 3.0])
SLOPES = {
    "maximum": ([1.0, 1.0, 0.5, 0.0], [1.0, 1.0, 0.5, 1.0]),
    "minimum": ([1.0, 1.0, 0.5, 1.0], [1.0, 1.0, 0.5, 0.0]),
    "fmax": ([0.0, 1.0, 1.0, 0.0], [1.0, 0.0, 0.0, 1.0]),
}
"""MindSpore 2.10's gradients at AT."""


@pytest.mark.parametrize("way", [lambda f: f, ms.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("name", SLOPES)
def test_gradients_of_extremes_beside_nan_and_at_ties(name, way):
    found = way(ms.grad(getattr(ops, name), (0, 1)))(*AT)
    assert tuple(g.tolist() for g in found) == SLOPES[name]


def test_answers_of_mindspore():
    """Each as MindSpore 2.10 answers."""
    rows = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    assert ops.diag(rows).shape == ops.Diag()(rows).shape == rows.diag().shape == (2, 3, 2, 3)
    np.testing.assert_array_equal(ops.diag(rows).asnumpy().reshape(6, 6), np.diag(np.arange(6.0)))
    assert ops.inv(Tensor([2, 1, -1], ms.int32)).tolist() == [0, 1, -1]
    assert ops.Inv()(Tensor([2], ms.int32)).dtype is ms.int32
    assert ops.multinomial(Tensor([0.0, 10.0, 3.0]), 2).dtype is ms.int32
    for found in (ops.max(rows, None, True), ops.min(rows, None, True), rows.argmax_with_value(None, True)):
        assert [x.shape for x in found] == [(), ()]
    assert ops.ReduceSum()(rows, Tensor([], ms.int64)).item() == 15.0
    assert ops.Dropout2D(keep_prob=1.0)(ops.ones((1, 1, 2, 2)))[0].sum().item() == 4.0
    logits, target = Tensor(np.log([[0.3, 0.7], [0.5, 0.5]]).astype(np.float32)), Tensor([[-1.0, 1.0], [0.0, -1.0]])
    np.testing.assert_allclose(ops.kl_div(logits, target, "none").asnumpy(), [[0, 0.35667494], [0, 0]], rtol=1e-6)
    np.testing.assert_allclose(ops.KLDivLoss("batchmean")(logits, target).item(), 0.178337, rtol=1e-5)


def test_slices_are_added_in_either_order_of_arguments_and_locked_or_not():
    x, at = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), Tensor([0, 2], ms.int32)
    source = Tensor([[0.5, 1.0], [1.0, 1.5]])
    assert x.index_add(1, at, source).tolist() == [[1.5, 2, 4], [5, 5, 7.5]]
    assert x.index_add(at, source, 1).tolist() == [[1.5, 2, 4], [5, 5, 7.5]]
    assert x.index_add(at, source, axis=1).tolist() == [[1.5, 2, 4], [5, 5, 7.5]]
    assert x.index_add(indices=at, y=source, axis=1).tolist() == [[1.5, 2, 4], [5, 5, 7.5]]
    w = Parameter([1.0, 2.0], name="w")
    assert ops.ScatterAdd(use_locking=True)(w, Tensor([1], ms.int32), Tensor([3.0])).tolist() == [1, 5]
    assert ops.ScatterUpdate(use_locking=False)(w, Tensor([0], ms.int32), Tensor([3.0])).tolist() == [3, 5]


def test_small_functions_at_the_top():
    assert ms.frombuffer(bytearray([1, 2, 3]), dtype=ms.uint8).tolist() == [1, 2, 3]
    assert ms.is_tensor(Tensor(1))
    assert ms.dtype_to_pytype(ms.float16) is float
    assert ms.get_py_obj_dtype(1) is ms.int64
    parts = [Parameter(Tensor([1.0, 2.0]), name="w"), Parameter(Tensor([3.0]), name="w")]
    assert ms.merge_sliced_parameter(parts).tolist() == [1, 2, 3]
    rows = ms.RowTensor(Tensor([0]), Tensor([[1.0, 2.0]]), (3, 2))
    assert (rows.indices.tolist(), rows.values.tolist(), rows.dense_shape) == ([0], [[1, 2]], (3, 2))
    assert Tensor([[1.0, 2.0, 3.0]]).std(dim=1, correction=1).tolist() == [1]
    assert Tensor([-4.0]).remainder(divisor=3).tolist() == [2]


def test_an_axis_or_a_mode_that_all_examples_share_stays_a_number_under_vmap():
    x, i = Tensor(np.arange(24, dtype=np.float32).reshape(2, 3, 4)), Tensor(np.array([0, 2], np.int32))
    for axis in (0, 1, -1):
        want = np.stack([np.take(a, k, axis) for a, k in zip(x.asnumpy(), i.asnumpy(), strict=True)])
        for run in (lambda f: f, ms.jit):
            got = run(lambda x, i, axis=axis: ms.vmap(ops.Gather(), (0, 0, None))(x, i, axis))(x, i)
            np.testing.assert_array_equal(got.asnumpy(), want)
    chosen = ms.vmap(lambda x, mode: ops.abs(x) if mode == "abs" else x, (0, None))
    assert chosen(Tensor([-1.0, 2.0]), "abs").tolist() == [1.0, 2.0]
    assert chosen(Tensor([-1.0, 2.0]), "same").tolist() == [-1.0, 2.0]


@pytest.mark.parametrize(
    "call",
    [
        lambda x: ops.sum(x, 1, "yes"), lambda x: x.mean(1, "yes"), lambda x: ops.ReduceMax("yes")(x, 1),
        lambda x: ops.argmax(x, 1, "yes"), lambda x: x.sum(1, keepdims=2), lambda x: ops.median(x, 1, "yes"),
        lambda x: ops.quantile(x, 0.5, 1, "yes"), lambda x: ops.norm(x, "nuc", (0, 1), "yes"),
    ],
)  # fmt: skip
def test_what_is_kept_is_said_by_true_or_false(call):
    with pytest.raises(MyceliaError, match=r"keepdims of .* is True or False"):
        call(M)


@pytest.mark.parametrize("signature", [5, (), ["x"], (Tensor([1.0]), 5)])
def test_a_signature_of_inputs_is_made_of_tensors(signature):
    with pytest.raises(ArgumentError, match="input_signature describes each argument by a tensor"):
        ms.jit(lambda x, y=None: x, input_signature=signature)


def test_a_margin_may_be_a_tensor_in_a_compiled_program_too():
    x, margin = Tensor([0.0, 0.3, 1.0]), Tensor(0.1)
    compiled = ms.jit(lambda x, margin: ops.logit(x, margin), fallback=False)
    np.testing.assert_array_equal(compiled(x, margin).asnumpy(), ops.logit(x, 0.1).asnumpy())
    slope = ms.jit(ms.grad(lambda x, margin: ops.logit(x, margin).sum(), (0, 1)), fallback=False)
    by_x, by_margin = slope(x, margin)
    np.testing.assert_allclose(by_x.asnumpy(), [0, 1 / (0.3 * 0.7), 0], rtol=1e-6)
    np.testing.assert_allclose(by_margin.asnumpy(), 0, atol=1e-5)  # what is gained below is lost above


def test_schedules_give_true_for_a_step_but_for_two_that_give_nothing():
    from mycelia.experimental import optim
    from mycelia.experimental.optim import lr_scheduler as s

    rule = optim.SGD([Parameter([1.0])], lr=0.1)
    first, second = s.ConstantLR(rule), s.StepLR(rule, 2)
    assert (first.step(), second.step()) == (True, True)
    assert s.SequentialLR(rule, [first, second], [2]).step() is None
    assert s.CosineAnnealingWarmRestarts(rule, 2).step() is None


@pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "jit"])
def test_the_cross_entropy_of_scores_gives_its_gradient_when_asked(run):
    scores, labels = np.array([[2, 4, 1, 4, 5], [2, 1, 2, 4, 3]], np.float32), np.array([0, 1], np.int32)
    shares = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    asked = run(ops.SparseSoftmaxCrossEntropyWithLogits(is_grad=True))
    found = asked(Tensor(scores), Tensor(labels)).asnumpy()
    np.testing.assert_allclose(found, (shares - np.eye(5)[labels]) / 2, rtol=1e-5)


def test_putting_a_cell_at_the_end_gives_nothing():
    """As MindSpore's lists do; only `extend` gives the list."""
    for cells in (nn.CellList([nn.ReLU()]), nn.SequentialCell([nn.ReLU()])):
        assert cells.append(nn.Tanh()) is None
        assert [type(c).__name__ for c in cells] == ["ReLU", "Tanh"]
    assert len(nn.CellList().extend([nn.ReLU()])) == 1


@pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "jit"])
def test_eigenvalues_come_alone_unless_vectors_are_wanted(run):
    x = np.array([[2.0, 1.0], [1.0, 3.0]])
    values, vectors = run(ops.Eig(compute_v=True))(Tensor(x))
    np.testing.assert_allclose(x @ vectors.asnumpy(), vectors.asnumpy() * values.asnumpy(), atol=1e-12)
    alone, nothing = run(ops.Eig())(Tensor(x))
    assert (alone.tolist(), nothing.size) == (values.tolist(), 0)
    slope = run(ms.grad(lambda x: ops.Eig()(x)[0].real().sum()))(Tensor(x))
    np.testing.assert_allclose(slope.asnumpy(), np.eye(2), atol=1e-12)  # their sum is the trace


def test_what_is_said_about_where_an_operation_runs_is_noted():
    op = ops.ReduceSum().set_device("CPU").set_stage(0).shard(((1, 1),)).recompute().set_prim_instance_name("rows")
    assert (op.name, op.instance_name, op(M, 1).shape) == ("ReduceSum", "rows", M.shape[:1])
    assert op.attrs == {"keep_dims": False, "primitive_target": "CPU", "stage": 0, "in_strategy": ((1, 1),),
                        "recompute": True}  # fmt: skip
    op.init_prim_io_names(["x", "axis"], ["sum"])
    assert op.attrs["input_names"] == ["x", "axis"]
    assert "stage" not in op.del_prim_attr("stage").attrs
    compiled = ms.jit(op)
    assert compiled(M, 1).shape == M.shape[:1]
    op.add_prim_attr("keep_dims", True)
    assert op(M, 1).shape == compiled(M, 1).shape == (M.shape[0], 1)
    for wrong in (lambda: op.set_device("GPU"), lambda: op.set_stage("x"), lambda: op.shard([1]),
                  lambda: op.add_prim_attr("unheard", 1), lambda: op.recompute("yes")):  # fmt: skip
        with pytest.raises(MyceliaError):
            wrong()


def test_a_parameter_says_that_it_kept_its_place():
    w = Parameter(Tensor([1.0]), name="w")
    assert (w.inited_param, w.sliced, w.comm_fusion) == (None, False, 1)
    w.comm_fusion = 2
    assert (w.comm_fusion, Parameter(Tensor([1.0])).comm_fusion) == (2, 1)
