"""Conway's game of life on a torus."""

import numpy as np


def neighbours(board):
    total = np.zeros_like(board)
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            if dy or dx:
                total += np.roll(np.roll(board, dy, axis=0), dx, axis=1)
    return total


def run(board, turns):
    for _ in range(turns):
        around = neighbours(board)
        board = ((around == 3) | ((board == 1) & (around == 2))).astype(np.int32)
    return board, board.sum()


def inputs(size):
    y, x = np.mgrid[0:size, 0:size]
    return ((x * 7 + y * 13 + x * y) % 5 < 2).astype(np.int32), 8
