"""Arrays by NumPy's names, compiled, differentiated and vectorised: plain tensors, and functions over `mycelia.ops`.

The names and signatures are those of mindspore.numpy, of the Python array API standard, and of NumPy for the rest.

>>> import mycelia as ms
>>> import mycelia.numpy as np
>>> ms.grad(lambda x: np.sum(np.sin(x) ** 2))(np.zeros(2)).tolist()
[0.0, 0.0]
"""

# ruff: noqa: F403  # every module lists what it offers
from mycelia.names import boundary as _boundary
from mycelia.names import missing_in as _missing_in
from mycelia.numpy import fft as fft
from mycelia.numpy import linalg as linalg
from mycelia.numpy import random as random
from mycelia.numpy.angles import *
from mycelia.numpy.arithmetic import *
from mycelia.numpy.bits import *
from mycelia.numpy.calculus import *
from mycelia.numpy.complexes import *
from mycelia.numpy.creation import *
from mycelia.numpy.elements import *
from mycelia.numpy.files import *
from mycelia.numpy.functional import *
from mycelia.numpy.grids import *
from mycelia.numpy.indexing import *
from mycelia.numpy.joining import *
from mycelia.numpy.logic import *
from mycelia.numpy.missing import *
from mycelia.numpy.namespace import *
from mycelia.numpy.namespace import __array_api_version__ as __array_api_version__
from mycelia.numpy.namespace import __array_namespace_info__ as __array_namespace_info__
from mycelia.numpy.padding import *
from mycelia.numpy.polynomials import *
from mycelia.numpy.powers import *
from mycelia.numpy.products import *
from mycelia.numpy.random import rand as rand
from mycelia.numpy.random import randn as randn
from mycelia.numpy.reductions import *
from mycelia.numpy.rounding import *
from mycelia.numpy.session import randint as randint
from mycelia.numpy.shapes import *
from mycelia.numpy.sorting import *
from mycelia.numpy.spellings import *
from mycelia.numpy.statistics import *
from mycelia.numpy.text import *
from mycelia.numpy.ufuncs import *
from mycelia.numpy.walking import *
from mycelia.numpy.windows import *
from mycelia.numpy.writing import *

bool = bool_  # noqa: F405
_boundary(globals())
_missing = _missing_in(__name__)


def __getattr__(name: str) -> object:
    if name == "testing":  # what NumPy tests with is loaded when it is asked for
        from importlib import import_module

        return import_module("mycelia.numpy.testing")
    return _missing(name)
