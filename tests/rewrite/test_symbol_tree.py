"""A network's program can be read and changed: what it computes changes as a program written so would."""

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, nn, ops
from mycelia.errors import ArgumentError
from mycelia.rewrite import Node, NodeType, ScopedValue, SymbolTree
from tests.each import each

X = Tensor(np.linspace(-2, 2, 8).reshape(2, 4).astype(np.float32))
name = ScopedValue.create_naming_value


class Inner(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 4)

    def construct(self, x):
        return self.dense(x)


class Net(nn.Cell):
    def __init__(self, deep=True):
        super().__init__()
        self.dense = nn.Dense(4, 4)
        self.relu = nn.ReLU()
        self.exp = ops.Exp()
        self.inner = Inner()
        self.row = nn.SequentialCell([nn.Tanh(), nn.Dense(4, 4)])
        self.deep = deep

    def construct(self, x, scale=2.0):
        """Some of everything."""
        x = self.relu(self.dense(x))
        y = self.exp(x * 0.1) + 1
        if self.deep:
            x = self.inner(x)
        x = self.row(x)
        a, b = ops.split(x, 2, axis=1)
        parts = [a, b * scale]
        return ops.concat(parts, 1) - y[0]


def near(a, b):
    np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), 1e-6)


def test_the_program_that_was_read_is_the_network():
    def same(deep):
        net = Net(deep)
        made = SymbolTree.create(net).get_network()
        assert made is not net
        assert isinstance(made, Net)
        near(made(X), net(X))
        near(made(X, scale=3.0), net(X, 3.0))
        if deep:
            near(ms.jit(made)(X), net(X))
        assert [p.name for p in made.get_parameters()] == [p.name for p in net.get_parameters()]

    each(same, [("deep", (True,)), ("flat", (False,))])


def test_nodes_tell_what_they_call_take_and_give():
    tree = SymbolTree.create(Net())
    kinds = {n.get_name(): n.get_node_type() for n in tree.nodes()}
    assert list(kinds)[:7] == ["input_x", "input_scale", "dense", "relu", "binop_mult", "exp", "binop_add"]
    assert {kinds[n] for n in ("dense", "relu")} == {NodeType.CallCell}
    assert kinds["exp"] is NodeType.CallPrimitive
    assert kinds["split"] is NodeType.CallFunction
    assert kinds["row"] is NodeType.CellContainer
    assert kinds["if_node"] is NodeType.ControlFlow
    assert kinds["return"] is NodeType.Output
    relu, split = tree.get_node("relu"), tree.get_node("split")
    assert (relu.get_args(), relu.get_targets()) == ([name("dense_var")], [name("x")])
    assert split.get_kwargs() == {"axis": ScopedValue.create_variable_value(1)}
    assert [n.get_name() for n in relu.get_inputs()] == ["dense"]
    assert [n.get_name() for n in relu.get_users()] == ["binop_mult", "row"]
    assert relu.get_instance_type() is nn.ReLU
    assert split.get_instance() is ops.split
    inner = tree.get_node("inner")
    assert inner.get_node_type() is NodeType.Tree
    assert [n.get_name() for n in inner.get_sub_tree().nodes()] == ["input_x", "dense", "return"]
    assert tree.get_node("nothing") is None
    assert len(list(tree.nodes(all_nodes=True))) == len(list(tree.nodes())) + 4


def test_a_node_that_is_inserted_runs_there():
    net = Net()
    tree = SymbolTree.create(net)
    tree.insert(tree.after("relu"), Node.create_call_cell(nn.Sigmoid(), ["x"], [name("x")], name="soft"))
    tree.insert(tree.before("return"), Node.create_call_function(ops.mul, ["q"], [name("x"), name("x")]))
    tree.set_output(0, "q")
    made = tree.get_network()
    expected = net.row(net.inner(ops.sigmoid(net.relu(net.dense(X)))))
    near(made(X), expected * expected)
    assert not hasattr(net, "soft")
    assert "soft" in made.name_cells()
    assert "x = self.soft(x)" in tree.get_code()


def test_a_node_that_is_replaced_gives_what_others_ask_for():
    net, dense = Net(), nn.Dense(4, 4, has_bias=False)
    tree = SymbolTree.create(net)
    first = Node.create_call_function(ops.abs, ["size"], [name("x")])
    last = Node.create_call_cell(dense, ["other"], [name("size")], name="dense")
    assert tree.replace("dense", [first, last]) is last
    assert last.get_name() == "dense_1"
    made = tree.get_network()
    net.dense = nn.Dense(4, 4, has_bias=False)
    net.dense.weight.set_data(dense.weight)
    near(made(X), net(X.abs()))
    assert "dense_1.weight" in [p.name for p in made.trainable_params()]
    with pytest.raises(ArgumentError, match="gives 2 results"):
        tree.replace("split", [Node.create_call_function(ops.abs, ["z"], [name("x")])])


def test_a_node_that_is_erased_runs_no_more():
    net = Net()
    tree = SymbolTree.create(net)
    tree.erase("relu")  # x is the input then
    near(tree.get_network()(X), SymbolTree.create(_without_relu(net)).get_network()(X))
    with pytest.raises(ArgumentError, match="dense_var, which is asked for later"):
        SymbolTree.create(net).erase("dense")
    with pytest.raises(ArgumentError, match="no node of this network"):
        tree.erase("relu")


def _without_relu(net):
    class Plain(Net):
        def construct(self, x, scale=2.0):
            self.dense(x)
            y = self.exp(x * 0.1) + 1
            x = self.row(self.inner(x))
            a, b = ops.split(x, 2, axis=1)
            return ops.concat([a, b * scale], 1) - y[0]

    plain = Plain()
    for cell in ("dense", "inner", "row"):
        setattr(plain, cell, getattr(net, cell))
    return plain


def test_arguments_parameters_and_cells_inside_can_be_changed():
    net = Net()
    tree = SymbolTree.create(net)
    tree.get_node("relu").set_arg_by_node(0, tree.get_node("input_x"))
    inner = tree.get_node("inner").get_sub_tree()
    inner.insert(inner.before("return"), Node.create_call_function(ops.neg, ["dense_var"], [name("dense_var")]))
    tree.insert(tree.after("input_scale"), Node.create_input("more", ScopedValue.create_variable_value(0.0)))
    tree.insert(tree.before("if_node"), Node.create_call_function(ops.add, ["x"], [name("x"), name("more")]))
    x = net.row(-net.inner(net.relu(X) + 1.5))
    y = net.exp(net.relu(X) * 0.1) + 1
    expected = ops.concat([x[:, :2], x[:, 2:] * 2], 1) - y[0]
    near(tree.get_network()(X, more=1.5), expected)
    near(net.inner(X), net.inner.dense(X))


def test_what_python_reads_first_is_read_first_still():
    class Counts(nn.Cell):
        def __init__(self):
            super().__init__()
            self.count = 0

        def step(self, x):
            self.count += 1
            return x

        def construct(self, x):
            return x * 0 + self.count + self.step(self.step(x)).sum() * 0 + self.count

    expected = Counts()(X)
    near(SymbolTree.create(Counts()).get_network()(X), expected)
    assert expected[0, 0] == 2


def test_what_cannot_be_read_or_put_in_is_refused():
    tree = SymbolTree.create(Net())
    made = Node.create_call_cell(nn.ReLU(), ["x"], [name("x")], name="new")
    tree.insert(tree.after("relu"), made)

    def refused(call):
        with pytest.raises(ArgumentError):
            call()

    each(refused, [(i, (call,)) for i, call in enumerate((
        lambda: SymbolTree.create(abs),
        lambda: tree.insert(tree.after("relu"), made),
        lambda: tree.insert("relu", made),
        lambda: tree.insert(tree.after("relu"), Node.create_input("z")),
        lambda: Node.create_call_cell(abs, ["x"]),
        lambda: Node.create_call_cell(nn.ReLU(), ["x"], ["x"]),
        lambda: Node.create_call_cell(nn.ReLU(), []),
        lambda: Node.create_call_function(3, ["x"]),
        lambda: Node.create_input("not a name"),
        lambda: tree.get_node("relu").set_arg(3, "x"),
        lambda: tree.replace("relu", []),
        lambda: tree.erase("input_x"),
        lambda: ScopedValue.create_naming_value(3),
        lambda: ScopedValue.create_name_values(["a"], ["b", "c"]),
    ))])  # fmt: skip
