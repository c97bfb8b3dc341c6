"""Names that are not there: the nearest that is, whether MindSpore has it, and what users of PyTorch mean by it."""

from mycelia.names.keywords import (
    FOREIGN,
    asking_methods,
    boundary,
    explaining,
    explaining_methods,
    fits,
    listening,
    meant,
    renamed,
    translated,
)
from mycelia.names.missing import (
    MissingImport,
    MissingModule,
    MissingName,
    explain_missing,
    explain_modules,
    missing_attribute,
    missing_in,
    nearest,
    offered,
)
from mycelia.names.paths import install as know_paths

__all__ = [
    "FOREIGN",
    "MissingImport",
    "MissingModule",
    "MissingName",
    "asking_methods",
    "boundary",
    "explain_missing",
    "explain_modules",
    "explaining",
    "explaining_methods",
    "fits",
    "know_paths",
    "listening",
    "meant",
    "missing_attribute",
    "missing_in",
    "nearest",
    "offered",
    "renamed",
    "translated",
]
