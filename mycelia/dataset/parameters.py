"""What the parameters of datasets mean: each is told once, and stands in the help of every class that has it."""

from __future__ import annotations

import inspect

MEANING = {
    "annotation_file": "the file that says what is on the pictures",
    "background": "the background set (True) or the evaluation set",
    "base_seed": "the seed of the pictures",
    "batch_sampler": "the indices of each batch, list by list, in place of sampler, shuffle and shards",
    "cache": "a DatasetCache that keeps rows in memory between epochs and pipelines",
    "class_indexing": "the label of each class, {name: number}; without it classes are numbered in order",
    "classes": "the scenes to read",
    "collate_fn": "makes one batch of a list of rows",
    "column_defaults": "for each column a value whose type the column has, and that stands in for empty cells",
    "column_names": "the names of the columns",
    "column_types": "the element types of the columns",
    "columns_list": "the columns to read; all of them if there is no list",
    "compat": "a label alone (True), or all eight numbers about a digit",
    "compression_type": "'GZIP', 'ZLIB', or nothing for files that are not compressed",
    "data": "the arrays: one, a list of them, or {column: array}",
    "dataset_dir": "the folder with the files, as they were published, unpacked",
    "dataset_file": "the file that lists the samples",
    "dataset_files": "a file, a list of files, or a pattern like 'folder/*.mindrecord'",
    "decode": "pictures as pixels (True) or as the bytes of their files",
    "decrypt": "a function from the bytes of a file to those of the picture",
    "downgrade": "how the small pictures were made",
    "extensions": "the endings of file names that count, like ['.jpg', '.png']",
    "extra_metadata": "whether a column _meta-filename names the file; it is shown when it is renamed",
    "field_delim": "the sign between cells",
    "image_set": "the way in which faces were aligned",
    "image_size": "height, width and channels",
    "language_pair": "the language to read and the one to translate to",
    "max_rowsize": "megabytes of shared memory for a row, with processes",
    "name": "the part of the dataset to read",
    "num_classes": "how many classes the labels stand for",
    "num_images": "how many pictures there are",
    "num_padded": "how many rows are added; with them the number of rows is a multiple of num_shards",
    "num_parallel_workers": "how many workers read; config.set_num_parallel_workers sets it for all",
    "num_samples": "read at most so many rows",
    "num_shards": "how many readers share the rows; each gets its own part, and together they get all",
    "padded_sample": "the row that is added, {column: value}",
    "padded_samples": "the rows, each {column: value}",
    "python_multiprocessing": "read in processes (True) or threads, with more than one worker",
    "quality_mode": "fine or coarse annotations",
    "release": "which release of the dataset it is",
    "sampler": "chooses and orders the rows; stands in for shuffle and shards",
    "scale": "by which factor the pictures are smaller",
    "schema": "a Schema, or the name of a JSON file with one, that gives columns their types and shapes",
    "shard_equal_rows": "give all readers as many rows, some of them twice",
    "shard_id": "which of the readers this one is, from 0 on",
    "shuffle": "mix the rows: True or Shuffle.GLOBAL all of them, Shuffle.FILES the files, False none",
    "small": "pictures of 256 x 256 (True) or in their full size",
    "source": "what gives the rows",
    "target_type": "what to read beside the picture",
    "task": "what the dataset is read for, which decides about its columns",
    "test_set": "which of the test sets is read",
    "total_rows": "how many rows there are",
    "usage": "the part to read",
    "valid_set": "which of the validation sets is read",
    "ak": "the access key of the cloud storage",
    "server": "the address of the cloud storage",
    "sk": "the secret key of the cloud storage",
    "sync_obs_path": "a folder of the cloud storage where several readers tell each other what they have fetched",
}


def told(cls: type, usages: tuple[str, ...] = ()) -> str:
    """The parameters of a class in words, one on a line.

    >>> class Some:
    ...     def __init__(self, num_samples=None): ...
    >>> told(Some).splitlines()[1]
    '  num_samples (None): read at most so many rows'
    """
    lines = ["Parameters:"]
    for name, parameter in inspect.signature(cls).parameters.items():
        default = "" if parameter.default is parameter.empty else f" ({parameter.default!r})"
        choice = f", one of {', '.join(map(repr, usages))}" if name == "usage" and usages else ""
        lines.append(f"  {name}{default}: {MEANING.get(name, '')}{choice}")
    return "\n".join(lines)


def document(cls: type, usages: tuple[str, ...] = ()) -> None:
    """Put the parameters of a public class into its help.

    >>> class Some:
    ...     '''Something.'''
    ...     def __init__(self, num_samples=None): ...
    >>> document(Some); Some.__doc__.splitlines()[2]
    'Parameters:'
    """
    if cls.__doc__ and not cls.__name__.startswith("_"):
        cls.__doc__ = f"{inspect.cleandoc(cls.__doc__)}\n\n{told(cls, usages)}"
