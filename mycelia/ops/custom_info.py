"""What a custom operator tells about itself: names of inputs and results, element types, for which processor."""

from __future__ import annotations

from typing import Any, ClassVar

from mycelia.errors import ArgumentError

__all__ = ["CustomRegOp", "DataType"]

_ELEMENTS = {
    "None": "", "BOOL": "bool", "I8": "int8", "U8": "uint8", "I16": "int16", "U16": "uint16", "I32": "int32",
    "U32": "uint32", "I64": "int64", "U64": "uint64", "F16": "float16", "F32": "float32", "F64": "float64",
    "BF16": "bfloat16", "C64": "complex64", "C128": "complex128",
}  # fmt: skip
_FORMATS = {
    "None": "", "Default": "DefaultFormat", "5HD": "NC1HWC0", "FracZ": "FRACTAL_Z", "FracNZ": "FRACTAL_NZ",
    "C1HWNCoC0": "C1HWNCoC0", "NCHW": "NCHW", "NHWC": "NHWC", "HWCN": "HWCN", "NDHWC": "NDHWC", "NCDHW": "NCDHW",
    "ChannelLast": "ChannelLast", "NDC1HWC0": "NDC1HWC0", "FRACTAL_Z_3D": "FRACTAL_Z_3D",
    "FracZNLSTM": "FRACTAL_ZN_LSTM", "FracZNRNN": "FRACTAL_ZN_RNN", "ND_RNNBIAS": "ND_RNN_BIAS",
}  # fmt: skip


class DataType:
    """Pairs of an element type and a format, by name: `F32_Default` is ("float32", "DefaultFormat").

    >>> DataType.F32_Default
    ('float32', 'DefaultFormat')
    """

    None_None: ClassVar[tuple[str, str]]
    F32_Default: ClassVar[tuple[str, str]]


for _short, _element in _ELEMENTS.items():
    for _layout, _format in _FORMATS.items():
        setattr(DataType, f"{_short}_{_layout}", (_element, _format))


class CustomRegOp:
    """What is told of a custom operator, put together call by call, for `Custom(reg_info=...)`.

    >>> told = CustomRegOp().input(0, "x").output(0, "y").dtype_format(DataType.F32_None, DataType.F32_None)
    >>> told.target("CPU").get_op_info()["dtype_format"]
    [(('float32', ''), ('float32', ''))]
    """

    def __init__(self, op_name: str = "Custom") -> None:
        self._told: dict[str, Any] = {
            "op_name": _text("op_name", op_name), "inputs": [], "outputs": [], "attr": [], "dtype_format": [],
            "target": "UnKnown",
        }  # fmt: skip

    def _entry(self, **fields: Any) -> dict[str, Any]:
        return {k: v for k, v in fields.items() if v is not None}

    def input(
        self, index: int | None = None, name: str | None = None, param_type: str | None = "required", **kwargs: Any
    ) -> CustomRegOp:
        """One more input.

        >>> CustomRegOp().input(0, "x").get_op_info()["inputs"]
        [{'index': 0, 'name': 'x', 'paramType': 'required'}]
        """
        return self._place("inputs", index, name, param_type, kwargs)

    def output(
        self, index: int | None = None, name: str | None = None, param_type: str | None = "required", **kwargs: Any
    ) -> CustomRegOp:
        """One more result.

        >>> CustomRegOp().output(0, "y").get_op_info()["outputs"][0]["name"]
        'y'
        """
        return self._place("outputs", index, name, param_type, kwargs)

    def _place(self, which: str, index: Any, name: Any, param_type: Any, more: dict[str, Any]) -> CustomRegOp:
        if index is not None and (not isinstance(index, int) or isinstance(index, bool)):
            raise ArgumentError(f"index is a whole number or None, not {index!r}")
        for what, text in (("name", name), ("param_type", param_type)):
            if text is not None:
                _text(what, text)
        self._told[which].append(self._entry(index=index, name=name, paramType=param_type, **more))
        return self

    def attr(
        self,
        name: str | None = None,
        param_type: str | None = None,
        value_type: str | None = None,
        default_value: str | None = None,
        **kwargs: Any,
    ) -> CustomRegOp:
        """One more attribute.

        >>> CustomRegOp().attr("axis", "required", "int").get_op_info()["attr"]
        [{'name': 'axis', 'paramType': 'required', 'type': 'int'}]
        """
        given = {"name": name, "paramType": param_type, "type": value_type, "defaultValue": default_value}
        for what, text in given.items():
            if text is not None:
                _text(what, text)
        self._told["attr"].append(self._entry(**given, **kwargs))
        return self

    def dtype_format(self, *args: tuple[str, str]) -> CustomRegOp:
        """Element types and formats that go together: a pair for each input and each result.

        >>> CustomRegOp().output(0, "y").dtype_format(DataType.I32_None).get_op_info()["dtype_format"]
        [(('int32', ''),)]
        """
        count = len(self._told["inputs"]) + len(self._told["outputs"])
        if len(args) != count:
            raise ArgumentError(
                f"there are {count} inputs and results, and {len(args)} element types",
                hint="call input and output first, once for each",
            )
        for pair in args:
            if not (isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(t, str) for t in pair)):
                raise ArgumentError(f"{pair!r} is no pair of texts", hint="such as DataType.F32_Default")
        self._told["dtype_format"].append(args)
        return self

    def target(self, target: str | None = None) -> CustomRegOp:
        """For which kind of processor this is told; what is told of others is not heard here.

        >>> CustomRegOp().target("CPU").get_op_info()["target"]
        'CPU'
        """
        self._told["target"] = None if target is None else _text("target", target)
        return self

    def get_op_info(self) -> dict[str, Any]:
        """All that was told.

        >>> CustomRegOp("Mine").get_op_info()["op_name"]
        'Mine'
        """
        return {k: list(v) if isinstance(v, list) else v for k, v in self._told.items()}


def _text(what: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ArgumentError(f"{what} is a text, not {value!r}")
    return value
