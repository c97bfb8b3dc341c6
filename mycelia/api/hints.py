"""How functions are compiled, as published programs say it; and whether an installation works."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from mycelia.checks import choice
from mycelia.eager import Tensor
from mycelia.errors import CallError

__all__ = ["LAX", "STRICT", "JitConfig", "cell_graph_executor", "jit_class", "lazy_inline", "run_check"]

STRICT, LAX = 0, 2
"""For `set_context(jit_syntax_level=...)`: whether what cannot be compiled is an error, or runs in Python."""
T = TypeVar("T")


def _says(name: str, value: Any, why: str) -> None:
    warnings.warn(f"{name}={value!r} has no effect: {why}", UserWarning, stacklevel=3)


class JitConfig:
    """How a cell is compiled in graph mode: for `Cell.set_jit_config`. A setting that has no effect here says so.

    >>> JitConfig(jit_syntax_level="STRICT").jit_config_dict["jit_syntax_level"]
    'STRICT'
    """

    def __init__(
        self,
        jit_level: str = "",
        exc_mode: str = "auto",
        jit_syntax_level: str = "",
        debug_level: str = "RELEASE",
        infer_boost: str = "off",
        **kwargs: Any,
    ) -> None:
        choice("JitConfig", "jit_level", jit_level, ("", "O0", "O1", "O2"))
        choice("JitConfig", "exc_mode", exc_mode, ("auto", "sink", "no_sink"))
        choice("JitConfig", "jit_syntax_level", jit_syntax_level, ("", "STRICT", "LAX"))
        choice("JitConfig", "debug_level", debug_level, ("RELEASE", "DEBUG"))
        choice("JitConfig", "infer_boost", infer_boost, ("on", "off"))
        unused = (
            ("exc_mode", exc_mode, "auto"),
            ("debug_level", debug_level, "RELEASE"),
            ("infer_boost", infer_boost, "off"),
        )
        for name, value, usual in unused:
            if value != usual:
                _says(name, value, "there is one compiler, and one way to run what it makes")
        self.jit_config_dict: dict[str, Any] = {"jit_level": jit_level, "jit_syntax_level": jit_syntax_level, **kwargs}


class CellGraphExecutor:
    """What compiles cells beforehand, where old programs ask for it.

    >>> from mycelia.nn import ReLU
    >>> cell_graph_executor(ReLU(), Tensor([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """

    def compile(self, obj: Any, *args: Any, phase: str = "predict") -> tuple[str, bool]:
        """Compile a cell for such arguments; the name of the phase, and that it was done."""
        obj.compile(*args)
        return phase, True

    def __call__(self, obj: Any, *args: Any, phase: str = "predict") -> Any:
        return obj.compile_and_run(*args)


cell_graph_executor = CellGraphExecutor()


def jit_class(cls: type[T]) -> type[T]:
    """A decorator for classes whose objects compiled functions use: they may use objects of every class here.

    >>> @jit_class
    ... class Pair:
    ...     pass
    >>> Pair.__name__
    'Pair'
    """
    if not isinstance(cls, type):
        raise CallError(f"jit_class decorates classes, not a {type(cls).__name__}")
    return cls


def lazy_inline(
    fn: Callable[..., Any] | None = None, attrs: Any = None, policy: str | None = None
) -> Callable[..., Any]:
    """A decorator for the `__init__` of a cell that occurs many times: one compiler decides here what is shared.

    >>> lazy_inline(abs)(-1)
    1
    """
    if fn is None:
        return lambda function: lazy_inline(function, attrs, policy)
    if not callable(fn):
        raise CallError(f"lazy_inline decorates functions, not a {type(fn).__name__}")
    for name, value in (("attrs", attrs), ("policy", policy)):
        if value is not None:
            _says(name, value, "the compiler decides what cells share")
    return fn


def run_check() -> None:
    """Say whether this installation computes.

    >>> run_check()
    The product of two matrices is right: Mycelia is installed, and works on CPU.
    """
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    right = np.array_equal((Tensor(x) @ Tensor(x.T)).asnumpy(), x @ x.T)
    print(f"The product of two matrices is {'right' if right else 'wrong'}: Mycelia is installed, ", end="")
    print("and works on CPU." if right else "and does not work on CPU.")
