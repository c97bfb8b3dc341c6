"""Checks of arguments that audio shares with the other transforms."""

from mycelia.dataset.transforms.validators import flag, integer, member, number, sequence

__all__ = ["flag", "integer", "member", "number", "sequence"]
