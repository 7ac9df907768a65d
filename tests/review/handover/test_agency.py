"""Who hands over: read, refused where it could do harm, and kept when fleet.yaml is written again."""

from __future__ import annotations

import base64
import re
import struct
import zlib

import pytest
import yaml

from tests.shared import ROOT
from trainyard.fleet.clients import FILE, Fleet, fleet_text, read_fleet
from trainyard.problems import SettingsError
from trainyard.review.handover.agency import LARGEST_LOGO_BYTES, NOBODY, Agency, deepened, ink_on, look_of

SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 9 9">'
    '<defs><linearGradient id="g"><stop stop-color="#123"/></linearGradient></defs>'
    '<rect fill="url(#g)" width="9" height="9"/><text>N</text>{more}</svg>'
)
WHOLE = {
    "name": "Northwind AI",
    "colour": "#0b5c58",
    "contact": "hello@northwind.example",
    "prices": {"assessment": [15000, 35000], "build": [60000, 150000], "operationsAMonth": [8000, 25000]},
    "waitingPercent": 25,
    "phases": [{"name": "All of it", "weeks": 4, "work": ["do it"]}],
}


def png(width=4, height=2):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 10)) + chunk(b"IEND", b"")


def logo(tmp_path, content):
    (tmp_path / "logo").write_bytes(content if isinstance(content, bytes) else content.encode())
    return look_of(Agency(name="N", logo="logo"), tmp_path).logo


def refused(tmp_path, content):
    with pytest.raises(SettingsError) as caught:
        logo(tmp_path, content)
    [problem] = caught.value.problems
    assert problem.key == "fleet.yaml: agency.logo"
    return f"{problem.got}; {problem.allowed}"


def test_the_block_is_read_and_kept_when_the_file_is_written_again(tmp_path):
    (tmp_path / FILE).write_text(yaml.safe_dump({"agency": WHOLE, "stacks": {"a": {"wave": "early"}}}))
    fleet = read_fleet(tmp_path, ["a"])
    assert fleet.agency.prices.build == (60000, 150000) and fleet.agency.waiting_percent == 25
    (tmp_path / FILE).write_text(fleet_text(fleet))
    assert read_fleet(tmp_path, ["a"]) == fleet
    assert yaml.safe_load((tmp_path / FILE).read_text())["agency"] == WHOLE


def test_the_block_of_the_documentation_is_taken():
    text = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    [block] = re.findall(r"```yaml\n(agency:.*?)```", text, re.S)
    told = Fleet.model_validate(yaml.safe_load(block)).agency
    assert told is not None and set(told.model_fields_set) == set(Agency.model_fields)


def test_a_file_without_the_block_stays_as_it_was():
    assert "agency:" not in fleet_text(Fleet())


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("colour", "green", "#1a4f8b"),
        ("colour", "#0b5c58;}</style>", "#1a4f8b"),
        ("name", "", "at least 1"),
        ("waitingPercent", 0, "greater than or equal to 1"),
        ("prices", {"assessment": [5, 3], "build": [1, 2]}, "the lower figure"),
        ("prices", {"build": [1, 2]}, "required"),
        ("phases", [{"name": "x", "weeks": 0, "work": ["y"]}], "greater than or equal to 1"),
        ("color", "#000000", "not permitted"),
    ],
)
def test_what_is_wrong_is_told_by_its_key(tmp_path, key, value, said):
    (tmp_path / FILE).write_text(yaml.safe_dump({"agency": {**WHOLE, key: value}}))
    with pytest.raises(SettingsError) as caught:
        read_fleet(tmp_path, [])
    assert any(f"agency.{key}" in problem.key and said in problem.allowed for problem in caught.value.problems)


def test_a_logo_is_inlined(tmp_path):
    drawn = SVG.format(more="")
    assert logo(tmp_path, drawn) == f"data:image/svg+xml;base64,{base64.b64encode(drawn.encode()).decode()}"
    assert logo(tmp_path, png()).startswith("data:image/png;base64,")
    assert logo(tmp_path, SVG.format(more='<g xlink:href="#g"/>')).startswith("data:")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("<script>alert(1)</script>", "<script>"),
        ('<rect onload="alert(1)"/>', "onload"),
        ('<image href="https://elsewhere.example/a.png"/>', "<image>"),
        ('<use href="#g"/>', "<use>"),
        ("<style>@import url(https://elsewhere.example)</style>", "<style>"),
        ("<foreignObject/>", "foreignObject"),
        ('<animateTransform attributeName="x"/>', "animateTransform"),
        ('<g xlink:href="https://elsewhere.example"/>', "href"),
        ('<rect fill="url(https://elsewhere.example/a)"/>', "fill"),
        ("<rect style=\"fill: url( 'data:x' )\"/>", "style"),
    ],
)
def test_an_svg_that_runs_or_loads_anything_is_refused(tmp_path, more, said):
    assert said in refused(tmp_path, SVG.format(more=more))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "must be a PNG or an SVG"),
        (b"GIF89a", "must be a PNG or an SVG"),
        (b"<html/>", "<html>"),
        (b'<!DOCTYPE svg [<!ENTITY a "b">]><svg/>', "document type"),
        (b'<?xml-stylesheet href="x"?><svg/>', "style sheet"),
        (png()[:40], "broken"),
        (png(width=0), "broken"),
        (png(width=5000), "at most 4096"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * LARGEST_LOGO_BYTES, "must be smaller"),
        (b"<svg>" + b"<g/>" * 6000 + b"</svg>", "elements"),
        ('<?xml version="1.0" encoding="no-such"?><svg/>', "must be a PNG or an SVG"),
    ],
)
def test_what_is_no_logo_is_refused(tmp_path, content, said):
    assert said in refused(tmp_path, content)


def test_a_logo_that_is_not_there_is_told(tmp_path):
    with pytest.raises(SettingsError, match="No such file"):
        look_of(Agency(name="N", logo="absent.png"), tmp_path)


def test_text_on_the_agencys_colour_can_be_read():
    assert [ink_on(colour) for colour in ("#0b5c58", "#000000", "#ffd400", "#ffffff")] == [
        "#ffffff", "#ffffff", "#000000", "#000000",
    ]  # fmt: skip


def test_nobody_is_no_agency(tmp_path):
    assert not look_of(None, tmp_path).is_named and look_of(Agency(name=NOBODY.name), tmp_path).is_named


@pytest.mark.parametrize("colour", ["#0b5c58", "#000000", "#ffd400", "#ffffff", "#f6f7f9", "#ff0000"])
def test_bars_and_marks_are_seen_on_white_whatever_the_colour(colour):
    deep = deepened(colour)
    assert ink_on(deep) == "#ffffff", "dark: white is what is read on it"
    assert deepened(deep) == deep
    assert (deep == colour) == (colour in ("#0b5c58", "#000000")), "a colour that is dark enough stays"
