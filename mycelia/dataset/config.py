"""Settings of the data engine. An iterator takes a frozen copy when it is made; nothing reads them later."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import fields, replace
from enum import IntEnum
from pathlib import Path
from typing import Any

from mycelia.checks import truth, whole
from mycelia.dataset import random
from mycelia.dataset.debug import DebugHook
from mycelia.dataset.remote import get_remote as get_remote
from mycelia.dataset.remote import set_remote as set_remote
from mycelia.errors import ArgumentError
from mycelia.frozen import frozen
from mycelia.mindrecord import limits

MOST_WORKERS = 256  # of one step
CHOSEN = "auto"  # the way to start worker processes that is chosen for each plan


class ErrorSamplesMode(IntEnum):
    """What becomes of a sample that cannot be read or transformed.

    >>> ErrorSamplesMode.SKIP.name
    'SKIP'
    """

    RETURN = 0
    REPLACE = 1
    SKIP = 2


@frozen
class PipelineOptions:
    """Everything that a pipeline asks of its surroundings.

    >>> PipelineOptions(prefetch_size=3).prefetch_size
    3
    """

    seed: int | None = None
    num_parallel_workers: int = min(8, os.cpu_count() or 1)
    prefetch_size: int = 2
    error_samples_mode: ErrorSamplesMode = ErrorSamplesMode.RETURN
    multiprocessing_start_method: str = "auto"
    multiprocessing_timeout_interval: int = 300
    enable_watchdog: bool = True
    enable_shared_mem: bool = True
    numa_enable: bool = False
    debug_mode: bool = False
    debug_hooks: tuple[DebugHook, ...] = ()
    enable_autotune: bool = False
    autotune_file: str = ""
    autotune_interval: int = 0
    callback_timeout: int = 60
    do_copy: bool = False
    parallel_convert: bool = False
    sending_batches: int = 0
    fast_recovery: bool = True
    monitor_sampling_interval: int = 1000
    largest_sample: int = 1 << 30
    own_jpeg_decoder: bool = True


class _Settings:
    """The one place where options change."""

    options = PipelineOptions()


def current_options() -> PipelineOptions:
    """The settings as they stand now.

    >>> current_options().prefetch_size >= 1
    True
    """
    return _Settings.options


def restore(options: PipelineOptions) -> None:
    """Put back settings that `current_options` gave.

    >>> before = current_options(); set_prefetch_size(9); restore(before); get_prefetch_size() == before.prefetch_size
    True
    """
    _Settings.options = options
    limits.set_largest(options.largest_sample)


def _set(**changes: Any) -> None:
    restore(replace(_Settings.options, **changes))


def _whole(name: str, value: object, least: int, most: int = 2**31 - 1) -> int:
    return whole("config", name, value, least, most)


def _truth(name: str, value: object) -> bool:
    return truth("config", name, value)


def set_seed(seed: int | None) -> None:
    """Make shuffles, samplers and random transforms repeatable; None, which `get_seed` gives at first, undoes it.

    >>> before = current_options(); set_seed(5); get_seed(); restore(before)
    5
    """
    _set(seed=None if seed is None else _whole("seed", seed, 0, 2**32 - 1))
    random.seed_outside(seed)


def get_seed() -> int | None:
    """The seed, or None when every run is to differ.

    >>> before = current_options(); restore(PipelineOptions()); get_seed() is None; restore(before)
    True
    """
    return _Settings.options.seed


def set_num_parallel_workers(num: int) -> None:
    """How many workers an operation has that does not say.

    >>> before = current_options(); set_num_parallel_workers(3); get_num_parallel_workers(); restore(before)
    3
    """
    _set(num_parallel_workers=_whole("num_parallel_workers", num, 1, MOST_WORKERS))


def get_num_parallel_workers() -> int:
    """How many workers an operation has that does not say.

    >>> get_num_parallel_workers() >= 1
    True
    """
    return _Settings.options.num_parallel_workers


def set_prefetch_size(size: int) -> None:
    """How many finished results wait for the reader, beside those being made.

    >>> before = current_options(); set_prefetch_size(4); get_prefetch_size(); restore(before)
    4
    """
    _set(prefetch_size=_whole("prefetch_size", size, 1))


def get_prefetch_size() -> int:
    """How many finished results wait for the reader.

    >>> get_prefetch_size() >= 1
    True
    """
    return _Settings.options.prefetch_size


def set_error_samples_mode(error_samples_mode: ErrorSamplesMode) -> None:
    """Raise at a bad sample (RETURN), put a good neighbour in its place (REPLACE), or leave it out (SKIP).

    >>> before = current_options(); set_error_samples_mode(ErrorSamplesMode.SKIP)
    >>> get_error_samples_mode().name; restore(before)
    'SKIP'
    """
    if not isinstance(error_samples_mode, ErrorSamplesMode):
        raise ArgumentError(f"error_samples_mode must be an ErrorSamplesMode, and is {error_samples_mode!r}")
    _set(error_samples_mode=error_samples_mode)


def get_error_samples_mode() -> ErrorSamplesMode:
    """What becomes of a bad sample.

    >>> get_error_samples_mode() in ErrorSamplesMode
    True
    """
    return _Settings.options.error_samples_mode


def set_multiprocessing_start_method(start_method: str = "fork") -> None:
    """How worker processes come into being: "fork", "spawn" or "forkserver".

    At first it is "auto": a plan that pickles, names nothing of the script and finds the same modules elsewhere is sent
    to processes that begin anew (a fork server's); for others this process is forked.

    >>> before = current_options(); set_multiprocessing_start_method("spawn")
    >>> get_multiprocessing_start_method(); restore(before)
    'spawn'
    """
    known = ("fork", "spawn", "forkserver", CHOSEN)
    if start_method not in known:
        *first, last = (f'"{word}"' for word in known)
        raise ArgumentError(f"start_method must be {', '.join(first)} or {last}, and is {start_method!r}")
    _set(multiprocessing_start_method=start_method)


def get_multiprocessing_start_method() -> str:
    """How worker processes come into being.

    >>> get_multiprocessing_start_method() in ("fork", "spawn", "forkserver", "auto")
    True
    """
    return _Settings.options.multiprocessing_start_method


def set_multiprocessing_timeout_interval(interval: int) -> None:
    """After how many seconds without an answer the watchdog warns about a worker.

    >>> before = current_options(); set_multiprocessing_timeout_interval(10)
    >>> get_multiprocessing_timeout_interval(); restore(before)
    10
    """
    _set(multiprocessing_timeout_interval=_whole("interval", interval, 1))


def get_multiprocessing_timeout_interval() -> int:
    """After how many seconds without an answer the watchdog warns.

    >>> get_multiprocessing_timeout_interval() > 0
    True
    """
    return _Settings.options.multiprocessing_timeout_interval


def set_enable_watchdog(enable: bool) -> None:
    """Whether slow worker processes are warned about.

    >>> before = current_options(); set_enable_watchdog(False); get_enable_watchdog(); restore(before)
    False
    """
    _set(enable_watchdog=_truth("enable", enable))


def get_enable_watchdog() -> bool:
    """Whether slow worker processes are warned about.

    >>> isinstance(get_enable_watchdog(), bool)
    True
    """
    return _Settings.options.enable_watchdog


def set_enable_shared_mem(enable: bool) -> None:
    """Whether worker processes hand over arrays in shared memory, or copy them through a pipe.

    >>> before = current_options(); set_enable_shared_mem(False); get_enable_shared_mem(); restore(before)
    False
    """
    _set(enable_shared_mem=_truth("enable", enable))


def get_enable_shared_mem() -> bool:
    """Whether worker processes hand over arrays in shared memory.

    >>> isinstance(get_enable_shared_mem(), bool)
    True
    """
    return _Settings.options.enable_shared_mem


def set_numa_enable(numa_enable: bool) -> None:
    """Whether worker processes stay on the processors they start on.

    >>> before = current_options(); set_numa_enable(True); get_numa_enable(); restore(before)
    True
    """
    _set(numa_enable=_truth("numa_enable", numa_enable))


def get_numa_enable() -> bool:
    """Whether worker processes stay on the processors they start on.

    >>> isinstance(get_numa_enable(), bool)
    True
    """
    return _Settings.options.numa_enable


def set_debug_mode(debug_mode_flag: bool, debug_hook_list: Sequence[DebugHook] | None = None) -> None:
    """Run every op in the reader's own thread, where a debugger can stop; hooks see what each op of a map gives.

    >>> before = current_options(); set_debug_mode(True); get_debug_mode(); restore(before)
    True
    """
    hooks = tuple(debug_hook_list or ())
    wrong = [h for h in hooks if not isinstance(h, DebugHook)]
    if wrong:
        raise ArgumentError(f"debug_hook_list holds DebugHook objects, and has {wrong}")
    _set(debug_mode=_truth("debug_mode_flag", debug_mode_flag), debug_hooks=hooks)


def get_debug_mode() -> bool:
    """Whether every op runs in the reader's own thread.

    >>> isinstance(get_debug_mode(), bool)
    True
    """
    return _Settings.options.debug_mode


def set_enable_autotune(enable: bool, filepath_prefix: str | None = None) -> None:
    """Let the engine find workers and prefetch by measuring; the report goes to `<filepath_prefix>_0.json`.

    >>> before = current_options(); set_enable_autotune(True); get_enable_autotune(); restore(before)
    True
    """
    report = f"{filepath_prefix}_0.json" if filepath_prefix else ""
    _set(enable_autotune=_truth("enable", enable), autotune_file=report)


def get_enable_autotune() -> bool:
    """Whether the engine tunes itself.

    >>> isinstance(get_enable_autotune(), bool)
    True
    """
    return _Settings.options.enable_autotune


def set_autotune_interval(interval: int) -> None:
    """How many steps lie between two decisions of the autotuner; 0 lets it choose.

    >>> before = current_options(); set_autotune_interval(50); get_autotune_interval(); restore(before)
    50
    """
    _set(autotune_interval=_whole("interval", interval, 0))


def get_autotune_interval() -> int:
    """How many steps lie between two decisions of the autotuner.

    >>> get_autotune_interval() >= 0
    True
    """
    return _Settings.options.autotune_interval


def set_callback_timeout(timeout: int) -> None:
    """How many seconds a synchronisation point waits for its `sync_update`.

    >>> before = current_options(); set_callback_timeout(5); get_callback_timeout(); restore(before)
    5
    """
    _set(callback_timeout=_whole("timeout", timeout, 1))


def get_callback_timeout() -> int:
    """How many seconds a synchronisation point waits.

    >>> get_callback_timeout() > 0
    True
    """
    return _Settings.options.callback_timeout


def set_iterator_mode(do_copy: bool = False, parallel_convert: bool = False) -> None:
    """Whether iterators hand out copies that nothing else refers to.

    `parallel_convert` asks for tensors to be made by another thread: it is checked and shown, and changes nothing,
    since a tensor takes over the array that workers made, without work.

    >>> before = current_options(); set_iterator_mode(do_copy=True); get_iterator_mode(); restore(before)
    {'do_copy': True, 'parallel_convert': False}
    """
    _set(do_copy=_truth("do_copy", do_copy), parallel_convert=_truth("parallel_convert", parallel_convert))


def get_iterator_mode() -> dict[str, bool]:
    """How iterators hand out arrays.

    >>> sorted(get_iterator_mode())
    ['do_copy', 'parallel_convert']
    """
    return {"do_copy": _Settings.options.do_copy, "parallel_convert": _Settings.options.parallel_convert}


def set_fast_recovery(fast_recovery: bool) -> None:
    """Whether a pipeline that resumes may draw other random numbers, to be faster.

    It is checked and shown, and changes nothing: resuming takes no time and gives the same numbers, both at once.

    >>> before = current_options(); set_fast_recovery(False); get_fast_recovery(); restore(before)
    False
    """
    _set(fast_recovery=_truth("fast_recovery", fast_recovery))


def get_fast_recovery() -> bool:
    """What `set_fast_recovery` was told.

    >>> isinstance(get_fast_recovery(), bool)
    True
    """
    return _Settings.options.fast_recovery


def set_monitor_sampling_interval(interval: int) -> None:
    """How many milliseconds lie between two looks of a sampling profiler.

    It is checked and shown, and changes nothing: the profiler here times every step and takes no samples.

    >>> before = current_options(); set_monitor_sampling_interval(50); get_monitor_sampling_interval(); restore(before)
    50
    """
    _set(monitor_sampling_interval=_whole("interval", interval, 1))


def get_monitor_sampling_interval() -> int:
    """What `set_monitor_sampling_interval` was told.

    >>> get_monitor_sampling_interval() > 0
    True
    """
    return _Settings.options.monitor_sampling_interval


def set_sending_batches(batch_num: int) -> None:
    """How many batches of an epoch a device queue passes on; 0 for all.

    >>> before = current_options(); set_sending_batches(7); current_options().sending_batches; restore(before)
    7
    """
    _set(sending_batches=_whole("batch_num", batch_num, 0))


def set_largest_sample(size: int) -> None:
    """How many bytes a file may declare for one picture, record, sound, member of an archive or unfolded file.

    A file that declares more is refused before memory is asked for.

    >>> before = current_options(); set_largest_sample(1 << 20); get_largest_sample(); restore(before)
    1048576
    """
    _set(largest_sample=_whole("size", size, 1, 2**62))


def get_largest_sample() -> int:
    """How many bytes a file may declare for one picture, record, sound, member of an archive or unfolded file.

    >>> get_largest_sample()
    1073741824
    """
    return _Settings.options.largest_sample


def set_own_jpeg_decoder(enable: bool) -> None:
    """Whether crops of JPEG files are decoded by our own decoder, which makes only the rectangle that is needed.

    Whole pictures are decoded by a library where there is one. Turned off, the library decodes for crops too; pixels
    are the same.

    >>> before = current_options(); set_own_jpeg_decoder(False); get_own_jpeg_decoder(); restore(before)
    False
    """
    _set(own_jpeg_decoder=_truth("enable", enable))


def get_own_jpeg_decoder() -> bool:
    """Whether crops of JPEG files are decoded by our own decoder.

    >>> get_own_jpeg_decoder()
    True
    """
    return _Settings.options.own_jpeg_decoder


def set_auto_num_workers(enable: bool) -> None:
    """Let the engine choose worker counts; the same as autotuning.

    >>> before = current_options(); set_auto_num_workers(True); get_enable_autotune(); restore(before)
    True
    """
    _set(enable_autotune=_truth("enable", enable))


def get_auto_num_workers() -> bool:
    """Whether the engine chooses worker counts.

    >>> isinstance(get_auto_num_workers(), bool)
    True
    """
    return _Settings.options.enable_autotune


def set_auto_offload(offload: bool) -> None:
    """Asking transforms to move to the training device: here both are the processor, so they already are there.

    >>> set_auto_offload(True)
    >>> get_auto_offload()
    False
    """
    _truth("offload", offload)


def get_auto_offload() -> bool:
    """Whether transforms run on another device than the pipeline: there is none.

    >>> get_auto_offload()
    False
    """
    return False


MINDSPORES_WORDS = {
    "numParallelWorkers": "num_parallel_workers",
    "opConnectorSize": "prefetch_size",
    "monitorSamplingInterval": "monitor_sampling_interval",
}
WITHOUT_COUNTERPART = {"workerConnectorSize", "cacheHost", "cachePort", "numConnections", "cachePrefetchSize"}


def load(file: str) -> None:
    """Take settings from a JSON file of option names and values; MindSpore's words for them are known too.

    Sizes of queues inside MindSpore's workers and the address of its cache server have no counterpart and are left out.

    >>> import pathlib, tempfile
    >>> before = current_options(); place = pathlib.Path(tempfile.mkdtemp(), "c.json")
    >>> _ = place.write_text('{"prefetch_size": 6}'); load(str(place)); get_prefetch_size()
    6
    >>> _ = place.write_text('{"opConnectorSize": 7}'); load(str(place)); get_prefetch_size(); restore(before)
    7
    """
    told = json.loads(Path(file).read_text())
    given = {MINDSPORES_WORDS.get(k, k): v for k, v in told.items() if k not in WITHOUT_COUNTERPART}
    known = {f.name: f.default for f in fields(PipelineOptions)}
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise ArgumentError(f"{file} has unknown settings {unknown}", hint=f"known are {sorted(known)}")
    if "error_samples_mode" in given:
        given["error_samples_mode"] = ErrorSamplesMode(given["error_samples_mode"])
    kinds = {k: int | None if k == "seed" else type(v) for k, v in known.items()}
    wrong = {k: v for k, v in given.items() if not isinstance(v, kinds[k])}
    if wrong:
        raise ArgumentError(f"{file} has settings of a wrong type", given=wrong)
    _set(**given)


def describe() -> dict[str, Any]:
    """The settings as a plain dictionary, as `load` reads it.

    >>> "seed" in describe()
    True
    """
    return {f.name: getattr(_Settings.options, f.name) for f in fields(PipelineOptions) if f.name != "debug_hooks"}
