"""A process that turns LLVM IR into objects. It is run as a script, knows nothing of Mycelia, and may die.

It reads requests and writes answers, each a pickle: first a target (triple, cpu, features), then texts of IR.
"""

from __future__ import annotations

import pickle
import sys

from llvmlite import binding


def main() -> None:
    """Answer until the other side closes the pipe."""
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    triple, cpu, features = pickle.load(source)
    target = binding.Target.from_triple(triple)
    machine = target.create_target_machine(cpu=cpu, features=features, opt=2, reloc="pic")
    while True:
        try:
            text = pickle.load(source)
        except EOFError:
            return
        try:
            answer: object = bytes(machine.emit_object(binding.parse_assembly(text)))
        except RuntimeError as error:
            answer = str(error)
        pickle.dump(answer, sink)
        sink.flush()


if __name__ == "__main__":
    main()
