"""The short pages run and print what they promise; together they are a site that can be searched."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

import mycelia as ms

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("quickstart", "from_pytorch", "from_mindspore", "from_keras", "from_numpy", "science", "tensors",
         "autodiff", "jit", "debugging", "performance")  # fmt: skip


@pytest.mark.parametrize("name", PAGES)
def test_the_program_on_the_page_prints_what_it_promises(name, tmp_path, monkeypatch, capsys):
    page = (DOCS / f"{name}.md").read_text()
    code = "\n".join(re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    promised = re.findall(r"^ *print\(.*\)  # (.*)$", code, re.MULTILINE)
    assert len(promised) == code.count("print(")
    script = tmp_path / "program.py"
    script.write_text(code)
    monkeypatch.chdir(tmp_path)
    random = ms.get_rng_state()
    spec = importlib.util.spec_from_file_location(f"page_{name}", script)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    finally:
        ms.set_rng_state(random)
        ms.set_context(mode=ms.PYNATIVE_MODE)
    assert capsys.readouterr().out.splitlines() == promised


def test_the_pages_become_a_site_whose_links_lead_somewhere(tmp_path):
    pytest.importorskip("markdown2", reason="pages are rendered by what pdoc brings along")
    spec = importlib.util.spec_from_file_location("docs_website", DOCS / "website.py")
    website = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(website)
    made = {path.name: path.read_text() for path in website.build(tmp_path)}
    assert {f"{name}.html" for name in PAGES} < set(made)
    for name, text in made.items():
        if name.endswith(".html"):
            inside = [link for link in re.findall(r"href=[\"']([^\"'#]+)", text) if "/" not in link]
            assert {link for link in inside if link not in made} <= {"mycelia.html"}, name
            outside = re.findall(r"href=\"(\.\./[^\"#]+)", text)
            assert [link for link in outside if not (DOCS / link.replace("../../", "../")).exists()] == [], name
            assert "<pre" in text or "```" not in text
    known = json.loads(made["pages.js"].split("const PARAGRAPHS = ")[1].split(";\n")[0])
    assert any("detect_anomaly" in words and page == "debugging.html" for page, _, words in known)
