"""The graph IR: immutable typed values, closed functions, and how to rewrite them."""

from mycelia.ir import algebra
from mycelia.ir.births import births_for, born_in, own_names, sizes_born
from mycelia.ir.digest import digest
from mycelia.ir.extents import type_names
from mycelia.ir.function import Function, substitute, toposort, users
from mycelia.ir.interpret import constant, interpret
from mycelia.ir.op import (
    Back,
    Cotangents,
    Lowered,
    Mistake,
    Op,
    Operand,
    Pair,
    Project,
    Reader,
    Sample,
    Several,
    each_part,
    no_gradient,
    registry,
    zero_gradient,
)
from mycelia.ir.purity import Purity, may_move, may_repeat
from mycelia.ir.region import Region, innermost, region
from mycelia.ir.resize import names_in, names_of, sized, sizes_of, tells_sizes
from mycelia.ir.rewrite import Rule, rewrite, rule, rule_for
from mycelia.ir.value import Arithmetic, Param, Value, asking, fresh_params, located, operators
from mycelia.ir.verify import inner_functions, verify

__all__ = [
    "Arithmetic",
    "Back",
    "Cotangents",
    "Function",
    "Lowered",
    "Mistake",
    "Op",
    "Operand",
    "Pair",
    "Param",
    "Project",
    "Purity",
    "Reader",
    "Region",
    "Rule",
    "Sample",
    "Several",
    "Value",
    "algebra",
    "asking",
    "births_for",
    "born_in",
    "constant",
    "digest",
    "each_part",
    "fresh_params",
    "inner_functions",
    "innermost",
    "interpret",
    "located",
    "may_move",
    "may_repeat",
    "names_in",
    "names_of",
    "no_gradient",
    "operators",
    "own_names",
    "region",
    "registry",
    "rewrite",
    "rule",
    "rule_for",
    "sized",
    "sizes_born",
    "sizes_of",
    "substitute",
    "tells_sizes",
    "toposort",
    "type_names",
    "users",
    "verify",
    "zero_gradient",
]
