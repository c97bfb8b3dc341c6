"""Settings are checked, shown as they were told, and read from files in our words and in MindSpore's."""

import inspect
import json

import pytest

from mycelia.dataset import config
from mycelia.errors import ArgumentError, CallError

PAIRS = {
    "seed": 7,
    "num_parallel_workers": 3,
    "prefetch_size": 5,
    "error_samples_mode": config.ErrorSamplesMode.SKIP,
    "multiprocessing_start_method": "spawn",
    "multiprocessing_timeout_interval": 9,
    "enable_watchdog": False,
    "enable_shared_mem": False,
    "numa_enable": True,
    "debug_mode": True,
    "enable_autotune": True,
    "autotune_interval": 11,
    "callback_timeout": 13,
    "auto_num_workers": True,
    "fast_recovery": False,
    "monitor_sampling_interval": 17,
}


@pytest.fixture(autouse=True)
def _as_before():
    before = config.current_options()
    yield
    config.restore(before)


@pytest.mark.parametrize("name", PAIRS)
def test_a_setting_is_what_it_was_set_to(name):
    getattr(config, f"set_{name}")(PAIRS[name])
    assert getattr(config, f"get_{name}")() == PAIRS[name]


@pytest.mark.parametrize("name", PAIRS)
def test_a_setting_of_a_wrong_type_is_refused(name):
    with pytest.raises((CallError, ArgumentError), match=r"3\.5"):
        getattr(config, f"set_{name}")(3.5)


def test_every_setter_has_a_getter_of_the_same_name():
    names = {n for n, f in inspect.getmembers(config, inspect.isfunction) if n.startswith("set_")}
    without = {n for n in names if not hasattr(config, n.replace("set_", "get_", 1))}
    assert without == {"set_sending_batches"}  # as in MindSpore


def test_iterator_modes_are_told():
    config.set_iterator_mode(do_copy=True, parallel_convert=True)
    assert config.get_iterator_mode() == {"do_copy": True, "parallel_convert": True}
    with pytest.raises(CallError, match="parallel_convert of config is True or False, not int 1"):
        config.set_iterator_mode(parallel_convert=1)


def test_a_file_of_mindspores_words_is_read(tmp_path):
    words = {"numParallelWorkers": 2, "workerConnectorSize": 16, "opConnectorSize": 8, "seed": 55}
    place = tmp_path / "c.json"
    place.write_text(json.dumps({**words, "monitorSamplingInterval": 15}))
    config.load(str(place))
    found = (config.get_num_parallel_workers(), config.get_prefetch_size(), config.get_seed())
    assert (*found, config.get_monitor_sampling_interval()) == (2, 8, 55, 15)


def test_what_describe_tells_is_what_load_reads(tmp_path):
    told = config.describe()
    place = tmp_path / "c.json"
    place.write_text(json.dumps(told))
    config.set_prefetch_size(77)
    config.load(str(place))
    assert config.describe() == told


@pytest.mark.parametrize("given", [{"nonsense": 1}, {"prefetch_size": "many"}, {"seed": 1.5}])
def test_a_file_with_mistakes_changes_nothing(tmp_path, given):
    place = tmp_path / "c.json"
    place.write_text(json.dumps({"num_parallel_workers": 5, **given}))
    before = config.describe()
    with pytest.raises(ArgumentError, match=next(iter(given))):
        config.load(str(place))
    assert config.describe() == before
