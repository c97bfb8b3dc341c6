"""Record files: rows with a schema, mapped into memory, checked, read by number; and converters into them."""

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
