"""A stack's own texts inside Markdown that is ours: they are shown as they are, and do nothing.

A name, a reason or a message comes from whoever wrote the stack, and a comment is read by everybody: a text must not
open a tag, load a picture, hide a link, call a person, refer to another request, break a table or begin a heading.
"""

from __future__ import annotations

import re

BREAK = "\N{ZERO WIDTH NON-JOINER}"
"""A letter without width: it parts signs from what makes them do something, where a backslash does not. What a host
makes of a comment besides Markdown (mentions, references, links without brackets) it finds in the finished text."""

_ACTIVE = re.compile(r"[\\`*_\[\]<>|~&]")
"""What opens something anywhere in a line, in CommonMark and GitHub's tables and strikethrough."""
_AT_THE_START = re.compile(r"(-+|\+|#+|\d+[.)])(?=\s|$)")
"""What makes the line a list, a heading or a rule."""
_REFERRING = re.compile(r"(?:[@#$%!]|\bGH-)(?=\\?[\w\"])", re.IGNORECASE)
"""People, numbers of issues, requests, snippets and milestones on GitHub and GitLab; formulas."""
_ADDRESS = re.compile(r":(?=//)|\bwww(?=\.)", re.IGNORECASE)
_HIDDEN = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Controls, halves of letters, and what turns the direction of writing (CVE-2021-42574)."""


def literal(text: str) -> str:
    """A text as one line of Markdown that shows it: in a paragraph, a list item or a cell of a table."""
    line = _ACTIVE.sub(r"\\\g<0>", _in_one_line(text))
    start = _AT_THE_START.match(line)
    if start is not None:
        line = f"{line[: start.end() - 1]}\\{line[start.end() - 1 :]}"
    line = _REFERRING.sub(rf"\g<0>{BREAK}", line)
    return _ADDRESS.sub(rf"\g<0>{BREAK}", line)


def code(text: str) -> str:
    """A text as a span of code, also in a cell of a table, where a `|` ends even that."""
    line = _in_one_line(text).replace("|", "\N{BROKEN BAR}")
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", line)), default=0))
    room = " " if line.startswith("`") or line.endswith("`") or not line else ""
    return f"{fence}{room}{line}{room}{fence}"


def _in_one_line(text: str) -> str:
    return " ".join(_HIDDEN.sub(" ", text).split())
