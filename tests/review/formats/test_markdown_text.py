"""A stack's texts in a comment: shown as they are, doing nothing, whatever they hold."""

import re
from dataclasses import replace

from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.review.formats.test_formats import as_json, as_markdown, checked
from tests.review.violations import ACCEPTED, VIOLATION
from trainyard.review.formats.markdown_text import BREAK, code, literal

HOSTILE = (
    "@everyone", "![x](https://evil.example/p.png)", "[here](javascript:alert)", "<img src=x onerror=y>", "a | b | c",
    "</td><h1>", "# heading", "1. one", "- [ ] task", "&#64;everyone", "\\@everyone", "`code` and ``more``", "***",
    "https://evil.example", "www.evil.example", "<https://evil.example>", "x@evil.example", "#1 GH-1 !1 $1", "~~gone~~",
    "[a]: https://evil.example", "/close", "line\n# two", "\u202egnirts", "a\x00b", "===", "---",
    "$\\color{red}x$", "> q",
)  # fmt: skip
MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
TEXTS = st.one_of(
    st.text(alphabet=st.characters(codec="utf-8")),
    st.text(alphabet="ab1 @#$%!&<>[]()`*_~|\\-+=./:;\n\"'wGH"),
    st.lists(st.sampled_from(HOSTILE)).map(" ".join),
)
DOES_NOTHING = {
    *("paragraph_open", "paragraph_close", "inline", "text", "text_special"),
    *("bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close"),
}


def tokens(markdown):
    """What a renderer makes of it, flat."""
    for token in MARKDOWN.parse(markdown):
        yield token
        yield from token.children or ()


def shown(markdown):
    return "".join(token.content for token in tokens(markdown) if token.type in ("text", "text_special", "code_inline"))


def in_one_line(text):
    hidden = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
    return " ".join(hidden.sub(" ", text).split())


def calls_somebody(text):
    return re.search(r"@\w|#\d|!\d|://|\bwww\.|\bGH-\d", text, flags=re.IGNORECASE)


@settings(deadline=None)
@given(TEXTS)
@example("1) a")
@example("wwwww.www.a")
@example("@_")
def test_a_text_is_shown_as_it_is_and_does_nothing(text):
    made = literal(text)
    assert {token.type for token in tokens(f"- {made}")} <= DOES_NOTHING, made
    assert shown(f"- {made}").replace(BREAK, "") == in_one_line(text).replace(BREAK, "")
    assert not calls_somebody(shown(made))


@settings(deadline=None)
@given(TEXTS)
def test_code_is_one_span_that_holds_the_text(text):
    [span] = [token for token in tokens(f"a {code(text)} b") if token.type == "code_inline"]
    assert span.content.strip() == in_one_line(text).replace("|", "\N{BROKEN BAR}").strip()
    assert shown(f"a {code(text)} b").startswith("a ") and shown(f"a {code(text)} b").endswith(" b")


@settings(deadline=None)
@given(TEXTS)
def test_a_cell_of_a_table_stays_one(text):
    table = f"| a | b |\n| --- | --- |\n| {code(text)} | {literal(text)} |\n"
    assert [token.type for token in tokens(table)].count("td_open") == 2
    assert not {"html_inline", "html_block", "link_open", "image"} & {token.type for token in tokens(table)}


@settings(deadline=None)
@given(TEXTS)
def test_a_whole_comment_does_nothing_wherever_the_text_stands(text):
    violation = replace(VIOLATION, message=text, remediation=text, policy=text, urn=f"urn::{text}", name=text)
    accepted = (replace(ACCEPTED, reason=text, owner=text),)
    before = as_json(checked(violation, plan={text: text}))
    now = checked(replace(violation, message=f"{text}2"), plan={text: f"{text}2"}, accepted=accepted)
    comment = as_markdown([now], before)
    kinds = [token.type for token in tokens(comment)]
    assert kinds.count("html_block") == 1, "the mark by which a pipeline finds its comment"
    assert not {"html_inline", "link_open", "image", "ordered_list_open", "blockquote_open"} & set(kinds)
    blocks = [token.children or () for token in MARKDOWN.parse(comment) if token.type == "inline"]
    plain = "\n".join(
        "".join(child.content if child.type in ("text", "text_special") else " " for child in block) for block in blocks
    )
    assert not re.search(r"@\w|!\d|://|\bwww\.", plain, flags=re.IGNORECASE)
