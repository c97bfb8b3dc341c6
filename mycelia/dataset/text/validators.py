"""Checks of arguments that text shares with all of Mycelia."""

from mycelia.checks import member, number, sequence, text, truth, whole

__all__ = ["member", "number", "sequence", "text", "truth", "whole"]
