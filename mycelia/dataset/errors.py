"""What can go wrong in a pipeline, told with the file, the index and the stage."""

from __future__ import annotations

import traceback
from itertools import takewhile
from textwrap import indent

import numpy as np

from mycelia.errors import PACKAGE, DependencyError, MyceliaError
from mycelia.frozen import frozen


class DataError(MyceliaError, RuntimeError):
    """A sample, a file or a stage of a pipeline failed.

    >>> raise DataError("cannot decode", given={"file": "a.jpg"})
    Traceback (most recent call last):
    mycelia.dataset.errors.DataError: cannot decode
      file: a.jpg
    ...
    """


class WorkerDied(DataError):
    """A worker process ended before it gave its answer.

    >>> issubclass(WorkerDied, DataError)
    True
    """


@frozen
class Failure:
    """A sample that could not be made, in place of its row; crosses threads and processes.

    >>> Failure.of(ValueError("odd"), "Map(f)", "index 3 of numpy").what
    'ValueError: odd'
    """

    what: str
    stage: str
    origin: str
    trace: str = ""
    hint: str = ""
    deadly: bool = False

    @staticmethod
    def of(error: BaseException, stage: str, origin: str) -> Failure:
        """The failure that `error` means at a stage, for the sample from `origin`.

        >>> Failure.of(KeyError("k"), "Batch", "index 0").stage
        'Batch'
        """
        lines = str(error).splitlines() or [""]
        if isinstance(error, MyceliaError):  # it tells its own story; where in a worker it was raised does not matter
            told = [line[2:] for line in takewhile(lambda line: not line.startswith(("  at ", "hint: ")), lines[1:])]
            hint = lines[-1].removeprefix("hint: ") if lines[-1].startswith("hint: ") else ""
            return Failure(f"{type(error).__name__}: {lines[0]}", stage, origin, "\n".join(told), hint)
        trace = traceback.TracebackException.from_exception(error)
        own = [frame for frame in trace.stack if not frame.filename.startswith(PACKAGE)]
        trace.stack = traceback.StackSummary.from_list(
            own or trace.stack[-3:]
        )  # the user's own lines, if there are any
        hint = _hint(error) if own else ""
        return Failure(f"{type(error).__name__}: {lines[0]}", stage, origin, "".join(trace.format()), hint)

    def error(self) -> DataError:
        """The exception to raise for it, in the reader's own thread.

        >>> str(Failure("ValueError: odd", "Map(f)", "index 3").error()).splitlines()[1]
        '  stage: Map(f)'
        """
        given = {"stage": self.stage, "sample": self.origin}
        if self.trace:
            given["details"] = indent("\n" + self.trace.strip("\n"), "    ")
        kind = WorkerDied if self.deadly else DataError
        return kind(f"{self.what}, in {self.stage}", given=given, hint=self.hint or _SKIP_HINT)


class Failed(Exception):
    """A failure on its way to the reader, who raises its error.

    >>> Failed(Failure("ValueError: odd", "Map(f)", "index 3")).failure.stage
    'Map(f)'
    """

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.what)
        self.failure = failure


_SKIP_HINT = "dataset.config.set_error_samples_mode(ErrorSamplesMode.SKIP) leaves bad samples out"


def _hint(error: BaseException) -> str:
    """What to try when a function of the user failed."""
    if isinstance(error, AttributeError) and isinstance(error.obj, np.ndarray) and hasattr(str, error.name or ""):
        return "a text is an array without axes; str(x) is the text itself"
    return f"call the function with this sample alone to look into it; {_SKIP_HINT}"


def missing(library: str, purpose: str) -> DependencyError:
    """The error for an optional library that an op needs.

    >>> str(missing("pyarrow", "ParquetDataset")).splitlines()[-1]
    'hint: pip install "mycelia[data]"'
    """
    return DependencyError(f"{purpose} needs the library {library}", hint='pip install "mycelia[data]"')
