"""The agency that hands over: its name, look, contact and prices, as `fleet.yaml` says them below `agency`."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final
from xml.etree import ElementTree

from pydantic import AfterValidator, Field

from trainyard.problems import Problem, SettingsError
from trainyard.settings.types import Model, matching

LARGEST_LOGO_BYTES: Final = 200_000
"""Bytes of a logo, which stands in every report: a vector or a small bitmap has a tenth of it."""

_PNG: Final = b"\x89PNG\r\n\x1a\n"
_LARGEST_EDGE: Final = 4096
_SVG_FORBIDDEN: Final = ("script", "foreignObject", "iframe", "image", "use", "style", "a", "animate", "set")
"""Elements of an SVG that run, load or restyle something; a logo is shapes, gradients and texts."""
_MOST_ELEMENTS: Final = 5_000

Usd = Annotated[int, Field(ge=0, le=100_000_000)]


def _ordered(value: tuple[Usd, Usd]) -> tuple[Usd, Usd]:
    """Lets pass a lower and an upper figure."""
    if value[0] > value[1]:
        raise ValueError("must be the lower figure and then the upper one")
    return value


Figures = Annotated[tuple[Usd, Usd], AfterValidator(_ordered)]
"""The lower and the upper figure of a price, in whole US dollars."""


class Prices(Model):
    """What the agency's own work costs, in US dollars, each as a lower and an upper figure."""

    assessment: Figures
    """Assessment and design, once."""
    build: Figures
    """Building the environment, once."""
    operations_a_month: Figures = (0, 0)
    """Running it, a month."""


class Phase(Model):
    """One phase of the agency's work."""

    name: str = Field(min_length=1, max_length=80)
    weeks: int = Field(ge=1, le=104)
    work: list[Annotated[str, Field(min_length=1, max_length=200)]] = Field(min_length=1, max_length=20)


LONGEST_NAME: Final = 80
"""Characters of an agency's name that fit a page's head."""


class Agency(Model):
    """Who hands over."""

    name: str = Field(min_length=1, max_length=LONGEST_NAME)
    colour: Annotated[str, matching(r"#[0-9A-Fa-f]{6}", "must look like #1a4f8b")] = "#1f3a5f"
    logo: str | None = Field(default=None, min_length=1, max_length=400)
    """A PNG or SVG file, seen from `fleet.yaml`."""
    contact: str = Field(default="", max_length=200)
    """Whom a client turns to: a name, an address, a number."""
    prices: Prices | None = None
    waiting_percent: int | None = Field(default=None, ge=1, le=100)
    """Which part of the hours of a run, waiting counted, the person loses who started it, as agreed with the client."""
    phases: list[Phase] = Field(default=[], max_length=20)
    """The plan of work; none: the guide's."""

    @property
    def ink(self) -> str:
        """Black or white: what is read on its colour."""
        return ink_on(self.colour)

    @property
    def deep(self) -> str:
        """Its colour as bars and marks on white have it: made darker until it is read there, on grey paper too."""
        return deepened(self.colour)


def ink_on(colour: str) -> str:
    """Black or white, whichever has the higher contrast with a colour (WCAG 2.2, relative luminance)."""
    luminance = _luminance(colour)
    return "#ffffff" if 1.05 / (luminance + 0.05) >= (luminance + 0.05) / 0.05 else "#000000"


_READ_ON_WHITE: Final = 7.0
"""Contrast of a colour with white from which a quarter of it still stands out from the paper (WCAG 2.2, 1.4.6)."""


def deepened(colour: str) -> str:
    """The colour, all of its channels made less by the same part until its contrast with white is 7 to 1."""
    for percent in range(100, 0, -2):
        channels = (int(colour[start : start + 2], 16) * percent // 100 for start in (1, 3, 5))
        made = f"#{''.join(f'{channel:02x}' for channel in channels)}"
        if 1.05 / (_luminance(made) + 0.05) >= _READ_ON_WHITE:
            return made
    return "#000000"


def _luminance(colour: str) -> float:
    """The relative luminance of a colour, 0 to 1."""
    channels = (int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


NOBODY: Final = Agency(name="Trainyard")
"""Where nobody says who hands over."""


@dataclass(frozen=True, slots=True)
class Look:
    """An agency with its logo as the page holds it."""

    agency: Agency
    logo: str = ""  # a data URI; empty: none

    @property
    def is_named(self) -> bool:
        """Whether an agency stands behind the document."""
        return self.agency is not NOBODY


def look_of(agency: Agency | None, folder: Path) -> Look:
    """The agency with its logo, whose file is seen from `folder`.

    Raises:
        SettingsError: the logo is not there, too large, or neither a PNG nor an SVG that shows and does nothing else.
    """
    if agency is None:
        return Look(NOBODY)
    return Look(agency, _inlined(folder / agency.logo) if agency.logo else "")


def _inlined(path: Path) -> str:
    key = "fleet.yaml: agency.logo"
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_LOGO_BYTES + 1)
    except OSError as error:
        raise _refused(key, f"{path.name} ({error.strerror})", "must be a file that can be read") from None
    if len(content) > LARGEST_LOGO_BYTES:
        raise _refused(key, f"more than {LARGEST_LOGO_BYTES:,} bytes", "must be smaller")
    if content.startswith(_PNG):
        _check_png(content, key)
        kind = "png"
    else:
        _check_svg(content, key)
        kind = "svg+xml"
    return f"data:image/{kind};base64,{base64.b64encode(content).decode('ascii')}"


def _check_png(content: bytes, key: str) -> None:
    """Refuses what begins as a PNG and is none, or one that would fill a browser's memory."""
    whole = content[12:16] == b"IHDR" and content.rstrip(b"\0").endswith(b"IEND\xaeB`\x82")
    width, height = int.from_bytes(content[16:20], "big"), int.from_bytes(content[20:24], "big")
    if not whole or not width or not height:
        raise _refused(key, "a PNG that is broken", "must be a whole PNG or an SVG")
    if max(width, height) > _LARGEST_EDGE:
        raise _refused(key, f"{width} by {height} pixels", f"must be at most {_LARGEST_EDGE} on an edge")


def _check_svg(content: bytes, key: str) -> None:
    """Refuses an SVG that runs or loads anything, and what is no SVG."""
    wanted = "must be a PNG or an SVG"
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content or b"<?xml-stylesheet" in content:
        raise _refused(key, "an SVG with a document type or a style sheet", "must be plain shapes")
    try:
        root = ElementTree.fromstring(content)  # noqa: S314 (bounded, and no entity can be declared)
    except (ElementTree.ParseError, ValueError, LookupError):  # of bytes in an encoding that nobody knows
        raise _refused(key, "neither", wanted) from None
    if _local(root.tag) != "svg":
        raise _refused(key, f"a <{_local(root.tag)}>", wanted)
    for number, element in enumerate(root.iter()):
        if number > _MOST_ELEMENTS:
            raise _refused(key, f"more than {_MOST_ELEMENTS:,} elements", "must be simpler")
        name = _local(element.tag)
        if name in _SVG_FORBIDDEN or name.startswith("animate"):
            raise _refused(key, f"an SVG with <{name}>", "must be plain shapes, gradients and texts")
        _check_attributes(element.attrib, key)


def _check_attributes(attributes: Mapping[str, str], key: str) -> None:
    for attribute, value in attributes.items():
        name = _local(attribute)
        loads = name == "href" and not value.startswith("#")
        urls = [found.strip("'\" ") for found in re.findall(r"url\(([^)]*)\)", value)]
        if name.lower().startswith("on") or loads or any(not url.startswith("#") for url in urls):
            raise _refused(key, f"an SVG with {name}={value[:40]!r}", "must load and run nothing")


def _local(tag: Any) -> str:
    return str(tag).rpartition("}")[2]


def _refused(key: str, got: str, allowed: str) -> SettingsError:
    return SettingsError([Problem(key, got, allowed)])
