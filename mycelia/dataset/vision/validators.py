"""Checks of arguments that vision shares with the other transforms, and the fill and padding of images."""

from mycelia.dataset.transforms.validators import (
    check_random_transform_ops,
    flag,
    integer,
    member,
    number,
    pair_of,
    sequence,
    span,
)
from mycelia.dataset.vision.padding import check_fill, margins

__all__ = [
    "check_fill",
    "check_random_transform_ops",
    "flag",
    "integer",
    "margins",
    "member",
    "number",
    "pair_of",
    "sequence",
    "span",
]
