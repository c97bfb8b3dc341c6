"""Which steps of a training are recorded."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from mycelia import checks


class ProfilerAction(Enum):
    """What happens at a step."""

    NONE = 0
    WARM_UP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


@dataclass(frozen=True, kw_only=True)
class schedule:  # MindSpore's name
    """Of each cycle the first `wait` steps are let go, the next `warmup` too, and `active` ones are recorded; what they
    gave is handed over after the last. The first `skip_first` steps of all belong to no cycle; after `repeat` cycles
    nothing is recorded any more, if it is not 0.

    >>> every = schedule(wait=1, warmup=1, active=2, repeat=1, skip_first=1)
    >>> [every(step).name for step in range(6)]
    ['NONE', 'NONE', 'WARM_UP', 'RECORD', 'RECORD_AND_SAVE', 'NONE']
    """

    wait: int
    active: int
    warmup: int = 0
    repeat: int = 0
    skip_first: int = 0

    def __post_init__(self) -> None:
        for name in ("wait", "warmup", "repeat", "skip_first"):
            checks.whole("schedule", name, getattr(self, name), least=0)
        checks.whole("schedule", "active", self.active, least=1)

    def __call__(self, step: int) -> ProfilerAction:
        """What happens at the step with this number, from 0."""
        checks.whole("schedule", "step", step, least=0)
        if step < self.skip_first:
            return ProfilerAction.NONE
        cycle, place = divmod(step - self.skip_first, self.wait + self.warmup + self.active)
        if self.repeat and cycle >= self.repeat:
            return ProfilerAction.NONE
        if place < self.wait:
            return ProfilerAction.NONE
        if place < self.wait + self.warmup:
            return ProfilerAction.WARM_UP
        last = place == self.wait + self.warmup + self.active - 1
        return ProfilerAction.RECORD_AND_SAVE if last else ProfilerAction.RECORD

    def to_dict(self) -> dict[str, int]:
        """The numbers by their names."""
        return {name: getattr(self, name) for name in ("wait", "active", "warmup", "repeat", "skip_first")}
