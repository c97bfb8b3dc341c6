"""The words in which vision transforms are told how: interpolation, border, layout, colour order."""

from __future__ import annotations

from enum import IntEnum, StrEnum


class Inter(IntEnum):
    """How values between pixels are found."""

    NEAREST = 0
    ANTIALIAS = 1
    BILINEAR = LINEAR = 2
    BICUBIC = CUBIC = 3
    AREA = 4
    PILCUBIC = 5


class Border(StrEnum):
    """What stands outside an image: a constant, its edge, its mirror without the edge, its mirror with the edge."""

    CONSTANT = "constant"
    EDGE = "edge"
    REFLECT = "reflect"
    SYMMETRIC = "symmetric"


class ImageBatchFormat(IntEnum):
    """Where the channels of a batch are."""

    NHWC = 0
    NCHW = 1


class ImageReadMode(IntEnum):
    """What `read_image` makes of a file: as it is, one grey channel, or three colours."""

    UNCHANGED = 0
    GRAYSCALE = 1
    COLOR = 2


class SliceMode(IntEnum):
    """What `SlicePatches` does when the size does not divide: pad the image, or drop the rest."""

    PAD = 0
    DROP = 1


class AutoAugmentPolicy(StrEnum):
    """The dataset on which an AutoAugment policy was learned."""

    IMAGENET = "imagenet"
    CIFAR10 = "cifar10"
    SVHN = "svhn"


class ConvertMode(IntEnum):
    """Source and target channel order of `ConvertColor`; orders that need the same work share a value."""

    COLOR_BGR2BGRA = COLOR_RGB2RGBA = 0
    COLOR_BGRA2BGR = COLOR_RGBA2RGB = 1
    COLOR_BGR2RGBA = COLOR_RGB2BGRA = 2
    COLOR_RGBA2BGR = COLOR_BGRA2RGB = 3
    COLOR_BGR2RGB = COLOR_RGB2BGR = 4
    COLOR_BGRA2RGBA = COLOR_RGBA2BGRA = 5
    COLOR_BGR2GRAY = 6
    COLOR_RGB2GRAY = 7
    COLOR_GRAY2BGR = COLOR_GRAY2RGB = 8
    COLOR_GRAY2BGRA = COLOR_GRAY2RGBA = 9
    COLOR_BGRA2GRAY = 10
    COLOR_RGBA2GRAY = 11
