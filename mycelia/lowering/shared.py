"""What all parts of one program share while it is lowered."""

from __future__ import annotations

from dataclasses import dataclass, field

from mycelia.ir import Value
from mycelia.loops import Buffer, LibraryCall, Note, Origin, Procedure
from mycelia.options import Options
from mycelia.types import Array, TensorType, Type, int64, row_major


@dataclass
class Shared:
    """What all parts of one program share: options, constants, names, procedures."""

    options: Options
    refused: frozenset[LibraryCall] = frozenset()  # calls that the library has no code for, or none worth calling
    constants: dict[Buffer, Array] = field(default_factory=dict)
    constant_of: dict[Value, Buffer] = field(default_factory=dict)
    procedures: dict[object, Procedure | None] = field(default_factory=dict)
    numbers: dict[object, int] = field(default_factory=dict)
    aliases: dict[Buffer, Buffer] = field(default_factory=dict)  # made in the memory of another buffer
    notes: list[Note] = field(default_factory=list)
    origins: dict[Buffer, tuple[Origin, ...]] = field(default_factory=dict)  # for who measures
    names: int = 0

    def home(self, buffer: Buffer) -> Buffer:
        """The buffer in whose memory this one lies."""
        while buffer in self.aliases:
            buffer = self.aliases[buffer]
        return buffer

    def buffer(self, type: Type, strides: tuple[int, ...] | None = None, hint: str = "b") -> Buffer:
        """A new place in memory. Sequences and frames are held by a handle of eight bytes."""
        self.names += 1
        held = type if isinstance(type, TensorType) else TensorType(int64, ())
        return Buffer(f"{hint}{self.names}", held, strides if strides is not None else row_major(held.shape))
