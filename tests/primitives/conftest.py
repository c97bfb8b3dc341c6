"""Compiled code keeps to its memory, in every test."""

from tests.fences import fences as fences
