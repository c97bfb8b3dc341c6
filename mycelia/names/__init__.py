"""Names that are not there: the nearest that is, whether MindSpore has it, and what users of PyTorch mean by it."""

from mycelia.names.keywords import explaining, listening, listens, misfit, of_the_call, renamed
from mycelia.names.missing import MissingImport, MissingName, explain_missing, missing_attribute, missing_in, nearest

__all__ = [
    "MissingImport",
    "MissingName",
    "explain_missing",
    "explaining",
    "listening",
    "listens",
    "misfit",
    "missing_attribute",
    "missing_in",
    "nearest",
    "of_the_call",
    "renamed",
]
