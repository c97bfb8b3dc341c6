"""Switches of MindSpore's own compiler: programs that turn them find them, and the one compiler here has none of them.

They choose how MindSpore reads and unrolls a program, never what it computes.

>>> FOR_HALF_UNROLL
''
"""

AMP_ENABLE_ALL_FG = ""
BOOST_PARSE = ""
CHECK_BPROP = ""
COMPILE_DEBUG_MODE = ""
COMPILE_PRINT = ""
COMPILE_PROFILE = ""
DDE_ONLY_MARK = ""
DUMP_IR_CONFIG = ""
ENABLE_DDE = ""
FALLBACK_FORCE_ANY = ""
FALLBACK_SUPPORT_LIST_DICT_INPLACE = ""
FOR_HALF_UNROLL = ""
GRAD_FOR_SCALAR = ""
GREED_PARSE = ""
IF_PARALLEL_CALL = ""
NOT_WAIT_BRANCH_EVAL = ""
PRE_LIFT = ""
RECURSIVE_EVAL = ""
SINGLE_EVAL = ""
STRICT_CHECK_PARENT_CONTEXT = ""
