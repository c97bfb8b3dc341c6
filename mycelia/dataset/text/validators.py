"""Checks of arguments that text shares with the other transforms."""

from mycelia.dataset.transforms.validators import flag, integer, member, number, sequence, text

__all__ = ["flag", "integer", "member", "number", "sequence", "text"]
