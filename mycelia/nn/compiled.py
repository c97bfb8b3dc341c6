"""A cell as a compiled program: what graph mode calls, and how it is asked for."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

from mycelia.api.context import get_rng_state, set_rng_state
from mycelia.api.jit import Jitted, jit
from mycelia.eager import Tensor, assign
from mycelia.errors import ArgumentError
from mycelia.nn.notes import Annotated


class Compiled(Annotated):
    """What can be compiled: the part of a cell that is about its program."""

    _run: Callable[..., Any]  # what a call does

    def _compiled(self) -> Jitted:
        """The cell as a compiled program, which graph mode calls."""
        found: Jitted | None = self.__dict__.get("_jitted")
        if found is None:
            found = self.__dict__["_jitted"] = jit(self._run, **self.jit_config_dict)
        return found

    @property
    def compiled(self) -> bool:
        """Whether the cell was compiled, as graph mode and `compile` do."""
        return "_jitted" in self.__dict__

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Compile the cell for such arguments; parameters, buffers and random numbers stay as they are.

        >>> from mycelia.nn import Cell
        >>> class Twice(Cell):
        ...     def construct(self, x):
        ...         return x + x
        >>> net = Twice()
        >>> net.compile(Tensor([1.0]))
        >>> net.compiled
        True
        """
        tensors = (*self.get_parameters(), *self.buffers())  # type: ignore[attr-defined]
        held = [(x, x.asnumpy().copy()) for x in tensors]
        random = get_rng_state()
        self._compiled()(*args, **kwargs)
        set_rng_state(random)
        for x, numbers in held:
            assign(x, Tensor(numbers))

    def compile_and_run(self, *args: Any, **kwargs: Any) -> Any:
        """What the compiled cell gives.

        >>> from mycelia.nn import Cell
        >>> class Twice(Cell):
        ...     def construct(self, x):
        ...         return x + x
        >>> Twice().compile_and_run(Tensor([1.0])).tolist()
        [2.0]
        """
        return self._compiled()(*args, **kwargs)

    def run_construct(self, cast_inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a call gives, whatever the mode: `construct` between the hooks.

        >>> from mycelia.nn import Cell
        >>> class Twice(Cell):
        ...     def construct(self, x):
        ...         return x + x
        >>> Twice().run_construct((Tensor([1.0]),), {}).tolist()
        [2.0]
        """
        return self._run(*cast_inputs, **kwargs)

    @property
    def jit_config_dict(self) -> dict[str, Any]:
        """What `set_jit_config` said."""
        return dict(self._notes.get("jit_config", {}))

    def set_jit_config(self, jit_config: Any) -> None:
        """Say how the cell is compiled in graph mode: the arguments of `jit`, as a dictionary or a `JitConfig`.

        >>> from mycelia.nn import Cell
        >>> net = Cell()
        >>> net.set_jit_config({"jit_syntax_level": "LAX"})
        >>> net.jit_config_dict
        {'jit_syntax_level': 'LAX'}
        """
        settings = getattr(jit_config, "jit_config_dict", jit_config)
        if not isinstance(settings, Mapping):
            raise ArgumentError(f"jit_config is a JitConfig, not a {type(jit_config).__name__}")
        if self._notes.get("jit_config"):
            warnings.warn("a jit config is set once; the new one is left out", UserWarning, stacklevel=2)
            return
        jit(self._run, **settings)  # which complains about what it does not know
        self._note(jit_config=dict(settings))
