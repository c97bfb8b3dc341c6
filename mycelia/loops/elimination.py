"""What is asked of small matrices by elimination, and what a call of it is told: places in its sizes, behind phases and
threads.
"""

from __future__ import annotations

COUNT, SIZE, COLUMNS = range(2, 5)
LARGEST = 32  # rows up to which our loops are faster than a way out to LAPACK and back
LARGEST_FACTOR = 16  # the same for Cholesky factors
