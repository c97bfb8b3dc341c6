"""The data engine: from files to batches."""

from mycelia.dataset import config
from mycelia.dataset.config import ErrorSamplesMode
from mycelia.dataset.dataset import (
    BatchDataset,
    BucketBatchByLengthDataset,
    ConcatDataset,
    Dataset,
    FilterDataset,
    MapDataset,
    PaddedBatchDataset,
    ProjectDataset,
    RenameDataset,
    RepeatDataset,
    ShuffleDataset,
    SkipDataset,
    SyncWaitDataset,
    TakeDataset,
    ZipDataset,
)
from mycelia.dataset.dataset import zip_datasets as zip
from mycelia.dataset.errors import DataError, WorkerDied
from mycelia.dataset.iterators import DictIterator, TupleIterator
from mycelia.dataset.operations import BatchInfo
from mycelia.dataset.records import MindDataset, TFRecordDataset
from mycelia.dataset.samplers import (
    BuiltinSampler,
    DistributedSampler,
    IterSampler,
    PKSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    Shuffle,
    SubsetRandomSampler,
    SubsetSampler,
    WeightedRandomSampler,
)
from mycelia.dataset.schema import Schema
from mycelia.dataset.shards import ParquetDataset, WebDataset
from mycelia.dataset.sources import (
    GeneratorDataset,
    MappableDataset,
    NumpySlicesDataset,
    PaddedDataset,
    RandomDataset,
    SourceDataset,
)
from mycelia.dataset.textfiles import CSVDataset, TextFileDataset

__all__ = [
    "BatchDataset",
    "BatchInfo",
    "BucketBatchByLengthDataset",
    "BuiltinSampler",
    "CSVDataset",
    "ConcatDataset",
    "DataError",
    "Dataset",
    "DictIterator",
    "DistributedSampler",
    "ErrorSamplesMode",
    "FilterDataset",
    "GeneratorDataset",
    "IterSampler",
    "MapDataset",
    "MappableDataset",
    "MindDataset",
    "NumpySlicesDataset",
    "PKSampler",
    "PaddedBatchDataset",
    "PaddedDataset",
    "ParquetDataset",
    "ProjectDataset",
    "RandomDataset",
    "RandomSampler",
    "RenameDataset",
    "RepeatDataset",
    "Sampler",
    "Schema",
    "SequentialSampler",
    "Shuffle",
    "ShuffleDataset",
    "SkipDataset",
    "SourceDataset",
    "SubsetRandomSampler",
    "SubsetSampler",
    "SyncWaitDataset",
    "TFRecordDataset",
    "TakeDataset",
    "TextFileDataset",
    "TupleIterator",
    "WebDataset",
    "WeightedRandomSampler",
    "WorkerDied",
    "ZipDataset",
    "config",
    "zip",
]
