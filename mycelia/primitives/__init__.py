"""The primitives: ops with all their rules, and the functions that apply them. One module per family."""

# ruff: noqa: F403  # each module lists what it offers in its own __all__
from mycelia.primitives.barrier import *
from mycelia.primitives.binary import *
from mycelia.primitives.collective import *
from mycelia.primitives.comparison import *
from mycelia.primitives.complexes import *
from mycelia.primitives.contraction import *
from mycelia.primitives.control import *
from mycelia.primitives.convolution import *
from mycelia.primitives.creation import *
from mycelia.primitives.derivative import *
from mycelia.primitives.elementwise import *
from mycelia.primitives.epilogue import *
from mycelia.primitives.fourier import *
from mycelia.primitives.host import *
from mycelia.primitives.indexing import *
from mycelia.primitives.lapack import *
from mycelia.primitives.matrices import *
from mycelia.primitives.matrix_functions import *
from mycelia.primitives.movement import *
from mycelia.primitives.ordering import *
from mycelia.primitives.pooling import *
from mycelia.primitives.positions import *
from mycelia.primitives.random import *
from mycelia.primitives.reduction import *
from mycelia.primitives.scatter import *
from mycelia.primitives.select import *
from mycelia.primitives.slicing import *
from mycelia.primitives.spectral import *
from mycelia.primitives.unary import *
