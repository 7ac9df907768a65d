"""A report is as wide where nobody watches as on a wide terminal, and a page says what it was not given."""

import jinja2
import pytest

from trainyard.output import WIDTH, as_text, console, page


@pytest.mark.parametrize(("columns", "width"), [("60", 60), ("300", WIDTH)])
def test_a_terminal_is_used_up_to_what_reports_are_made_for(monkeypatch, columns, width):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", columns)
    assert console().width == width


def test_where_nobody_watches_a_report_has_its_full_width(monkeypatch, capsys):
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", "60")
    console().print("x" * (WIDTH + 1), style="bold red")
    assert capsys.readouterr().out == "x" * WIDTH + "\nx\n"


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
