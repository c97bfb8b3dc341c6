"""Checks of arguments that audio shares with all of Mycelia."""

from mycelia.checks import member, number, sequence, truth, whole

__all__ = ["member", "number", "sequence", "truth", "whole"]
