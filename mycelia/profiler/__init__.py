"""The profiler: what a training does with its time, in MindSpore's words."""

from mycelia.names import missing_in as _missing_in
from mycelia.profiler import profiler
from mycelia.profiler.dynamic import DynamicProfilerMonitor, EnvProfiler
from mycelia.profiler.marks import mstx
from mycelia.profiler.profiler import Profiler, profile, tensorboard_trace_handler
from mycelia.profiler.schedule import ProfilerAction, schedule
from mycelia.profiler.settings import (
    AicoreMetrics,
    ExportType,
    HostSystem,
    ProfilerActivity,
    ProfilerLevel,
    _ExperimentalConfig,
)

__getattr__ = _missing_in("mycelia.profiler")

__all__ = [
    "AicoreMetrics",
    "DynamicProfilerMonitor",
    "EnvProfiler",
    "ExportType",
    "HostSystem",
    "Profiler",
    "ProfilerAction",
    "ProfilerActivity",
    "ProfilerLevel",
    "_ExperimentalConfig",
    "mstx",
    "profile",
    "profiler",
    "schedule",
    "tensorboard_trace_handler",
]
