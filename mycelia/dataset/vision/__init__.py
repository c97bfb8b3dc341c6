"""Transforms of images."""
