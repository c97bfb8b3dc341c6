"""Record files: rows with a schema, mapped into memory, checked, read by number; and converters into them.

A name's module is loaded when it is first asked for: who reads a checkpoint needs `wire`, and not the rest.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING
from typing import Any as _Any

if TYPE_CHECKING:
    from mycelia.mindrecord.converters import (
        Cifar10ToMR,
        Cifar100ToMR,
        CsvToMR,
        ImageNetToMR,
        MnistToMR,
        TFRecordToMR,
    )
    from mycelia.mindrecord.crypt import set_dec_mode, set_enc_key, set_enc_mode
    from mycelia.mindrecord.errors import RecordError
    from mycelia.mindrecord.paging import MindPage
    from mycelia.mindrecord.reader import FileReader, RecordFile
    from mycelia.mindrecord.writer import FAILED, SUCCESS, FileWriter

_LATER = {
    "converters": ("Cifar10ToMR", "Cifar100ToMR", "CsvToMR", "ImageNetToMR", "MnistToMR", "TFRecordToMR"),
    "crypt": ("set_dec_mode", "set_enc_key", "set_enc_mode"),
    "errors": ("RecordError",),
    "paging": ("MindPage",),
    "reader": ("FileReader", "RecordFile"),
    "writer": ("FAILED", "SUCCESS", "FileWriter"),
}
_MODULE = {name: module for module, names in _LATER.items() for name in names}

__all__ = [
    "FAILED",
    "SUCCESS",
    "Cifar10ToMR",
    "Cifar100ToMR",
    "CsvToMR",
    "FileReader",
    "FileWriter",
    "ImageNetToMR",
    "MindPage",
    "MnistToMR",
    "RecordError",
    "RecordFile",
    "TFRecordToMR",
    "set_dec_mode",
    "set_enc_key",
    "set_enc_mode",
]


def __getattr__(name: str) -> _Any:
    if name not in _MODULE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    found = globals()[name] = getattr(_import_module(f"{__name__}.{_MODULE[name]}"), name)
    return found
