from __future__ import annotations

import itertools
import re
from html.parser import HTMLParser

from tests.smoke_jobs.report.support import document
from trainyard.smoke_jobs.report.curves import SERIES_COLOURS, Chart, Series, bytes_text, number_text, svg, swatch
from trainyard.smoke_jobs.report.html import bandwidth, page, scaling


class _Balanced(HTMLParser):
    """Knows which elements are open."""

    VOID = ("meta", "line", "polyline", "br")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag, attrs) -> None:
        self.seen.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs) -> None:
        self.seen.append(tag)  # <line/>: nothing is open after it

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_and_needs_nothing_from_elsewhere():
    text = page(document())
    parser = _Balanced()
    parser.feed(text)
    assert parser.open == []
    assert parser.seen.count("svg") == 2 + 4, "two charts, and a piece of each line in their legends"
    assert parser.seen.count("tr") == 11
    assert not re.search(r"(?:src|href)=|url\(|@import|<script", text)


def test_it_says_what_is_wrong_first():
    text = page(document())
    assert text.index("the image lacks the plugin") < text.index("<h2>Checks</h2>")
    assert "rank 3 on n0: died" in text
    assert "NCCL chose &lt;Socket&gt;" in text
    assert "<b>1</b> below threshold" in text
    assert "acme · train" in text


def test_thresholds_carry_their_source_and_direction():
    text = page(document())
    assert "≥ 372.3 GB/s" in text
    assert "≤ 11.1 s" in text
    assert "threshold: a measurement, 2026-07" in text


def test_a_run_without_curves_has_no_empty_frames():
    found = document() | {"curves": {"bandwidth": [], "scaling": []}, "errors": []}
    text = page(found)
    assert "<svg" not in text
    assert "Curves" not in text


def test_a_name_that_is_markup_stays_text():
    assert "<img" not in page(document(instance="<img src=x>"))


def _points(drawn: str, series: int) -> list[tuple[float, float]]:
    found = re.search(rf'<polyline class="series-{series}[^"]*" points="([^"]+)"', drawn)
    assert found is not None
    return [tuple(map(float, pair.split(","))) for pair in found[1].split()]


def test_bandwidth_is_drawn_on_two_logarithmic_axes():
    drawn = svg(bandwidth(document()))
    points = _points(drawn, 0)
    assert len(points) == 13
    steps = {(round(b[0] - a[0], 0), round(b[1] - a[1], 0)) for a, b in itertools.pairwise(points)}
    assert len({x for x, _ in steps}) <= 2, "each doubling of the size is one step to the right"
    assert all(b[1] < a[1] for a, b in itertools.pairwise(points))
    assert ">128 MiB</text>" in drawn, "the largest size always has its label"
    assert "gate: 372.3 GB/s" in drawn


def test_scaling_has_the_line_of_perfect_scaling():
    chart = scaling(document())
    assert [series.name for series in chart.series] == ["measured", "linear"]
    drawn = svg(chart)
    assert _points(drawn, 0) == _points(drawn, 1), "the figures here scale perfectly"
    assert "15k" in drawn


def test_lines_are_told_apart_without_their_colours():
    """On a printer that has none: the points of each line have a shape, which its name in the legend has too."""
    lines = tuple(Series(f"line {number}", ((1.0, 1.0), (2.0, 2.0 + number))) for number in range(SERIES_COLOURS))
    drawn = svg(Chart("t", "x", "y", lines, bytes_text))
    shapes = [set(re.findall(rf'<path class="series-{number}" d="([^"]+)"', drawn)) for number in range(len(lines))]
    assert all(len(shape) == 1 for shape in shapes) and len(set.union(*shapes)) == SERIES_COLOURS
    for number, (shape,) in enumerate(shapes):
        assert f'd="{shape}"' in swatch(number) and 'class="series-' in swatch(number)
    assert "dashed" in swatch(1, dashed=True) and "<path" not in swatch(1, dashed=True), "a reference has no points"


def test_one_point_is_drawn_and_none_is_not():
    one = Chart("t", "x", "y", (Series("a", ((1.0, 5.0),)),), bytes_text)
    assert svg(one).count("<title>") == 1
    assert svg(Chart("t", "x", "y", (), bytes_text)) == ""
    assert svg(Chart("t", "x", "y", (Series("a", ((1.0, 0.0),)),), bytes_text)) == ""


def test_numbers_for_people():
    assert [bytes_text(v) for v in (512, 32768, 4194304, 2**31)] == ["512 B", "32 KiB", "4 MiB", "2 GiB"]
    assert [number_text(v) for v in (0.05, 40000, 2.5e6, 3e9)] == ["0.05", "40k", "2.5M", "3G"]
