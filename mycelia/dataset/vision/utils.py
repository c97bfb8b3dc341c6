"""Modes and the reading and writing of files, under the module name MindSpore users import them from."""

from mycelia.dataset.vision.codec import (
    encode_jpeg,
    encode_png,
    get_image_num_channels,
    get_image_size,
    read_file,
    read_image,
    write_file,
    write_jpeg,
    write_png,
)
from mycelia.dataset.vision.modes import (
    AutoAugmentPolicy,
    Border,
    ConvertMode,
    ImageBatchFormat,
    ImageReadMode,
    Inter,
    SliceMode,
)
from mycelia.dataset.vision.padding import margins as parse_padding
from mycelia.dataset.vision.video import VideoDecoder, read_video, read_video_timestamps

__all__ = [
    "AutoAugmentPolicy",
    "Border",
    "ConvertMode",
    "ImageBatchFormat",
    "ImageReadMode",
    "Inter",
    "SliceMode",
    "VideoDecoder",
    "encode_jpeg",
    "encode_png",
    "get_image_num_channels",
    "get_image_size",
    "parse_padding",
    "read_file",
    "read_image",
    "read_video",
    "read_video_timestamps",
    "write_file",
    "write_jpeg",
    "write_png",
]
