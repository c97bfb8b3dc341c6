"""Readers of datasets, from local folders in the formats they were published in; written by docs/stubs.py."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike

from mycelia.dataset.caches.cache import DatasetCache
from mycelia.dataset.plan.samplers import Sampler, Shuffle
from mycelia.dataset.readers.hub import HubDataset as HubDataset
from mycelia.dataset.sources.memory import MappableDataset

class AGNewsDataset(MappableDataset):
    """AG News: index, title and description."""

    def __init__(self, dataset_dir: str | PathLike[str], usage: str | None = None, num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = ..., num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class AmazonReviewDataset(MappableDataset):
    """Amazon reviews, full or polarity: label, title and content."""

    def __init__(self, dataset_dir: str | PathLike[str], usage: str | None = None, num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = ..., num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class CLUEDataset(MappableDataset):
    """CLUE, the Chinese language understanding tasks: one JSON object a line."""

    def __init__(self, dataset_files: str | Sequence[str], task: str = 'AFQMC', usage: str | None = 'train', num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = ..., num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class CMUArcticDataset(MappableDataset):
    """CMU Arctic: `cmu_us_<name>_arctic` with `wav` and `etc/txt.done.data`."""

    def __init__(self, dataset_dir: str | PathLike[str], name: str | None = None, num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class Caltech101Dataset(MappableDataset):
    """Caltech-101: `101_ObjectCategories` and `Annotations`; the target is the class, the outline, or both."""

    def __init__(self, dataset_dir: str | PathLike[str], target_type: str | None = None, num_samples: int | None = None, num_parallel_workers: int | None = 1, shuffle: bool | Shuffle | None = None, decode: bool | None = False, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None) -> None: ...

class Caltech256Dataset(MappableDataset):
    """Caltech-256: folders `001.ak47` and so on."""

    def __init__(self, dataset_dir: str | PathLike[str], num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, decode: bool | None = False, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class CelebADataset(MappableDataset):
    """CelebA: `img_align_celeba`, `list_attr_celeba.txt`, and `list_eval_partition.txt` for its parts."""

    def __init__(self, dataset_dir: str | PathLike[str], num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, usage: str | None = 'all', sampler: Sampler | Iterable[int] | None = None, decode: bool | None = False, extensions: Sequence[str] | None = None, num_samples: int | None = None, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None, decrypt: Callable[[str], bytes] | None = None) -> None: ...

class Cifar10Dataset(MappableDataset):
    """CIFAR-10, the binary or the Python version; columns image (32, 32, 3) and label."""

    def __init__(self, dataset_dir: str | PathLike[str], usage: str | None = None, num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class Cifar100Dataset(MappableDataset):
    """CIFAR-100, the binary or the Python version; columns image, coarse_label and fine_label."""

    def __init__(self, dataset_dir: str | PathLike[str], usage: str | None = None, num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class CityscapesDataset(MappableDataset):
    """Cityscapes: `leftImg8bit` and `gtFine` or `gtCoarse`; masks, colours or polygons."""

    def __init__(self, dataset_dir: str | PathLike[str], usage: str | None = 'train', quality_mode: str = 'fine', task: str = 'instance', num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, decode: bool | None = None, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class CoNLL2000Dataset(MappableDataset):
    """CoNLL-2000 chunking: words with part-of-speech and chunk tags, a sentence a row."""

    def __init__(self, dataset_dir: str | PathLike[str], usage: str | None = None, num_samples: int | None = None, shuffle: bool | Shuffle | None = ..., num_shards: int | None = None, shard_id: int | None = None, num_parallel_workers: int | None = None, cache: DatasetCache | None = None) -> None: ...

class CocoDataset(MappableDataset):
    """COCO: a folder of images and a JSON of annotations, for five tasks."""

    def __init__(self, dataset_dir: str | PathLike[str], annotation_file: str, task: str = 'Detection', num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, decode: bool | None = False, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None, extra_metadata: bool | None = False, decrypt: Callable[[str], bytes] | None = None) -> None: ...

class DBpediaDataset(MappableDataset):
    """DBpedia: class, title and content."""

    def __init__(self, dataset_dir: str | PathLike[str], usage: str | None = None, num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = ..., num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class DIV2KDataset(MappableDataset):
    """DIV2K: high-resolution images and those made smaller in one of several ways."""

    def __init__(self, dataset_dir: str | PathLike[str], usage: str | None = 'train', downgrade: str = 'bicubic', scale: int = 2, num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, decode: bool | None = None, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class EMnistDataset(MappableDataset):
    """EMNIST: `emnist-<name>-train-images-idx3-ubyte` and so on."""

    def __init__(self, dataset_dir: str | PathLike[str], name: str, usage: str | None = None, num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class EnWik9Dataset(MappableDataset):
    """The first 10^9 bytes of the English Wikipedia: `enwik9`, every line a row, also the empty ones."""

    def __init__(self, dataset_dir: str | PathLike[str], num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = True, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class FakeImageDataset(MappableDataset):
    """Random images and labels, for trying things out; a sample depends on its number and `base_seed` only."""

    def __init__(self, num_images: int = 1000, image_size: Sequence[int] = (224, 224, 3), num_classes: int = 10, base_seed: int = 0, num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class FashionMnistDataset(MappableDataset):
    """Fashion-MNIST, in MNIST's files."""

    def __init__(self, dataset_dir: str | PathLike[str], usage: str | None = None, num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class FlickrDataset(MappableDataset):
    """Flickr8k or 30k: a folder of images and lines `name#number<tab>caption`."""

    def __init__(self, dataset_dir: str | PathLike[str], annotation_file: str, num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, decode: bool | None = None, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class Flowers102Dataset(MappableDataset):
    """Oxford Flowers 102: `jpg/`, `segmim/`, `imagelabels.mat`, `setid.mat`."""

    def __init__(self, dataset_dir: str | PathLike[str], task: str = 'Classification', usage: str | None = 'all', num_samples: int | None = None, num_parallel_workers: int | None = 1, shuffle: bool | Shuffle | None = None, decode: bool | None = False, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None) -> None: ...

class Food101Dataset(MappableDataset):
    """Food-101: `meta/train.txt`, `meta/test.txt` and `images/<class>/<number>.jpg`; the label is the class name."""

    def __init__(self, dataset_dir: str | PathLike[str], usage: str | None = None, num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, decode: bool | None = False, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class GTZANDataset(MappableDataset):
    """GTZAN: a folder of recordings per genre, `jazz/jazz.00012.wav`; its parts are the published, filtered ones."""

    def __init__(self, dataset_dir: str | PathLike[str], usage: str | None = None, num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class IMDBDataset(MappableDataset):
    """IMDB reviews: `train` and `test`, each with `pos` and `neg`; label 1 is positive."""

    def __init__(self, dataset_dir: str | PathLike[str], usage: str | None = None, num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class IWSLT2016Dataset(MappableDataset):
    """IWSLT 2016: as 2017, with a choice of validation and test sets."""

    def __init__(self, dataset_dir: str | PathLike[str], usage: str | None = None, language_pair: Sequence[str] | None = None, valid_set: str | None = None, test_set: str | None = None, num_samples: int | None = None, shuffle: bool | Shuffle | None = ..., num_shards: int | None = None, shard_id: int | None = None, num_parallel_workers: int | None = None, cache: DatasetCache | None = None) -> None: ...

class IWSLT2017Dataset(MappableDataset):
    """IWSLT 2017: a folder per pair, `train.tags.*`, and XML files for validation and test."""

    def __init__(self, dataset_dir: str | PathLike[str], usage: str | None = None, language_pair: Sequence[str] | None = None, num_samples: int | None = None, shuffle: bool | Shuffle | None = ..., num_shards: int | None = None, shard_id: int | None = None, num_parallel_workers: int | None = None, cache: DatasetCache | None = None) -> None: ...

class ImageFolderDataset(MappableDataset):
    """Folders of images, one per class; columns image and label."""

    def __init__(self, dataset_dir: str | PathLike[str], num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, sampler: Sampler | Iterable[int] | None = None, extensions: Sequence[str] | None = None, class_indexing: Mapping[str, int] | None = None, decode: bool | None = False, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None, decrypt: Callable[[str], bytes] | None = None) -> None: ...

class KITTIDataset(MappableDataset):
    """KITTI object detection: `data_object_image_2` and `data_object_label_2`; kinds are numbered by their names."""

    def __init__(self, dataset_dir: str | PathLike[str], usage: str | None = None, num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, decode: bool | None = False, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class KMnistDataset(MappableDataset):
    """Kuzushiji-MNIST, in MNIST's files."""

    def __init__(self, dataset_dir: str | PathLike[str], usage: str | None = None, num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class LFWDataset(MappableDataset):
    """Labelled Faces in the Wild: people with their class, or pairs that match or do not."""

    def __init__(self, dataset_dir: str | PathLike[str], task: str | None = None, usage: str | None = None, image_set: str | None = None, num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, decode: bool | None = False, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class LJSpeechDataset(MappableDataset):
    """LJ Speech: `metadata.csv` and `wavs`."""

    def __init__(self, dataset_dir: str | PathLike[str], num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class LSUNDataset(MappableDataset):
    """LSUN unpacked: folders `<class>_train` and `<class>_val`, or `test`, of images."""

    def __init__(self, dataset_dir: str | PathLike[str], usage: str | None = None, classes: str | Sequence[str] | None = None, num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, decode: bool | None = False, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class LibriTTSDataset(MappableDataset):
    """LibriTTS: part, speaker, chapter, and beside each recording its original and normalised text."""

    def __init__(self, dataset_dir: str | PathLike[str], usage: str | None = None, num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class ManifestDataset(MappableDataset):
    """A manifest: one JSON object per line with `source`, `usage` and `annotation: [{"name": class}]`."""

    def __init__(self, dataset_file: str, usage: str | None = 'train', num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, sampler: Sampler | Iterable[int] | None = None, class_indexing: Mapping[str, int] | None = None, decode: bool | None = False, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class MnistDataset(MappableDataset):
    """MNIST's idx files, plain or gzipped; columns image (28, 28, 1) and label. The test part comes first in `all`."""

    def __init__(self, dataset_dir: str | PathLike[str], usage: str | None = None, num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class Multi30kDataset(MappableDataset):
    """Multi30k: English and German captions, `training/train.en` and its kin."""

    def __init__(self, dataset_dir: str | PathLike[str], usage: str | None = None, language_pair: Sequence[str] | None = None, num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class OmniglotDataset(MappableDataset):
    """Omniglot: `images_background` or `images_evaluation`, an alphabet, a character, its drawings."""

    def __init__(self, dataset_dir: str | PathLike[str], background: bool | None = None, num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, decode: bool | None = False, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class PennTreebankDataset(MappableDataset):
    """Penn Treebank: `ptb.train.txt` and its kin."""

    def __init__(self, dataset_dir: str | PathLike[str], usage: str | None = None, num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = ..., num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class PhotoTourDataset(MappableDataset):
    """Photo Tourism patches: bitmaps of 16 x 16 patches, `info.txt`, and lists of pairs."""

    def __init__(self, dataset_dir: str | PathLike[str], name: str, usage: str | None = None, num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class Places365Dataset(MappableDataset):
    """Places365: `places365_train_standard.txt` and its kin beside the folders of small or large images."""

    def __init__(self, dataset_dir: str | PathLike[str], usage: str | None = None, small: bool | None = True, decode: bool | None = False, num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class QMnistDataset(MappableDataset):
    """QMNIST: images as MNIST's, labels with eight numbers each; `compat` keeps only the class."""

    def __init__(self, dataset_dir: str | PathLike[str], usage: str | None = None, compat: bool | None = True, num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class RenderedSST2Dataset(MappableDataset):
    """Rendered SST-2: `train`, `test` and `valid`, each with folders `negative` and `positive`."""

    def __init__(self, dataset_dir: str | PathLike[str], usage: str | None = None, num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, decode: bool | None = False, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class SBDataset(MappableDataset):
    """Semantic Boundaries: `img`, `cls` and the lists `train.txt`, `val.txt`, `train_noval.txt`."""

    def __init__(self, dataset_dir: str | PathLike[str], task: str = 'Boundaries', usage: str | None = 'all', num_samples: int | None = None, num_parallel_workers: int | None = 1, shuffle: bool | Shuffle | None = None, decode: bool | None = None, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None) -> None: ...

class SBUDataset(MappableDataset):
    """SBU captions: two lists of addresses and captions, and the images in `sbu_images`."""

    def __init__(self, dataset_dir: str | PathLike[str], num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, decode: bool | None = False, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class SQuADDataset(MappableDataset):
    """SQuAD 1.1 or 2.0: context, question, the texts of the answers and where they start."""

    def __init__(self, dataset_dir: str | PathLike[str], usage: str | None = None, num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = ..., num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class SST2Dataset(MappableDataset):
    """SST-2 of GLUE: `train.tsv`, `dev.tsv`, `test.tsv`; the test part has no labels."""

    def __init__(self, dataset_dir: str | PathLike[str], usage: str | None = None, num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = ..., num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class STL10Dataset(MappableDataset):
    """STL-10: `train_X.bin`, `train_y.bin` and so on; images are stored by columns. Unlabelled ones have label -1."""

    def __init__(self, dataset_dir: str | PathLike[str], usage: str | None = None, num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class SUN397Dataset(MappableDataset):
    """SUN397: `ClassName.txt` lists the class folders, with a letter above each."""

    def __init__(self, dataset_dir: str | PathLike[str], num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, decode: bool | None = False, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class SVHNDataset(MappableDataset):
    """SVHN, cropped digits: `train_32x32.mat` and its kin. The label of the digit 0 is 0."""

    def __init__(self, dataset_dir: str | PathLike[str], usage: str | None = None, num_samples: int | None = None, num_parallel_workers: int | None = 1, shuffle: bool | Shuffle | None = None, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None) -> None: ...

class SemeionDataset(MappableDataset):
    """Semeion handwritten digits: `semeion.data`, 256 pixels and 10 class marks per line."""

    def __init__(self, dataset_dir: str | PathLike[str], num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class SogouNewsDataset(MappableDataset):
    """Sogou News: index, title and content."""

    def __init__(self, dataset_dir: str | PathLike[str], usage: str | None = None, num_samples: int | None = None, shuffle: bool | Shuffle | None = ..., num_shards: int | None = None, shard_id: int | None = None, num_parallel_workers: int | None = None, cache: DatasetCache | None = None) -> None: ...

class SpeechCommandsDataset(MappableDataset):
    """Speech Commands: a folder per word; `testing_list.txt` and `validation_list.txt` tell the parts."""

    def __init__(self, dataset_dir: str | PathLike[str], usage: str | None = None, num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class TedliumDataset(MappableDataset):
    """TED-LIUM: `stm` transcripts that point into NIST sphere recordings."""

    def __init__(self, dataset_dir: str | PathLike[str], release: str, usage: str | None = None, extensions: Sequence[str] | None = None, num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class UDPOSDataset(MappableDataset):
    """Universal Dependencies part-of-speech tags: words, universal and Stanford tags, a sentence a row."""

    def __init__(self, dataset_dir: str | PathLike[str], usage: str | None = None, num_samples: int | None = None, shuffle: bool | Shuffle | None = ..., num_shards: int | None = None, shard_id: int | None = None, num_parallel_workers: int | None = None, cache: DatasetCache | None = None) -> None: ...

class USPSDataset(MappableDataset):
    """USPS in LIBSVM's format: files `usps` and `usps.t`, plain or bzip2; images (16, 16, 1) with levels 0 to 254."""

    def __init__(self, dataset_dir: str | PathLike[str], usage: str | None = None, num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = ..., num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class VOCDataset(MappableDataset):
    """PASCAL VOC: `JPEGImages`, `Annotations`, `SegmentationClass`, `ImageSets`."""

    def __init__(self, dataset_dir: str | PathLike[str], task: str = 'Segmentation', usage: str | None = 'train', class_indexing: Mapping[str, int] | None = None, num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, decode: bool | None = False, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None, extra_metadata: bool | None = False, decrypt: Callable[[str], bytes] | None = None) -> None: ...

class WIDERFaceDataset(MappableDataset):
    """WIDER FACE: `WIDER_train`, `WIDER_val`, `WIDER_test` and `wider_face_split`."""

    def __init__(self, dataset_dir: str | PathLike[str], usage: str | None = None, num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, decode: bool | None = False, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class WikiTextDataset(MappableDataset):
    """WikiText-2 or WikiText-103: `wiki.train.tokens` and its kin."""

    def __init__(self, dataset_dir: str | PathLike[str], usage: str | None = None, num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = ..., num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class YahooAnswersDataset(MappableDataset):
    """Yahoo! Answers: class, title, content and answer."""

    def __init__(self, dataset_dir: str | PathLike[str], usage: str | None = None, num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = ..., num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...

class YelpReviewDataset(MappableDataset):
    """Yelp reviews, full or polarity: label and text."""

    def __init__(self, dataset_dir: str | PathLike[str], usage: str | None = None, num_samples: int | None = None, shuffle: bool | Shuffle | None = ..., num_shards: int | None = None, shard_id: int | None = None, num_parallel_workers: int | None = None, cache: DatasetCache | None = None) -> None: ...

class YesNoDataset(MappableDataset):
    """YesNo: files named by their eight answers, `0_1_1_0_0_1_1_1.wav`."""

    def __init__(self, dataset_dir: str | PathLike[str], num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: bool | Shuffle | None = None, sampler: Sampler | Iterable[int] | None = None, num_shards: int | None = None, shard_id: int | None = None, cache: DatasetCache | None = None) -> None: ...
