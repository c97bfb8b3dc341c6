"""Coefficients of Bessel functions: writes mycelia/ops/bessel_numbers.py, with mpmath, which must be installed.

    python docs/bessel.py

Each list is a sum of Chebyshev polynomials on [-1, 1], fitted where they are exact: at Chebyshev's own points.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath as mp

mp.mp.dps = 40
TARGET = Path(__file__).parents[1] / "mycelia" / "ops" / "bessel_numbers.py"


def fitted(f: Callable[[Any], Any], count: int) -> list[float]:
    """Chebyshev's coefficients of a function on [-1, 1], as far as float64 sees them."""
    points = [mp.cos(mp.pi * (k + mp.mpf(1) / 2) / count) for k in range(count)]
    values = [f(t) for t in points]
    out = [
        2 * sum(v * mp.cos(mp.pi * j * (k + mp.mpf(1) / 2) / count) for k, v in enumerate(values)) / count
        for j in range(count)
    ]
    out[0] /= 2
    while len(out) > 1 and abs(out[-1]) < mp.mpf(10) ** -19 * abs(max(out, key=abs)):
        out.pop()
    return [float(c) for c in out]


def root(t: Any, end: float) -> Any:
    """The x of which t stands for x squared, from 0 to `end` squared."""
    return mp.sqrt((t + 1) / 2) * end


def far(t: Any, begin: float) -> Any:
    """The x, from `begin` on, of which t stands for begin / x."""
    return begin / ((t + 1) / 2)


def phases(n: int, x: Any) -> tuple[Any, Any]:
    """P and Q: sqrt(2 / (pi x)) (P cos z - Q sin z) is J, and (P sin z + Q cos z) Y, where z = x - (2n + 1) pi / 4."""
    z, scale = x - (2 * n + 1) * mp.pi / 4, mp.sqrt(mp.pi * x / 2)
    j, y = mp.besselj(n, x), mp.bessely(n, x)
    return scale * (j * mp.cos(z) + y * mp.sin(z)), scale * (y * mp.cos(z) - j * mp.sin(z))


def log_free(n: int, x: Any) -> Any:
    """What Y is beside its logarithm and its pole, over x to the power n."""
    rest = mp.bessely(n, x) - 2 / mp.pi * mp.log(x) * mp.besselj(n, x)
    return rest if n == 0 else (rest + 2 / (mp.pi * x)) / x


def log_free_k(n: int, x: Any) -> Any:
    """The same of K."""
    if n == 0:
        return mp.besselk(0, x) + mp.log(x / 2) * mp.besseli(0, x)
    return (mp.besselk(1, x) - mp.log(x / 2) * mp.besseli(1, x) - 1 / x) / x


def table() -> dict[str, list[float]]:
    """All lists."""
    out = {}
    for n in (0, 1):
        out[f"I{n}_NEAR"] = fitted(
            lambda t, n=n: mp.exp(-4 * (t + 1)) * mp.besseli(n, 4 * (t + 1)) / (4 * (t + 1)) ** n, 40
        )
        out[f"I{n}_FAR"] = fitted(lambda t, n=n: mp.sqrt(far(t, 8)) * mp.exp(-far(t, 8)) * mp.besseli(n, far(t, 8)), 40)
        out[f"J{n}_NEAR"] = fitted(lambda t, n=n: mp.besselj(n, root(t, 8)) / root(t, 8) ** n, 40)
        out[f"Y{n}_NEAR"] = fitted(lambda t, n=n: log_free(n, root(t, 8)), 40)
        out[f"P{n}"] = fitted(lambda t, n=n: phases(n, 8 / mp.sqrt((t + 1) / 2))[0], 30)
        out[f"Q{n}"] = fitted(lambda t, n=n: phases(n, 8 / mp.sqrt((t + 1) / 2))[1] / mp.sqrt((t + 1) / 2), 30)
        out[f"K{n}_NEAR"] = fitted(lambda t, n=n: log_free_k(n, root(t, 2)), 25)
        out[f"K{n}_FAR"] = fitted(lambda t, n=n: mp.sqrt(far(t, 2)) * mp.exp(far(t, 2)) * mp.besselk(n, far(t, 2)), 50)
    return out


def main() -> None:
    """Write the file."""
    lines = [
        '"""Coefficients of Bessel functions, written by docs/bessel.py."""\n\nfrom __future__ import annotations\n\n'
    ]
    for name, numbers in table().items():
        rows = "".join(f"    {c!r},\n" for c in numbers)
        lines.append(f"{name} = (\n{rows})\n")
    TARGET.write_text("".join(lines))


if __name__ == "__main__":
    main()
