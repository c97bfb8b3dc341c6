"""What layers do with each of their options, against NumPy, and cells that hold others, against plain Python."""

import warnings
from itertools import product

import numpy as np
import pytest
from scipy import signal, special

import mycelia as ms
from mycelia import Parameter, Tensor, nn
from mycelia.errors import ArgumentError, MyceliaError, ShapeError
from mycelia.nn.image import gaussian
from mycelia.nn.optim.optimizer import check_share
from tests.each import each

WAYS = pytest.mark.parametrize("way", [lambda f: f, ms.jit], ids=["eager", "compiled"])


def refused(call, kind=MyceliaError):
    with pytest.raises(kind):
        call()


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def near(mine, theirs, exact=1e-5):
    np.testing.assert_allclose(mine.asnumpy(), theirs, rtol=exact, atol=exact)


# ---------------------------------------------------------------------------------------- layers


@WAYS
@pytest.mark.parametrize("longest", [0.5, 2, 100.0])
def test_vectors_of_a_table_are_at_most_so_long(longest, way):
    table = numbers(5, 3) * np.array([[0.01], [0.3], [1.0], [5.0], [20.0]], "f")
    layer = nn.EmbeddingLookup(5, 3, param_init=Tensor(table), max_norm=longest)
    ids = np.array([[4, 0, 1], [2, 3, 3]], np.int32)
    length = np.linalg.norm(table[ids], axis=-1, keepdims=True)
    near(way(layer)(Tensor(ids)), table[ids] * np.minimum(1, longest / length))


def attended(q, k, v, heads, out, bias):
    """Attention of (time, batch, features) that were projected already, as its paper writes it."""
    time, batch, width = q.shape
    found, looked = np.zeros((time, batch, width)), np.zeros((batch, heads, time, k.shape[0]))
    size = width // heads
    for b in range(batch):
        for h in range(heads):
            part = slice(h * size, (h + 1) * size)
            looked[b, h] = special.softmax(q[:, b, part] @ k[:, b, part].T / np.sqrt(size), axis=-1)
            found[:, b, part] = looked[b, h] @ v[:, b, part]
    return found @ out.T + bias, looked


@pytest.mark.many(
    ("keys", "values", "first", "average"), list(product((None, 3), (None, 7), (False, True), (False, True)))
)
def test_attention_takes_keys_and_values_of_their_own_widths(keys, values, first, average):
    net = nn.MultiheadAttention(4, 2, kdim=keys, vdim=values, batch_first=first)
    for number, parameter in enumerate(net.get_parameters()):
        parameter.set_data(Tensor(numbers(*parameter.shape, seed=number)))
    q, k, v = numbers(5, 3, 4), numbers(6, 3, keys or 4, seed=1), numbers(6, 3, values or 4, seed=2)
    held = {name: p.asnumpy() for name, p in net.parameters_dict().items()}
    apart = keys is not None or values is not None
    weights = [held[f"{n}_proj_weight"] for n in "qkv"] if apart else np.split(held["in_proj_weight"], 3)
    biases = np.split(held["in_proj_bias"], 3)
    wanted, looked = attended(
        *(x @ w.T + b for x, w, b in zip((q, k, v), weights, biases, strict=True)),
        2, held["out_proj.weight"], held["out_proj.bias"],
    )  # fmt: skip
    given = [Tensor(x.swapaxes(0, 1) if first else x) for x in (q, k, v)]
    out, weights = net(*given, average_attn_weights=average)
    near(out, wanted.swapaxes(0, 1) if first else wanted, 1e-4)
    near(weights, looked.mean(1) if average else looked, 1e-4)


@pytest.mark.many(("first", "second"), list(product((False, True), repeat=2)))
def test_matrices_are_multiplied_as_they_stand_or_turned(first, second):
    for left, right in (
        ((4, 5), (5, 3)), ((2, 4, 5), (5, 3)), ((5,), (5, 3)), ((4, 5), (5,)), ((5,), (5,)), ((3, 1, 4, 5), (2, 5, 3)),
    ):  # fmt: skip
        x, y = numbers(*left), numbers(*right, seed=1)
        given = [
            Tensor(np.ascontiguousarray(t.swapaxes(-1, -2)) if turned and t.ndim > 1 else t)
            for t, turned in ((x, first), (y, second))
        ]
        near(nn.MatMul(first, second)(*given), x @ y)


@pytest.mark.many(("kind", "mode"), [
    ("ConstantPad", "constant"), ("ZeroPad", "constant"), ("ReflectionPad", "reflect"), ("ReplicationPad", "edge"),
])  # fmt: skip
def test_the_last_axes_are_padded_as_by_numpy(kind, mode):
    x, value = numbers(2, 3, 4, 5, 6), {"ConstantPad": (1.5,)}.get(kind, ())
    for rank in (1, 2, 3):
        if not hasattr(nn, f"{kind}{rank}d"):
            continue
        make = getattr(nn, f"{kind}{rank}d")
        for given in (1, 0, (1, 2), (0, 1, 2, 1)[: 2 * rank], (1, 0, 0, 2, 1, 1)[: 2 * rank]):
            widths = (given,) * (2 * rank) if isinstance(given, int) else given
            pairs = [widths[2 * i : 2 * i + 2] for i in range(len(widths) // 2)][::-1]
            fill = {"constant_values": value[0]} if value else {}
            wanted = np.pad(x, [(0, 0)] * (5 - len(pairs)) + pairs, mode, **fill)
            np.testing.assert_array_equal(make(given, *value)(Tensor(x)).asnumpy(), wanted)
        for bad in (
            (),
            (1,),
            (1, 2, 3)[: 2 * rank + 1],
            (1,) * (2 * rank + 1),
            (1,) * (2 * rank + 2),
            "1",
            1.0,
            (1.0, 2),
        ):
            refused(lambda make=make, bad=bad: make(bad, *value))


@pytest.mark.parametrize("axes", [3, 4])
def test_a_weight_of_lines_may_have_the_axes_of_lines(axes):
    weight, x = numbers(2, 3, 4), numbers(1, 3, 9, seed=1)
    given = weight if axes == 3 else weight[:, :, None]
    layer = nn.Conv1d(3, 2, 4, pad_mode="valid", weight_init=Tensor(given))
    wanted = [sum(np.correlate(x[0, i], weight[o, i], "valid") for i in range(3)) for o in range(2)]
    near(layer(Tensor(x))[0], wanted)


@WAYS
@pytest.mark.parametrize(("rank", "shape"), [(1, (4, 3, 5)), (2, (4, 3, 5, 2)), (3, (4, 3, 2, 2, 2))])
def test_whole_channels_are_dropped(rank, shape, way):
    kind = getattr(nn, f"Dropout{rank}d")
    x = Tensor(np.ones(shape, "f"))
    assert not way(kind(1.0).set_train())(x).asnumpy().any()
    assert way(kind(1.0))(x).asnumpy().all()
    assert way(kind(0.0).set_train())(x).asnumpy().all()
    ms.set_seed(1)
    out = way(kind(0.5).set_train())(x).asnumpy().reshape(12, -1)
    assert {tuple(np.unique(row)) for row in out} == {(0.0,), (2.0,)}


@pytest.mark.parametrize("decayed", [False, True])
def test_a_decay_along_a_power_begins_anew_where_that_was_asked(decayed):
    def rate(step, steps=4, first=0.5, last=0.1, power=2.0):
        end = steps * max(1, -(-step // steps)) if decayed else steps
        return (first - last) * (1 - min(step, end) / end) ** power + last

    schedule = nn.PolynomialDecayLR(0.5, 0.1, 4, 2.0, decayed)
    wanted = [rate(step) for step in range(11)]
    np.testing.assert_allclose([schedule(Tensor(step)).item() for step in range(11)], wanted, rtol=1e-5)
    listed = nn.polynomial_decay_lr(0.5, 0.1, 11, 1, 4, 2.0, decayed)
    np.testing.assert_allclose(listed, wanted, rtol=1e-12)
    assert nn.polynomial_decay_lr(0.5, 0.1, 8, 2, 4, 2.0, decayed) == [listed[i // 2] for i in range(8)]


@pytest.mark.parametrize("epochs", [0, 1, 2, 5])
def test_a_rate_warms_up_in_equal_steps(epochs):
    wanted = [0.3 * min(epoch, epochs) / epochs if epochs else 0.3 for epoch in (0, 0, 1, 1, 2, 2, 3)]
    np.testing.assert_allclose(nn.warmup_lr(0.3, 7, 2, epochs), wanted, rtol=1e-12)


@pytest.mark.parametrize("kind", ["RNNCell", "GRUCell", "LSTMCell"])
@pytest.mark.parametrize("bias", [False, True])
def test_one_example_is_a_batch_of_one(kind, bias):
    cell, x, h = getattr(nn, kind)(3, 4, bias), numbers(2, 3), numbers(2, 4, seed=1)

    def state(h):
        return (Tensor(h), Tensor(h * 2)) if kind == "LSTMCell" else Tensor(h)

    def parts(out):
        return [part.asnumpy() for part in (out if isinstance(out, tuple) else (out,))]

    both = parts(cell(Tensor(x), state(h)))
    for i in range(2):
        for alone, together in zip(parts(cell(Tensor(x[i]), state(h[i]))), both, strict=True):
            assert alone.shape == (4,)
            np.testing.assert_allclose(alone, together[i], rtol=1e-5, atol=1e-6)


@pytest.mark.many("kind", [float, np.float32, np.float64, int])
def test_numbers_of_numpy_do_not_make_layers_wider(kind):
    assert gaussian(3, kind(2)).dtype == np.float32
    x = Tensor(np.random.default_rng(0).random((1, 1, 8, 8)).astype("f"))
    likeness = nn.SSIM(filter_size=3, filter_sigma=kind(2))(x, x)
    assert (likeness.dtype, round(likeness.item(), 4)) == (ms.float32, 1.0)
    net = nn.Dense(1, 1, weight_init="ones", has_bias=False)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.25), kind(2))
    assert type(step.sens) is float
    assert step(Tensor([[1.0]]), Tensor([[3.0]])).item() == 4.0
    assert (net.weight.dtype, net.weight.item()) == (ms.float32, 3.0)


@pytest.mark.many(
    ("most", "size", "sigma", "k1", "k2"), [(1.0, 3, 1.5, 0.01, 0.03), (255.0, 5, 0.8, 0.2, 0.1), (2, 4, 2, 1.5, 0.7)]
)
def test_images_are_as_like_as_the_formula_says(most, size, sigma, k1, k2):
    rng = np.random.default_rng(size)
    x, y = (rng.random((2, 2, 9, 8)) * most for _ in range(2))
    at = np.arange(-size // 2 + 1, size // 2 + 1)
    window = np.exp(-(at[:, None] ** 2 + at**2) / (2 * sigma**2))
    window /= window.sum()

    def mean(t):
        return np.array([[signal.correlate2d(plane, window, "valid") for plane in image] for image in t])

    first, second = (k1 * most) ** 2, (k2 * most) ** 2
    mx, my = mean(x), mean(y)
    both = mean(x * y) - mx * my
    apart = mean(x * x) - mx**2 + mean(y * y) - my**2
    like = (2 * mx * my + first) / (mx**2 + my**2 + first) * (2 * both + second) / (apart + second)
    got = nn.SSIM(most, size, sigma, k1, k2)(Tensor(x.astype("f")), Tensor(y.astype("f")))
    near(got, like.mean((1, 2, 3)), 1e-3)


def test_shares_and_decays_at_their_borders():
    assert [type(check_share("m", value)) for value in (0, 0.0, 0.999)] == [float] * 3
    w = Parameter(np.ones(1, "f"), name="w")
    for decay in (0, 0.0, 1, 1e-9, np.float32(0.5), np.int32(2), nn.ExponentialDecayLR(0.1, 0.5, 2), Tensor(0.1)):
        assert nn.SGD([w], 0.1, weight_decay=decay) is not None

    each(refused, [
        *[(f"share {bad!r}", (lambda bad=bad: check_share("m", bad),))
          for bad in (1, 1.0, -1e-9, True, False, "0", None)],
        *[(f"decay {bad!r}", (lambda bad=bad: nn.SGD([w], 0.1, weight_decay=bad),))
          for bad in (True, False, -1e-9, -1, "0", None, [0.1], float("nan"), np.float32(-1))],
        *[(f"scale {bad!r}", (lambda bad=bad: nn.SGD([w], 0.1, loss_scale=bad),)) for bad in (0, 0.0, -1, "1", None)],
    ])  # fmt: skip


@pytest.mark.many("sparse", [False, True])
def test_labels_fit_what_the_loss_was_told(sparse):
    logits, labels = numbers(4, 3), np.array([0, 2, 1, 1])
    logs = special.log_softmax(logits.astype(float), axis=1)
    shares = special.softmax(numbers(4, 3, seed=1), axis=1)
    wanted = -logs[np.arange(4), labels] if sparse else -(shares * logs).sum(1)
    kinds = [Tensor(labels.astype(np.int32)), Tensor(labels.astype(np.int64))] if sparse else [Tensor(shares)]
    for how, reduced in (("none", wanted), ("mean", wanted.mean()), ("sum", wanted.sum())):
        for given in kinds:
            near(nn.SoftmaxCrossEntropyWithLogits(sparse, how)(Tensor(logits), given), reduced)
    with pytest.raises(ArgumentError, match=f"do not fit sparse={sparse}"):
        nn.SoftmaxCrossEntropyWithLogits(sparse)(Tensor(logits), Tensor(shares if sparse else labels))


@pytest.mark.many(("kind", "extent"), list(product(("MaxPool1d", "AvgPool1d"), range(2, 9))))
def test_a_last_window_begins_inside_or_in_the_padding_before(kind, extent):
    x = numbers(1, 1, extent)
    for size, stride, pad in ((2, 2, 0), (2, 3, 1), (3, 2, 1), (3, 4, 1), (2, 1, 1)):
        if size > extent + 2 * pad:
            continue
        options = {"count_include_pad": False} if kind == "AvgPool1d" else {}
        layer = getattr(nn, kind)(size, stride, pad_mode="pad", padding=pad, ceil_mode=True, **options)
        wanted, begin = [], -pad
        while begin < extent and (begin + pad) <= extent + 2 * pad - size + stride - 1:
            window = x[0, 0, max(begin, 0) : max(begin + size, 0)]
            wanted.append(window.max() if kind == "MaxPool1d" else window.mean())
            begin += stride
        near(layer(Tensor(x))[0, 0], wanted)


# ---------------------------------------------------------------------------------------- gradients


def test_gradients_of_a_result_without_a_loss_are_scaled():
    net = nn.Dense(2, 1, weight_init="ones", has_bias=False)
    x = Tensor(numbers(3, 2))
    for sens, factor in ((None, 1.0), (2.5, 2.5), (Tensor([[1.0], [0.0], [-2.0]]), np.array([[1.0], [0.0], [-2.0]]))):
        (found,) = nn.WithGradCell(net, sens=sens)(x)
        near(found, (x.asnumpy() * factor).sum(0, keepdims=True))
    loss = nn.WithGradCell(net, nn.MSELoss(), 3.0)(x, Tensor(np.zeros((3, 1), "f")))[0]
    near(loss, 3.0 * 2 * (x.asnumpy().sum(1, keepdims=True) * x.asnumpy()).mean(0, keepdims=True))


class Both(nn.Cell):
    def construct(self, x):
        return x * 2.0, x * 3.0


@WAYS
def test_a_hook_before_the_way_back_sees_the_gradient_of_every_result(way):
    net, seen = Both(), []
    assert not net.enable_backward_hook
    handle = net.register_backward_pre_hook(lambda cell, come: seen.append(len(come)) or (come[0] * 10.0, come[1]))
    assert net.enable_backward_hook

    def total(x):
        a, b = net(x)
        return (a + b * 100.0).sum()

    assert way(ms.grad(total))(Tensor([1.0])).tolist() == [2.0 * 10 + 300.0]
    assert set(seen) == {2}
    handle.remove()
    assert not net.enable_backward_hook
    assert ms.grad(total)(Tensor([1.0])).tolist() == [302.0]


@pytest.mark.parametrize("fails", [False, True])
def test_hooks_that_are_always_called_see_what_comes_in_and_failures(fails):
    class Net(nn.Cell):
        def construct(self, x):
            if fails:
                raise KeyError("construct")
            return x + 1.0

    net, seen = Net(), []
    net.register_forward_pre_hook(lambda cell, given: (given[0] * 10.0,))

    def noted(cell, given, out):
        seen.append((given[0].item(), None if out is None else out.item()))
        if fails:
            raise ValueError("and the hook")

    net.register_forward_hook(noted, always_call=True)
    if fails:
        with (
            pytest.raises(KeyError, match="construct"),
            pytest.warns(UserWarning, match="a hook failed .* and the hook"),
        ):
            net(Tensor(2.0))
    else:
        assert net(Tensor(2.0)).item() == 21.0
    assert seen == [(20.0, None if fails else 21.0)]


# ---------------------------------------------------------------------------------------- cells that hold others


def test_cells_by_name_are_a_dictionary():
    first, second, third, fourth = nn.ReLU(), nn.Tanh(), nn.Dense(1, 1), nn.Sigmoid()
    ours, theirs = nn.CellDict({"a": first, "b": second}), {"a": first, "b": second}

    def same():
        assert list(ours.keys()) == list(theirs) == list(ours)
        assert list(ours.values()) == list(theirs.values())
        assert list(ours.items()) == list(theirs.items())
        assert len(ours) == len(theirs)
        assert [name in ours for name in "abc"] == [name in theirs for name in "abc"]
        assert [cell for name, cell in ours.name_cells().items()] == list(theirs.values())

    same()
    for change in (
        lambda d: d.__setitem__("c", third),
        lambda d: d["b"],
        lambda d: d.pop("a"),
        lambda d: d.update({"b": fourth, "a": first}),
        lambda d: d.__delitem__("b"),
        lambda d: d.clear(),
    ):
        assert change(ours) == change(theirs)
        same()
    each(refused, [
        ("get", (lambda: ours["a"], KeyError)), ("delete", (lambda: ours.__delitem__("a"), KeyError)),
        ("pop", (lambda: ours.pop("a"), KeyError)),
    ])  # fmt: skip


def test_a_list_of_cells_grows_as_a_list():
    cells = [nn.ReLU(), nn.Tanh(), nn.Dense(1, 1), nn.Sigmoid()]
    ours, theirs = nn.CellList(cells[:1]), cells[:1]
    same_list = ours
    ours += cells[1:3]
    theirs += cells[1:3]
    assert ours is same_list
    ours.insert(1, cells[3]), theirs.insert(1, cells[3])
    assert list(ours) == theirs
    assert [p.name for p in ours.trainable_params()] == ["3.weight", "3.bias"]


def test_cells_are_walked_in_order_and_once():
    inner = nn.SequentialCell(nn.ReLU(), nn.Dense(1, 1))
    net = nn.SequentialCell(inner, nn.Tanh())
    order = []
    assert net.apply(order.append) is net
    assert order == [inner[0], inner[1], inner, net[1], net]
    known = {net[1], inner[0]}
    assert [path for path, _ in net.cells_and_names(known)] == ["", "0", "0.1"]
    assert known == {net, inner, *inner, net[1]}
    assert [path for path, _ in net.cells_and_names(name_prefix="net")] == [
        "net",
        "net.0",
        "net.0.0",
        "net.0.1",
        "net.1",
    ]


# ---------------------------------------------------------------------------------------- what a cell keeps


class Counting(nn.Cell):
    def __init__(self):
        super().__init__()
        self.count = 7
        self.register_buffer("seen", Tensor([1.0, 2.0]))

    def get_extra_state(self):
        return {"count": self.count}

    def set_extra_state(self, state):
        self.count = state["count"]


def test_a_state_holds_what_a_cell_adds():
    net, other = nn.SequentialCell(Counting(), nn.Dense(1, 1)), nn.SequentialCell(Counting(), nn.Dense(1, 1))
    net[0].count = 9
    state = net.state_dict()
    (extra,) = [key for key in state if state[key] == {"count": 9}]
    assert extra.startswith("0.")
    assert str(other.load_state_dict(state)) == "<All keys matched successfully>"
    assert other[0].count == 9
    without = {k: v for k, v in state.items() if k != extra}
    assert other.load_state_dict(without, strict=False) == ([extra], [])
    plain = nn.SequentialCell(nn.ReLU(), nn.Dense(1, 1))
    only = {k: v for k, v in state.items() if k.startswith("1.")}
    assert plain.load_state_dict({**only, extra: 3}, strict=False) == ([], [extra])
    for wrong, words in ((3.0, "0.seen is a float"), (Tensor([1.0]), r"0.seen has shape \(1,\) .* and \(2,\)")):
        with pytest.raises(MyceliaError, match=words):
            other.load_state_dict({**state, "0.seen": wrong})


def test_hooks_of_states_are_called_until_they_are_removed():
    net, called = Counting(), []
    handles = [
        net.register_state_dict_pre_hook(lambda *_: called.append("before giving")),
        net.register_state_dict_post_hook(lambda *_: called.append("after giving")),
        net.register_load_state_dict_pre_hook(lambda *_: called.append("before taking")),
        net.register_load_state_dict_post_hook(lambda *_: called.append("after taking")),
    ]
    order = ["before giving", "after giving", "before taking", "after taking"]
    for handle, name in zip(handles, order, strict=True):
        called.clear()
        net.load_state_dict(net.state_dict())
        assert called == order[order.index(name) :]
        handle.remove()
    called.clear()
    net.load_state_dict(net.state_dict())
    assert called == []


def test_a_buffer_that_is_deleted_or_replaced_is_kept_no_more():
    net = Counting()
    net.register_buffer("more", Tensor([3.0]))
    assert [key for key in net.state_dict() if "extra" not in key] == ["seen", "more"]
    net.seen = Tensor([5.0, 6.0])
    assert net.state_dict()["seen"].tolist() == [5.0, 6.0]
    del net.more
    net.seen = "no tensor"
    assert [key for key in net.state_dict() if "extra" not in key] == []
    net.more = Tensor([3.0])
    assert "more" not in net.state_dict()


def test_notes_of_a_cell():
    net = nn.Dense(1, 1, weight_init="ones")
    assert net.create_time == net.create_time > 0
    assert net.parameter_layout_dict == {}
    net.parameter_layout_dict = {"weight": (1, 1)}
    assert net.parameter_layout_dict == {"weight": (1, 1)}
    with pytest.raises(MyceliaError, match="is a dictionary, not a list"):
        net.parameter_layout_dict = []
    assert net.offload(1) is None
    each(refused, [(str(bad), (lambda bad=bad: net.offload(bad),)) for bad in (0, -1, "auto", 1.5, True)])
    assert net.to("CPU").weight.dtype is ms.float32
    assert net.to("CPU", ms.float16).weight.dtype is ms.float16
    assert net.to(Tensor(1.0), True).weight.dtype is ms.float32
    for bad in (("CPU", ms.float16, True, 1), (ms.float16, True, 1), (Tensor(1.0), True, 1), ("Moon",), (ms.int32,)):
        with pytest.raises(MyceliaError):
            net.to(*bad)
    refused(lambda: net.to(ms.float16, dtype=ms.float16))
    refused(lambda: net.to(ms.float16, non_blocking=1))
    assert net.to_empty(device="CPU").weight.tolist() == [[0.0]]
    with pytest.raises(MyceliaError):
        net.to_empty(device="Moon")
    net.set_jit_config({"jit_syntax_level": "LAX"})
    with pytest.warns(UserWarning, match="set once"):
        net.set_jit_config({"jit_syntax_level": "STRICT"})
    assert net.jit_config_dict == {"jit_syntax_level": "LAX"}


# ---------------------------------------------------------------------------------------- optimizers


def test_a_rate_of_ones_own_may_be_a_parameter_of_one_number_or_many():
    for rate, wanted in ((0.5, [0.5, 0.5, 0.5]), ([0.5, 0.25], [0.5, 0.25, 0.25])):
        w = Parameter(np.zeros(1, "f"), name="w")
        rule = nn.SGD([w], Parameter(Tensor(rate, ms.float32), name="rate"))
        for _ in wanted:
            rule((Tensor([1.0]),))
        assert w.item() == -sum(wanted)


def test_a_cell_updates_a_parameter_of_another():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter([1.0], name="w")
            self.update = nn.ParameterUpdate(self.w)

        def construct(self, x):
            return self.update(x) * 2.0

    net = Net()
    assert net(Tensor([2.0])).tolist() == [4.0]
    assert net.w.tolist() == [2.0]
    assert len(list(net.get_parameters())) == 1
    refused(lambda: nn.ParameterUpdate(Tensor([1.0])))


def test_the_state_of_rules_is_what_their_formulas_say():
    w = Parameter(np.ones(2, "f"), name="w")
    rule = nn.AdaMax([w], beta1=0.5)
    for step in range(3):
        assert rule.computed()["beta1_power"] == pytest.approx(0.5**step)
        rule((Tensor([1.0, -1.0]),))
    averages = nn.ASGD([w]).ax
    assert [(p.name, p.shape) for p in averages] == [("ax_.w", (2,))]


@pytest.mark.many("kind", ["Adam", "AdamW", "AdamWeightDecay", "LazyAdam", "AdamOffload", "Lamb", "Adagrad", "RMSProp"])
def test_whole_numbers_are_numbers_to_optimizers(kind):
    changed = []
    for eps, rate in ((1, 1), (1.0, 1.0)):
        w = Parameter(np.array([1.0, -2.0], "f"), name="w")
        word = "update_slots" if kind == "Adagrad" else "epsilon" if kind == "RMSProp" else "eps"
        rule = getattr(nn, kind)([w], rate, **({} if kind == "Adagrad" else {word: eps}))
        if hasattr(rule, "eps"):
            assert type(rule.eps) is float
        rule((Tensor([0.5, 3.0]),))
        changed.append(w.tolist())
    assert changed[0] == changed[1] != [1.0, -2.0]


def test_a_momentum_of_a_checkpoint_is_taken_where_there_is_one():
    def rule(momentum):
        return nn.SGD([Parameter(np.ones(1, "f"), name="w")], 0.1, momentum)

    kept = rule(0.9)
    kept.take("momentum", 0.5)
    assert kept.momentum == 0.5
    kept.take("momentum", 0.5)
    rule(0.0).take("momentum", 0.0)
    with pytest.raises(ArgumentError, match=r"has a momentum of 0\.5, and SGD has none"):
        rule(0.0).take("momentum", 0.5)
    rule(0.0).take("another", 0.5)


def test_an_axis_is_taken_apart():
    x = numbers(2, 6, 12)
    for axis, sizes, wanted in (
        (0, (1, 2), (1, 2, 6, 12)), (1, (2, 3), (2, 2, 3, 12)), (1, (6,), (2, 6, 12)), (2, (3, 2, 2), (2, 6, 3, 2, 2)),
        (-1, (3, 4), (2, 6, 3, 4)), (-3, (2, 1), (2, 1, 6, 12)), (1, (-1, 2), (2, 3, 2, 12)),
    ):  # fmt: skip
        np.testing.assert_array_equal(nn.Unflatten(axis, sizes)(Tensor(x)).asnumpy(), x.reshape(wanted))
    for axis in (3, -4):
        with pytest.raises(ShapeError, match=f"has no axis {axis}"):
            nn.Unflatten(axis, (1,))(Tensor(x))


def test_a_time_beside_another_axis_is_run_at_once():
    dense, x = nn.Dense(3, 2), numbers(4, 5, 6, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for time in (0, 1, 2, -2, -3):
            alone = nn.TimeDistributed(dense, time)(Tensor(x)).asnumpy()
            for beside in (0, 1, 2, -2):
                if beside % 4 == time % 4:
                    with pytest.raises(ArgumentError, match="another axis"):
                        nn.TimeDistributed(dense, time, beside)(Tensor(x))
                    continue
                near(nn.TimeDistributed(dense, time, beside)(Tensor(x)), alone)
        for bad in (4, -5):
            with pytest.raises(ShapeError, match=f"no axis {bad} of time"):
                nn.TimeDistributed(dense, bad)(Tensor(x))
