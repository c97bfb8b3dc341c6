"""What the Python array API standard asks of a namespace, and constants."""

from __future__ import annotations

from math import e, inf, nan, pi
from typing import Any

from mycelia.numpy.elements import KINDS, here
from mycelia.types import DTYPES, DType, bfloat16, float32, int64

__all__ = ["e", "euler_gamma", "inf", "nan", "newaxis", "pi"]

newaxis = None
euler_gamma = 0.5772156649015329
__array_api_version__ = "2024.12"
DEVICE = "CPU:0"


class Info:
    """What this namespace can do: `__array_namespace_info__()`.

    >>> Info().default_device(), Info().default_dtypes()["integral"]
    ('CPU:0', int64)
    """

    def capabilities(self) -> dict[str, Any]:
        """Whether masks choose elements, whether shapes may depend on numbers, and how many axes there may be.

        >>> Info().capabilities()["boolean indexing"]
        True
        """
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        """Where new arrays are.

        >>> Info().default_device()
        'CPU:0'
        """
        return DEVICE

    def devices(self) -> list[str]:
        """Where arrays can be.

        >>> Info().devices()
        ['CPU:0']
        """
        return [DEVICE]

    def default_dtypes(self, *, device: Any = None) -> dict[str, DType]:
        """The element types of numbers for which none is asked.

        >>> Info().default_dtypes()["real floating"]
        float32
        """
        here(device)
        found = {"real floating": float32, "integral": int64, "indexing": int64}
        complexes = [d for d in DTYPES if d.kind == "c"]
        return found | ({"complex floating": complexes[0]} if complexes else {})

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, DType]:
        """The element types by name, all or those of a kind.

        >>> sorted(Info().dtypes(kind="signed integer"))
        ['int16', 'int32', 'int64', 'int8']
        """
        here(device)
        kinds = tuple(KINDS) if kind is None else kind if isinstance(kind, tuple) else (kind,)
        letters = "".join(KINDS[k] for k in kinds)
        return {d.name: d for d in DTYPES if d.kind in letters and d.name != "float16" and d is not bfloat16}


def __array_namespace_info__() -> Info:
    """What this namespace can do.

    >>> __array_namespace_info__().devices()
    ['CPU:0']
    """
    return Info()
