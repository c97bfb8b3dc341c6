"""MindSpore's profiler: steps, schedules, handlers, files."""

import csv
import json
import os

import pytest

import mycelia as ms
from mycelia import nn, ops, profiler, train
from mycelia.errors import ArgumentError
from mycelia.profiler import (
    DynamicProfilerMonitor,
    EnvProfiler,
    Profiler,
    ProfilerActivity,
    ProfilerLevel,
    _ExperimentalConfig,
    profile,
    schedule,
    tensorboard_trace_handler,
)


@ms.jit
def twice(x):
    return x + x


def test_a_schedule_is_that_of_mindspore():
    """wait, warm up, record, save; again and again, or so many times; after the steps that are skipped."""
    plan = schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1)
    words = [plan(step).name for step in range(11)]
    one = ["NONE", "WARM_UP", "RECORD", "RECORD_AND_SAVE"]
    assert words == ["NONE", *one, *one, "NONE", "NONE"]
    endless = schedule(wait=0, active=1)
    assert {endless(step).name for step in range(5)} == {"RECORD_AND_SAVE"}
    for wrong in ({"wait": -1, "active": 1}, {"wait": 0, "active": 0}, {"wait": 0, "active": 1, "repeat": -1}):
        with pytest.raises(ArgumentError):
            schedule(**wrong)


def test_the_steps_that_are_asked_for_are_recorded_and_handed_over():
    got = []
    with profile(schedule=schedule(wait=1, active=2, repeat=2), on_trace_ready=lambda p: got.append(p.result)) as seen:
        for _ in range(8):
            twice(ops.ones((2,)))
            seen.step()
    assert [result.calls for result in got] == [2, 2]


def test_what_was_not_handed_over_is_at_the_end():
    got = []
    with profile(on_trace_ready=lambda p: got.append(p.result.calls)):
        twice(ops.ones((2,)))
    assert got == [1]


def test_after_an_error_nothing_is_measured_any_more():
    def fails():
        with profile():
            raise KeyError("x")

    with pytest.raises(KeyError):
        fails()
    with profile() as seen:
        twice(ops.ones((2,)))
    assert seen.result.calls == 1


def test_files_are_written_and_read_again(tmp_path):
    own = Profiler(output_path=str(tmp_path), profiler_level=ProfilerLevel.Level1, start_profile=False)
    own.start()
    twice(ops.ones((2,)))
    own.add_metadata("who", "me")
    own.add_metadata_json("what", '{"n": 3}')
    own.analyse()
    assert {os.path.basename(f) for f in own.files} == set(os.listdir(tmp_path))
    rows = list(csv.reader((tmp_path / "operator_details.csv").read_text().splitlines()))
    assert rows[1][1:4] == ["add", "kernel", "1"]
    assert json.loads((tmp_path / "profiler_metadata.json").read_text()) == {"who": "me", "what": {"n": 3}}
    told = json.loads(own.op_analyse("add"))["CPU"]["add"]
    assert told[0]["op_occurrences"] == 1
    (tmp_path / "operator_details.csv").unlink()
    profiler.profiler.analyse(str(tmp_path))
    again = list(csv.reader((tmp_path / "operator_details.csv").read_text().splitlines()))
    assert again[1][1:4] == rows[1][1:4]
    with pytest.raises(ArgumentError, match=r"no trace_view\.json"):
        Profiler.offline_analyse(str(tmp_path / "nowhere"))


def test_the_handler_makes_a_folder_for_each_recording(tmp_path):
    handler = tensorboard_trace_handler(str(tmp_path), worker_name="me")
    with profile(schedule=schedule(wait=0, active=1), on_trace_ready=handler) as seen:
        for _ in range(2):
            twice(ops.ones((2,)))
            seen.step()
    folders = sorted(os.listdir(tmp_path))
    assert len(folders) == 3  # the third step had begun
    assert all(name.startswith("me_") for name in folders)
    assert "trace_view.json" in os.listdir(tmp_path / folders[0])


def test_what_only_ascend_can_is_warned_of():
    with pytest.warns(UserWarning, match="hbm_ddr of profile changes nothing here"):
        profile(hbm_ddr=True, start_profile=False)
    with pytest.warns(UserWarning, match="l2_cache"):
        _ExperimentalConfig(l2_cache=True)


def test_without_the_processor_nothing_is_recorded():
    with profile(activities=[ProfilerActivity.NPU]) as seen:
        twice(ops.ones((2,)))
    assert seen.result is None


def test_wrong_order_and_wrong_arguments_are_told():
    seen = profile()
    with pytest.raises(ArgumentError, match="started already"):
        seen.start()
    seen.stop()
    with pytest.raises(ArgumentError, match="not started"):
        seen.stop()
    for wrong in ({"activities": ["CPU"]}, {"schedule": 3}, {"on_trace_ready": 3}):
        with pytest.raises(ArgumentError):
            profile(start_profile=False, **wrong)


def test_a_file_says_which_steps_of_a_training_are_recorded(tmp_path):
    (tmp_path / "profiler_config.json").write_text('{"start_step": 2, "stop_step": 3}')
    monitor = DynamicProfilerMonitor(str(tmp_path), str(tmp_path / "out"))
    net = nn.Dense(2, 1)
    model = train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))
    rows = [(ops.ones((2, 2)), ops.ones((2, 1))) for _ in range(4)]
    data = ms.dataset.GeneratorDataset(lambda: iter([(x.asnumpy(), y.asnumpy()) for x, y in rows]), ["x", "y"])
    model.train(1, data, callbacks=[monitor], dataset_sink_mode=False)
    assert os.listdir(tmp_path / "out") == ["steps_2_3"]
    events = json.loads((tmp_path / "out" / "steps_2_3" / "trace_view.json").read_text())["traceEvents"]
    assert len([e for e in events if e["cat"] == "call"]) >= 2


def test_the_environment_may_ask_for_a_profile(tmp_path, monkeypatch):
    assert EnvProfiler().profiler is None
    monkeypatch.setenv("MS_PROFILER_OPTIONS", json.dumps({"start": True, "output_path": str(tmp_path)}))
    asked = EnvProfiler()
    twice(ops.ones((2,)))
    asked.analyse()
    assert "profile.html" in os.listdir(tmp_path)
    monkeypatch.setenv("MS_PROFILER_OPTIONS", "{")
    with pytest.raises(ArgumentError, match="no JSON"):
        EnvProfiler()
