"""What the documents say that can be tried: commands, and parts of stack files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tests.shared import ROOT

DOCUMENTS = ROOT / "docs"
TUTORIAL = DOCUMENTS / "tutorial.md"
GUIDES = sorted((DOCUMENTS / "how-to").glob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCUMENTS.rglob("*.md"))]

_FENCE = re.compile(r"^( *)```(\w+)([^\n]*)\n(.*?)^\1```$", flags=re.MULTILINE | re.DOTALL)


def blocks(page: Path, language: str) -> Iterator[tuple[str, str]]:
    """The title and the text of each block of code in a language."""
    for indent, of, rest, text in _FENCE.findall(page.read_text(encoding="utf-8")):
        if of == language:
            title = re.search(r'title="([^"]*)"', rest)
            yield title[1] if title else "", re.sub(rf"^{indent}", "", text, flags=re.MULTILINE)


def commands(page: Path, title: str | None = None) -> list[str]:
    """The commands of a page, without comments; those of blocks with this title only, where one is given."""
    texts = [re.sub(r"\\\n\s*", "", text) for found, text in blocks(page, "sh") if title in (None, found)]
    lines = [line for text in texts for line in text.splitlines()]
    return [line.partition("  #")[0].partition(" # ")[0].strip() for line in lines if line.strip()]


def parts_of_stack_files(page: Path) -> list[dict[str, Any]]:
    """Each part of a stack file on the page: settings by key."""
    loaded = [yaml.safe_load(text) for _, text in blocks(page, "yaml")]
    return [found["config"] for found in loaded if "config" in found]
