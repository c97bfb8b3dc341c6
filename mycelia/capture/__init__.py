"""Capture: Python functions as graphs. Branches, loops and calls that depend on tensors become part of the graph,
Python runs the rest while the graph is written down, and everything that was read from outside is guarded.
"""

from mycelia.capture.guards import Epoch, Guards
from mycelia.capture.hooks import call, converted
from mycelia.capture.pieces import in_pieces
from mycelia.capture.program import Captured, Computed, Given, Kept, Nest, capture
from mycelia.capture.stage import Stage, current
from mycelia.capture.world import Unstageable, World

__all__ = [
    "Captured",
    "Computed",
    "Epoch",
    "Given",
    "Guards",
    "Kept",
    "Nest",
    "Stage",
    "Unstageable",
    "World",
    "call",
    "capture",
    "converted",
    "current",
    "in_pieces",
]
