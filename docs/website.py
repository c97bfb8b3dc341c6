"""Makes a site of the pages: `python docs/website.py build/docs` writes HTML that needs no server, with a search.

Pages are Markdown, rendered by markdown2, which pdoc brings along. The search looks through a list of all paragraphs
that lies in one file beside the pages.
"""

from __future__ import annotations

import json
import posixpath
import re
import sys
from collections.abc import Collection
from html import escape
from pathlib import Path

import markdown2

DOCS = Path(__file__).resolve().parent
FIRST = ("quickstart", "from_pytorch", "from_mindspore", "from_keras", "from_numpy", "science", "tensors",
         "autodiff", "jit", "data", "training", "debugging", "performance")  # fmt: skip
EXTRAS = {"fenced-code-blocks": {"cssclass": "code"}, "tables": None, "header-ids": None}

STYLE = """
body { font: 16px/1.6 system-ui, sans-serif; margin: 0; color: #202124; display: flex }
nav { width: 15em; padding: 1.5em; background: #f6f8fa; min-height: 100vh; box-sizing: border-box; flex: none }
nav a { display: block; color: #24292f; text-decoration: none; padding: .1em 0 } nav a:hover { color: #0969da }
main { padding: 1.5em 2.5em; max-width: 52em; min-width: 0 } a { color: #0969da }
pre { background: #f6f8fa; padding: .8em; overflow-x: auto; border-radius: 6px }
code { font: 14px ui-monospace, monospace } table { border-collapse: collapse } td, th { border: 1px solid #d0d7de;
padding: .3em .6em; text-align: left; vertical-align: top } input { width: 100%; padding: .4em; box-sizing: border-box }
#found a { display: block; padding: .3em 0 } #found small { color: #57606a; display: block }
.code .k, .code .kn, .code .ow { color: #cf222e } .code .s1, .code .s2, .code .sd { color: #0a3069 }
.code .c1 { color: #6e7781 } .code .nf, .code .nc { color: #8250df } .code .mi, .code .mf { color: #0550ae }
"""

SEARCH = """
const box = document.getElementById("search"), found = document.getElementById("found");
box.addEventListener("input", () => {
  const words = box.value.toLowerCase().split(/\\s+/).filter(Boolean);
  const fits = p => words.length && words.every(w => p[2].toLowerCase().includes(w));
  const hits = PARAGRAPHS.filter(fits).slice(0, 12);
  found.replaceChildren(...hits.map(([page, title, text]) => {
    const a = document.createElement("a"), small = document.createElement("small");
    a.href = page; a.textContent = title; small.textContent = text.slice(0, 120); a.append(small); return a;
  }));
});
"""


def title_of(text: str) -> str:
    """The first heading of a page.

    >>> title_of("# A page\\n\\nText")
    'A page'
    """
    found = re.search(r"^# (.*)$", text, re.MULTILINE)
    return found[1] if found else "?"


def links(text: str, known: Collection[str], base: str = "docs") -> str:
    """Links between pages lead to the rendered ones; those to other files lead to where these lie in the repository.

    >>> links("[a](data.md#x) [b](../examples/digits.py) [c](https://python.org)", ["data"])
    '[a](data.html#x) [b](../../examples/digits.py) [c](https://python.org)'
    """

    def lead(m: re.Match[str]) -> str:
        path, place = m[1], m[2] or ""
        name = Path(path).stem
        if path.endswith("README.md"):
            return "](index.html)"
        if path.endswith(".md") and name in known:
            return f"]({name}.html{place})"
        return f"]({posixpath.normpath(posixpath.join('../..', base, path))}{place})"

    return re.sub(r"\]\(([^)#:]+)(#[\w-]*)?\)", lead, text)


def paragraphs(page: str, text: str) -> list[tuple[str, str, str]]:
    """What the search looks through: the page, the heading above, and the words."""
    found, heading = [], title_of(text)
    for part in re.split(r"\n\s*\n", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)):
        if part.startswith("#"):
            heading = part.splitlines()[0].lstrip("# ")
        words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", part).replace("`", "").replace("*", "").strip("# \n")
        if words:
            found.append((page, heading, " ".join(words.split())))
    return found


def rendered(body: str, title: str, menu: str) -> str:
    """A whole page."""
    head = f"<meta charset='utf-8'><title>{escape(title)} · Mycelia</title><style>{STYLE}</style>"
    search = "<input id='search' placeholder='search'><div id='found'></div>"
    inside = f"<nav><b>Mycelia</b>{search}{menu}</nav><main>{body}</main><script src='pages.js'></script>"
    return f"<!doctype html><html lang='en'><head>{head}</head><body>{inside}</body></html>"


def build(folder: Path) -> list[Path]:
    """Write the site into a folder; gives its files."""
    root = DOCS.parent
    paths = {path.stem: path for path in sorted(DOCS.rglob("*.md")) if path.stem not in ("index", "coverage")}
    paths = {**{name: paths[name] for name in FIRST}, **paths}
    paths = {"index": root / "README.md", **paths, **{n: root / f"{n}.md" for n in ("CONTRIBUTING", "CHANGELOG")}}
    texts = {name: path.read_text() for name, path in paths.items()}
    entries = "".join(f"<a href='{name}.html'>{escape(title_of(text))}</a>" for name, text in texts.items())
    menu = f"{entries}<hr><a href='mycelia.html'>Reference</a>"
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for name, text in texts.items():
        base = paths[name].parent.relative_to(root).as_posix()
        body = markdown2.markdown(links(text, paths, base), extras=EXTRAS)
        made.append(folder / f"{name}.html")
        made[-1].write_text(rendered(body, title_of(text), menu))
    known = [p for name, text in texts.items() for p in paragraphs(f"{name}.html", text)]
    made.append(folder / "pages.js")
    made[-1].write_text(f"const PARAGRAPHS = {json.dumps(known)};\n{SEARCH}")
    return made


if __name__ == "__main__":
    print(f"{len(build(Path(sys.argv[1])))} files in {sys.argv[1]}; begin with index.html")
