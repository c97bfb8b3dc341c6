"""Control flow: ops that contain functions, and the sequences and frames that they leave behind.

Every op here has a tuple of results. Functions inside are closed. Types must be equal where they meet (`BranchError`).

    Call(fn, recompute=False)(*xs) -> *results of fn
        `recompute`: keeps only the operands, and runs again on the way back.
    Cond(then, otherwise)(predicate: bool[], *xs) -> *results
        both branches take the same xs.
    While(condition, body, constants)(*constants, *carries) -> *carries, count: i64[], *sequences of ys
        condition(*constants, *carries) -> bool[];  body(*constants, *carries) -> *carries, *ys
        y: T gives SequenceType(T).
    Scan(body, constants, carries, reverse=False, static_length=None)([length: i64[],] *constants, *carries, *xs)
            -> *carries, *ys
        body(*constants, *carries, *elements) -> *carries, *elements of ys; y stays in the place of its x.
        static_length=None: `length` is the first operand; xs and ys are SequenceType.
        static_length=n: no length operand; a tensor element T[s] lies in a tensor T[n, s] (axis 0);
            an element of another type lies in a SequenceType.
    Map(body, constants, size, sums=0)(*constants, *xs) -> *ys, *summed
        body(*constants, *elements) -> *elements of ys, *terms; in any order.
        a tensor element T[s] lies in T[size, s]; another in a SequenceType. The last `sums` results are added up over
        all elements (zero if there are none); tensors, or sequences and frames, which add with null as zero.
    Recurse(definitions: ((name, Function), ...), entry)(*xs) -> *results of the entry
    NamedCall(callee, result_types)(*xs) -> *results             only inside the definitions, at any depth

    Null(type)() -> type                             zero of a sequence or frame: nothing, read as zeros of any length
    AddSequence()(x, y), AddFrame()(x, y)            add element by element; null is zero
    SplitBatch(type, size)(seq<..[size, ..]>) -> seq<type>, JoinBatch(type, size): back     rows of each element
    MakeFrame(frame)(*fields) -> FrameType(frame);  OpenFrame(fields)(frame) -> *fields     null opens to zeros

A null sequence or frame may also stand where nobody reads it (the slots of a branch that was not taken).
"""

from mycelia.primitives.control.call import Call
from mycelia.primitives.control.cond import Cond
from mycelia.primitives.control.frame import AddFrame, MakeFrame, OpenFrame
from mycelia.primitives.control.map import Map, each, repeat_each
from mycelia.primitives.control.recursion import NamedCall, Recurse
from mycelia.primitives.control.scan import Scan
from mycelia.primitives.control.sequence import AddSequence, JoinBatch, Null, SplitBatch
from mycelia.primitives.control.while_ import While

__all__ = [
    "AddFrame",
    "AddSequence",
    "Call",
    "Cond",
    "JoinBatch",
    "MakeFrame",
    "Map",
    "NamedCall",
    "Null",
    "OpenFrame",
    "Recurse",
    "Scan",
    "SplitBatch",
    "While",
    "each",
    "repeat_each",
]
