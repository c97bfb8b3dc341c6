"""Light inference and training without Python: functions as a shared library with a C header and a weights file."""

from mycelia.lite.export import Exported, export_c

__all__ = ["Exported", "export_c"]
