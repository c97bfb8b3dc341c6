"""Export: functions become a shared library that runs without Python, a C header, and a file with their weights."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from mycelia.api.options import options
from mycelia.eager import Parameter
from mycelia.errors import ArgumentError, DependencyError
from mycelia.frozen import frozen
from mycelia.lite.described import CFunction, described
from mycelia.lite.prepared import program
from mycelia.lite.source import CFile, Part, constant, interface
from mycelia.lite.weights import weights
from mycelia.onednn.library import SONAME, _find
from mycelia.primitives.pairing import has_complex, in_pairs
from mycelia.primitives.pairs import paired
from mycelia.runtime.link import workers
from mycelia.types import Array, TensorType

COMPILERS = ("cc", "gcc", "clang")


@frozen
class Exported:
    """What was written: the library, its header and its weights. The library looks for oneDNN beside itself.

    >>> Exported(Path("libmodel.so"), Path("model.h"), Path("model.safetensors")).header.name
    'model.h'
    """

    library: Path
    header: Path
    weights: Path


def export_c(folder: str | Path, name: str, /, **functions: tuple[Any, ...]) -> Exported:
    """Write functions into `folder` as lib`name`.so, `name`.h and `name`.safetensors.

    Each function is given with arguments like those to come: `predict=(net, x)`, `step=(train_step, x, labels)`. What
    they read beside their arguments, parameters above all, is state that they share: it is in the weights file, a
    function may change it, and C may save it again. Sizes are those of the arguments.

    >>> from mycelia import Tensor
    >>> export_c("folder", "my model", double=(lambda x: x + x, Tensor([1.0, 2.0])))
    Traceback (most recent call last):
    mycelia.errors.ArgumentError: 'my model' cannot be a name in C
    ...
    """
    _check_names(name, functions)
    if not functions or not all(isinstance(f, tuple) and f and callable(f[0]) for f in functions.values()):
        raise ArgumentError(
            "export_c writes functions, each given with its arguments",
            hint="export_c(folder, 'model', predict=(net, x))",
        )
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if compiler is None:
        raise DependencyError(
            "a shared library is made by a C compiler, and none was found", given={"tried": ", ".join(COMPILERS)},
            hint="on Debian and Ubuntu: apt install gcc",
        )  # fmt: skip
    parts = [_part(name, described(f, fn, args)) for f, (fn, *args) in functions.items()]
    state, places = _state(parts)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    done = Exported(folder / f"lib{name}.so", folder / f"{name}.h", folder / f"{name}.safetensors")
    done.header.write_text(interface(name, parts))
    done.weights.write_bytes(weights(state, name))
    _link(compiler, CFile(name, parts, state, places), done)
    return done


def _check_names(name: str, functions: Iterable[str]) -> None:
    """Complain of names that C cannot have, or that the library has for something else."""
    for word in (name, *functions):
        if not isinstance(word, str) or not word.isidentifier() or not word.isascii():
            raise ArgumentError(f"{word!r} cannot be a name in C", hint="use letters, digits and _")
    for word in set(functions) & {"open", "save", "close"}:
        raise ArgumentError(
            f"{name}_{word} is there in each library: it {word}s a model", hint="give the function another name"
        )


def _part(name: str, about: CFunction) -> Part:
    about = _real(about)
    asking = about.asking or about.function
    session = replace(options(), asks=len(asking.results) - len(about.function.results))
    return Part(about, program(f"{name}_{about.name}_run", asking, about.donated, session))


def _real(about: CFunction) -> CFunction:
    """The same function where complex numbers are pairs of real ones, which is how they lie in memory in C too."""
    if not has_complex(about.asking or about.function):
        return about
    for tensor in about.state:
        if tensor.dtype.is_complex:
            raise ArgumentError(
                f"{about.name} keeps complex numbers between calls, and a weights file holds real ones",
                given={"kept": tensor},
                hint="keep the real and the imaginary part as two parameters, and ops.complex(real, imag) of them",
            )
    arguments = tuple(p for t in about.arguments if isinstance(p := paired(t), TensorType))
    asking = about.asking and in_pairs(about.asking)
    return replace(about, function=in_pairs(about.function), asking=asking, arguments=arguments)


def _state(parts: list[Part]) -> tuple[dict[str, Array], dict[int, str]]:
    """What is in the weights file, by name, and the names of the tensors that are state."""
    arrays: dict[str, Array] = {}
    places: dict[int, str] = {}
    for part in parts:
        for tensor in part.about.state:
            if id(tensor) in places:
                continue
            wanted = tensor.name if isinstance(tensor, Parameter) else "tensor"
            key = wanted if wanted not in arrays else f"{wanted}.{len(arrays)}"
            places[id(tensor)], arrays[key] = key, tensor.asnumpy()
        arrays |= {constant(part.program, i): a for i, a in enumerate(part.program.binding.constants)}
    return arrays, places


def _link(compiler: str, source: CFile, done: Exported) -> None:
    """Machine code and C, as one library; oneDNN, if it is called, beside it."""
    session = options()
    texts = list(dict.fromkeys(m for q in source.programs for m in q.modules))
    uses_library = any(q.record.calls for q in source.programs)
    with tempfile.TemporaryDirectory() as place:
        here = Path(place)
        objects = []
        for i, image in enumerate(workers(session.target).compile(texts)):
            objects.append(here / f"part{i}.o")
            objects[-1].write_bytes(image)
        (here / f"{source.name}.c").write_text(source.text())
        if uses_library and not (done.library.parent / SONAME).exists():
            shutil.copyfile(_find(), done.library.parent / SONAME)
        command = [compiler, "-O1", "-shared", "-fPIC", "-I", done.header.parent, here / f"{source.name}.c", *objects]
        command += ["-o", done.library, "-l:libgomp.so.1", "-lm", "-Wl,-rpath,$ORIGIN"]
        command += ["-L", done.library.parent, f"-l:{SONAME}"] if uses_library else []
        made = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    if made.returncode:
        raise DependencyError(
            f"{Path(compiler).name} could not make the library", given={"it says": made.stderr.strip()[-2000:]},
            hint="libgomp.so.1 must be where the linker looks: on Debian and Ubuntu, apt install libgomp1"
            if "gomp" in made.stderr else f"perhaps {source.name} means something in C: give the library another name",
        )  # fmt: skip
