"""From which size on eager mode asks for native kernels; what writes them is loaded when the first one is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mycelia.cost import compiled_from
from mycelia.eager import dispatch, operators
from mycelia.ir import Function
from mycelia.options import Options
from mycelia.target import vector_bytes
from mycelia.types import Array


def install(options: Callable[[], Options]) -> None:
    """Let eager mode use native kernels, compiled with these options."""

    def native(fn: Function) -> Callable[..., Sequence[Array]] | None:
        from mycelia.eager.kernels import kernel_for

        return kernel_for(fn, options)

    def native_for_all(fn: Function) -> Callable[..., Sequence[Array]] | None:
        from mycelia.eager.kernels import for_all_sizes

        return for_all_sizes(fn, options)

    dispatch.native, dispatch.native_for_all = native, native_for_all
    dispatch.LARGE = compiled_from(vector_bytes())
    operators.LARGE = dispatch.LARGE  # type: ignore[attr-defined]  # its own name for it, which is faster to look up
