"""The functions of `ops` and the layers of `nn`, with the arguments that users of PyTorch expect."""

from importlib import import_module as _import_module
from typing import Any as _Any

from mycelia.mint import distributed as distributed
from mycelia.mint import linalg as linalg
from mycelia.mint import nn as nn
from mycelia.mint import optim as optim
from mycelia.mint import special as special
from mycelia.mint.along import *  # noqa: F403  # it lists what it offers
from mycelia.mint.covers import *  # noqa: F403  # so does it
from mycelia.names import boundary as _boundary
from mycelia.names import explain_missing as _explain_missing
from mycelia.names import missing_in as _missing_in
from mycelia.ops import (
    abs as abs,
)
from mycelia.ops import (
    acos as acos,
)
from mycelia.ops import (
    acosh as acosh,
)
from mycelia.ops import (
    add as add,
)
from mycelia.ops import (
    addbmm as addbmm,
)
from mycelia.ops import (
    addcdiv as addcdiv,
)
from mycelia.ops import (
    addmm as addmm,
)
from mycelia.ops import (
    addmv as addmv,
)
from mycelia.ops import (
    allclose as allclose,
)
from mycelia.ops import (
    arange as arange,
)
from mycelia.ops import (
    arccos as arccos,
)
from mycelia.ops import (
    arccosh as arccosh,
)
from mycelia.ops import (
    arcsin as arcsin,
)
from mycelia.ops import (
    arcsinh as arcsinh,
)
from mycelia.ops import (
    arctan as arctan,
)
from mycelia.ops import (
    arctan2 as arctan2,
)
from mycelia.ops import (
    arctanh as arctanh,
)
from mycelia.ops import (
    asin as asin,
)
from mycelia.ops import (
    asinh as asinh,
)
from mycelia.ops import (
    atan as atan,
)
from mycelia.ops import (
    atan2 as atan2,
)
from mycelia.ops import (
    atanh as atanh,
)
from mycelia.ops import (
    baddbmm as baddbmm,
)
from mycelia.ops import (
    bincount as bincount,
)
from mycelia.ops import (
    bitwise_and as bitwise_and,
)
from mycelia.ops import (
    bitwise_not as bitwise_not,
)
from mycelia.ops import (
    bitwise_or as bitwise_or,
)
from mycelia.ops import (
    bitwise_xor as bitwise_xor,
)
from mycelia.ops import (
    broadcast_to as broadcast_to,
)
from mycelia.ops import (
    cdist as cdist,
)
from mycelia.ops import (
    ceil as ceil,
)
from mycelia.ops import (
    clamp as clamp,
)
from mycelia.ops import (
    cos as cos,
)
from mycelia.ops import (
    cosh as cosh,
)
from mycelia.ops import (
    cross as cross,
)
from mycelia.ops import (
    cumprod as cumprod,
)
from mycelia.ops import (
    div as div,
)
from mycelia.ops import (
    divide as divide,
)
from mycelia.ops import (
    dot as dot,
)
from mycelia.ops import (
    dstack as dstack,
)
from mycelia.ops import (
    einsum as einsum,
)
from mycelia.ops import (
    empty as empty,
)
from mycelia.ops import (
    eq as eq,
)
from mycelia.ops import (
    erf as erf,
)
from mycelia.ops import (
    erfc as erfc,
)
from mycelia.ops import (
    erfinv as erfinv,
)
from mycelia.ops import (
    exp as exp,
)
from mycelia.ops import (
    exp2 as exp2,
)
from mycelia.ops import (
    expm1 as expm1,
)
from mycelia.ops import (
    eye as eye,
)
from mycelia.ops import (
    flip as flip,
)
from mycelia.ops import (
    float_power as float_power,
)
from mycelia.ops import (
    floor as floor,
)
from mycelia.ops import (
    floor_divide as floor_divide,
)
from mycelia.ops import (
    fmod as fmod,
)
from mycelia.ops import (
    frac as frac,
)
from mycelia.ops import (
    full_like as full_like,
)
from mycelia.ops import (
    gcd as gcd,
)
from mycelia.ops import (
    greater as greater,
)
from mycelia.ops import (
    greater_equal as greater_equal,
)
from mycelia.ops import (
    gt as gt,
)
from mycelia.ops import (
    histc as histc,
)
from mycelia.ops import (
    hstack as hstack,
)
from mycelia.ops import (
    imag as imag,
)
from mycelia.ops import (
    inverse as inverse,
)
from mycelia.ops import (
    isclose as isclose,
)
from mycelia.ops import (
    isfinite as isfinite,
)
from mycelia.ops import (
    isinf as isinf,
)
from mycelia.ops import (
    isnan as isnan,
)
from mycelia.ops import (
    isneginf as isneginf,
)
from mycelia.ops import (
    le as le,
)
from mycelia.ops import (
    lerp as lerp,
)
from mycelia.ops import (
    less as less,
)
from mycelia.ops import (
    less_equal as less_equal,
)
from mycelia.ops import (
    linspace as linspace,
)
from mycelia.ops import (
    log as log,
)
from mycelia.ops import (
    log1p as log1p,
)
from mycelia.ops import (
    log2 as log2,
)
from mycelia.ops import (
    log10 as log10,
)
from mycelia.ops import (
    logaddexp as logaddexp,
)
from mycelia.ops import (
    logaddexp2 as logaddexp2,
)
from mycelia.ops import (
    logical_and as logical_and,
)
from mycelia.ops import (
    logical_not as logical_not,
)
from mycelia.ops import (
    logical_or as logical_or,
)
from mycelia.ops import (
    logical_xor as logical_xor,
)
from mycelia.ops import (
    lt as lt,
)
from mycelia.ops import (
    masked_select as masked_select,
)
from mycelia.ops import (
    matmul as matmul,
)
from mycelia.ops import (
    maximum as maximum,
)
from mycelia.ops import (
    meshgrid as meshgrid,
)
from mycelia.ops import (
    minimum as minimum,
)
from mycelia.ops import (
    mm as mm,
)
from mycelia.ops import (
    mul as mul,
)
from mycelia.ops import (
    mv as mv,
)
from mycelia.ops import (
    nan_to_num as nan_to_num,
)
from mycelia.ops import (
    ne as ne,
)
from mycelia.ops import (
    neg as neg,
)
from mycelia.ops import (
    negative as negative,
)
from mycelia.ops import (
    nonzero as nonzero,
)
from mycelia.ops import (
    not_equal as not_equal,
)
from mycelia.ops import (
    ones as ones,
)
from mycelia.ops import (
    ones_like as ones_like,
)
from mycelia.ops import (
    outer as outer,
)
from mycelia.ops import (
    polar as polar,
)
from mycelia.ops import (
    pow as pow,
)
from mycelia.ops import (
    rand as rand,
)
from mycelia.ops import (
    rand_like as rand_like,
)
from mycelia.ops import (
    randint as randint,
)
from mycelia.ops import (
    randint_like as randint_like,
)
from mycelia.ops import (
    randn as randn,
)
from mycelia.ops import (
    randn_like as randn_like,
)
from mycelia.ops import (
    ravel as ravel,
)
from mycelia.ops import (
    real as real,
)
from mycelia.ops import (
    reciprocal as reciprocal,
)
from mycelia.ops import (
    remainder as remainder,
)
from mycelia.ops import (
    repeat_interleave as repeat_interleave,
)
from mycelia.ops import (
    reshape as reshape,
)
from mycelia.ops import (
    roll as roll,
)
from mycelia.ops import (
    round as round,
)
from mycelia.ops import (
    rsqrt as rsqrt,
)
from mycelia.ops import (
    searchsorted as searchsorted,
)
from mycelia.ops import (
    sigmoid as sigmoid,
)
from mycelia.ops import (
    sign as sign,
)
from mycelia.ops import (
    sin as sin,
)
from mycelia.ops import (
    sinc as sinc,
)
from mycelia.ops import (
    sinh as sinh,
)
from mycelia.ops import (
    sqrt as sqrt,
)
from mycelia.ops import (
    square as square,
)
from mycelia.ops import (
    sub as sub,
)
from mycelia.ops import (
    swapaxes as swapaxes,
)
from mycelia.ops import (
    t as t,
)
from mycelia.ops import (
    take as take,
)
from mycelia.ops import (
    tan as tan,
)
from mycelia.ops import (
    tanh as tanh,
)
from mycelia.ops import (
    trace as trace,
)
from mycelia.ops import (
    triangular_solve as triangular_solve,
)
from mycelia.ops import (
    tril as tril,
)
from mycelia.ops import (
    triu as triu,
)
from mycelia.ops import (
    trunc as trunc,
)
from mycelia.ops import (
    unbind as unbind,
)
from mycelia.ops import (
    unique_consecutive as unique_consecutive,
)
from mycelia.ops import (
    xlogy as xlogy,
)
from mycelia.ops import (
    zeros as zeros,
)
from mycelia.ops import (
    zeros_like as zeros_like,
)

_boundary(globals())
_explain_missing(distributed, linalg, nn, optim, special)
_missing = _missing_in(__name__)
_HERE = ["addr_", "batch_norm_elemt", "batch_norm_gather_stats_with_counts", "batch_norm_stats", "conv_tbc", "kthvalue"]
_HERE += ["npu_gelu"]


def __getattr__(name: str) -> _Any:
    """The names of the parts are those of the whole, too, as MindSpore lists them."""
    if not name.startswith("_"):
        if name in _HERE:
            return getattr(_import_module("mycelia.mint.nn.rarer"), name)
        for part in (nn, nn.functional, optim, linalg, distributed):
            if name in vars(part) or name in nn.functional.RARER:
                return getattr(part if name in vars(part) else nn.functional, name)
    return _missing(name)
