"""Names around networks that published programs import: settings, messages, checks, parts of batches, hooks."""

import logging

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, nn, ops
from mycelia.common import checkparam
from mycelia.errors import ArgumentError, CallError, ShapeError


@pytest.fixture(autouse=True)
def _as_before():
    yield
    ms.reset_auto_parallel_context()


def test_settings_are_kept_and_told_of_when_they_have_no_effect():
    ms.context.set_auto_parallel_context(parallel_mode=ms.context.ParallelMode.DATA_PARALLEL, device_num=8)
    assert ms.get_auto_parallel_context("device_num") == 8
    with pytest.warns(UserWarning, match="pipeline_stages=2 has no effect: every process holds the whole network"):
        ms.set_auto_parallel_context(pipeline_stages=2)
    with pytest.warns(UserWarning, match="parallel_mode='auto_parallel' has no effect"):
        ms.set_auto_parallel_context(parallel_mode="auto_parallel")
    ms.reset_auto_parallel_context()
    assert ms.get_auto_parallel_context("parallel_mode") == "stand_alone"
    with pytest.raises(ArgumentError, match="did you mean device_num"):
        ms.set_auto_parallel_context(devicenum=1)
    with pytest.raises(ArgumentError, match="parallel_mode cannot be 'some'"):
        ms.set_auto_parallel_context(parallel_mode="some")


def test_a_training_step_adds_up_gradients_in_data_parallel_mode():
    def step():
        net = nn.Dense(2, 1, weight_init="ones", has_bias=False)
        cell = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1))
        cell(Tensor([[1.0, 2.0]]), Tensor([[1.0]]))
        return cell, net.weight.asnumpy()

    alone, without = step()
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    together, weights = step()
    assert alone.grad_reducer is None
    assert together.grad_reducer.mean
    np.testing.assert_array_equal(weights, without)  # one process


def test_messages_go_from_a_level_on(monkeypatch, caplog):
    from mycelia import log

    monkeypatch.setenv("GLOG_v", "1")
    with caplog.at_level(logging.DEBUG):
        log.debug("not shown")
        log.info("epoch %d", 3)
        log.warning("careful")
    assert [r.getMessage() for r in caplog.records] == ["epoch 3", "careful"]
    assert log.get_level() == "1"


@pytest.mark.parametrize(
    ("check", "error"),
    [
        (lambda: checkparam.check_positive_int(0, "size", "Dense"), ArgumentError),
        (lambda: checkparam.check_positive_int(True), CallError),
        (lambda: checkparam.check_bool(1), CallError),
        (lambda: checkparam.check_float_range(1.0, 0.0, 1.0, checkparam.INC_LEFT), ArgumentError),
        (lambda: checkparam.check_float_range(0.0, 0.0, 1.0, checkparam.INC_RIGHT), ArgumentError),
        (lambda: checkparam.check_value_type("x", True, [int]), CallError),
        (lambda: checkparam.check_string("a", ["b"]), ArgumentError),
        (lambda: checkparam.Validator.check_int(3, 3, checkparam.Rel.LT), ArgumentError),
    ],
)
def test_checks_refuse(check, error):
    with pytest.raises(error):
        check()


def test_checks_give_back_what_fits():
    assert checkparam.check_float_range(0.0, 0.0, 1.0, checkparam.INC_LEFT) == 0.0
    assert checkparam.check_int_range(3, 1, 3, checkparam.INC_BOTH) == 3


@pytest.mark.parametrize("kind", [nn.PipelineCell, nn.MicroBatchInterleaved, nn.wrap.GradAccumulationCell])
def test_parts_of_a_batch_are_added_up(kind):
    x, y = np.arange(8.0).reshape(4, 2), np.ones((4, 2))
    net = kind(nn.MSELoss(), 2)
    whole = sum(np.mean((x[i : i + 2] - y[i : i + 2]) ** 2) for i in (0, 2))
    assert ms.jit(net)(Tensor(x), Tensor(y)).item() == pytest.approx(whole)
    slope = ms.grad(net)(Tensor(x), Tensor(y)).asnumpy()
    np.testing.assert_allclose(slope, (x - y) / 2)
    with pytest.raises(ShapeError, match="no 2 equal parts"):
        net(Tensor(x[:3]), Tensor(y[:3]))


@pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "jit"])
def test_hooks_change_gradients(run):
    half = ops.HookBackward(lambda grads: (grads[0] * 0.5,))
    assert run(ms.grad(lambda x: (half(x) * 4).sum()))(Tensor([1.0])).tolist() == [2.0]
    both = ops.HookBackward(lambda grads: (grads[1], grads[0]))

    def mixed(x, y):
        a, b = both(x, y)
        return (a * 2 + b * 3).sum()

    x, y = run(ms.grad(mixed, (0, 1)))(Tensor([1.0]), Tensor([1.0]))
    assert (x.tolist(), y.tolist()) == ([3.0], [2.0])
    sign = ops.InsertGradientOf(ops.sign)
    assert run(ms.grad(lambda x: (sign(x) * x).sum()))(Tensor([-3.0])).tolist() == [-4.0]


def test_random_orders_are_padded():
    found = ops.Randperm(5, -7, ms.int64)(3).tolist()
    assert sorted(found[:3]) == [0, 1, 2]
    assert found[3:] == [-7, -7]
    with pytest.raises(ArgumentError, match="n lies from 0 to 2"):
        ops.Randperm(2)(3)


def test_small_names_are_there():
    assert ms.dtype.dtype_to_nptype(ms.float16) is np.float16
    assert ms.dtype.pytype_to_dtype(int) is ms.int64
    assert ops.P.Fill is ops.Fill
    assert ms.parallel._utils._get_device_num() == 1
    with nn.utils.no_init_parameters():
        assert nn.Dense(2, 1).weight.shape == (1, 2)
    vars(nn).pop("_Loss", None)  # another test may have asked for it: it is told of once
    with pytest.warns(FutureWarning, match="_Loss is an old name"):
        assert nn._Loss is nn.LossBase
    net = nn.Dense(1, 1)
    net.set_jit_config(ms.JitConfig(jit_syntax_level="STRICT"))
    assert net.jit_config_dict["jit_syntax_level"] == "STRICT"
