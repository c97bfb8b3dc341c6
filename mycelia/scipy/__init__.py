"""What scientists compute with, by SciPy's names, over `mycelia.ops` and `mycelia.numpy`."""

from mycelia.scipy import cluster as cluster
from mycelia.scipy import fft as fft
from mycelia.scipy import integrate as integrate
from mycelia.scipy import interpolate as interpolate
from mycelia.scipy import linalg as linalg
from mycelia.scipy import ndimage as ndimage
from mycelia.scipy import optimize as optimize
from mycelia.scipy import signal as signal
from mycelia.scipy import sparse as sparse
from mycelia.scipy import spatial as spatial
from mycelia.scipy import special as special
from mycelia.scipy import stats as stats
