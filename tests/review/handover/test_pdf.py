"""Printing: through a browser that is there; without one, what would do. Pictures of both documents are measured."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from datetime import date
from html import unescape
from pathlib import Path

import pytest

from tests.review.handover.pages import handed
from tests.review.handover.test_page import of_recorded
from tests.review.handover.test_proposal import AGENCY, answers, proposed
from tests.smoke_jobs.report.support import document
from trainyard.review.handover import pdf
from trainyard.review.handover.agency import Agency, Look
from trainyard.review.handover.pdf import BROWSERS, NoPdf, as_pdf, find_browser
from trainyard.review.handover.subject import Subject

DAY = date(2026, 11, 23)
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
with_chromium = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")


def stand_in(folder: Path, script: str) -> str:
    """A program in place of a browser; `$out` is the file that it is to print."""
    path = folder / "browser"
    case = 'case "$each" in --print-to-pdf=*) out="${each#--print-to-pdf=}";; esac'
    find = f'for each in "$@"; do {case}; done\n'
    path.write_text(f"#!/bin/sh\n{find}{script}\n")
    path.chmod(0o755)
    return str(path)


def test_the_first_that_there_is_prints(monkeypatch):
    monkeypatch.setattr(pdf.shutil, "which", lambda name: f"/bin/{name}" if name == "google-chrome" else None)
    assert find_browser() == "/bin/google-chrome"


def test_without_a_browser_it_says_what_would_do(monkeypatch):
    monkeypatch.setattr(pdf.shutil, "which", lambda _: None)
    with pytest.raises(NoPdf, match=r"install Chromium .*--browser"):
        find_browser()
    with pytest.raises(NoPdf, match="--browser mosaic: there is no such program"):
        find_browser("mosaic")


def test_what_the_browser_prints_comes_back(tmp_path):
    assert as_pdf("<p>x</p>", stand_in(tmp_path, 'printf "%%PDF-1.4 x" > "$out"')) == b"%PDF-1.4 x"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo no display >&2; exit 3", r"exit code 3\): no display"),
        ("exit 0", "it said nothing"),
        ('printf "<html>" > "$out"', "printed nothing"),
        ('printf "%%PDF-1.4" > "$out"; exit 1', "exit code 1"),
    ],
)
def test_a_browser_that_prints_nothing_is_told(tmp_path, script, said):
    with pytest.raises(NoPdf, match=said):
        as_pdf("<p>x</p>", stand_in(tmp_path, script))


def test_a_browser_that_does_not_end_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(pdf, "TIMEOUT_SECONDS", 0.2)
    with pytest.raises(NoPdf, match="did not end"):
        as_pdf("<p>x</p>", stand_in(tmp_path, "exec sleep 20"))


def test_a_program_that_cannot_run_is_told(tmp_path):
    path = tmp_path / "browser"
    path.write_text("no program")
    path.chmod(0o755)
    with pytest.raises(NoPdf, match="cannot be run"):
        as_pdf("<p>x</p>", str(path))


@pytest.fixture(scope="module")
def page(request):
    review = of_recorded(request.getfixturevalue("rehearsed")("small-aws"))
    return handed(Subject(review, DAY), Look(Agency(name="Northwind AI")))


@with_chromium
def test_chromium_prints_the_handover(page):
    printed = as_pdf(page, CHROMIUM)
    assert 5 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 40


PROBE = """<!doctype html><body><pre id="out"></pre>
<script>
const said = (page) => new Promise((done) => {{
  const frame = document.createElement("iframe");
  frame.style = "border:0;width:{width}px;height:4000px";
  frame.onload = () => {{
    const inside = frame.contentDocument, wide = inside.documentElement.scrollWidth;
    const over = [...inside.querySelectorAll("main *:not(svg *)")].filter(
      (one) => one.getClientRects().length && one.getBoundingClientRect().right > {width} + 0.5);
    done([wide, over.length, over.slice(0, 5).map((one) => one.tagName + "." + one.className + one.textContent)]);
  }};
  frame.srcdoc = page;
  document.body.append(frame);
}});
Promise.all({pages}.map(said)).then((all) => {{
  document.getElementById("out").textContent = "MEASURED " + JSON.stringify(all);
}});
</script></body>"""


@pytest.fixture(scope="module")
def documents(request, page):
    """A handover of each kind of environment, and a proposal."""
    demo = of_recorded(request.getfixturevalue("rehearsed")("demo"))
    proven = handed(Subject(demo, DAY, (document(stack="demo"),), answers()), Look(AGENCY))
    return [page, proven, proposed(demo, answers())]


@with_chromium
@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_runs_over_the_edge_of_the_screen(documents, tmp_path, width):
    too_wide = documents[0].replace('<p class="over">', '<p class="over" style="width:1500px">')
    # `</` would end the script; the pages' own policy lets no script run inside of them
    html = PROBE.format(width=width, pages=json.dumps([*documents, too_wide]).replace("</", "<\\/"))
    (tmp_path / "probe.html").write_text(html, encoding="utf-8")
    done = subprocess.run(
        [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}",
         "--virtual-time-budget=5000", "--window-size=1400,4000", "--dump-dom", (tmp_path / "probe.html").as_uri()],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    found = re.search(r'<pre id="out">MEASURED (.*?)</pre>', done.stdout, re.S)
    assert found is not None, done.stderr[-500:]
    *measured, broken = json.loads(unescape(found[1]))
    assert len(measured) == len(documents) and broken[1], "what is too wide is seen"
    for wide, over, which in measured:
        assert wide <= width and not over, which
