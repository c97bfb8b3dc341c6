"""Model: a network with its loss, optimizer and metrics; it trains, evaluates and predicts.

There is one loop. What happens at its moments (before and after a run, an epoch, a step) is up to callbacks. A step is
one compiled program: forward, loss, backward and update.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mycelia.amp import build_train_network
from mycelia.api import get_rng_state, set_rng_state
from mycelia.api.context import GRAPH_MODE, get_context
from mycelia.api.jit import Jitted, jit
from mycelia.dataset import Dataset
from mycelia.eager import Tensor
from mycelia.errors import ArgumentError, warn_user
from mycelia.names import asking_methods, fits, meant, missing_attribute
from mycelia.nn import Cell, Optimizer, WithEvalCell, WithLossCell
from mycelia.train.callback.base import MOMENTS, Callback, CallbackManager, InternalCallbackParam, RunContext
from mycelia.train.feeding import Feed, Row, check_dataset, check_sink_size
from mycelia.train.metrics import Loss, Metric, get_metrics
from mycelia.types import int32

SEVERAL = 8  # steps that one compiled program takes, where nobody looks at each
KEYWORDS = ("keep_batchnorm_fp32", "loss_scale_manager")
ARGUMENTS = (
    "network", "loss_fn", "optimizer", "metrics", "eval_network", "eval_indexes", "amp_level", "boost_level", *KEYWORDS,
)  # fmt: skip


class Model:
    """A network to be trained, evaluated and used.

    `loss_fn` compares what the network gives with labels, `optimizer` changes its weights, `metrics` (a set of names,
    or a dictionary) tell how good it is. Without `loss_fn` the network gives its loss itself, without `optimizer` it is
    a training step itself. `eval_network` gives what metrics look at; `eval_indexes` says where in it loss, prediction
    and label are. `amp_level`, `loss_scale_manager` and `keep_batchnorm_fp32` are those of `amp.build_train_network`.

    >>> import mycelia.dataset as ds
    >>> from mycelia.nn import SGD, Dense, MSELoss
    >>> x = np.linspace(-1, 1, 16, dtype=np.float32)[:, None]
    >>> data = ds.NumpySlicesDataset((x, 3 * x), ["x", "y"], shuffle=False).batch(8)
    >>> net = Dense(1, 1)
    >>> model = Model(net, MSELoss(), SGD(net.trainable_params(), 0.5), metrics={"mae"})
    >>> model.train(20, data)
    >>> model.eval(data)["mae"] < 0.01
    True
    >>> model.predict(Tensor([[2.0]])).asnumpy().round(1)
    array([[6.]], dtype=float32)
    """

    if not TYPE_CHECKING:
        __getattr__ = missing_attribute

    def __init__(
        self,
        network: Cell,
        loss_fn: Any = None,
        optimizer: Optimizer | None = None,
        metrics: Any = None,
        eval_network: Cell | None = None,
        eval_indexes: Sequence[int] | None = None,
        amp_level: str = "O0",
        boost_level: str = "O0",
        **kwargs: Any,
    ) -> None:
        self._check(network, loss_fn, optimizer, eval_network, eval_indexes, kwargs)
        self._network, self._loss_fn, self._optimizer = network, loss_fn, optimizer
        self._metrics = get_metrics(metrics)
        self._indexes = tuple(eval_indexes) if eval_indexes is not None else None
        self._manager = kwargs.get("loss_scale_manager")
        if optimizer is not None:
            self._train_network = build_train_network(network, optimizer, loss_fn, amp_level, boost_level, **kwargs)
        elif amp_level != "O0" or boost_level != "O0" or kwargs:
            raise ArgumentError("mixed precision needs an optimizer here", given={"amp_level": amp_level, **kwargs})
        else:
            self._train_network = WithLossCell(network, loss_fn) if loss_fn is not None else network
        self._eval_network = eval_network
        if eval_network is None and loss_fn is not None:
            self._eval_network, self._indexes = WithEvalCell(network, loss_fn), (0, 1, 2)
        self._programs: dict[str, Jitted] = {}
        if optimizer is not None:
            held = {id(p) for part in (network, loss_fn) if isinstance(part, Cell) for p in part.get_parameters()}
            if not any(id(p) in held for p in optimizer.parameters):
                warn_user(
                    "none of the optimizer's parameters is in the network: training would not change the network; "
                    "make the optimizer of net.trainable_params() of this network"
                )

    @staticmethod
    def _check(
        network: Any, loss_fn: Any, optimizer: Any, eval_network: Any, indexes: Any, kwargs: dict[str, Any]
    ) -> None:
        for name, value in (("network", network), ("eval_network", eval_network)):
            if value is not None and not isinstance(value, Cell):
                hint = f"make it first: {value.__name__}()" if isinstance(value, type) else ""
                raise ArgumentError(f"{name} is a Cell, not a {type(value).__name__}", hint=hint)
        if network is None:
            raise ArgumentError("a Model needs a network")
        if loss_fn is not None and not callable(loss_fn):
            hint = "for example nn.CrossEntropyLoss() or nn.MSELoss()"
            raise ArgumentError(f"loss_fn is a function or a Cell, not a {type(loss_fn).__name__}", hint=hint)
        if isinstance(loss_fn, type):
            raise ArgumentError(f"loss_fn is the class {loss_fn.__name__}", hint=f"make it first: {loss_fn.__name__}()")
        if optimizer is not None and not isinstance(optimizer, Optimizer):
            kind = optimizer.__name__ if isinstance(optimizer, type) else "for example nn.Adam"
            hint = f"make it first: {kind}(net.trainable_params())"
            raise ArgumentError(f"optimizer is an Optimizer, not a {type(optimizer).__name__}", hint=hint)
        if indexes is not None and (len(indexes) != 3 or not all(type(i) is int for i in indexes)):
            raise ArgumentError(f"eval_indexes are the places of loss, prediction and label, not {indexes!r}")
        if indexes is not None and eval_network is None:
            raise ArgumentError("eval_indexes are places in what an eval_network gives, and there is none")
        for name in kwargs:
            if name not in KEYWORDS:
                raise ArgumentError(f"Model has no {name}", hint=meant(name, ARGUMENTS))

    # ------------------------------------------------------------------------------------------------------ networks

    @property
    def train_network(self) -> Cell:
        """What a training step is: a cell that takes a row and gives the loss."""
        return self._train_network

    @property
    def eval_network(self) -> Cell | None:
        """What metrics look at: a cell that takes a row."""
        return self._eval_network

    @property
    def predict_network(self) -> Cell:
        """What predicts: the network itself."""
        return self._network

    def _compiled(self, name: str, what: Any) -> Jitted:
        if name not in self._programs:
            self._programs[name] = jit(what)
        return self._programs[name]

    def _several(self, *columns: Tensor) -> Any:
        """As many steps as columns are long, one after the other."""
        step, count = self._train_network, columns[0].shape[0]
        last = step(*[c[0] for c in columns])
        done = Tensor(1, int32)
        while done < count:
            last = step(*[c[done] for c in columns])
            done = done + 1
        return last

    # ------------------------------------------------------------------------------------------------------ training

    def train(
        self,
        epoch: int,
        train_dataset: Dataset,
        callbacks: Callback | list[Callback] | None = None,
        dataset_sink_mode: bool = False,
        sink_size: int = -1,
        initial_epoch: int = 0,
    ) -> None:
        """Train until the end of epoch number `epoch`, beginning after `initial_epoch`.

        With `dataset_sink_mode` a thread makes rows ahead, an epoch is `sink_size` rows (unless it is -1), and where no
        callback looks at each step, one compiled program takes several. In graph mode callbacks then see each epoch
        as one step.
        """
        self._train(epoch, train_dataset, callbacks, dataset_sink_mode, sink_size, initial_epoch, None)

    def fit(
        self,
        epoch: int,
        train_dataset: Dataset,
        valid_dataset: Dataset | None = None,
        valid_frequency: int | list[int] = 1,
        callbacks: Callback | list[Callback] | None = None,
        dataset_sink_mode: bool = False,
        valid_dataset_sink_mode: bool = False,
        sink_size: int = -1,
        initial_epoch: int = 0,
    ) -> None:
        """Train as `train` does, and evaluate after every so many epochs, or after those that a list names.

        What was found is in `metrics` and `eval_results` when callbacks are called at the end of the epoch, the loss of
        the evaluation as "eval_loss".
        """
        for callback in CallbackManager(callbacks).callbacks:
            old = [m for m in MOMENTS if getattr(type(callback), m) is not getattr(Callback, m)]
            if old and not type(callback).__module__.startswith("mycelia."):
                raise ArgumentError(
                    f"{type(callback).__name__} defines {', '.join(old)}, which fit would call in either phase",
                    hint=f"define on_train_{old[0]} or on_eval_{old[0]}",
                )
        if valid_dataset is None:
            self._train(epoch, train_dataset, callbacks, dataset_sink_mode, sink_size, initial_epoch, None)
            return
        check_dataset(valid_dataset, "valid_dataset")
        self._check_metrics()
        chosen = valid_frequency if isinstance(valid_frequency, list | tuple | set) else [valid_frequency]
        if not chosen or not all(type(n) is int and n > 0 for n in chosen):
            raise ArgumentError(f"valid_frequency is a number of epochs, or a list of epochs, not {valid_frequency!r}")

        def validate(now: InternalCallbackParam) -> dict[str, Any] | None:
            due = (
                now.cur_epoch_num % valid_frequency == 0
                if isinstance(valid_frequency, int)
                else (now.cur_epoch_num in valid_frequency)
            )
            return self._evaluate(valid_dataset, callbacks, valid_dataset_sink_mode, now) if due else None

        self._train(epoch, train_dataset, callbacks, dataset_sink_mode, sink_size, initial_epoch, validate)

    def _train(
        self,
        epoch: int,
        dataset: Dataset,
        callbacks: Any,
        sinks: bool,
        sink_size: int,
        initial_epoch: int,
        validate: Callable[[InternalCallbackParam], dict[str, Any] | None] | None,
    ) -> None:
        """The loop."""
        _check_run(epoch, initial_epoch, sinks)
        check_dataset(dataset, "train_dataset")
        check_sink_size(sink_size)
        if self._optimizer is None and self._loss_fn is not None:
            told = "there is no optimizer: training changes nothing; give one: Model(network, loss_fn, optimizer)"
            warn_user(told)
        size = sink_size if sinks else -1
        with CallbackManager(callbacks) as manager:
            keep = any(getattr(c, "keeps_place", False) for c in manager.callbacks)
            now = InternalCallbackParam(
                mode="train", train_network=self._train_network, network=self._network, loss_fn=self._loss_fn,
                optimizer=self._optimizer, epoch_num=epoch - initial_epoch, cur_step_num=0, train_dataset=dataset,
                batch_num=size if size > 0 else _steps_of(dataset), dataset_sink_mode=sinks, device_number=1,
                parallel_mode="stand_alone", list_callback=manager, train_dataset_element=None, latest_ckpt_file=None,
                loss_scale_mananger=self._manager, initial_step=0, last_save_ckpt_step=0,
                validates=validate is not None, metrics_fns=self._metrics,
            )  # fmt: skip
            run = RunContext(now)
            self._train_network.set_train()
            with Feed(dataset, size, ahead=sinks, keep=keep) as feed:
                now.feed = feed
                manager.call("on_train_begin", run)
                resumed = now.pop("resumed", None)  # where a callback says that an interrupted training stood
                begin, begun = (resumed["epoch"], resumed["begun"]) if resumed else (initial_epoch, False)
                for number in range(begin, epoch):
                    now.cur_epoch_num = number + 1
                    manager.call("on_train_epoch_begin", run)
                    first = now.cur_step_num
                    self._epoch(feed.steps(), manager, run, sinks)
                    if now.cur_step_num == first and not (begun and number == begin):
                        raise ArgumentError(
                            "train_dataset has no rows", hint="look at its files and filters; batch(drop_remainder)?"
                        )
                    found = validate(now) if validate is not None else None
                    if found is not None:
                        self._train_network.set_train()
                        now.update(metrics={k: v for k, v in found.items() if k in self._metrics}, eval_results=found)
                    now.epoch_is_over = True
                    manager.call("on_train_epoch_end", run)
                    for name in ("metrics", "eval_results", "epoch_is_over"):
                        now.pop(name, None)
                    if run.get_stop_requested():
                        break
                manager.call("on_train_end", run)

    def _epoch(self, rows: Iterator[Row], manager: CallbackManager, run: RunContext, sinks: bool) -> None:
        """The steps of one epoch."""
        now = run.original_args()
        watched = manager.watches("on_train_step_begin", "on_train_step_end", "step_begin", "step_end")
        step = now.step_program = self._compiled("train", self._train_network)
        if sinks and (not watched or get_context("mode") == GRAPH_MODE):
            manager.call("on_train_step_begin", run)
            for group in grouped(rows, SEVERAL):
                now.cur_step_num += len(group)
                now.train_dataset_element = group[-1]
                if len(group) < SEVERAL:
                    for row in group:
                        now.net_outputs = self._called(step, row)
                else:
                    columns = [Tensor(np.stack([x.asnumpy() for x in column])) for column in zip(*group, strict=True)]
                    now.net_outputs = self._compiled("several", self._several)(*columns)
            if "net_outputs" in now:
                manager.call("on_train_step_end", run)
            return
        for row in rows:
            now.cur_step_num += 1
            now.train_dataset_element = row
            manager.call("on_train_step_begin", run)
            now.net_outputs = self._called(step, row)
            if self._manager is not None and isinstance(now.net_outputs, tuple) and len(now.net_outputs) == 3:
                self._manager.update_loss_scale(bool(now.net_outputs[1]))
            manager.call("on_train_step_end", run)
            if run.get_stop_requested():
                return

    def _called(self, step: Any, row: Row) -> Any:
        if self._loss_fn is not None and len(row) != 2:
            raise ArgumentError(
                f"with a loss_fn a row is data and label, and these rows have {len(row)} columns",
                hint="project the dataset on two columns, or compute the loss in the network and leave out loss_fn",
            )
        training = getattr(step, "__captured__", step) is self._train_network is self._network
        if training and not fits(self._network.construct, row, {}):
            raise ArgumentError(
                f"there is no loss_fn, and the network does not take the {len(row)} columns of a row",
                hint="give the loss: Model(network, nn.CrossEntropyLoss(), optimizer)",
            )
        return step(*row)

    # ---------------------------------------------------------------------------------------------------- evaluation

    def eval(
        self,
        valid_dataset: Dataset,
        callbacks: Callback | list[Callback] | None = None,
        dataset_sink_mode: bool = False,
    ) -> dict[str, Any]:
        """What the metrics say of the network on a dataset, by name."""
        check_dataset(valid_dataset, "valid_dataset")
        self._check_metrics()
        if not self._metrics:
            raise ArgumentError("there is nothing to measure", hint='Model(..., metrics={"accuracy"})')
        found = self._evaluate(valid_dataset, callbacks, dataset_sink_mode, None)
        return {name: found[name] for name in self._metrics}

    def _check_metrics(self) -> None:
        if self._eval_network is None:
            raise ArgumentError(
                "an evaluation needs a loss_fn, or an eval_network that gives what metrics look at",
                hint="Model(network, loss_fn, optimizer, metrics)",
            )

    def _evaluate(
        self, dataset: Dataset, callbacks: Any, sinks: bool, training: InternalCallbackParam | None
    ) -> dict[str, Any]:
        """The loop of an evaluation; `training` is the run that it is a part of."""
        assert self._eval_network is not None, "asked before"
        extra = {"eval_loss": Loss()} if training is not None and self._indexes is not None else {}
        metrics: dict[str, Metric] = {**self._metrics, **extra}
        for metric in metrics.values():
            metric.clear()
        self._eval_network.set_train(False)
        with CallbackManager(callbacks) as manager, Feed(dataset, ahead=sinks) as feed:
            now = InternalCallbackParam(
                {**(training or {}), "mode": "eval", "eval_network": self._eval_network, "network": self._network,
                 "valid_dataset": dataset, "batch_num": _steps_of(dataset), "cur_step_num": 0,
                 "dataset_sink_mode": sinks, "list_callback": manager}
            )  # fmt: skip
            run = RunContext(now)
            manager.call("on_eval_begin", run)
            manager.call("on_eval_epoch_begin", run)
            program = self._compiled("eval", self._eval_network)
            for row in feed.steps():
                now.cur_step_num += 1
                now.eval_dataset_element = row
                manager.call("on_eval_step_begin", run)
                now.net_outputs = self._called(program, row)
                self._measure(metrics, now.net_outputs)
                manager.call("on_eval_step_end", run)
                if run.get_stop_requested():
                    break
            if not now.cur_step_num:
                raise ArgumentError("valid_dataset has no rows", hint="look at its files, filters and samplers")
            manager.call("on_eval_epoch_end", run)
            found = {name: metric.eval() for name, metric in metrics.items()}
            now.metrics = {name: found[name] for name in self._metrics}
            if training is not None:
                now.eval_results = found
            manager.call("on_eval_end", run)
        self._network.set_train(False)
        return found

    def _measure(self, metrics: dict[str, Metric], outputs: Any) -> None:
        given = outputs if isinstance(outputs, tuple | list) else (outputs,)
        if self._indexes is not None and max(self._indexes) >= len(given):
            raise ArgumentError(f"eval_indexes are {self._indexes}, and the eval_network gave {len(given)} things")
        for name, metric in metrics.items():
            if self._indexes is None or metric.indexes:
                inputs = tuple(given)
            elif isinstance(metric, Loss):
                inputs = (given[self._indexes[0]],)
            else:
                inputs = tuple(given[i] for i in self._indexes[1:])
            if not fits(metric.update, inputs, {}):
                raise ArgumentError(
                    f"update of the metric {name!r}, a {type(metric).__name__}, does not take {len(inputs)} inputs",
                    given={"it takes": str(inspect.signature(metric.update))},
                    hint="they are prediction and label, or all that an eval_network gives: update(self, *inputs)",
                )
            metric.update(*inputs)

    # ------------------------------------------------------------------------------------------- predicting, building

    def predict(self, *predict_data: Any, backend: str | None = None, config: dict[str, Any] | None = None) -> Any:
        """What the network gives for these inputs.

        >>> from mycelia.nn import ReLU
        >>> Model(ReLU()).predict(Tensor([-1.0, 2.0])).tolist()
        [0.0, 2.0]
        """
        if backend is not None or config is not None:
            raise ArgumentError(
                "predict runs on the device of the session", given={"backend": backend, "config": config},
                hint="leave them out; mycelia.lite exports a network",
            )  # fmt: skip
        if not predict_data:
            raise ArgumentError("predict takes the inputs of the network")
        if isinstance(predict_data[0], Dataset):
            raise ArgumentError(
                "predict takes the tensors of one batch, not a dataset",
                hint="[model.predict(row[0]) for row in dataset.create_tuple_iterator(num_epochs=1)]",
            )
        gives_loss = self._loss_fn is None and self._optimizer is not None
        if gives_loss and not fits(self._network.construct, predict_data, {}):
            raise ArgumentError(
                f"{type(self._network).__name__}, the network of this Model, gives a loss, and takes what that needs",
                given={"inputs": len(predict_data)},
                hint="Model(net).predict(...) with the network inside it predicts: the weights are the same",
            )
        self._network.set_train(False)
        return self._compiled("predict", self._network)(*predict_data)

    def build(
        self,
        train_dataset: Dataset | None = None,
        valid_dataset: Dataset | None = None,
        sink_size: int = -1,
        epoch: int = 1,
        sink_mode: bool = True,
    ) -> None:
        """Compile what training and evaluation on such rows will run; weights, moments and seeds stay as they are.

        >>> import mycelia.dataset as ds
        >>> from mycelia.nn import SGD, Dense, MSELoss
        >>> data = ds.NumpySlicesDataset((np.ones((4, 1), np.float32), np.ones((4, 1), np.float32)), ["x", "y"])
        >>> net = Dense(1, 1, weight_init="ones")
        >>> model = Model(net, MSELoss(), SGD(net.trainable_params(), 0.5))
        >>> model.build(data.batch(2))
        >>> net.weight.item()
        1.0
        """
        _check_run(epoch, 0, sink_mode)
        check_sink_size(sink_size)
        wanted = [("train_dataset", train_dataset, True), ("valid_dataset", valid_dataset, False)]
        if train_dataset is None and valid_dataset is None:
            raise ArgumentError("build needs a dataset whose rows it can compile for")
        held = {p: p.asnumpy().copy() for p in self._train_network.get_parameters()}
        random = get_rng_state()
        for name, dataset, trains in wanted:
            if dataset is None:
                continue
            check_dataset(dataset, name)
            if not trains:
                self._check_metrics()
            network = self._train_network if trains else self._eval_network
            assert network is not None, "checked"
            network.set_train(trains)
            with Feed(dataset) as feed:
                row = next(feed.steps(), None)
                if row is None:
                    raise ArgumentError(f"{name} has no rows")
                self._called(self._compiled("train" if trains else "eval", network), row)
        for parameter, array in held.items():
            parameter.set_data(Tensor(array))
        set_rng_state(random)


asking_methods(Model)


def grouped(rows: Iterable[Row], count: int) -> Iterator[list[Row]]:
    """Rows, as many together as `count` if their tensors are alike.

    >>> [len(group) for group in grouped([(Tensor([1.0]),)] * 5, 2)]
    [2, 2, 1]
    """
    group: list[Row] = []
    for row in rows:
        if group and (len(group) == count or not _alike(group[0], row)):
            yield group
            group = []
        group.append(row)
    if group:
        yield group


def _alike(a: Row, b: Row) -> bool:
    return len(a) == len(b) and all(
        isinstance(x, Tensor) and isinstance(y, Tensor) and x.shape == y.shape and x.dtype is y.dtype
        for x, y in zip(a, b, strict=True)
    )


def _steps_of(dataset: Dataset) -> int:
    """How many rows an epoch has; -1 where that is not known before."""
    try:
        return int(dataset.get_dataset_size())
    except (RuntimeError, ValueError, TypeError):
        return -1


def _check_run(epoch: int, initial_epoch: int, sinks: bool) -> None:
    if type(epoch) is not int or epoch < 1:
        hint = "the number of epochs is first: model.train(2, dataset)" if isinstance(epoch, Dataset) else ""
        raise ArgumentError(f"epoch is a whole number from 1, not {epoch!r}", hint=hint or "give an int, such as 1")
    if type(initial_epoch) is not int or initial_epoch < 0:
        raise ArgumentError(f"initial_epoch is a whole number from 0, not {initial_epoch!r}", hint="give an int")
    if initial_epoch >= epoch:
        raise ArgumentError(
            f"training ends with epoch {epoch}, and begins after epoch {initial_epoch}",
            hint=f"epoch counts those before too: {initial_epoch + epoch} is {epoch} more",
        )
    if not isinstance(sinks, bool):
        raise ArgumentError(f"dataset_sink_mode is True or False, not {sinks!r}", hint="give one of them")
