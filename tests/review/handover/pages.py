"""Pages of documents, taken apart: what they load, which headings stand over nothing, what they say."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

from trainyard.review.handover.agency import Look
from trainyard.review.handover.handover import handover
from trainyard.review.handover.page import as_html
from trainyard.review.handover.subject import Subject

VOID = ("meta", "br", "img", "link", "wbr")
NASTY = "<script>alert('x')</script> & \"y\""


def handed(subject: Subject, look: Look) -> str:
    """The page of a handover."""
    return as_html(handover(subject), subject, look)


class Outline(HTMLParser):
    """What a page is made of; fails where an element is left open or runs something."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        assert not self._open, self._open

    def handle_starttag(self, tag, attrs) -> None:
        given = dict(attrs)
        self.tags.append(tag)
        self.ids += [value for key, value in attrs if key == "id"]
        self.links += [value for key, value in attrs if key in ("src", "href", "action", "data", "srcset", "poster")]
        assert not [key for key in given if key.startswith("on")], given
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag) -> None:
        assert self._open.pop() == tag, tag


def words_of(text: str) -> str:
    """What is read on a page: its text without markup and what keeps words together, blanks folded."""
    bare = re.sub(r"<style>.*?</style>", " ", text, flags=re.S)
    bare = re.sub(r'<span class="nb">(.*?)</span>', r"\1", bare).replace("<wbr>", "")
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", bare)).replace("\N{WORD JOINER}", "").split())


def cover_of(text: str) -> str:
    """What is read on the first page."""
    return words_of(text[text.index('<div class="cover">') : text.index('<div class="part"')])


def sections_of(text: str) -> dict[str, str]:
    """What is read in each section, by its key."""
    return {key: words_of(body) for key, body in re.findall(r'<section id="([\w-]+)"[^>]*>(.*?)</section>', text, re.S)}


def assert_sound(text: str) -> None:
    """A page is whole, loads and runs nothing; every link leads somewhere, and no heading stands over nothing."""
    found = Outline(text)
    assert "script" not in found.tags and "iframe" not in found.tags and "link" not in found.tags
    for link in found.links:
        assert link.startswith(("data:image/", "#")), link
        if link.startswith("#"):
            assert link[1:] in found.ids, link
    assert len(found.ids) == len(set(found.ids))
    style = re.search(r"<style>(.*?)</style>", text, re.S)
    assert style is not None and not re.search(r"url\(|@import|@font-face|expression\(", style[1])
    assert not re.search(r"<(h\d)[^>]*>\s*</\1>", text)
    assert not re.search(r"</h4>\s*(?:</section>|<h[1-4])", text)
    assert not re.search(r"<(?:ul|ol|tbody|dl)[^>]*>\s*</", text)
    assert "None" not in words_of(text).replace("None of", ""), "a value that is not there was written"
