"""What a profile is made of, in MindSpore's words; most of it says what Ascend devices record, and there are none."""

from __future__ import annotations

import warnings
from enum import Enum

from mycelia import checks
from mycelia.frozen import frozen


class ProfilerLevel(Enum):
    """How much is written: LevelNone leaves the table of steps out, the others write all that a processor has.

    >>> ProfilerLevel.Level0.value
    'Level0'
    """

    LevelNone = "LevelNone"
    Level0 = "Level0"
    Level1 = "Level1"
    Level2 = "Level2"


class ProfilerActivity(Enum):
    """Whose work is recorded. There is the processor; the others are names of devices that are not here.

    >>> ProfilerActivity.CPU.value
    'CPU'
    """

    CPU = "CPU"
    NPU = "NPU"
    GPU = "GPU"


class AicoreMetrics(Enum):
    """What Ascend cores count; a processor counts none of it, so AiCoreNone alone is of use."""

    AiCoreNone = "None"
    PipeUtilization = "PipeUtilization"
    ArithmeticUtilization = "ArithmeticUtilization"
    Memory = "Memory"
    MemoryL0 = "MemoryL0"
    MemoryUB = "MemoryUB"
    ResourceConflictRatio = "ResourceConflictRatio"
    L2Cache = "L2Cache"
    MemoryAccess = "MemoryAccess"


class ExportType(Enum):
    """The form of what is written: traces and tables as text, or a data base."""

    Text = "text"
    Db = "db"


class HostSystem(Enum):
    """What of the host may be sampled beside the training."""

    CPU = "cpu"
    MEM = "mem"
    DISK = "disk"
    NETWORK = "network"
    OSRT = "osrt"


@frozen
class _ExperimentalConfig:
    """Further wishes, in MindSpore's words. Of what only an Ascend device could record it warns."""

    profiler_level: ProfilerLevel = ProfilerLevel.Level0
    aic_metrics: AicoreMetrics = AicoreMetrics.AiCoreNone
    l2_cache: bool = False
    mstx: bool = False
    data_simplification: bool = True
    export_type: list[ExportType] | None = None
    mstx_domain_include: list[str] | None = None
    mstx_domain_exclude: list[str] | None = None
    sys_io: bool = False
    sys_interconnection: bool = False
    host_sys: list[HostSystem] | None = None

    def __post_init__(self) -> None:
        only_here(
            "_ExperimentalConfig",
            l2_cache=self.l2_cache,
            sys_io=self.sys_io,
            sys_interconnection=self.sys_interconnection,
            host_sys=bool(self.host_sys),
            aic_metrics=self.aic_metrics is not AicoreMetrics.AiCoreNone,
            export_type=self.export_type is not None and ExportType.Db in self.export_type,
        )


def only_here(owner: str, **asked: bool) -> None:
    """Warn of wishes that only an Ascend device could fulfil, by their names: they change nothing here.

    >>> only_here("Profiler", hbm_ddr=False)
    """
    for name, wanted in asked.items():
        if checks.truth(owner, name, wanted):
            warnings.warn(f"{name} of {owner} changes nothing here: it is about Ascend devices", stacklevel=4)
