"""Special functions of `mint`."""

from mycelia.ops import erfc as erfc
from mycelia.ops import exp2 as exp2
from mycelia.ops import expm1 as expm1
from mycelia.ops import log1p as log1p
from mycelia.ops import log_softmax as log_softmax
from mycelia.ops import round as round
from mycelia.ops import sinc as sinc
