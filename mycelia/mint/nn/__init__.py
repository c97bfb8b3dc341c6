"""Layers of `mint`: those whose arguments are the same as in `nn`, and functions."""

from mycelia.mint.nn import functional as functional
from mycelia.nn import ELU as ELU
from mycelia.nn import GELU as GELU
from mycelia.nn import BCELoss as BCELoss
from mycelia.nn import Identity as Identity
from mycelia.nn import L1Loss as L1Loss
from mycelia.nn import LogSigmoid as LogSigmoid
from mycelia.nn import Mish as Mish
from mycelia.nn import MSELoss as MSELoss
from mycelia.nn import ReLU as ReLU
from mycelia.nn import ReLU6 as ReLU6
from mycelia.nn import Sigmoid as Sigmoid
from mycelia.nn import SiLU as SiLU
from mycelia.nn import Tanh as Tanh
