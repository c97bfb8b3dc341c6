"""A process that turns LLVM IR into objects. It is run as a script, knows nothing of Mycelia, and may die.

It reads requests and writes answers, each a pickle: first a target (triple, cpu, features), then texts of IR.
Kernels come as they shall be; a text that begins with `; optimise` goes through LLVM's passes first. One that begins
with `; once` has no loop, and is written down as quickly as possible: to choose better instructions for it would take
four times as long as that, and save nanoseconds of a call.
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
    machine, quick = (
        target.create_target_machine(cpu=cpu, features=features, opt=level, reloc="pic") for level in (2, 0)
    )
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
            emitter = quick if text.startswith("; once") else machine
            answer: object = bytes(emitter.emit_object(module))
        except RuntimeError as error:
            answer = str(error)
        pickle.dump(answer, sink)
        sink.flush()


if __name__ == "__main__":
    main()
