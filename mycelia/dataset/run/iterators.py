"""Iterators: rows of a pipeline as dictionaries or lists, with a position that can be saved and taken up again."""

from __future__ import annotations

import atexit
import hashlib
import logging
import os
import queue
import threading
import weakref
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from mycelia import spans
from mycelia.dataset.config import ErrorSamplesMode, PipelineOptions
from mycelia.dataset.errors import DataError, Failure
from mycelia.dataset.flow.saving import plain, restored
from mycelia.dataset.lazy import lazy
from mycelia.dataset.plan.nodes import Node
from mycelia.dataset.plan.origins import SourceNode
from mycelia.dataset.run.handover import as_tensor
from mycelia.dataset.run.pipeline import NumberedPlan, Pipeline, walk
from mycelia.dataset.run.profile import Profile, profile
from mycelia.dataset.run.resuming import MOST, Read, believable, gone, obstacle, rest, sharing, sources
from mycelia.dataset.run.tuning import Tuner
from mycelia.errors import ArgumentError


class Iterator:
    """Rows of a dataset, epoch after epoch: a `for` loop over it is one epoch.

    `state_dict()` tells where it stands after the row it gave last, in plain data that JSON can hold;
    `load_state_dict` takes that up, in a new process and with any number of workers. Threads may share an iterator:
    each row goes to one of them, and so does the end of an epoch.
    """

    def __init__(
        self,
        plan: Node,
        options: PipelineOptions,
        *,
        num_epochs: int = -1,
        output_numpy: bool = False,
        do_copy: bool = False,
        columns: Sequence[str] | None = None,
        init_step: int = 0,
    ) -> None:
        if isinstance(num_epochs, bool) or not isinstance(num_epochs, int) or num_epochs == 0 or num_epochs < -1:
            raise ArgumentError(f"num_epochs must be positive, or -1 for no end, and is {num_epochs!r}")
        self.plan, self.options, self.num_epochs = plan, options, num_epochs
        self.numpy, self.copy = output_numpy, do_copy or options.do_copy
        self.names = tuple(columns) if columns else shown(plan)
        self.kept = plan.index_of(self.names, "create_tuple_iterator")
        self.seed = options.seed if options.seed is not None else int(np.random.SeedSequence().generate_state(1)[0])
        self.epoch, self.step, self.total = 0, 0, 0
        self.position: Any = None
        self.read: Read = ()  # rows of this epoch that other numbers of readers have read, source by source
        self.seals: dict[str, dict[str, str]] = {}  # of the orders that samplers written by hand gave
        self.init_step = init_step
        self.pipeline: Pipeline | None = None
        self.tuner: Tuner | None = None
        self.stopped = False
        self.owner = os.getpid()
        self._turn = threading.Lock()
        self._finish: Any = None

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        if os.getpid() != self.owner:
            raise DataError(
                "an iterator was used in another process than it was made in", hint="make one in every process"
            )
        if not spans.listeners:
            with self._turn:
                return self._next()
        with spans.span("waiting for a row", "input"), self._turn:
            return self._next()

    def _next(self) -> Any:
        if 0 <= self.num_epochs <= self.epoch:
            raise DataError(
                f"the iterator was made for {self.num_epochs} epochs, and they are over",
                hint="make it with create_dict_iterator(num_epochs=-1), or make a new one",
            )
        if self.stopped:
            raise DataError("the iterator was stopped", hint="make a new one")
        item = (self.pipeline or self._start()).next()
        if item is None:
            if any(self.read):  # the next epoch is shared as a whole
                self.stop()
                self.pipeline = self.tuner = self._finish = None
                self.stopped, self.read = False, ()
            self.epoch += 1
            self.step, self.position = 0, None
            if 0 <= self.num_epochs <= self.epoch:
                self.stop()
            raise StopIteration
        self.step += 1
        self.total += 1
        self.position = item.state
        if self.tuner is not None:
            self.tuner.step()
        return self._shaped(item.row)

    def _shaped(self, row: tuple[Any, ...]) -> Any:
        raise AssertionError("an iterator gives dictionaries or lists")

    def _value(self, value: Any) -> Any:
        if self.copy and isinstance(value, np.ndarray):
            value = value.copy()
        return value if self.numpy else as_tensor(value)

    def _start(self) -> Pipeline:
        if self.init_step:
            self._seek(self.init_step)
        self.pipeline = Pipeline(
            rest(self.plan, self.read),
            self.options,
            self.seed,
            epochs=self.epoch + 1 if any(self.read) else self.num_epochs,
            epoch=self.epoch,
            state=self.position,
            seals=self.seals,
        )
        self._finish = weakref.finalize(self, _closer.drop, self.pipeline, self.owner)
        self._finish.atexit = False  # the end of the program closes what is left itself, and waits
        _running.add(self.pipeline)
        _closer.ready()
        self.tuner = Tuner(self.pipeline, self.options) if self.options.enable_autotune else None
        return self.pipeline

    def _seek(self, step: int) -> None:
        """Stand after `step` rows in all, as if they had been read."""
        table = NumberedPlan(self.plan, self.options, self.seed).table(self.plan)
        if table is None:
            raise ArgumentError(
                "set_init_step needs a dataset whose rows can be read by index",
                hint="filters and plain iterators cannot jump: use iterator.state_dict() instead",
            )
        self.epoch, self.step = divmod(step, table.size())
        self.position = self.step or None

    def state_dict(self) -> dict[str, Any]:
        """Where the iterator stands, as plain data: save it beside the model."""
        readers, first = (0, 0) if self.obstacle else sharing(self.plan)
        return {
            "version": 2,
            "family": self.family,
            "readers": readers,
            "first": first,
            "read": [[list(counts) for counts in levels] for levels in self.read],
            "plan": self.fingerprint,
            "seed": self.seed,
            "seeded": self.options.seed is not None,
            "epoch": self.epoch,
            "step": self.step,
            "position": plain(self.position),
            "orders": self.seals if self.pipeline is None else self.pipeline.sealed(),
        }

    @lazy
    def family(self) -> str | None:
        """A short word that the readers share among whom the rows are shared, however many they are."""
        shared = any(n.sampler.is_sharded() for n in sources(self.plan))
        return fingerprint(self.plan, self.options, shared=True) if shared else None

    @lazy
    def fingerprint(self) -> str:
        """A short word that iterators share when a state of one means the same rows to the other."""
        return fingerprint(self.plan, self.options)

    @lazy
    def obstacle(self) -> str | None:
        """Why another number of readers cannot take up a state of this one; None if it can."""
        return obstacle(self.plan, self.options)

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on after the row that `state_dict` was taken at. The dataset must be built as it was then.

        Sources may be shared among another number of readers, each of which takes up the state of any one: what is
        left of the epoch is shared anew. The readers must have stood at the same step, and the steps after the sources
        must be maps, projections, renamings, batches of one size, zips, concatenations and mixes that end with the
        first dataset; bad samples may not have been left out.
        """
        if isinstance(state, dict) and state.get("version") == 1:
            state = _renewed(state)
        damaged = (
            [k for k, kinds in STATE.items() if not _fits(state, k, kinds)] if isinstance(state, dict) else ["all"]
        )
        if damaged:
            raise DataError("this is no state of an iterator, or a damaged one", given={"wrong": damaged})
        family, anew = state.get("family"), state["plan"] != self.fingerprint
        if anew and (family is None or family != self.family):
            raise DataError(
                "this state belongs to another pipeline",
                given={"its plan": state["plan"], "this plan": self.fingerprint},
                hint="build the dataset with the same operations, sizes and error mode",
            )
        if anew and (self.obstacle or not state["readers"]):
            raise DataError(
                "this state is that of another reader, and the rest of its epoch cannot be shared anew",
                given={"because": self.obstacle or "it was saved by another version"},
                hint="let as many readers go on, each from its own state; load_state_dict says what can be shared",
            )
        read = tuple(tuple(map(tuple, levels)) for levels in state["read"])
        if len(read) not in (0, len(sources(self.plan))):
            raise DataError("this is no state of an iterator, or a damaged one", given={"wrong": ["read"]})
        position = restored(state["position"])
        self.stop()
        self.pipeline = self.tuner = self._finish = None
        self.stopped = False
        self.seed, self.epoch, self.step = state["seed"], state["epoch"], state["step"]
        self.options = replace(self.options, seed=self.seed if state["seeded"] else None)
        self.position, self.init_step = position, 0
        self.read, self.seals = read, state.get("orders", {})
        if anew and (state["readers"], state["first"]) == sharing(self.plan):
            self.position = self.step or None  # as many readers: each goes on where it stood itself
        elif anew:
            read = read or ((),) * len(sources(self.plan))
            plan = NumberedPlan(self.plan, self.options, self.seed)
            self.read = gone(plan, state["readers"], read, self.step)
            self.position, self.step = None, 0

    load_state = load_state_dict

    def stop(self) -> None:
        """End all workers; what was measured can still be asked for."""
        self.stopped = True
        if os.getpid() != self.owner:
            return  # the workers are those of the process that made them
        if self._finish is not None and self._finish.detach() is not None and self.pipeline is not None:
            self.pipeline.close()

    close = stop

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def bad_samples(self) -> list[Failure]:
        """Samples that were left out or replaced; the first hundred of every stage."""
        return [] if self.pipeline is None else self.pipeline.bad

    @property
    def bad_count(self) -> int:
        """How many samples were left out or replaced."""
        return 0 if self.pipeline is None else self.pipeline.bad_count

    def profile(self) -> Profile:
        """Where the time went, and which step is the bottleneck."""
        if self.pipeline is None:
            raise DataError("nothing has run yet", hint="read some rows first")
        return profile(self.pipeline)


# the parts of a state, and what each may be; numbers are those that orders and draws take
STATE: dict[str, tuple[type, ...]] = {
    "version": (int,), "plan": (str,), "family": (str, type(None)), "seed": (int,), "seeded": (bool,),
    "epoch": (int,), "step": (int,), "readers": (int,), "first": (int,), "read": (list,), "orders": (dict,),
}  # fmt: skip


def _renewed(state: dict[str, Any]) -> dict[str, Any]:
    """A state of the first version, which knew one source of which all readers had read as much."""
    start = state.get("start", 0)
    return {**state, "version": 2, "readers": 0, "first": 0, "read": [[[start]]] if start else []}


def _fits(state: dict[str, Any], part: str, kinds: tuple[type, ...]) -> bool:
    """Whether a part of a state is what it must be; states of older versions may lack some."""
    if part in ("orders", "family") and part not in state:
        return True
    value = state.get(part)
    if part == "read" and not believable(value):
        return False
    if (part == "version" and value != 2) or (part == "readers" and type(value) is int and value > MOST):
        return False
    if isinstance(value, np.integer):
        value = int(value)
    small = not isinstance(value, int) or 0 <= value < 1 << 64
    return type(value) in kinds and small and "position" in state


HIDDEN = "_meta-"
log = logging.getLogger("mycelia.dataset")
_running: weakref.WeakSet[Pipeline] = weakref.WeakSet()


class _Closer:
    """A thread that closes dropped pipelines: the collector finds them in the midst of anything, and must not wait."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew, as in a forked process, where no pipeline runs and this thread does not live."""
        self.dropped: queue.SimpleQueue[Pipeline] = queue.SimpleQueue()  # may be put to while it is put to
        self.thread: threading.Thread | None = None
        self.owner = os.getpid()

    def ready(self) -> None:
        """See that the thread lives."""
        if self.thread is None or not self.thread.is_alive():
            self.thread = threading.Thread(target=self._work, name="mycelia-closer", daemon=True)
            self.thread.start()

    def drop(self, pipeline: Pipeline, owner: int) -> None:
        """Have a pipeline closed, if it is this process's own."""
        if owner == self.owner:
            self.dropped.put(pipeline)

    def _work(self) -> None:
        while True:
            pipeline = self.dropped.get()
            try:
                pipeline.close()
            except Exception:
                log.exception("a dropped pipeline could not be closed")
            del pipeline


_closer = _Closer()


def _forked() -> None:
    _running.clear()
    _closer.forget()


os.register_at_fork(after_in_child=_forked)


@atexit.register
def _close_all() -> None:
    for pipeline in list(_running):
        pipeline.close()


def shown(plan: Node) -> tuple[str, ...]:
    """The columns that rows show when nobody names any: all but those whose names begin with `_meta-`.

    >>> import mycelia.dataset as ds
    >>> shown(ds.NumpySlicesDataset({"image": [1], "_meta-filename": ["a.jpg"]}).plan)
    ('image',)
    """
    names = tuple(n for n in plan.columns if not n.startswith(HIDDEN))
    if not names:
        raise ArgumentError(
            f"rows would be empty: columns whose names begin with {HIDDEN} are not shown",
            given={"columns": list(plan.columns)},
            hint="rename them, or name them in create_tuple_iterator",
        )
    return names


class DictIterator(Iterator):
    """Rows as dictionaries from column name to array."""

    def _shaped(self, row: tuple[Any, ...]) -> dict[str, Any]:
        if self.numpy and not self.copy:
            return {name: row[i] for name, i in zip(self.names, self.kept, strict=True)}
        return {name: self._value(row[i]) for name, i in zip(self.names, self.kept, strict=True)}


class TupleIterator(Iterator):
    """Rows as lists of arrays."""

    def _shaped(self, row: tuple[Any, ...]) -> list[Any]:
        if self.numpy and not self.copy:
            return [row[i] for i in self.kept]
        return [self._value(row[i]) for i in self.kept]


SHARES = ("num_shards", "shard_id", "offset")


def fingerprint(plan: Node, options: PipelineOptions, shared: bool = False) -> str:
    """A short word that two plans share when they have the same steps, columns and sizes, and treat bad rows alike;
    with `shared`, however their source is shared among readers.
    """
    unequal = SHARES if shared else ()
    steps = [
        (n.label, n.columns, len(n.children), [pair for pair in _settings(n) if pair[0] not in unequal])
        for n in walk(plan)
    ]
    skips = options.error_samples_mode is ErrorSamplesMode.SKIP
    return hashlib.sha256(repr((steps, skips)).encode()).hexdigest()[:16]


def _settings(node: Node) -> list[tuple[str, Any]]:
    """What the rows of a step depend on beside its functions: numbers, names and lists of them."""
    if not isinstance(node, SourceNode):
        return _settled(node.describe())
    told = node.sampler.describe()
    if node.sampler.written:  # what else a user's class holds may differ from run to run; its orders have seals
        told = {k: v for k, v in told.items() if isinstance(v, int)}
    return [*_settled(told), ("rows", len(node.data))]


def _settled(told: dict[str, Any]) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, value in told.items():
        if isinstance(value, dict) and value.keys().isdisjoint(("function", "class")):
            found.append((name, _settled(value)))
        elif _is_plain(value):
            found.append((name, repr(value)))
    return found


def _is_plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, int | float | str | np.generic)
