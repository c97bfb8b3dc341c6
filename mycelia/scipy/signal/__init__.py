"""Signals by SciPy's names: convolution, filters, windows, spectra."""

# ruff: noqa: F403  # every module lists what it offers
from mycelia.names import boundary as _boundary
from mycelia.scipy.signal import windows as windows
from mycelia.scipy.signal.convolution import *
from mycelia.scipy.signal.filters import *
from mycelia.scipy.signal.spectra import *
from mycelia.scipy.signal.waves import *
from mycelia.scipy.signal.windows import get_window as get_window

_boundary(globals())
