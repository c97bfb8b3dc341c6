"""What a product with a matrix that holds few numbers is told: places in its sizes, behind phases and threads."""

from __future__ import annotations

ROWS, COUNT, HEIGHT, WIDTH = range(2, 6)
LANES = 8  # at most
