"""Settings of training with several processes, as `set_auto_parallel_context` keeps them."""

from __future__ import annotations

import warnings
from difflib import get_close_matches
from typing import Any

from mycelia.api.settings import Setting
from mycelia.errors import ArgumentError
from mycelia.names import listening

__all__ = [
    "AutoParallelContext",
    "ParallelMode",
    "auto_parallel_context",
    "get_auto_parallel_context",
    "reset_auto_parallel_context",
    "set_auto_parallel_context",
]

_WHOLE = "every process holds the whole network: data are divided, weights are not"
_JOINED = "what processes exchange is not joined into larger messages"


class ParallelMode:
    """How several processes share the work.

    >>> ParallelMode.DATA_PARALLEL
    'data_parallel'
    """

    STAND_ALONE = "stand_alone"
    DATA_PARALLEL = "data_parallel"
    HYBRID_PARALLEL = "hybrid_parallel"
    SEMI_AUTO_PARALLEL = "semi_auto_parallel"
    AUTO_PARALLEL = "auto_parallel"
    MODE_LIST = (STAND_ALONE, DATA_PARALLEL, HYBRID_PARALLEL, SEMI_AUTO_PARALLEL, AUTO_PARALLEL)


DIVIDED = (ParallelMode.SEMI_AUTO_PARALLEL, ParallelMode.AUTO_PARALLEL)
SETTINGS: dict[str, Setting] = {
    "parallel_mode": Setting(ParallelMode.STAND_ALONE, ParallelMode.MODE_LIST),
    "gradients_mean": Setting(False, bool),
    "device_num": Setting(1, int),
    "global_rank": Setting(0, int),
    "parameter_broadcast": Setting(False, bool, "parameters begin alike where processes have the same seed"),
    "gradient_fp32_sync": Setting(True, bool, "gradients are added in their own type"),
    "force_fp32_communication": Setting(False, bool, "gradients are added in their own type"),
    "loss_repeated_mean": Setting(True, bool, _WHOLE),
    "search_mode": Setting("recursive_programming", str, _WHOLE),
    "auto_parallel_search_mode": Setting("recursive_programming", str, _WHOLE),
    "strategy_ckpt_load_file": Setting("", str, _WHOLE),
    "strategy_ckpt_save_file": Setting("", str, _WHOLE),
    "strategy_ckpt_config": Setting({}, dict, _WHOLE),
    "group_ckpt_save_file": Setting("", str, _WHOLE),
    "full_batch": Setting(False, bool, "a dataset is divided by num_shards and shard_id"),
    "dataset_strategy": Setting("data_parallel", (str, tuple), "a dataset is divided by num_shards and shard_id"),
    "enable_parallel_optimizer": Setting(False, bool, _WHOLE),
    "parallel_optimizer_config": Setting({}, dict, _WHOLE),
    "optimizer_weight_shard_size": Setting(-1, int, _WHOLE),
    "enable_alltoall": Setting(False, bool, _WHOLE),
    "all_reduce_fusion_config": Setting([], list, _JOINED),
    "comm_fusion": Setting({}, dict, _JOINED),
    "pipeline_stages": Setting(1, int, _WHOLE),
    "pipeline_result_broadcast": Setting(False, bool, _WHOLE),
    "pipeline_config": Setting({}, dict, _WHOLE),
    "auto_pipeline": Setting(False, bool, _WHOLE),
    "grad_accumulation_step": Setting(1, int, "a training step takes one batch"),
    "sharding_propagation": Setting(False, bool, _WHOLE),
    "dump_local_norm": Setting(False, bool, "there are no such files"),
    "dump_local_norm_path": Setting("", str, "there are no such files"),
    "dump_device_local_norm": Setting(False, bool, "there are no such files"),
}
"""Every setting that MindSpore documents, or has had."""
_settings: dict[str, Any] = {name: setting.first for name, setting in SETTINGS.items()}


@listening
def set_auto_parallel_context(**kwargs: Any) -> None:
    """Choose settings of training with several processes; those not named stay. A setting that has no effect here says
    so, in one line. In the modes "data_parallel" and "hybrid_parallel" `nn.TrainOneStepCell` adds up the gradients of
    all processes, and takes their mean if `gradients_mean`.

    >>> set_auto_parallel_context(parallel_mode=ParallelMode.DATA_PARALLEL, gradients_mean=True)
    >>> get_auto_parallel_context("gradients_mean")
    True
    >>> reset_auto_parallel_context()
    """
    for name in kwargs:
        if name not in SETTINGS:
            raise _unknown(name)
    checked = {name: SETTINGS[name].checked(name, value) for name, value in kwargs.items()}
    for name, value in checked.items():
        why = SETTINGS[name].why or (_WHOLE if value in DIVIDED else "")
        if why and value != _settings[name]:
            warnings.warn(f"{name}={value!r} has no effect: {why}", UserWarning, stacklevel=3)
    _settings.update(checked)


def get_auto_parallel_context(attr_key: str) -> Any:
    """One setting of training with several processes.

    >>> get_auto_parallel_context("parallel_mode")
    'stand_alone'
    """
    if attr_key not in SETTINGS:
        raise _unknown(attr_key)
    return _settings[attr_key]


def reset_auto_parallel_context() -> None:
    """All settings as they are at first.

    >>> set_auto_parallel_context(parallel_mode="data_parallel")
    >>> reset_auto_parallel_context()
    >>> get_auto_parallel_context("parallel_mode")
    'stand_alone'
    """
    _settings.update({name: setting.first for name, setting in SETTINGS.items()})


class AutoParallelContext:
    """The settings as an object with `get_...` and `set_...` for each, where old programs ask for it.

    >>> auto_parallel_context().get_parallel_mode()
    'stand_alone'
    """

    def __init__(self) -> None:
        self.split: dict[str, list[int]] = {}

    def __getattr__(self, name: str) -> Any:
        way, _, setting = name.partition("_")
        if way == "get" and setting in SETTINGS:
            return lambda: get_auto_parallel_context(setting)
        if way == "set" and setting in SETTINGS:
            return lambda value: set_auto_parallel_context(**{setting: value})
        raise AttributeError(f"there is no setting {setting or name!r} of training with several processes", name=name)

    def set_all_reduce_fusion_split_indices(self, indices: list[int], group: str = "") -> None:
        """Keep where gradients would be divided into messages: each is one message here, whatever is kept.

        >>> auto_parallel_context().set_all_reduce_fusion_split_indices([2, 5])
        >>> auto_parallel_context().get_all_reduce_fusion_split_indices()
        [2, 5]
        """
        if not isinstance(indices, list) or not all(isinstance(i, int) for i in indices):
            raise ArgumentError(f"indices is a list of whole numbers, not {indices!r}")
        self.split[group] = list(indices)

    def get_all_reduce_fusion_split_indices(self, group: str = "") -> list[int]:
        """What was kept."""
        return self.split.get(group, [])


_context = AutoParallelContext()


def auto_parallel_context() -> AutoParallelContext:
    """The settings as an object.

    >>> auto_parallel_context().get_gradients_mean()
    False
    """
    return _context


def _unknown(name: str) -> ArgumentError:
    near = get_close_matches(name, SETTINGS, 1)
    hint = f"did you mean {near[0]}?" if near else "parallel_mode and gradients_mean act"
    return ArgumentError(f"there is no setting {name!r} of training with several processes", hint=hint)
