"""The C of an exported library: its header, and what opens, binds, calls and saves. Machine code stands beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mycelia.codegen.records import WORDS
from mycelia.frozen import frozen
from mycelia.lite.described import CFunction
from mycelia.lite.prepared import CProgram, StaticCall
from mycelia.lite.weights import header
from mycelia.loops.status import STOPPED
from mycelia.onednn.constants import BEFORE_TILES, CPU_ENGINE, STREAM_IN_ORDER, TOLD_LATER
from mycelia.onednn.library import SAID
from mycelia.onednn.processor import TILES
from mycelia.onednn.recorded import SET_THREADS, Argument, Thing, Told, prototype
from mycelia.types import Array, TensorType

TYPES = {
    "float32": "float", "float64": "double", "float16": "uint16_t", "bfloat16": "uint16_t", "bool": "uint8_t",
    **{f"{u}int{n}": f"{u}int{n}_t" for u in ("", "u") for n in (8, 16, 32, 64)},
}  # fmt: skip
STATUS = {
    "OK": (0, "all went well"),
    "NO_MEMORY": (1, "memory could not be had"),
    "NO_FILE": (2, "the weights file cannot be read or written"),
    "OTHER_WEIGHTS": (3, "the weights file is not for this library, or not whole"),
    "OTHER_MACHINE": (4, "the library was made for another processor, or another version of oneDNN"),
    "OUT_OF_RANGE": (5, "a label or position does not exist, or an assertion fails; nothing was changed"),
    "FAILED": (6, "a library call failed"),
}


@frozen
class Part:
    """One function of the library: what it is to C, and its program."""

    about: CFunction
    program: CProgram


def declared(name: str, about: CFunction) -> str:
    """The prototype of a function, with shapes.

    >>> from mycelia import Tensor
    >>> from mycelia.lite.described import described
    >>> print(declared("m", described("twice", lambda x: x + x, [Tensor([[1.0, 2.0]])])))
    int m_twice(m *model, const float *x0 /* 1 x 2 */, float *y0 /* 1 x 2 */)
    """
    given = [f"const {_type(t)} *x{i} /* {_shape(t)} */" for i, t in enumerate(about.arguments)]
    got = [about.function.result_types[r] for r in about.results]
    given += [f"{_type(t)} *y{i} /* {_shape(t)} */" for i, t in enumerate(got)]  # type: ignore[arg-type]  # tensors
    return f"int {name}_{about.name}({', '.join([f'{name} *model', *given])})"


def _type(t: TensorType) -> str:
    return TYPES[t.dtype.numpy.name]


def _shape(t: TensorType) -> str:
    return " x ".join(map(str, t.shape)) or "one number"


def interface(name: str, parts: Sequence[Part]) -> str:
    """The header file."""
    upper = name.upper()
    codes = "\n".join(f"  {upper}_{code} = {n}, /* {words} */" for code, (n, words) in STATUS.items())
    calls = "\n".join(f"{declared(name, p.about)};" for p in parts)
    return f"""/* {name}: functions exported by Mycelia.
   Arrays are dense, rows first. Calls of one model must not overlap; different models may run in different threads. */
#ifndef {upper}_H
#define {upper}_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {{
#endif

enum {{
{codes}
}};
typedef struct {name} {name};

/* A model with the weights of a file; NULL, and a status, if there is none. */
{name} *{name}_open(const char *weights, int *status);
/* Write the weights, whole or not at all. */
int {name}_save({name} *model, const char *weights);
void {name}_close({name} *model);

{calls}

#ifdef __cplusplus
}}
#endif
#endif
"""


class CFile:
    """The C file of a library, in pieces."""

    def __init__(self, name: str, parts: Sequence[Part], state: Mapping[str, Array], places: Mapping[int, str]) -> None:
        self.name, self.parts, self.state, self.places = name, parts, state, places
        self.programs = [p.program for p in parts]
        self.number = {key: i for i, key in enumerate(state)}

    def text(self) -> str:
        """All of it."""
        library = any(q.record.calls for q in self.programs)
        names = sorted({c.name for q in self.programs for c in q.record.calls} - {SET_THREADS})
        names += ["dnnl_engine_create", "dnnl_stream_create", "dnnl_memory_set_data_handle", "dnnl_primitive_execute"]
        names += ["dnnl_set_max_cpu_isa"]
        wanted = "\n".join(prototype(n) for n in dict.fromkeys(names)) if library else ""
        runs = "\n".join(f"int32_t {q.name}(void **table);" for q in self.programs)
        pieces = [self._model(library), *(self._bind(q, i) for i, q in enumerate(self.programs))]
        pieces += [self._open(library), self._save(), *map(self._function, self.parts)]
        return "\n".join(
            [
                "#define _GNU_SOURCE",
                f'#include "{self.name}.h"',
                *(f"#include <{h}.h>" for h in ("cpuid", "pthread", "stdio", "stdlib", "string")),
                "typedef struct { int role; void *memory; } operand;",
                "int omp_get_max_threads(void);", "void omp_set_num_threads(int);",
                wanted, runs,
                "#define ROUND(n) (((n) + 63) / 64 * 64 + 64)",
                "#define MUST(call) do { if ((call) != 0) return 4; } while (0)",
                *pieces,
            ]
        )  # fmt: skip

    def _model(self, library: bool) -> str:
        """What a model holds; which numbers the weights file begins with."""
        start = header(self.state, self.name)
        fields = [
            f"void *state[{len(self.state) or 1}];", f"void **table[{len(self.programs)}];",
            f"void *arena[{len(self.programs)}];", f"int64_t heap[{len(self.programs)}][{WORDS}];",
            "void *engine, *stream;" if library else "",
            *(f"void *object{i}[{q.record.count}];" for i, q in enumerate(self.programs)),
        ]  # fmt: skip
        sizes = ", ".join(str(a.nbytes) for a in self.state.values()) or "0"
        return f"""
static const unsigned char start[{len(start)}] = {{{", ".join(map(str, start))}}};
static const size_t bytes[] = {{{sizes}}};
static int64_t poll[2];
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER; /* all models share what is prepared of the library */
struct {self.name} {{
  {" ".join(fields)}
}};
static void *room(size_t n) {{
  void *found = NULL;
  return posix_memalign(&found, 64, ROUND(n)) ? NULL : found;
}}"""

    def _bind(self, q: CProgram, number: int) -> str:
        """What makes the table of a program: its constants, its memory, what the library is told."""
        lines = [_numbers(f"numbers{number}", np.append(q.numbers, 0))]
        for i, call in enumerate(q.calls):
            lines += self._words(call, f"{number}_{i}")
        lines += [
            f"static int bind{number}({self.name} *m) {{",
            f"  void **o = m->object{number};" if q.record.calls else "",
            f"  void **t = m->table[{number}] = calloc({len(q.binding.table)}, sizeof(void *));",
            f"  if (!t || !(m->arena[{number}] = room({q.arena}))) return 1;",
        ]
        if q.record.calls:
            lines.append("  o[0] = m->engine; o[1] = m->stream;")
            lines += [f"  {_told(call)}" for call in q.record.calls]
        for i, call in enumerate(q.calls):
            lines += [f"  {line}" for line in self._fill(call, f"{number}_{i}")]
        where = {r.step: r.call for r in q.binding.recipes}
        for place, slot in enumerate(q.binding.table):
            pointer = {
                "constant": f"m->state[{self.number.get(constant(q, slot.number), 0)}]",
                "arena": f"m->arena[{number}]", "heap": f"m->heap[{number}]", "numbers": f"numbers{number}",
                "poll": "poll", "call": f"words{number}_{where.get(slot.number)}",
                "set_handle": "(void *)dnnl_memory_set_data_handle" if q.record.calls else "",
                "execute": "(void *)dnnl_primitive_execute" if q.record.calls else "",
            }.get(slot.kind, "")  # fmt: skip
            if pointer:
                lines.append(f"  t[{place}] = {pointer};")
        lines += [f"  m->heap[{number}][8] = (int64_t)numbers{number};", "  return 0;", "}"]
        return "\n".join(lines)

    @staticmethod
    def _words(call: StaticCall, name: str) -> list[str]:
        """The memory in which machine code reads how a call is made."""
        if call.words is not None:
            tables = [
                f"static int64_t table{name}_{i}[] = {{{', '.join(map(str, t.ravel().tolist()))}}};"
                for i, t in call.tables
            ]
            return [*tables, f"static int64_t words{name}[] = {{{', '.join(map(str, call.words.tolist()))}}};"]
        count = 1 + sum(4 + 3 * len(e.memories) for e in call.executions)
        args = [f"static operand args{name}_{i}[{len(e.memories)}];" for i, e in enumerate(call.executions)]
        return [*args, f"static int64_t words{name}[{count}];"]

    @staticmethod
    def _fill(call: StaticCall, name: str) -> list[str]:
        if call.words is not None:
            return [f"words{name}[{i}] = (int64_t)table{name}_{i};" for i, _ in call.tables]
        words: list[str] = [str(len(call.executions))]
        lines = []
        for i, e in enumerate(call.executions):
            words += [f"(int64_t)o[{e.primitive}]", "(int64_t)o[1]", f"(int64_t)args{name}_{i}", str(len(e.memories))]
            for k, (memory, role, place, nbytes) in enumerate(e.memories):
                words += [f"(int64_t)o[{memory}]", str(place), str(nbytes)]
                lines.append(f"args{name}_{i}[{k}].role = {role}; args{name}_{i}[{k}].memory = o[{memory}];")
        return [*lines, *(f"words{name}[{n}] = {word};" for n, word in enumerate(words))]

    def _open(self, library: bool) -> str:
        engine = (
            f"dnnl_engine_create(&m->engine, {CPU_ENGINE}, 0) || "
            f"dnnl_stream_create(&m->stream, m->engine, {STREAM_IN_ORDER})"
            if library
            else "0"
        )
        careful = (
            f"  unsigned a, b, c, d;\n  if (!({_tiles()})) dnnl_set_max_cpu_isa({BEFORE_TILES});" if library else ""
        )
        binds = "\n".join(f"  if (!found) found = bind{i}(m);" for i in range(len(self.programs)))
        frees = " ".join(f"free(m->table[{i}]); free(m->arena[{i}]);" for i in range(len(self.programs)))
        threads = max(q.binding.threads for q in self.programs)
        return f"""
static int opened({self.name} *m, const char *weights) {{
  unsigned char head[sizeof start];
  FILE *file = fopen(weights, "rb");
  if (!file) return 2;
  int found = fread(head, 1, sizeof head, file) != sizeof head || memcmp(head, start, sizeof head) ? 3 : 0;
  for (size_t i = 0; !found && i < {len(self.state)}; i++) {{
    if (!(m->state[i] = room(bytes[i]))) found = 1;
    else if (fread(m->state[i], 1, bytes[i], file) != bytes[i]) found = 3;
  }}
  if (!found && fgetc(file) != EOF) found = 3;
  fclose(file);
{careful}
  if (!found && ({engine})) found = 4;
  int before = omp_get_max_threads();
  omp_set_num_threads({threads});
  pthread_mutex_lock(&turn);
{binds}
  pthread_mutex_unlock(&turn);
  omp_set_num_threads(before);
  return found;
}}

{self.name} *{self.name}_open(const char *weights, int *status) {{
  {self.name} *m = calloc(1, sizeof *m);
  int found = m ? opened(m, weights) : 1;
  if (status) *status = found;
  if (found && m) {{ {self.name}_close(m); m = NULL; }}
  return m;
}}

void {self.name}_close({self.name} *m) {{
  if (!m) return;
  for (size_t i = 0; i < {len(self.state)}; i++) free(m->state[i]);
  {frees}
  free(m);
}}"""

    def _save(self) -> str:
        return f"""
int {self.name}_save({self.name} *m, const char *weights) {{
  char path[4096];
  if (snprintf(path, sizeof path, "%s.new", weights) >= (int)sizeof path) return 2;
  FILE *file = fopen(path, "wb");
  if (!file) return 2;
  int ok = fwrite(start, 1, sizeof start, file) == sizeof start;
  for (size_t i = 0; ok && i < {len(self.state)}; i++) ok = fwrite(m->state[i], 1, bytes[i], file) == bytes[i];
  ok = !fclose(file) && ok;
  if (ok && !rename(path, weights)) return 0;
  remove(path);
  return 2;
}}"""

    def _function(self, part: Part) -> str:
        """One exported function: pointers into the table, one call, then what it has changed."""
        about, q = part.about, part.program
        lines = [f"\n{declared(self.name, about)} {{", f"  void **t = model->table[{self.programs.index(q)}];"]
        wanted = {r: f"y{i}" for i, r in reversed(list(enumerate(about.results)))}
        inputs = [
            f"(void *)x{what}" if kind == "argument" else f"model->state[{self.number[self.places[id(what)]]}]"
            for kind, what in about.inputs
        ]
        donated = {i for i, d in enumerate(q.binding.donated) if d is not None}
        fresh = [(i, t.nbytes) for i, t in enumerate(q.binding.outputs) if i not in donated]
        for i, nbytes in fresh:  # machine code wants its results at whole lines of the cache
            given = f"(uintptr_t){wanted[i]} % 64 == 0 ? (void *){wanted[i]} : " if i in wanted else ""
            lines.append(f"  void *r{i} = {given}room({nbytes});")
        for i, pointer in enumerate(inputs):
            lines.append(f"  t[{q.binding.slot('input', i)}] = {pointer};")
        lines += [f"  t[{q.binding.slot('output', i)}] = r{i};" for i, _ in fresh]
        lines.append("  int found = " + (" || ".join(f"!r{i}" for i, _ in fresh) or "0") + " ? 1 : 0;")
        lines += self._run(q)
        for flag in about.flags:
            lines.append(f"  if (!found && *(uint8_t *)r{flag}) found = 5;")
        where = {i: f"r{i}" for i, _ in fresh} | {i: inputs[q.binding.donated[i] or 0] for i in donated}
        copies = []
        for tensor, result in about.writes:
            if result not in donated:
                place = self.number[self.places[id(tensor)]]
                copies.append((f"model->state[{place}]", result))
        copies += [(f"y{k}", r) for k, r in enumerate(about.results)]
        for target, result in copies:
            source, nbytes = where[result], q.binding.outputs[result].nbytes
            lines.append(f"  if (!found && {target} != {source}) memcpy({target}, {source}, {nbytes});")
        lines += [
            f"  if (r{i} != (void *){wanted[i]}) free(r{i});" if i in wanted else f"  free(r{i});" for i, _ in fresh
        ]
        return "\n".join([*lines, "  return found;", "}"])

    def _run(self, q: CProgram) -> list[str]:
        return [
            "  int before = omp_get_max_threads();",
            f"  omp_set_num_threads({q.binding.threads});",
            "  pthread_mutex_lock(&turn);",
            f"  int status = found ? 0 : {q.name}(t);",
            f"  if (status) found = status & {STOPPED} ? 5 : 6;",
            "  pthread_mutex_unlock(&turn);",
            "  omp_set_num_threads(before);",
        ]


def _tiles() -> str:
    """Whether oneDNN may use what it finds: users have said so, or the processor says how large its tiles are, as
    `onednn/processor.py` asks.
    """
    said = " || ".join(f'getenv("{name}")' for name in SAID)
    asks = [f"__get_cpuid_count({TILES}, {part}, &a, &b, &c, &d)" for part in (0, 1)]
    return f"{said} || ({asks[0]} && a && {asks[1]} && b & 0xffff && b >> 16 && c & 0xffff)"


def _numbers(name: str, values: Array) -> str:
    return f"static int64_t {name}[] = {{{', '.join(map(str, values.tolist()))}}};"


def constant(q: CProgram, number: int) -> str:
    """The name of a constant of a program in the weights file."""
    return f"{q.name}.constant.{number}"


def _told(call: Told) -> str:
    """One call of the library, in C."""
    dims: list[str] = []
    given = [_argument(a, dims) for a in call.arguments]
    if call.nbytes is not None:
        return f"if ({call.name}({', '.join(given)}) != {call.nbytes}u) return 4;"
    if call.name == SET_THREADS:
        return f"{call.name}({given[0]});"
    if call.name == "dnnl_primitive_desc_query_md":
        return f"if (!(o[{call.made}] = {call.name}({', '.join(given)}))) return 4;"
    if call.made is not None:
        given.insert(0, f"&o[{call.made}]")
    return f"{{ {' '.join(dims)} MUST({call.name}({', '.join(given)})); }}"


def _argument(given: Argument, dims: list[str]) -> str:
    if isinstance(given, Thing):
        return "NULL" if given.number is None else f"o[{given.number}]"
    if isinstance(given, tuple):
        numbers = ("INT64_MIN" if n == TOLD_LATER else str(n) for n in given)
        dims.append(f"int64_t d{len(dims)}[] = {{{', '.join(numbers)}}};")
        return f"d{len(dims) - 1}"
    return f"{np.float32(given)!s}f" if isinstance(given, float) else str(given)
