"""What published programs ask of the settings of training with several processes."""

from __future__ import annotations

from mycelia.api.parallel_context import get_auto_parallel_context
from mycelia.communication import get_group_size, get_rank


def _get_parallel_mode() -> str:
    """How several processes share the work."""
    return str(get_auto_parallel_context("parallel_mode"))


def _get_gradients_mean() -> bool:
    """Whether gradients of several processes are averaged."""
    return bool(get_auto_parallel_context("gradients_mean"))


def _get_device_num() -> int:
    """How many processes there are."""
    return max(int(get_auto_parallel_context("device_num")), get_group_size())


def _get_global_rank() -> int:
    """Which of them this is."""
    return int(get_auto_parallel_context("global_rank")) or get_rank()


def _get_enable_parallel_optimizer() -> bool:
    """Whether optimizers are divided: they are not."""
    return False


def _get_pipeline_stages() -> int:
    """How many stages a network has: one."""
    return 1
