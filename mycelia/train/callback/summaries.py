"""Summaries of a training, for TensorBoard: losses, weights, pictures, the graph, and what the training was."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np

from mycelia import checks
from mycelia.eager import Parameter, Tensor
from mycelia.errors import ArgumentError, CallError, MyceliaError
from mycelia.names import nearest
from mycelia.nn import Optimizer
from mycelia.train.callback.base import Callback, InternalCallbackParam, RunContext
from mycelia.train.callback.landscape import METADATA, check_landscape
from mycelia.train.callback.landscape import SETTINGS as LANDSCAPE
from mycelia.train.serialization import save_checkpoint
from mycelia.train.summary import SummaryRecord
from mycelia.train.summary.record import export_format

FIRST = 5  # parameters whose spread is shown where nobody says which
TENSORS = 20  # times that tensors are written in a run, where nobody says how often
CHOICES: dict[str, Any] = {
    "collect_metric": True, "collect_graph": True, "collect_train_lineage": True, "collect_eval_lineage": True,
    "collect_input_data": True, "collect_dataset_graph": True, "histogram_regular": None, "collect_landscape": None,
}  # fmt: skip


class SummaryCollector(Callback):
    """Writes what happens in a training to a file of events in `summary_dir`, after the first step and then after every
    `collect_freq`: the loss, the spread of the first five parameters (or of those whose names `histogram_regular`
    matches), the first picture of a batch, the graph, and what `ops.ScalarSummary` and its like saw; at the end, what
    the training was and what the evaluation found.

    `collect_specified_data` says what is written and what not; with `keep_default_action=False` only what it names is.
    `custom_lineage_data` are hyperparameters to be shown beside the loss. Tensors that a network shows are written
    less often: `collect_tensor_freq`. With "collect_landscape" weights are saved for `SummaryLandscape`. Of
    `num_process`, `max_file_size` and `export_options` `SummaryRecord` tells.

    >>> import tempfile
    >>> SummaryCollector(tempfile.mkdtemp(), collect_specified_data={"collect_metrics": True})
    Traceback (most recent call last):
    mycelia.errors.ArgumentError: collect_specified_data has no 'collect_metrics'
    ...
    """

    def __init__(
        self,
        summary_dir: str,
        collect_freq: int = 10,
        num_process: int = 32,
        collect_specified_data: Mapping[str, Any] | None = None,
        keep_default_action: bool = True,
        custom_lineage_data: Mapping[str, Any] | None = None,
        collect_tensor_freq: int | None = None,
        max_file_size: int | None = None,
        export_options: Mapping[str, Any] | None = None,
    ) -> None:
        name = "SummaryCollector"
        self.summary_dir = str(summary_dir)
        self.collect_freq = checks.whole(name, "collect_freq", collect_freq, least=1)
        self.num_process = checks.whole(name, "num_process", num_process, least=1)
        for what, number in (("collect_tensor_freq", collect_tensor_freq), ("max_file_size", max_file_size)):
            if number is not None:
                checks.whole(name, what, number, least=1)
        self.tensor_freq, self.max_file_size = collect_tensor_freq, max_file_size
        export_format(export_options)
        self.export_options = export_options
        self.chosen = _chosen(collect_specified_data, checks.truth(name, "keep_default_action", keep_default_action))
        self.custom = _plain(custom_lineage_data)
        self.record: SummaryRecord | None = None
        self.first = True
        self.entered = self.step = 0  # how often it was entered; the last step of training
        self.saved: dict[str, str] = {}

    def __enter__(self) -> Self:
        if not self.entered:  # an evaluation may be a part of a training
            self.record = SummaryRecord(
                self.summary_dir, num_process=self.num_process, max_file_size=self.max_file_size,
                export_options=self.export_options,
            )  # fmt: skip
            self.first, self.step = True, 0
        self.entered += 1
        return self

    def __exit__(self, *err: object) -> None:
        self.entered -= 1
        if self.record is not None and not self.entered:
            self.record.close()

    def begin(self, run_context: RunContext) -> None:
        now = run_context.original_args()
        if sum(isinstance(c, SummaryCollector) for c in now.list_callback.callbacks) > 1:
            raise ArgumentError("two SummaryCollectors are among the callbacks", hint="one writes all there is")
        self._written.set_mode("train" if now.mode == "train" else "eval")

    @property
    def _written(self) -> SummaryRecord:
        if self.record is None:
            raise ArgumentError("a SummaryCollector writes while a Model runs", hint="give it as a callback")
        return self.record

    def step_end(self, run_context: RunContext) -> None:
        now = run_context.original_args()
        if now.mode != "train":
            return
        if self.first:
            self._once(now)
        step = self.step = now.cur_step_num
        due, tensors = step % self.collect_freq == 0 or self.first, step in self._tensor_steps(now) or self.first
        if due or tensors:
            if due:
                self._collect(now)
            self._written.record(step, plugin_filter=lambda plugin: tensors if plugin == "tensor" else due)
        self.first = False
        self._keep_weights(now, "step", step)

    def epoch_end(self, run_context: RunContext) -> None:
        now = run_context.original_args()
        if now.mode == "train":
            self._keep_weights(now, "epoch", now.cur_epoch_num)
            for name, value in (now.get("metrics") or {}).items():
                if self.chosen.get("collect_metric") and np.ndim(value) == 0:
                    self._written.add_value("scalar", f"eval/{name}", Tensor(float(value)))
            if now.get("metrics"):
                self._written.record(now.cur_step_num, plugin_filter=lambda plugin: plugin == "scalar")
        self._written.flush()

    def end(self, run_context: RunContext) -> None:
        now = run_context.original_args()
        if now.mode == "train" and self.chosen.get("collect_train_lineage"):
            self._written.add_value("train_lineage", "train_lineage", {**self._lineage(now), **self.custom})
        if now.mode != "train" and self.chosen.get("collect_eval_lineage"):
            told = {"metrics": now.get("metrics"), "valid_dataset_size": _rows(now.valid_dataset)}
            self._written.add_value("eval_lineage", "eval_lineage", told)
        self._written.set_mode("eval")
        self._written.record(self.step if now.mode != "train" and self.step else now.cur_step_num)
        self._written.set_mode("train")
        if now.mode == "train" and self.saved:
            wanted = {**LANDSCAPE, **self.chosen["collect_landscape"]}
            held = {
                "epoch_group": dict(enumerate(wanted.pop("intervals"))), "model_params_file_map": self.saved,
                "step_per_epoch": now.batch_num, **wanted,
            }  # fmt: skip
            (Path(self.summary_dir) / "ckpt_dir" / METADATA).write_text(json.dumps(held))

    # ---------------------------------------------------------------------------------------------- what is written

    def _once(self, now: InternalCallbackParam) -> None:
        """What is the same for all steps."""
        if self.chosen.get("collect_graph"):
            self._written.add_value("graph", "train_network/auto", now.get("step_program") or now.train_network)
        if self.chosen.get("collect_dataset_graph"):
            told = {"columns": now.train_dataset.get_col_names(), "batches": now.batch_num}
            self._written.add_value("dataset_graph", "train_dataset", told)
        if self.custom and not self.chosen.get("collect_train_lineage"):
            self._written.add_value("custom_lineage_data", "custom_lineage_data", self.custom)

    def _collect(self, now: InternalCallbackParam) -> None:
        """What is looked at after some steps."""
        loss = _loss(now)
        if self.chosen.get("collect_metric") and loss is not None:
            self._written.add_value("scalar", "loss/auto", Tensor(loss))
        if self.chosen.get("collect_input_data"):
            row = now.train_dataset_element
            try:
                self._written.add_value("image", "input_data/auto", row[0] if isinstance(row, tuple | list) else row)
            except MyceliaError:
                self.chosen["collect_input_data"] = False  # they are no pictures
        optimizer = now.optimizer
        if "histogram_regular" in self.chosen and isinstance(optimizer, Optimizer):
            wanted = self.chosen["histogram_regular"]
            held = [p for p in optimizer.parameters if p.ndim and (wanted is None or re.match(wanted, p.name))]
            for parameter in held[:FIRST] if wanted is None else held:
                self._written.add_value("histogram", f"{parameter.name}/auto", parameter.value())

    def _tensor_steps(self, now: InternalCallbackParam) -> range:
        """The steps after which tensors are written."""
        total = now.epoch_num * max(now.batch_num, 1)
        if self.tensor_freq is not None:
            return range(0, total + 1, self.tensor_freq)
        often = len(range(0, total + 1, self.collect_freq))
        if often <= TENSORS:
            return range(0, total + 1, self.collect_freq)
        return range(0, total + 1, max(total // (TENSORS - 1), 1))

    def _lineage(self, now: InternalCallbackParam) -> dict[str, Any]:
        """What a training was."""
        optimizer = now.optimizer
        rate = getattr(optimizer, "learning_rate", None)
        told = {
            "train_network": type(now.network).__name__,
            "loss_function": type(now.loss_fn).__name__ if now.loss_fn is not None else None,
            "optimizer": type(optimizer).__name__ if optimizer is not None else None,
            "learning_rate": float(rate.asnumpy().reshape(-1)[0]) if isinstance(rate, Parameter) else None,
            "epoch": now.epoch_num,
            "step_num": now.cur_step_num,
            "batch_size": now.train_dataset.get_batch_size(),
            "train_dataset_size": _rows(now.train_dataset),
            "device_num": now.device_number,
            "parallel_mode": now.parallel_mode,
            "model_path": now.get("latest_ckpt_file"),
        }
        return {name: value for name, value in told.items() if value is not None}

    def _keep_weights(self, now: InternalCallbackParam, unit: str, number: int) -> None:
        """Weights of steps or epochs between which a landscape is going to be drawn."""
        wanted = self.chosen.get("collect_landscape")
        if wanted is None or {**LANDSCAPE, **wanted}["unit"] != unit:
            return
        if any(number in interval for interval in {**LANDSCAPE, **wanted}["intervals"]):
            folder = Path(self.summary_dir) / "ckpt_dir"
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"{type(now.network).__name__}_{number}_{unit}.ckpt"
            save_checkpoint(now.network, str(path))
            self.saved[str(number)] = str(path)


def _loss(now: InternalCallbackParam) -> float | None:
    """The loss of the last step: the mean of the first thing that the step gave."""
    out = now.get("net_outputs")
    first = out[0] if isinstance(out, tuple | list) and out else out
    return float(np.mean(first.asnumpy())) if isinstance(first, Tensor) else None


def _rows(dataset: Any) -> int | None:
    try:
        return int(dataset.get_dataset_size()) * max(1, int(dataset.get_batch_size()))
    except (RuntimeError, ValueError, TypeError):
        return None


def _chosen(given: Mapping[str, Any] | None, keep: bool) -> dict[str, Any]:
    """What is written."""
    if given is None:
        return dict(CHOICES) if keep else {}
    if not isinstance(given, Mapping):
        raise CallError(f"collect_specified_data is a dictionary, not a {type(given).__name__}")
    for name, value in given.items():
        if name not in CHOICES:
            raise ArgumentError(f"collect_specified_data has no {name!r}", hint=nearest(str(name), CHOICES))
        if name == "histogram_regular":
            if not isinstance(value, str | None):
                raise CallError(f"histogram_regular is a regular expression or None, not {value!r}")
            try:
                re.compile(value or "")
            except re.error as reason:
                raise ArgumentError(f"histogram_regular is no regular expression: {reason}") from None
        elif name == "collect_landscape":
            if value is not None:
                check_landscape("SummaryCollector", value)
        else:
            checks.truth("SummaryCollector", name, value)
    return {**(CHOICES if keep else {}), **given}


def _plain(given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Hyperparameters: names with strings and numbers."""
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(
        isinstance(k, str) and isinstance(v, str | int | float) for k, v in given.items()
    ):
        raise CallError("custom_lineage_data is a dictionary of strings and numbers", given={"data": given})
    return dict(given)
