"""The loop IR: index expressions, scalar expressions, kernels, programs. Codegen gives them machine code."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING
from typing import Any as _Any

from mycelia.loops.convert import converted, stepping_stone
from mycelia.loops.expr import (
    Buffer,
    Expr,
    Fold,
    binary,
    cast,
    const,
    folded,
    load,
    neutral,
    position,
    select,
    unary,
)
from mycelia.loops.index import Datum, Index, Quotient, Remainder, Variable, datum, index

if TYPE_CHECKING:  # what only the compiler needs is loaded with it
    from mycelia.loops.calls import (
        Axis,
        ConvolutionCall,
        EliminationCall,
        FourierCall,
        FourierKind,
        LibraryCall,
        Matmul,
        Moves,
        OrderCall,
        PrefixCall,
        RoutineCall,
        SearchCall,
        SparseCall,
        Strided,
        TileKind,
        Tiles,
    )
    from mycelia.loops.equality import equal
    from mycelia.loops.kernel import Kernel, Store, Sweep, Update, mention, mention_index
    from mycelia.loops.parser import parse_kernel, parse_program
    from mycelia.loops.printer import show
    from mycelia.loops.program import (
        Birth,
        Block,
        Branch,
        Called,
        Copy,
        Enter,
        Host,
        Invoke,
        Item,
        Launch,
        Note,
        Operand,
        Origin,
        Place,
        Plan,
        Procedure,
        Program,
        Repeat,
        Runtime,
        Stack,
        Step,
        Stop,
        Stream,
    )
    from mycelia.loops.unit import Binding, Callback, Recipe, Slot, Unit
    from mycelia.loops.unit_text import parse_binding, parse_unit, show_binding, show_unit

__all__ = [
    "Axis",
    "Binding",
    "Birth",
    "Block",
    "Branch",
    "Buffer",
    "Callback",
    "Called",
    "ConvolutionCall",
    "Copy",
    "Datum",
    "EliminationCall",
    "Enter",
    "Expr",
    "Fold",
    "FourierCall",
    "FourierKind",
    "Host",
    "Index",
    "Invoke",
    "Item",
    "Kernel",
    "Launch",
    "LibraryCall",
    "Matmul",
    "Moves",
    "Note",
    "Operand",
    "OrderCall",
    "Origin",
    "Place",
    "Plan",
    "PrefixCall",
    "Procedure",
    "Program",
    "Quotient",
    "Recipe",
    "Remainder",
    "Repeat",
    "RoutineCall",
    "Runtime",
    "SearchCall",
    "Slot",
    "SparseCall",
    "Stack",
    "Step",
    "Stop",
    "Store",
    "Stream",
    "Strided",
    "Sweep",
    "TileKind",
    "Tiles",
    "Unit",
    "Update",
    "Variable",
    "binary",
    "cast",
    "const",
    "converted",
    "datum",
    "equal",
    "folded",
    "index",
    "load",
    "mention",
    "mention_index",
    "neutral",
    "parse_binding",
    "parse_kernel",
    "parse_program",
    "parse_unit",
    "position",
    "select",
    "show",
    "show_binding",
    "show_unit",
    "stepping_stone",
    "unary",
]

_LATER = {
    "calls": (
        "Axis", "ConvolutionCall", "EliminationCall", "FourierCall", "FourierKind", "LibraryCall", "Matmul", "Moves",
        "OrderCall", "PrefixCall", "RoutineCall", "SearchCall", "SparseCall", "Strided", "TileKind", "Tiles",
    ),
    "equality": ("equal",),
    "kernel": ("Kernel", "Store", "Sweep", "Update", "mention", "mention_index"),
    "parser": ("parse_kernel", "parse_program"),
    "printer": ("show",),
    "program": (
        "Birth", "Block", "Branch", "Called", "Copy", "Enter", "Host", "Invoke", "Item", "Launch", "Note", "Operand",
        "Origin", "Place", "Plan", "Procedure", "Program", "Repeat", "Runtime", "Stack", "Step", "Stop", "Stream",
    ),
    "unit": ("Binding", "Callback", "Recipe", "Slot", "Unit"),
    "unit_text": ("parse_binding", "parse_unit", "show_binding", "show_unit"),
}  # fmt: skip
_HOME = {name: f"{__name__}.{module}" for module, names in _LATER.items() for name in names}


def __getattr__(name: str) -> _Any:
    """What only the compiler needs, when it is first asked for."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(_import_module(_HOME[name]), name)
    return found
