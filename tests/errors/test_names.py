"""Names and keywords that are not there: what is suggested is there, and other words for the same thing work."""

import copy
import importlib
import pickle

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, nn, ops
from mycelia.errors import CallError, ShapeError
from mycelia.names import habits
from mycelia.names.missing import MissingImport, MissingName, _record

X = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
NET = nn.Dense(3, 4)
SGD = nn.SGD(NET.trainable_params(), 0.1)


def place(name):
    objects = {"Tensor": X, "Cell": NET, "Optimizer": SGD, "Model": ms.Model(NET)}
    return objects[name] if name in objects else importlib.import_module(name)


@pytest.mark.parametrize("where", list(habits.NAMES))
def test_no_name_that_exists_is_called_a_habit(where):
    there = place(where)
    real = [n for n in habits.NAMES[where] if n != "Dataset" and hasattr(there, n)]
    assert real == []


def test_keywords_that_exist_are_suggested():
    takes = {
        "lr": nn.SGD,
        "in_features": nn.Dense,
        "bias": nn.Dense,
        "num_embeddings": nn.Embedding,
        "groups": nn.Conv2d,
    }
    for word, layer in takes.items():
        with pytest.raises(CallError, match=f"it is called {habits.KEYWORDS[word]} here"):
            layer(**{word: 1})


def test_asking_whether_there_is_a_name_works_as_ever():
    for there in (X, NET, SGD, ms, ops, nn, ms.dataset, ms.Parameter([1.0]), ms.train, ms.types):
        assert not hasattr(there, "no_such_name")
        assert not hasattr(there, "_no_such_name")
        assert not hasattr(there, "__no_such_name__")
        assert getattr(there, "no_such_name", 3) == 3
    with pytest.raises(AttributeError):
        _ = X.no_such_name
    with pytest.raises(ImportError):
        from mycelia import no_such_name  # noqa: F401


def test_an_object_without_a_name_can_be_copied_and_sent():
    assert copy.deepcopy(X).tolist() == pickle.loads(pickle.dumps(X)).tolist() == X.tolist()
    assert [p.name for p in copy.deepcopy(NET).trainable_params()] == ["weight", "bias"]
    assert np.asarray(X).tolist() == X.tolist()


def test_the_error_is_known_by_the_object_and_the_name():
    with pytest.raises(MissingName) as found:
        _ = X.reshap
    assert (found.value.name, found.value.obj) == ("reshap", X)


def test_whether_mindspore_has_it_is_told():
    for there, name in ((ops, "nsa_compress"), (nn, "GetNextSingleOp"), (ms, "set_ps_context"), (X, "offload")):
        with pytest.raises(MissingName, match="MindSpore has it, Mycelia does not yet"):
            getattr(there, name)
    for there, name in ((ops, "sofmax"), (nn, "Dense2"), (ms, "Tensr"), (X, "reshap")):
        with pytest.raises(MissingName, match=r"did you mean .* \(MindSpore has no"):
            getattr(there, name)


def test_a_name_that_is_elsewhere_is_found_there():
    with pytest.raises(MissingName, match=r"it is mycelia\.ops\.randn"):
        _ = ms.randn
    with pytest.raises(MissingImport, match=r"it is mycelia\.nn\.BatchNorm1d"):
        from mycelia.ops import BatchNorm1d  # noqa: F401


def test_the_record_holds_what_users_of_mindspore_import():
    names = _record()
    assert {"Tensor", "Parameter", "Model", "set_context", "nn", "ops", "jit"} <= names["mindspore"]
    assert {"Dense", "Conv2d", "LSTM"} <= names["mindspore.nn"]
    assert {"softmax", "MatMul", "grad"} <= names["mindspore.ops"]
    assert sum(map(len, names.values())) > 4000


def test_errors_cross_processes_unchanged():
    for call in (lambda: X.reshape(7), lambda: X.reshap, lambda: nn.Dense(), lambda: X + None):
        with pytest.raises(ms.errors.MyceliaError) as found:
            call()
        there = pickle.loads(pickle.dumps(found.value))
        assert str(there) == str(found.value)
        assert there.where == found.value.where
        assert isinstance(there, type(found.value).__mro__[2])  # ValueError, AttributeError, TypeError


# ------------------------------------------------------------------------------------------------- words for the same


def test_other_words_for_axes_work():
    data = X.asnumpy()
    assert ops.mean(X, dim=0).tolist() == data.mean(0).tolist()
    assert ops.mean(X, dim=1, keepdim=True).tolist() == data.mean(1, keepdims=True).tolist()
    assert ops.sum(X, axis=1, keepdims=True).tolist() == data.sum(1, keepdims=True).tolist()
    assert X.mean(dim=0, keepdim=True).tolist() == data.mean(0, keepdims=True).tolist()
    assert X.cumsum(dim=1).tolist() == X.cumsum(axis=1).tolist() == data.cumsum(1).tolist()
    np.testing.assert_array_equal(ops.softmax(X, dim=-1).asnumpy(), ops.softmax(X, axis=-1).asnumpy())
    assert ops.cat([X, X], dim=1).shape == (2, 6)
    assert ops.stack(tensors=[X, X], dim=0).shape == (2, 2, 3)
    assert ops.argmax(X, axis=1).tolist() == ops.argmax(X, dim=1).tolist() == [2, 2]


def test_they_mean_the_same_under_jit_and_vmap():
    def both(x):
        return ops.mean(x, dim=0, keepdim=True) + ops.sum(x, axis=0), x.mean(dim=0)

    for got, want in zip(ms.jit(both)(X), both(X), strict=True):
        assert got.tolist() == want.tolist()
    assert "one native call" in _explained(both)
    assert ms.vmap(lambda row: ops.sum(row, axis=0))(X).tolist() == [3.0, 12.0]


def test_a_word_given_twice_is_a_mistake():
    with pytest.raises(CallError, match="mean has no argument dim"):
        ops.mean(X, axis=0, dim=1)
    with pytest.raises(CallError, match="softmax was given axis twice"):
        ops.softmax(X, 0, axis=1)


def test_an_error_inside_a_function_is_its_own():
    def inner(x):
        return x.reshape(7) + len(3)

    with pytest.raises(ShapeError):
        ms.grad(inner)(X)
    with pytest.raises(TypeError, match="object of type 'int' has no len"):
        ms.grad(lambda x: len(3))(X)

    class Net(nn.Cell):
        def construct(self, x):
            return abs("x")

    with pytest.raises(TypeError, match="bad operand type for abs") as found:
        Net()(X)
    assert not isinstance(found.value, CallError)


def test_whether_a_cell_has_an_attribute_stays_part_of_one_program():
    class Net(nn.Cell):
        def construct(self, x):
            return x * (2.0 if hasattr(self, "scale") else 3.0) + getattr(self, "shift", 1.0)

    net = Net()
    assert ms.jit(net)(X).tolist() == net(X).tolist()
    jitted = ms.jit(net)
    jitted(X)
    assert "one native call" in jitted.explain()
    net.shift = 5.0
    assert jitted(X).tolist() == net(X).tolist()


def _explained(fn):
    jitted = ms.jit(fn)
    jitted(X)
    return jitted.explain()
