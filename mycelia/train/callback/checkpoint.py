"""Callbacks that save what was learnt while a training goes on."""

from __future__ import annotations

import os
import re
import time
import warnings
from pathlib import Path
from typing import Any

from mycelia.eager import Tensor
from mycelia.errors import ArgumentError
from mycelia.names import nearest
from mycelia.nn import Cell
from mycelia.train.callback.base import Callback, RunContext
from mycelia.train.serialization import FORMATS, finish_saving, save_checkpoint

OPTIONS = (
    "save_checkpoint_steps", "save_checkpoint_seconds", "keep_checkpoint_max", "keep_checkpoint_per_n_minutes",
    "integrated_save", "async_save", "saved_network", "append_info", "enc_key", "enc_mode", "exception_save",
    "crc_check", "remove_redundancy", "format",
)  # fmt: skip


class CheckpointConfig:
    """When checkpoints are saved, how many are kept, and what is in them.

    A checkpoint is saved every so many steps; where `save_checkpoint_steps` is 0, every so many seconds. At most
    `keep_checkpoint_max` are kept; where it is 0, one for every so many minutes. `append_info` adds "epoch_num",
    "step_num" and a dictionary of numbers. `exception_save` saves when the training fails.

    >>> CheckpointConfig(save_checkpoint_steps=100, keep_checkpoint_max=3).keep_checkpoint_max
    3
    """

    def __init__(
        self,
        save_checkpoint_steps: int = 1,
        save_checkpoint_seconds: int = 0,
        keep_checkpoint_max: int = 5,
        keep_checkpoint_per_n_minutes: int = 0,
        integrated_save: bool = True,
        async_save: bool | str = False,
        saved_network: Cell | None = None,
        append_info: list[Any] | None = None,
        enc_key: bytes | None = None,
        enc_mode: str = "AES-GCM",
        exception_save: bool = False,
        crc_check: bool = False,
        remove_redundancy: bool = False,
        format: str = "ckpt",
        **kwargs: Any,
    ) -> None:
        for name in kwargs:
            raise ArgumentError(f"CheckpointConfig has no {name}", hint=nearest(name, OPTIONS))
        numbers = {
            "save_checkpoint_steps": save_checkpoint_steps, "save_checkpoint_seconds": save_checkpoint_seconds,
            "keep_checkpoint_max": keep_checkpoint_max, "keep_checkpoint_per_n_minutes": keep_checkpoint_per_n_minutes,
        }  # fmt: skip
        for name, value in numbers.items():
            if value is not None and (type(value) is not int or value < 0):
                raise ArgumentError(f"{name} is a whole number from 0, not {value!r}")
        if not save_checkpoint_steps and not save_checkpoint_seconds:
            raise ArgumentError(
                "nothing says when to save", hint="give save_checkpoint_steps or save_checkpoint_seconds"
            )
        if format not in FORMATS:
            raise ArgumentError(f"there is no checkpoint format {format!r}", hint=f"choose one of {', '.join(FORMATS)}")
        if saved_network is not None and not isinstance(saved_network, Cell):
            raise ArgumentError(f"saved_network is a Cell, not a {type(saved_network).__name__}")
        if remove_redundancy:
            raise ArgumentError("remove_redundancy is for networks that are spread over processes", hint="leave it out")
        if not isinstance(async_save, bool) and async_save not in ("thread", "process"):
            raise ArgumentError(f"async_save is True, False, thread or process, not {async_save!r}")
        self.save_checkpoint_steps = save_checkpoint_steps or 0
        self.save_checkpoint_seconds = 0 if save_checkpoint_steps else save_checkpoint_seconds
        kept = keep_checkpoint_max or 0
        self.keep_checkpoint_per_n_minutes = 0 if kept else keep_checkpoint_per_n_minutes or 0
        self.keep_checkpoint_max = kept or (0 if self.keep_checkpoint_per_n_minutes else 1)
        self.integrated_save, self.async_save, self.saved_network = bool(integrated_save), async_save, saved_network
        self.enc_key, self.enc_mode, self.exception_save = enc_key, enc_mode, bool(exception_save)
        self.crc_check, self.format = bool(crc_check), format
        self.info, self.append_dict = _added(append_info)

    def get_checkpoint_policy(self) -> dict[str, int]:
        """When checkpoints are saved and how many are kept."""
        return {
            name: getattr(self, name)
            for name in (
                "save_checkpoint_steps", "save_checkpoint_seconds", "keep_checkpoint_max",
                "keep_checkpoint_per_n_minutes",
            )
        }  # fmt: skip


def _added(append_info: Any) -> tuple[list[str], dict[str, Any]]:
    """Which numbers of the run are saved too, and which of the user's."""
    info: list[str] = []
    own: dict[str, Any] = {}
    for item in append_info or []:
        if item in ("epoch_num", "step_num") if isinstance(item, str) else False:
            info.append(item)
        elif isinstance(item, dict) and all(
            isinstance(k, str) and isinstance(v, int | float | bool | Tensor) for k, v in item.items()
        ):
            own |= item
        else:
            raise ArgumentError(
                "append_info holds epoch_num, step_num and dictionaries of numbers and tensors", given={"item": item}
            )
    return info, own


class ModelCheckpoint(Callback):
    """Saves the training network, with its optimizer, as `prefix-epoch_step.ckpt` in a folder.

    Where files of this prefix are there already, another number is added to it: none is overwritten.

    >>> ModelCheckpoint("net", config=CheckpointConfig(save_checkpoint_steps=100)).prefix
    'net'
    """

    def __init__(
        self, prefix: str | Any = "CKP", directory: str | Any | None = None, config: CheckpointConfig | None = None
    ) -> None:
        if not callable(prefix) and (not isinstance(prefix, str) or not prefix or "/" in prefix):
            raise ArgumentError(f"prefix begins the names of files, and is {prefix!r}")
        if config is not None and not isinstance(config, CheckpointConfig):
            raise ArgumentError(f"config is a CheckpointConfig, not a {type(config).__name__}")
        self.given, self.config = prefix, config or CheckpointConfig()
        self.prefix = prefix if isinstance(prefix, str) else ""
        self.directory = directory
        self.files: list[Path] = []
        self.latest, self.last_step, self.last_time, self.kept_time = "", 0, time.monotonic(), time.monotonic()

    @property
    def latest_ckpt_file_name(self) -> str:
        """The file that was saved last."""
        return self.latest

    def on_train_begin(self, run_context: RunContext) -> None:
        now = run_context.original_args()
        chosen = self.directory(now) if callable(self.directory) else self.directory
        self.folder = Path(chosen if chosen is not None else ".").absolute()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.files, self.last_step = [], now.cur_step_num
        self.last_time = self.kept_time = time.monotonic()
        if isinstance(self.given, str):
            self.prefix = _free_prefix(self.folder, self.given, self.config.format)

    def step_end(self, run_context: RunContext) -> None:
        now, config = run_context.original_args(), self.config
        due = (
            now.cur_step_num - self.last_step >= config.save_checkpoint_steps
            if config.save_checkpoint_steps
            else (time.monotonic() - self.last_time >= config.save_checkpoint_seconds)
        )
        if due:
            self._save(now)

    def on_eval_step_end(self, run_context: RunContext) -> None:
        """Nothing: only training is saved."""

    def on_eval_begin(self, run_context: RunContext) -> None:
        """Nothing: only training is saved."""

    def on_eval_end(self, run_context: RunContext) -> None:
        """Nothing: only training is saved."""

    def end(self, run_context: RunContext) -> None:
        now = run_context.original_args()
        if now.cur_step_num > self.last_step:
            self._save(now)
        if self.config.async_save:
            finish_saving()

    def __exit__(self, *err: object) -> None:
        failed = bool(err) and err[0] is not None
        if failed and self.config.exception_save and hasattr(self, "last"):
            self._save(self.last, "_breakpoint")

    def on_train_step_begin(self, run_context: RunContext) -> None:
        self.last = run_context.original_args()

    def _save(self, now: Any, mark: str = "") -> None:
        step = (now.cur_step_num - 1) % now.batch_num + 1 if now.batch_num > 0 else now.cur_step_num
        prefix = self.given(now) if callable(self.given) else self.prefix
        path = self.folder / f"{prefix}-{now.cur_epoch_num}_{step}{mark}.{self.config.format}"
        added = {"epoch_num": now.cur_epoch_num, "step_num": now.cur_step_num}
        added = {name: added[name] for name in self.config.info} | self.config.append_dict
        config = self.config
        save_checkpoint(
            config.saved_network or now.train_network, path, config.integrated_save, config.async_save,
            append_dict=added, enc_key=config.enc_key, enc_mode=config.enc_mode,
            crc_check=config.crc_check or config.enc_key is None, format=config.format,
        )  # fmt: skip
        self.latest, self.last_step, self.last_time = str(path), now.cur_step_num, time.monotonic()
        now.latest_ckpt_file, now.last_save_ckpt_step = str(path), now.cur_step_num
        if path in self.files:
            self.files.remove(path)
        self.files.append(path)
        self._forget_old()

    def _forget_old(self) -> None:
        """Remove files that are not to be kept."""
        if self.config.keep_checkpoint_max:
            while len(self.files) > self.config.keep_checkpoint_max:
                self._remove(self.files.pop(0))
        elif time.monotonic() - self.kept_time >= 60 * self.config.keep_checkpoint_per_n_minutes:
            self.kept_time = time.monotonic()
            for path in self.files[:-1]:
                self._remove(path)
            self.files = []  # the last one stays for good
        elif len(self.files) > 1:
            self._remove(self.files.pop(0))

    @staticmethod
    def _remove(path: Path) -> None:
        try:
            path.unlink(missing_ok=True)
        except OSError as reason:
            warnings.warn(f"an old checkpoint cannot be removed: {reason}", stacklevel=2)


def _free_prefix(folder: Path, prefix: str, suffix: str) -> str:
    """A prefix that no file in a folder has: with the next number after it, if there are some."""
    form = re.compile(rf"{re.escape(prefix)}(?:_(\d+))?-\d+_\d+(?:_breakpoint)?\.{suffix}")
    taken = [int(m[1] or 0) for name in os.listdir(folder) if (m := form.fullmatch(name))]
    return f"{prefix}_{max(taken) + 1}" if taken else prefix
