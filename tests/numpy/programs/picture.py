"""A picture: its histogram made even, its edges, a smaller one, and a blurred one."""

import numpy as np


def edges(picture):
    kernel = np.array([[1.0, 0.0, -1.0], [2.0, 0.0, -2.0], [1.0, 0.0, -1.0]])
    wide = np.pad(picture, 1, mode="edge")
    h, w = picture.shape
    gx, gy = np.zeros((h, w)), np.zeros((h, w))
    for i in range(3):
        for j in range(3):
            part = wide[i : i + h, j : j + w]
            gx += kernel[i, j] * part
            gy += kernel.T[i, j] * part
    return np.hypot(gx, gy), np.arctan2(gy, gx)


def run(picture):
    counts = np.bincount(picture.ravel(), minlength=256)
    share = counts.cumsum() / picture.size
    even = np.clip(np.floor(255 * share[picture]), 0, 255).astype(np.uint8)
    size, angle = edges(even.astype(np.float64))
    small = even.reshape(even.shape[0] // 2, 2, even.shape[1] // 2, 2).astype(np.float64).mean(axis=(1, 3))
    mask = size > np.percentile(size, 90)
    marked = np.where(mask, 255, even)
    return even, size, angle, small, mask.sum(), marked[::-1, ::-1]


def inputs(size):
    y, x = np.mgrid[0:size, 0:size]
    return (((x * x + y * 3 * x + y * y) // 7 % 97 + 40).astype(np.uint8),)
