"""What MkDocs asks while it builds the site: pages written from the code, menus of whole folders, links.

A page is named in the documents as a path of the repository, in backticks: on the site it is a link, and a name of no
page is a warning, which ends a strict build.
"""

from __future__ import annotations

import logging
import posixpath
import re
from typing import Any

from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from tests.documentation import pictures, reference
from tests.shared import ROOT

_log = logging.getLogger("mkdocs.hooks.trainyard")

AT_THE_ROOT = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md"}
"""Pages of the site that lie at the repository's root, by their place there."""

_NAMED = re.compile(r"(?<![\[`])`(docs/[\w./-]+\.md|README\.md|CONTRIBUTING\.md)`(?![\]`])")
_FENCE = re.compile(r"^(```.*?^```)", flags=re.MULTILINE | re.DOTALL)


def on_config(config: Any) -> Any:
    """Fills in the menus that are whole folders: `[runbooks/*]`."""
    folder = ROOT / "docs"

    def filled(entry: Any) -> Any:
        if isinstance(entry, dict):
            return {title: filled(below) for title, below in entry.items()}
        if isinstance(entry, list):
            return [found for item in entry for found in (_pages(item) if _is_folder(item) else [filled(item)])]
        return entry

    def _pages(pattern: str) -> list[str]:
        return sorted(path.relative_to(folder).as_posix() for path in folder.glob(f"{pattern}.md"))

    config.nav = filled(config.nav)
    return config


def _is_folder(entry: Any) -> bool:
    return isinstance(entry, str) and entry.endswith("/*")


def on_files(files: Files, config: Any) -> Files:
    """Adds what is written from the code, and the documents at the root."""
    for source, page in AT_THE_ROOT.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=pictures.shown(text) if page == "index.md" else text))
    for place, write in {**reference.PAGES, **pictures.PICTURES}.items():
        files.append(File.generated(config, place, content=write()))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: Any, files: Files) -> str:
    """Makes the name of a page in backticks a link to it; code blocks stay as they are."""
    here = page.file.src_uri
    parts = _FENCE.split(markdown)
    return "".join(part if part.startswith("```") else linked(part, here, files) for part in parts)


def linked(text: str, here: str, files: Files) -> str:
    """The text of the page `here` with links in place of names of pages."""

    def link(match: re.Match[str]) -> str:
        name = match[1]
        place = AT_THE_ROOT.get(name, name.removeprefix("docs/"))
        if files.get_file_from_path(place) is None:
            _log.warning("%s names %s, which is no page", here, name)
            return match[0]
        return f"[{match[0]}]({posixpath.relpath(place, posixpath.dirname(here) or '.')})"

    return _NAMED.sub(link, text)
