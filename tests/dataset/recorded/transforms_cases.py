"""The cases of dataset.transforms: read once by MindSpore (to record) and again by Mycelia.

A case is `(expression, inputs)`: the expression builds the transform from `X` (the transforms module), the inputs are
expressions of NumPy. Types, shapes and values must be equal; what MindSpore refuses Mycelia refuses too. Left out is
what MindSpore gets wrong, and what Mycelia allows beyond it: see docs/differences.md.
"""

ARRAYS = {
    "bool": "np.array([True, False])",
    "int8": "np.array([1, 2, 3], np.int8)",
    "int16": "np.array([2, 1], np.int16)",
    "uint8": "np.array([1, 2, 255], np.uint8)",
    "uint16": "np.array([1, 65535], np.uint16)",
    "int32": "np.array([[1, 2], [3, 0]], np.int32)",
    "int64": "np.arange(6).reshape(2, 3)",
    "uint64": "np.array([1, 2**63], np.uint64)",
    "half": "np.array([1.5, -2.5], np.float16)",
    "single": "np.array([1.5, -2.7, 300.2], np.float32)",
    "double": "np.array([[1.5, 4.0], [1e6, -0.0]])",
    "strings": "np.array(['a', 'bcd', 'é'])",
    "bytes": "np.array([b'a', b'bcd'])",
    "number": "np.array(3)",
    "real": "np.array(2.5)",
    "word": "np.array('xy')",
    "cube": "np.arange(24).reshape(2, 3, 4)",
    "strided": "np.arange(12).reshape(3, 4)[:, ::2]",
    "list": "[1, 2, 3]",
    "rows": "[[1.5, 2.0], [3.0, 4.0]]",
    "int": "3",
    "float": "2.5",
    "str": "'ab'",
    "words": "['a', 'bb']",
}
TYPES = ["bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
         "float16", "float32", "float64"]  # fmt: skip
UNDEFINED = {("uint8", "single"), ("int8", "single"), ("int8", "double"), ("uint8", "double"), ("float16", "double")}

CASES: list[tuple[str, list[str]]] = []


def case(expression: str, *names: str) -> None:
    """Add one case; an input is the name of an array or an expression."""
    CASES.append((expression, [ARRAYS.get(name, name) for name in names]))


for name in ARRAYS:
    for target in TYPES:
        if (target, name) not in UNDEFINED:
            case(f"X.TypeCast(ms.{target})", name)
    for expression in ("X.Duplicate()", "X.PadEnd([4])", "X.PadEnd([4], 9)", "X.PadEnd([3, 4])", "X.PadEnd([2, 2, 2])",
                       "X.Slice(0)", "X.Slice(-1)", "X.Slice([0, 1])", "X.Slice(None)", "X.Slice(slice(0, 9, 2))",
                       "X.Slice(slice(0, 1), slice(1, 2))", "X.Slice(9)", "X.Slice([])", "X.Mask(X.Relational.GT, 1)",
                       "X.Compose([X.Duplicate()])", "X.RandomApply([X.Duplicate()], 1.0)",
                       "X.RandomChoice([X.Duplicate()])", "X.RandomOrder([X.Duplicate()])"):  # fmt: skip
        case(expression, name)
    if name != "half":
        case("X.Fill(3)", name)
        case("X.Fill('zz')", name)
for relation in ("EQ", "NE", "GT", "GE", "LT", "LE"):
    for name in ("int8", "int64", "single", "double", "number"):
        case(f"X.Mask(X.Relational.{relation}, 2)", name)
        case(f"X.Mask(X.Relational.{relation}, 2, ms.int32)", name)
    case(f"X.Mask(X.Relational.{relation}, 'b')", "strings")
    case(f"X.Mask(X.Relational.{relation}, 'b')", "bytes")
    case(f"X.Mask(X.Relational.{relation}, 'b')", "int64")
for labels in ("np.array(0)", "np.array(4)", "np.array([2], np.uint8)", "np.array([[0], [3]])",
               "np.array([0, 1, 3])", "np.array([1.0])", "np.array('a')"):  # fmt: skip
    case("X.OneHot(4)", labels)
for labels in ("np.array(0)", "np.array([2], np.uint8)", "np.array(1, np.int8)"):
    case("X.OneHot(4, 0.2)", labels)
    case("X.OneHot(4, smoothing_rate=1.0)", labels)
case("X.Fill(-1)", "uint8")
case("X.Fill(2.7)", "int64")
case("X.Fill(b'q')", "bytes")
case("X.Fill(b'q')", "strings")
case("X.PadEnd([5], 'p')", "strings")
case("X.PadEnd([5], b'p')", "bytes")
case("X.PadEnd([5], b'p')", "strings")
case("X.PadEnd([1])", "strings")
case("X.PadEnd([3, 4, 5], -1)", "cube")
for axis in (0, -1):
    case(f"X.Concatenate({axis})", "int8", "int8")
    case(f"X.Concatenate({axis}, np.array([7], np.int8), np.array([8], np.int8))", "int8")
    case(f"X.Concatenate(axis={axis}, prepend=np.array(['q']), append=np.array(['r']))", "strings", "words")
case("X.Concatenate(0)", "int8", "single")
case("X.Concatenate(5)", "int8", "int8")
case("X.Compose([X.TypeCast(ms.float32), X.Fill(1)])", "int64")
case("X.Compose([X.Duplicate(), X.Concatenate(0)])", "int8")
case("X.RandomApply([X.TypeCast(ms.int32)], prob=0.0)", "single")
case("X.RandomChoice([X.TypeCast(ms.int32)])", "single")
case("X.RandomOrder([X.TypeCast(ms.int32)])", "single")
for wrong in ("X.OneHot(0)", "X.OneHot(2.5)", "X.OneHot(2, 1.1)", "X.TypeCast(None)", "X.PadEnd(3)", "X.PadEnd([0])",
              "X.PadEnd([1.5])", "X.PadEnd([3], [1])", "X.Mask(1, 2)", "X.Mask(X.Relational.EQ, None)",
              "X.Mask(X.Relational.EQ, [1])", "X.Slice('a')", "X.Slice(1.5)", "X.Fill([1])", "X.Fill(None)",
              "X.Concatenate('a')", "X.Concatenate(1.5)", "X.Compose(3)", "X.Compose([])", "X.RandomApply([], 0.5)",
              "X.RandomApply([X.Duplicate()], 1.5)", "X.RandomChoice(3)", "X.RandomOrder(None)"):  # fmt: skip
    case(wrong, "np.array([1, 2])")
case("lambda x: X.not_random(lambda y: y + 1)(x)", "int64")
