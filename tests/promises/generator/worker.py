"""A process that judges programs, one line of JSON each, so that one that hangs or kills its process is seen."""

from __future__ import annotations

import gc
import json
import os
import sys
import warnings

ROUNDING = 3e-6  # of numbers that come from tensors


def main() -> None:
    """Answers each program with `e` when Python begins, `j` when jit does, and then the verdict.

    A line says whether the program is to be compiled to machine code, and its text.
    """
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # whatever the program writes stays out of the answers
    warnings.simplefilter("ignore")
    if len(sys.argv) > 1:
        from tests.promises.generator.faults import sow

        sow(sys.argv[1])
    import mycelia as ms
    from mycelia.backends import register
    from tests.promises import judge
    from tests.promises.generator.meaning import Meaning
    from tests.promises.generator.prelude import PRELUDE, needed

    register(Meaning())  # in this process alone: a module that somebody imports changes nothing

    def tell(text: str) -> None:
        answers.write(text + "\n")
        answers.flush()

    gc.collect()
    gc.freeze()  # what is loaded stays
    gc.set_threshold(50_000, 20, 50)
    tell("ready")
    for line in sys.stdin:
        native, text = json.loads(line)
        ms.set_device("CPU" if native else Meaning.name)
        own = text.removeprefix(PRELUDE)
        program = judge.Program("generated", "program", own, needed(own) if own is not text else ())
        tell("e")
        want = judge.outcome(program, judge.eager)
        tell("j")
        made: list[judge.Jitted] = []
        got = judge.outcome(program, judge.compiler(made))
        same = judge.alike(want, got, ROUNDING)
        tell(
            json.dumps(
                {
                    "difference": None if same else f"eager {want}\njit   {got}",
                    "ways": [*ways(made), *["refused"] * ("'Refused'" in str(got))],
                    "raises": want[0][0] == "raised",
                }
            )
        )


def ways(made: list[object]) -> list[str]:
    """How the calls ran: as one program, in pieces, in Python."""
    text = "".join(fn.explain() for fn in made)  # type: ignore[attr-defined]
    return [name for name, words in (("native", "one native call"), ("python", "runs in Python")) if words in text]


if __name__ == "__main__":
    main()
