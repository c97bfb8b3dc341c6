"""The settings of `set_context`: what each may be, what it is at first, and why most have no effect here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mycelia.errors import ArgumentError, CallError
from mycelia.frozen import frozen

_ONE_COMPILER = "there is one compiler, and it optimises always"
_DEVICE = "it is a setting of Ascend or GPU devices"
_MEMORY = "memory is asked of the system when it is needed"


@frozen
class Setting:
    """A setting: what it is at first, what it may be, and, where it has no effect, why.

    >>> Setting(0, (0, 1, 2), "there are no such files").checked("level", 2)
    2
    """

    first: Any
    accepts: tuple[Any, ...] | type | tuple[type, ...]  # the values, or the class of all
    why: str = ""  # empty: it acts
    to: Callable[[Any], Any] = lambda value: value  # as it is kept

    def checked(self, name: str, value: Any) -> Any:
        """The value, as it is kept; an error for one that the setting cannot have."""
        accepts = self.accepts
        kinds = accepts if isinstance(accepts, tuple) else (accepts,)
        if isinstance(kinds[0], type):
            if not isinstance(value, accepts) or (isinstance(value, bool) and bool not in kinds):
                told = " or ".join(k.__name__ for k in kinds)
                raise CallError(f"{name} cannot be {value!r}", hint=f"give a value of class {told}")
        elif not any(type(value) is type(v) and value == v for v in kinds):
            raise ArgumentError(f"{name} cannot be {value!r}", hint=f"choose one of {', '.join(map(repr, kinds))}")
        return self.to(value)


_FILES = "what the compiler makes is shown by fn.show(stage), and by MYCELIA_SHOW=graph,program"
_GRAPH_KERNEL = "neighbouring operations become one kernel always"

SETTINGS: dict[str, Setting] = {
    "mode": Setting(1, (0, 1)),
    "jit_syntax_level": Setting(
        2, (0, 2), "what cannot be compiled runs in Python; jit(fullgraph=True) makes it an error instead"
    ),
    "deterministic": Setting("ON", ("ON", "OFF"), "programs are deterministic always"),
    "jit_config": Setting({}, dict, _ONE_COMPILER),
    "jit_level": Setting("O0", ("O0", "O1", "O2"), _ONE_COMPILER),
    "infer_boost": Setting("off", ("on", "off"), _ONE_COMPILER),
    "save_graphs": Setting(0, (False, True, 0, 1, 2, 3), _FILES, lambda value: 2 if value is True else int(value)),
    "save_graphs_path": Setting(".", str, _FILES),
    "max_call_depth": Setting(1000, int, "calls nest up to 262144 deep"),
    "enable_compile_cache": Setting(None, (bool, str), "what was compiled is kept always, where MYCELIA_CACHE says"),
    "compile_cache_path": Setting("", str, "what was compiled is kept where MYCELIA_CACHE says"),
    "enable_graph_kernel": Setting(False, bool, _GRAPH_KERNEL),
    "graph_kernel_flags": Setting("", str, _GRAPH_KERNEL),
    "memory_optimize_level": Setting("O0", ("O0", "O1"), "jit(memory=...) says what a program keeps"),
    "memory_offload": Setting("OFF", ("ON", "OFF"), "everything is in the memory of the processor"),
    "max_device_memory": Setting("1024GB", str, _MEMORY),
    "variable_memory_max_size": Setting("0GB", str, _MEMORY),
    "mempool_block_size": Setting("1GB", str, _MEMORY),
    "inter_op_parallel_num": Setting(0, int, "OMP_NUM_THREADS says how many threads compute"),
    "runtime_num_threads": Setting(30, int, "OMP_NUM_THREADS says how many threads compute"),
    "pynative_synchronize": Setting(False, bool, "eager calls are done when they return"),
    "check_bprop": Setting(False, bool, "the gradients of a bprop are checked always"),
    "reserve_class_name_in_scope": Setting(True, bool, "names of operations have no scope"),
    "enable_reduce_precision": Setting(True, bool, "numbers keep their precision"),
    "support_binary": Setting(False, bool, "functions without a source file run in Python"),
    "enable_mem_scheduler": Setting(False, bool, _MEMORY),
    "enable_sparse": Setting(False, bool, "there is nothing to enable"),
    "grad_for_scalar": Setting(False, bool, "gradients of numbers are asked for by grad_position"),
    "precompile_only": Setting(False, bool, "programs are compiled when they are called first"),
    "load_compile_cache": Setting(False, bool, "what was compiled is found again always"),
    "exec_order": Setting("bfs", ("bfs", "dfs", "gpto"), _ONE_COMPILER),
    "debug_level": Setting(0, (0, 1), "errors tell all they know always"),
    "print_file_path": Setting("", str, "what programs print goes to standard output"),
    "env_config_path": Setting("", str, "there is no such file"),
    "enable_profiling": Setting(False, bool, "there is no such profiler"),
    "profiling_options": Setting("training_trace", str, "there is no such profiler"),
    "enable_dump": Setting(False, bool, _FILES),
    "save_dump_path": Setting(".", str, _FILES),
    "enable_auto_mixed_precision": Setting(False, bool, "Cell.to_float chooses a precision"),
    "ascend_config": Setting({}, dict, _DEVICE),
    "gpu_config": Setting({}, dict, _DEVICE),
    "aoe_tune_mode": Setting("", str, _DEVICE),
    "aoe_config": Setting({}, dict, _DEVICE),
    "auto_tune_mode": Setting("NO_TUNE", str, _DEVICE),
    "op_timeout": Setting(900, int, _DEVICE),
    "op_debug_option": Setting("", str, _DEVICE),
    "disable_format_transform": Setting(False, bool, _DEVICE),
}
"""Every setting that MindSpore documents, or has had, but for those of the device."""
