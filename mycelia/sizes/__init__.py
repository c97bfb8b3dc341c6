"""Sizes that are known only when a program runs: symbolic dimensions, as sums of products of named sizes.

A dimension of a shape is a number, or a `Sym`: `2*n*t + 1`. Sums, products, quotients and remainders of sizes are sizes
again. A comparison is answered where the bounds of the names decide it. Where they do not, the names' `Scope` is asked:
it knows one set of actual sizes (its hints), answers by them, and writes the answer down as a guard. A program that was
written while asking is right for all sizes that keep its guards. Every other use (`range(n)`, `hash`, `float(n)`,
printing in the user's code) raises `NeedsSize`: whoever catches it takes the size as a constant.

>>> scope = Scope()
>>> n = scope.name("n", hint=8)
>>> n * 4 // n, (n * 6) % 3, n + 1 > n
(4, 0, True)
>>> n > 5, [str(g) for g in scope.guards]
(True, ['-5 + n > 0'])
>>> [scope.holds(dict.fromkeys(n.names(), size)) for size in (100, 5)]
[True, False]

A choice that is right either way, and only faster one way, takes `hint(n)`: that is no guard. `known_less` and
`known_equal` never ask: they say no when they do not know.
"""

from mycelia.sizes.division import divided, quotient
from mycelia.sizes.evaluation import describer, evaluated, evaluator, solver
from mycelia.sizes.scope import Guard, Hints, Known, Scope, born, comes_from_data, hint, known_equal, positive, same
from mycelia.sizes.sym import (
    Atom,
    Dim,
    Name,
    NeedsSize,
    Size,
    Sym,
    high,
    is_static,
    known_less,
    least,
    low,
    names,
    text,
    value,
)

__all__ = [
    "Atom",
    "Dim",
    "Guard",
    "Hints",
    "Known",
    "Name",
    "NeedsSize",
    "Scope",
    "Size",
    "Sym",
    "born",
    "comes_from_data",
    "describer",
    "divided",
    "evaluated",
    "evaluator",
    "high",
    "hint",
    "is_static",
    "known_equal",
    "known_less",
    "least",
    "low",
    "names",
    "positive",
    "quotient",
    "same",
    "solver",
    "text",
    "value",
]  # fmt: skip
