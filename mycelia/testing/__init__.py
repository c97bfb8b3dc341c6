"""Tools for tests: the laws that every op obeys, ways to run a function, numeric gradients, equality of programs."""

from mycelia.testing.executors import EXECUTORS, by_elements
from mycelia.testing.laws import LAWS, UNFIT_FOR_COMPLEX, Law, law, obeys
from mycelia.testing.native import compile, lower, optimise
from mycelia.testing.numeric import numeric_jvp, numeric_vjp
from mycelia.testing.passes import check_pass
from mycelia.testing.samples import all_mistakes, all_samples, as_dtype, function_of

__all__ = [
    "EXECUTORS",
    "LAWS",
    "UNFIT_FOR_COMPLEX",
    "Law",
    "all_mistakes",
    "all_samples",
    "as_dtype",
    "by_elements",
    "check_pass",
    "compile",
    "function_of",
    "law",
    "lower",
    "numeric_jvp",
    "numeric_vjp",
    "obeys",
    "optimise",
]
