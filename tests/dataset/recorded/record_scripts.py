"""Derive the table of Unicode scripts from ICU: `python record_scripts.py <libicudata.so.N> <libicuuc.so.N>`.

The libraries are those that MindSpore 2.10 brings (ICU 74, Unicode 15.1), or any other ICU. Prints the entries of
`SCRIPTS` in mycelia/dataset/text/scripts.py: for every script its ranges of code points, in hexadecimal; and last, as
`BARE_MARKS`, those of the marks that do not have the property Alphabetic.
"""

import ctypes
import re
import sys
import textwrap
from collections.abc import Callable
from itertools import groupby


def spans(kind: Callable[[int], str]) -> dict[str, list[str]]:
    """The ranges of code points of each kind."""
    found: dict[str, list[str]] = {}
    for name, run in groupby(range(0x110000), kind):
        codes = list(run)
        found.setdefault(name, []).append(f"{codes[0]:X}" + (f"-{codes[-1]:X}" if len(codes) > 1 else ""))
    return found


def main(data: str, common: str) -> None:
    ctypes.CDLL(data, ctypes.RTLD_GLOBAL)
    icu = ctypes.CDLL(common)
    version = re.findall(r"\d+", common)[-1]
    script_of, name_of = (getattr(icu, f"uscript_{f}_{version}") for f in ("getScript", "getName"))
    name_of.restype = ctypes.c_char_p
    status = ctypes.c_int(0)
    alphabetic, kind = getattr(icu, f"u_isUAlphabetic_{version}"), getattr(icu, f"u_charType_{version}")
    alphabetic.restype = ctypes.c_int8
    scripts = spans(lambda code: name_of(script_of(code, ctypes.byref(status))).decode())
    del scripts["Unknown"]
    marks = spans(lambda code: "BARE_MARKS" if kind(code) in (6, 7, 8) and not alphabetic(code) else "")
    for name, spans_of in [*sorted(scripts.items()), ("BARE_MARKS", marks["BARE_MARKS"])]:
        lines = textwrap.wrap(" ".join(spans_of), 108)
        if len(lines) == 1 and len(name) + len(lines[0]) < 108:
            print(f'    "{name}": "{lines[0]}",')
            continue
        print(f'    "{name}": (')
        for i, line in enumerate(lines):
            print(f'        "{line}{" " if i + 1 < len(lines) else ""}"')
        print("    ),")


if __name__ == "__main__":
    main(*sys.argv[1:])
