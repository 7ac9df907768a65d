"""A report is as wide where nobody watches as on a wide terminal, and a page says what it was not given."""

import re
import sys

import jinja2
import pytest
from rich.padding import Padding
from rich.text import Text

from trainyard.output import WIDTH, as_text, console, page, show


@pytest.mark.parametrize(("columns", "width"), [("60", 60), ("300", WIDTH)])
def test_a_terminal_is_used_up_to_what_reports_are_made_for(monkeypatch, columns, width):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", columns)
    assert console().width == width


@pytest.mark.parametrize("forced", [False, True])
def test_where_nobody_watches_no_line_is_folded(monkeypatch, capsys, forced):
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    if forced:
        monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "60")
    show(lambda out: out.print(Padding(Text("x" * (WIDTH + 1), style="red"), (0, 0, 0, 2))))
    written = capsys.readouterr().out
    assert ("\x1b[31m" in written) is forced, "a pipe is coloured only where that was asked"
    assert re.sub(r"\x1b\[\d*m", "", written) == "  " + "x" * (WIDTH + 1) + "\n"


def test_plain_text_has_no_colour_and_no_blanks_at_the_end():
    line = "word " * 30
    assert as_text(lambda out: out.print(f"[bold]{line}[/]")).splitlines() == [
        "word " * 19 + "word",
        "word " * 9 + "word",
    ]
    assert as_text(lambda out: out.print(line), soft_wrap=True) == line.rstrip() + "\n"


def test_a_page_quotes_and_leaves_nothing_out(tmp_path):
    template = tmp_path / "page.html.j2"
    template.write_text("{% if true %}\n<p>{{ text|loud }} {{ more }}</p>\n{% endif %}\n")
    assert page(template, {"loud": str.upper}, text="a<b", more=1) == "<p>A&lt;B 1</p>\n"
    with pytest.raises(jinja2.UndefinedError, match="more"):
        page(template, {"loud": str.upper}, text="")
