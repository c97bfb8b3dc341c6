"""Callbacks for trainings that are interrupted: go on exactly, leave when asked to, save when something fails."""

from __future__ import annotations

import json
import signal
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mycelia.eager import Tensor
from mycelia.errors import ArgumentError
from mycelia.train.callback.base import Callback, RunContext
from mycelia.train.resuming import load_training, save_training
from mycelia.train.serialization import save_checkpoint


class BackupAndRestore(Callback):
    """Saves a training after epochs, and takes it up where it stood: the same call goes on as if nothing had happened.

    Weights, optimizer, learning rate, loss scale, random numbers, the place in the dataset, and what the other
    callbacks know come back bit for bit. `save_freq` is "epoch" or a number of epochs; `save_steps` saves every so many
    steps too. The file is deleted when the training has ended, unless `delete_checkpoint` is false.

    >>> BackupAndRestore("backup", save_freq=2).save_freq
    2
    """

    keeps_place = True  # of rows: see `feeding.Feed`

    def __init__(
        self,
        backup_dir: str | Path,
        save_freq: str | int = "epoch",
        delete_checkpoint: bool = True,
        save_steps: int | None = None,
    ) -> None:
        if not isinstance(backup_dir, str | Path) or not str(backup_dir):
            raise ArgumentError(f"backup_dir is a folder, not {backup_dir!r}")
        if save_freq != "epoch" and (type(save_freq) is not int or save_freq < 1):
            raise ArgumentError(f'save_freq is "epoch" or a whole number from 1, not {save_freq!r}')
        if save_steps is not None and (type(save_steps) is not int or save_steps < 1):
            raise ArgumentError(f"save_steps is a whole number from 1, or None, not {save_steps!r}")
        if not isinstance(delete_checkpoint, bool):
            raise ArgumentError(f"delete_checkpoint is True or False, not {delete_checkpoint!r}")
        self.file = Path(backup_dir) / "backup.ckpt"
        self.save_freq = 1 if save_freq == "epoch" else int(save_freq)
        self.delete_checkpoint, self.save_steps = delete_checkpoint, save_steps
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.waiting: list[tuple[Callback, dict[str, Any]]] = []  # what callbacks knew, until all have begun

    def on_train_begin(self, run_context: RunContext) -> None:
        now = run_context.original_args()
        if not self.file.exists():
            return
        state = load_training(self.file, now.train_network)
        others, known = self._knowing(now), state["callbacks"]
        then, here = [c["kind"] for c in known], [type(c).__name__ for c in others]
        if then != here:
            raise ArgumentError(
                "the training was saved with other callbacks", given={"then": then, "now": here},
                hint=f"give those that have a state_dict again, in the same order, or remove {self.file}",
            )  # fmt: skip
        now.feed.start_at(state["place"], over=state["over"])
        now.cur_step_num = state["step"]
        outputs = [Tensor(a) for a in state["outputs"]]
        now.net_outputs = tuple(outputs) if state["several"] else outputs[0]
        now.resumed = {"epoch": state["epoch"], "begun": not state["over"]}
        self.waiting = [(callback, c["state"]) for callback, c in zip(others, known, strict=True)]
        # those that come later in the list begin after this: what they knew is given back when all have begun
        for callback, told in self.waiting:
            callback.load_state_dict(told)

    def on_train_epoch_begin(self, run_context: RunContext) -> None:
        for callback, told in self.waiting:
            callback.load_state_dict(told)
        self.waiting = []

    def on_train_step_end(self, run_context: RunContext) -> None:
        now = run_context.original_args()
        if self.save_steps is not None and now.cur_step_num % self.save_steps == 0:
            self._save(now, over=False)

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        now = run_context.original_args()
        if now.cur_epoch_num % self.save_freq == 0:
            self._save(now, over=True)

    def on_train_end(self, run_context: RunContext) -> None:
        if self.delete_checkpoint:
            self.file.unlink(missing_ok=True)

    def _knowing(self, now: Any) -> list[Callback]:
        """The callbacks that must know, when it goes on, what they knew; others may come and go."""
        return [c for c in now.list_callback.callbacks if type(c).state_dict is not Callback.state_dict]

    def _save(self, now: Any, over: bool) -> None:
        if now.feed.place is None:
            return  # no row was read yet
        known = [{"kind": type(c).__name__, "state": c.state_dict()} for c in self._knowing(now)]
        epoch = now.cur_epoch_num if over else now.cur_epoch_num - 1
        several = isinstance(now.net_outputs, tuple | list)
        outputs = list(now.net_outputs) if several else [now.net_outputs]
        save_training(
            self.file, now.train_network, several=several, outputs=outputs, epoch=epoch, over=over,
            step=now.cur_step_num, place=now.feed.place, callbacks=known,
        )  # fmt: skip


class OnRequestExit(Callback):
    """Ends a training or an evaluation after the present step when a signal comes, or a file asks for it, and saves.

    The signal is SIGTERM, unless `sig` is another; the file is JSON with `{"GracefulExit": 1}`. The checkpoint is
    `file_name_train.ckpt` in `directory`. A MindIR cannot be written here: `save_mindir` must be false.

    >>> OnRequestExit(save_mindir=False, file_name="LeNet").file_name
    'LeNet'
    """

    def __init__(
        self,
        save_ckpt: bool = True,
        save_mindir: bool = False,
        file_name: str = "Net",
        directory: str = "./",
        config_file: str | None = None,
        sig: int = signal.SIGTERM,
    ) -> None:
        if not isinstance(save_ckpt, bool) or not isinstance(save_mindir, bool):
            raise ArgumentError("save_ckpt and save_mindir are True or False")
        if save_mindir:
            raise ArgumentError("a MindIR cannot be written here", hint="save_mindir=False; mycelia.lite exports")
        if not isinstance(file_name, str) or not file_name:
            raise ArgumentError(f"file_name is a name, not {file_name!r}")
        if type(sig) is bool or not isinstance(sig, int) or sig in (signal.SIGKILL, signal.SIGSTOP):
            raise ArgumentError(f"sig is a signal that can be caught, not {sig!r}")
        self.save_ckpt, self.file_name, self.directory = save_ckpt, file_name, Path(directory)
        self.config_file, self.sig, self.asked = config_file, sig, False
        self.before: Any = None

    def on_train_begin(self, run_context: RunContext) -> None:
        self._listen()

    def on_eval_begin(self, run_context: RunContext) -> None:
        self._listen()

    def _listen(self) -> None:
        if self.before is not None:
            return  # an evaluation inside a training
        self.asked = False
        if threading.current_thread() is threading.main_thread():
            self.before = signal.signal(self.sig, self._note)
        else:
            warnings.warn("signals come to the main thread only: OnRequestExit looks at its file", stacklevel=2)

    def _note(self, *_: Any) -> None:
        self.asked = True

    def _wanted(self) -> bool:
        if self.config_file is not None and Path(self.config_file).is_file():
            try:
                self.asked |= json.loads(Path(self.config_file).read_text()).get("GracefulExit") == 1
            except (json.JSONDecodeError, AttributeError):
                warnings.warn(f"{self.config_file} is no JSON object", stacklevel=2)
        return self.asked

    def on_train_step_end(self, run_context: RunContext) -> None:
        if self._wanted():
            run_context.request_stop()

    def on_eval_step_end(self, run_context: RunContext) -> None:
        if self._wanted():
            run_context.request_stop()

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        if self._wanted():
            run_context.request_stop()

    def on_train_end(self, run_context: RunContext) -> None:
        if self.asked and self.save_ckpt:
            now = run_context.original_args()
            save_checkpoint(now.train_network, self.directory / f"{self.file_name}_train.ckpt")

    def __exit__(self, *err: object) -> None:
        if self.before is not None and threading.current_thread() is threading.main_thread():
            signal.signal(self.sig, self.before)
            self.before = None


class TrainFaultTolerance(Callback):
    """Saves a training when a step fails: in `ttp_saved_checkpoints-step_N` in a folder, or by a function of the user.

    On one machine this is all that a fault asks for; the error goes on. `ckpt_save_fn(cb_params, append_dict)` comes
    before `ckpt_save_path`.

    >>> TrainFaultTolerance("saved").path.name
    'saved'
    """

    def __init__(self, ckpt_save_path: str | None = None, **kwargs: Any) -> None:
        self.save: Callable[[Any, dict[str, Any]], None] | None = kwargs.pop("ckpt_save_fn", None)
        if kwargs:
            raise ArgumentError(f"TrainFaultTolerance has no {next(iter(kwargs))}", hint="it takes ckpt_save_fn")
        if self.save is None and not ckpt_save_path:
            raise ArgumentError("nothing says where to save", hint="give ckpt_save_path or ckpt_save_fn")
        if self.save is not None and not callable(self.save):
            raise ArgumentError("ckpt_save_fn is a function of cb_params and append_dict")
        self.path, self.now = Path(ckpt_save_path or "."), None

    def on_train_step_begin(self, run_context: RunContext) -> None:
        self.now = run_context.original_args()

    def __exit__(self, *err: object) -> None:
        now: Any = self.now
        if not err or err[0] is None or now is None:
            return
        added = {"epoch_num": now.cur_epoch_num, "step_num": now.cur_step_num}
        if self.save is not None:
            self.save(now, added)
        else:
            folder = self.path / f"ttp_saved_checkpoints-step_{now.cur_step_num}"
            save_checkpoint(now.train_network, folder / "net.ckpt", append_dict=added)
