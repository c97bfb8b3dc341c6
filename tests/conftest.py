"""What all tests share: examples that repeat, and threads that do not spin while another test wants their core."""

import os

from hypothesis import settings

# libgomp reads this once, when it is loaded
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

settings.register_profile("same examples on every machine", derandomize=True, deadline=None, database=None)
settings.load_profile("same examples on every machine")
