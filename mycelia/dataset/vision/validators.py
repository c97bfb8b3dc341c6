"""Checks of arguments that vision shares with all of Mycelia, and the fill and padding of images."""

from mycelia.checks import member, number, pair, sequence, span, truth, whole
from mycelia.dataset.transforms.validators import check_random_transform_ops
from mycelia.dataset.vision.padding import check_fill, margins

__all__ = [
    "check_fill",
    "check_random_transform_ops",
    "margins",
    "member",
    "number",
    "pair",
    "sequence",
    "span",
    "truth",
    "whole",
]
