"""Cells: what belongs to them, what it is called, and how a call goes."""

import copy
import pickle
import warnings

import numpy as np
import pytest

import mycelia as ms
from mycelia import nn, ops
from mycelia.errors import ArgumentError


class Scale(nn.Cell):
    """x times a factor that is trained, and one that is not."""

    def __init__(self, factor=2.0):
        super().__init__()
        self.factor = ms.Parameter(ms.Tensor([factor]))
        self.k = 1.0

    def construct(self, x):
        return x * self.factor * self.k


class Pair(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first, self.second = Scale(), Scale(3.0)

    def construct(self, x):
        return self.second(self.first(x))


X = ms.Tensor([1.0, 2.0])


def names(net):
    return [p.name for p in net.get_parameters()]


# ------------------------------------------------------------------------------------------------- what belongs to it


def test_attributes_before_init_are_refused_in_words():
    class Hasty(nn.Cell):
        def __init__(self):
            self.size = 3

    with pytest.raises(AttributeError, match=r"super\(\).__init__\(\)"):
        Hasty()


def test_a_parameter_that_is_replaced_belongs_no_more():
    net = Scale()
    net.factor = ms.Parameter(ms.Tensor([5.0]), name="other")
    assert names(net) == ["other"]
    net.factor = None
    assert names(net) == []
    assert net.factor is None


def test_a_cell_that_is_deleted_belongs_no_more():
    net = Pair()
    del net.first
    assert names(net) == ["second.factor"]
    assert not hasattr(net, "first")


def test_a_tensor_assigned_to_a_parameter_becomes_its_data():
    net = Scale()
    parameter = net.factor
    net.factor = ms.Tensor([7.0])
    assert net.factor is parameter
    assert parameter.item() == 7.0


def test_shared_cells_and_parameters_count_once():
    net = Pair()
    net.second = net.first
    assert len(list(net.get_parameters())) == 1
    assert [name for name, _ in net.cells_and_names()] == ["", "first"]
    np.testing.assert_array_equal(net(X).asnumpy(), [4.0, 8.0])


def test_parameters_in_a_tuple_belong_under_their_own_names():
    net = nn.Cell()
    net.pair = ms.ParameterTuple([ms.Parameter(X, name="a"), ms.Parameter(X, name="b")])
    assert names(net) == ["a", "b"]
    net.pair = None
    assert names(net) == []


def test_two_parameters_of_one_name_are_a_mistake_when_asked_by_name():
    net = nn.Cell()
    net.a, net.b = ms.Parameter(X, name="w"), ms.Parameter(X, name="w")
    with pytest.raises(ArgumentError, match="called 'w'"):
        net.parameters_dict()


def test_a_name_with_a_dot_is_refused():
    with pytest.raises(ArgumentError, match="without dots"):
        nn.Cell().insert_param_to_cell("a.b", ms.Parameter(X))


def test_inner_cells_are_found_by_path():
    net = nn.SequentialCell(Pair())
    assert net.get_sub_cell("0.first") is net[0].first
    with pytest.raises(AttributeError, match="no cell 'third'"):
        net.get_sub_cell("0.third")


# ------------------------------------------------------------------------------------------------------------ sequences


def test_a_sequence_is_numbered_anew_when_a_cell_comes_or_goes():
    cells = nn.CellList([Scale(), Scale(), Scale()])
    del cells[0]
    assert names(cells) == ["0.factor", "1.factor"]
    cells.insert(0, Scale(9.0))
    assert cells[0].factor.item() == 9.0
    assert names(cells) == ["0.factor", "1.factor", "2.factor"]


def test_a_slice_of_a_sequence_keeps_the_names_of_parameters():
    net = nn.SequentialCell(Scale(), Scale(), Scale())
    assert isinstance(net[1:], nn.SequentialCell)
    assert names(net[1:]) == ["1.factor", "2.factor"]
    assert len(net[:2]) == 2


def test_a_sequence_can_be_named_and_replaced():
    net = nn.SequentialCell({"in": Scale(), "out": Scale(3.0)})
    assert names(net) == ["in.factor", "out.factor"]
    net["out"] = Scale(5.0)
    np.testing.assert_array_equal(net(X).asnumpy(), [10.0, 20.0])
    net[0] = Scale(1.0)
    np.testing.assert_array_equal(net(X).asnumpy(), [5.0, 10.0])


def test_indices_beyond_the_end_are_refused():
    with pytest.raises(IndexError, match="of 1 cells has none at 1"):
        nn.CellList([Scale()])[1]


# --------------------------------------------------------------------------------------------------------- how it runs


def test_training_is_set_for_all_inside():
    net = Pair().set_train()
    assert all(cell.training for _, cell in net.cells_and_names())
    net.set_train(False)
    assert not any(cell.training for _, cell in net.cells_and_names())


def test_hooks_change_what_goes_in_and_what_comes_out_and_can_be_removed():
    net = Scale()
    before = net.register_forward_pre_hook(lambda cell, args: args[0] + 1)
    after = net.register_forward_hook(lambda cell, args, out: out * 10)
    np.testing.assert_array_equal(net(X).asnumpy(), [40.0, 60.0])
    before.remove()
    np.testing.assert_array_equal(net(X).asnumpy(), [20.0, 40.0])
    after.remove()
    after.remove()
    np.testing.assert_array_equal(net(X).asnumpy(), [2.0, 4.0])


def test_hooks_run_in_order_and_may_see_keywords():
    seen = []
    net = Scale()
    net.register_forward_pre_hook(lambda cell, args: seen.append("second"))
    net.register_forward_pre_hook(
        lambda cell, args, kwargs: seen.append(sorted(kwargs)), prepend=True, with_kwargs=True
    )
    net(x=X)
    assert seen == [["x"], "second"]


def test_to_float_computes_inside_in_that_type_and_differentiates_the_parameters():
    net = Pair().to_float(ms.float16)
    assert net(X).dtype is ms.float16
    assert net.first.factor.dtype is ms.float32
    gradients = ms.grad(lambda x: net(x).sum(), None, net.trainable_params())(X)
    assert [g.dtype for g in gradients] == [ms.float32] * 2
    np.testing.assert_array_equal([g.item() for g in gradients], [9.0, 6.0])


def test_copies_share_nothing_and_pickles_come_back():
    net = Pair()
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert names(other) == names(net)
        other.first.factor.set_data(ms.Tensor([0.0]))
        np.testing.assert_array_equal(net(X).asnumpy(), [6.0, 12.0])
        np.testing.assert_array_equal(other(X).asnumpy(), [0.0, 0.0])
        other.first = Scale(1.0)
        np.testing.assert_array_equal(other(X).asnumpy(), [3.0, 6.0])


def test_a_cell_shows_what_is_in_it():
    assert repr(nn.SequentialCell(nn.Dense(2, 3), nn.ReLU())) == (
        "SequentialCell(\n  (0): Dense(input_channels=2, output_channels=3, has_bias=True)\n  (1): ReLU()\n)"
    )


def test_a_cell_without_construct_says_so():
    with pytest.raises(ArgumentError, match="does not say what it computes"):
        nn.Cell()(X)


# ------------------------------------------------------------------------------------------------------------- compiled


def test_a_compiled_cell_sees_its_attributes_change():
    net = Scale()
    compiled = ms.jit(net)
    np.testing.assert_array_equal(compiled(X).asnumpy(), [2.0, 4.0])
    net.k = 5.0
    np.testing.assert_array_equal(compiled(X).asnumpy(), [10.0, 20.0])
    net.factor = ms.Tensor([1.0])
    np.testing.assert_array_equal(compiled(X).asnumpy(), [5.0, 10.0])


def test_a_compiled_network_sees_a_layer_of_the_library_change():
    net = nn.SequentialCell(nn.LeakyReLU(0.5), nn.Flatten(0))
    compiled = ms.jit(lambda x: net(x))
    x = ms.Tensor([-1.0, 2.0])
    np.testing.assert_array_equal(compiled(x).asnumpy(), [-0.5, 2.0])
    net[0].alpha = 0.25
    np.testing.assert_array_equal(compiled(x).asnumpy(), [-0.25, 2.0])
    net.append(nn.ReLU())
    np.testing.assert_array_equal(compiled(x).asnumpy(), [0.0, 2.0])
    net[2].register_forward_hook(lambda cell, args, out: out + 1)
    np.testing.assert_array_equal(compiled(x).asnumpy(), [1.0, 3.0])


def test_a_compiled_network_sees_whether_it_is_trained():
    ms.set_seed(1)
    net = nn.Dropout(p=0.5)
    compiled = ms.jit(net)
    ones = ops.ones((1000,), ms.float32)
    assert compiled(ones).asnumpy().min() == 1.0
    net.set_train()
    first, second = compiled(ones).asnumpy(), compiled(ones).asnumpy()
    assert set(np.unique(first)) == {0.0, 2.0}
    assert 400 < (first == 0).sum() < 600
    assert (first != second).any()


def test_graph_mode_gives_what_eager_mode_gives():
    net = Pair()
    eager = net(X).asnumpy()
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        np.testing.assert_array_equal(net(X).asnumpy(), eager)
        gradient = ms.grad(lambda x: net(x).sum(), None, net.trainable_params())(X)
        np.testing.assert_array_equal([g.item() for g in gradient], [9.0, 6.0])
        net.first.k = 2.0
        np.testing.assert_array_equal(net(X).asnumpy(), 2 * eager)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_weights_in_a_plain_list_are_told_of_unless_they_are_owned_or_meant_to_stay_outside(recwarn):
    net, inner = nn.Cell(), nn.Dense(2, 2)
    net.inner, net.also, net._outside, net.sizes = inner, [inner], [nn.Dense(2, 2)], [1, 2]
    assert len(net.trainable_params()) == 2
    assert not recwarn
    net.layers, net.by_name, net.loose = [nn.Dense(2, 2)], {"a": nn.Dense(2, 1)}, (ms.Parameter([1.0]),)
    net.trainable_params()
    told = [str(warning.message).split(": ")[0] for warning in recwarn]
    assert told == [
        "layers of Cell is a list of cells, whose 2 parameters are not the network's",
        "by_name of Cell is a dict of cells, whose 2 parameters are not the network's",
        "loose of Cell is a tuple of parameters, which are not the network's",
    ]


def test_a_column_compared_with_a_row_is_told(recwarn):
    warnings.simplefilter("always")  # once for each line, otherwise
    column, row = ms.Tensor([[1.0], [2.0]]), ms.Tensor([1.0, 2.0])
    for loss in (nn.MSELoss(), nn.L1Loss(), nn.SmoothL1Loss(), nn.HuberLoss()):
        for run in (loss, ms.jit(loss)):
            recwarn.clear()
            run(column, row)
            assert "compares each of (2, 1) with each of (2,)" in str(recwarn.pop(UserWarning).message)
            run(column, ms.Tensor([1.0]))  # one number for all
            run(row, row)
            assert not recwarn


def test_notebooks_show_tensors_as_tables_and_networks_as_trees():
    net = nn.SequentialCell(nn.Dense(2, 3), nn.ReLU())
    shown = net._repr_html_()
    assert shown.startswith("<details open><summary><b>SequentialCell</b> (9 weights)")
    assert shown.count("<div>") == 2
    for x in (ms.Tensor([[1.0, 2.5]]), ms.Parameter([[1.0, 2.5]])):
        assert x._repr_html_().endswith("(1, 2) float32</div><table><tr><td>1</td><td>2.5</td></tr></table>")
    large = ms.Tensor(np.zeros((100, 200), np.int32))._repr_html_()
    assert large.count("<tr>") == 9
    assert large.count("<td>") == 81
    for x in (
        ms.Tensor(2),
        ms.Tensor([True]),
        ms.Tensor([1 + 2j]),
        ms.Tensor(np.ones((2, 2, 2))),
        ms.Tensor(np.ones(0)),
    ):
        assert str(tuple(x.shape)) in x._repr_html_()
    assert ms.Tensor(shape=(None, 3), dtype=ms.float32)._repr_html_() is None


def test_parameters_of_a_tuple_are_named_by_their_cell():
    """As in MindSpore: the name says the place in the cell, so that a checkpoint fits in the next process."""

    class Pair(nn.Cell):
        def __init__(self):
            super().__init__()
            self.first = ms.ParameterTuple([ms.Parameter(ms.Tensor([1.0])), ms.Parameter(ms.Tensor([2.0]), name="b")])
            self.second = ms.ParameterTuple([ms.Parameter(ms.Tensor([3.0]))])

    names = ["Parameter$1", "b", "Parameter$2"]
    assert [p.name for p in Pair().get_parameters()] == names
    assert [p.name for p in nn.CellList([Pair(), Pair()]).get_parameters()] == [
        f"{i}.{n}" for i in (0, 1) for n in names
    ]


@pytest.mark.parametrize("made", [None, "text", 3, [1, 2], {"a": 1}, (1, "b"), ms.Tensor([1.0])], ids=str)
def test_hooks_that_are_called_always_leave_a_result_as_it_is(made):
    class Gives(nn.Cell):
        def construct(self, x):
            return made

    seen, cell = [], Gives()
    cell.register_forward_hook(lambda cell, args, out: seen.append(out), always_call=True)
    out = cell(ms.Tensor([1.0]))
    assert out is made
    assert seen[0] is made
