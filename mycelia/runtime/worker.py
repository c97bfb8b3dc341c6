"""A process that turns LLVM IR into objects. It is run as a script, knows nothing of Mycelia, and may die.

It reads requests and writes answers, each a pickle: first a target (triple, cpu, features), then texts of IR.
Kernels come as they shall be; a text that begins with `; optimise` goes through LLVM's passes first.
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
    options = binding.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = options.loop_unrolling = True
    while True:
        try:
            text = pickle.load(source)
        except EOFError:
            return
        try:
            module = binding.parse_assembly(text)
            if text.startswith("; optimise"):
                builder = binding.create_pass_builder(machine, options)
                builder.getModulePassManager().run(module, builder)
            answer: object = bytes(machine.emit_object(module))
        except RuntimeError as error:
            answer = str(error)
        pickle.dump(answer, sink)
        sink.flush()


if __name__ == "__main__":
    main()
