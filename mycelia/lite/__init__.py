"""Functions that leave Python: a shared library with a C header and a weights file, or a graph in a file of its own."""

from mycelia.lite.export import Exported, export_c

__all__ = ["Exported", "export_c"]
