"""Expressions of CEL: conditions of grants and policies, filters of flow logs, what a provider of identities lets in.

Source: "Common Expression Language" (operators are those of C, a text is quoted, `=` and `and` are none) and IAM
"Attribute reference for IAM Conditions", as generally known in 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from trainyard.problems import nearest, nearest_word
from trainyard.recorded.types import GCP_IDENTITY_PROVIDER, GCP_SUBNETWORK
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.rules import EVERY_TYPE, Rules

GRANT: Final = re.compile(r"gcp:\w+/\w+:\w*(IAM|Iam)(Member|Binding)")
"""The types that give somebody a role, which have a member or members."""
_TEXT_OR_COMMENT: Final = re.compile(
    r"[rRbB]?('''.*?'''|\"\"\".*?\"\"\"|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")|//[^\n]*", re.DOTALL
)
"""Both in one pass: a comment may have an apostrophe, and a text two strokes."""
_WRONG: Final = (
    (re.compile(r"(?<![=!<>])=(?![=~])"), "=", "=="),
    (re.compile(r"=~"), "=~", ".matches('…')"),
    (re.compile(r"(?<!&)&(?!&)"), "&", "&&"),
    (re.compile(r"(?<!\|)\|(?!\|)"), "|", "||"),
    (re.compile(r"(?<!\.)\b(?:AND|and)\b(?!\()"), "AND", "&&"),
    (re.compile(r"(?<!\.)\b(?:OR|or)\b(?!\()"), "OR", "||"),  # an optional has a method of that name
    (re.compile(r"(?<!\.)\b(?:NOT|not)\b"), "NOT", "!"),
)
_OPERATOR: Final = r"\s*(?:==|!=|<=|>=|<|>)\s*"
_COMPARED: Final = tuple(
    (re.compile(rf"(?P<what>{what}){_OPERATOR}\"\"|\"\"{_OPERATOR}(?P<other>{what})"), meant)
    for what, meant in (
        (r"\brequest\.time\b(?!\.)", 'timestamp("2027-01-01T00:00:00Z")'),
        (r"\brequest\.time\.get\w+\([^()]*\)", "a number"),
    )
)
"""What is no text, and what it is compared with."""
_ROOTS: Final = ("resource", "request", "destination", "api", "principal", "origin")
_RESOURCE: Final = (
    "name", "type", "service", "matchTag", "matchTagId", "hasTagKey", "hasTagKeyId", "extract", "labels", "location",
)  # fmt: skip
_NAMES: Final = re.compile(r"(?<![\w.])([A-Za-z_]\w*)(?:\.([A-Za-z_]\w*))?")


def grant(view: View) -> None:
    """The condition of a grant: what it is written in, and which attributes there are."""
    if not GRANT.fullmatch(view.type):
        return
    text = view.text("condition.expression")
    if text is None:
        return
    _tell(view, "condition.expression", text)
    _compared(view, "condition.expression", text)
    for root, attribute in _NAMES.findall(_bare(text)):
        if root == "resource" and attribute and attribute not in _RESOURCE:
            meant = nearest_word(attribute, _RESOURCE, 0.6)
            if meant:
                words = f"resource.{attribute} is no attribute"
                view.error("gcp-condition", "condition.expression", words, hint=f"did you mean resource.{meant}?")
                return
        near = nearest(root, _ROOTS, 0.8) if attribute and root not in _ROOTS else ""
        if near:
            view.error("gcp-condition", "condition.expression", f"{show(root)} is nothing", hint=near)
            return


def _compared(view: View, path: str, text: str) -> None:
    """A moment or a number that is compared with a text: no operator of an expression takes both."""
    bare = _bare(text)
    for compared, meant in _COMPARED:
        found = compared.search(bare)
        if found:
            words = f"{found['what'] or found['other']} is compared with a text: {show(text)}"
            view.error("gcp-condition", path, words, allowed=meant)
            return


def provider(view: View) -> None:
    """Whom a provider of identities lets in, and how their attributes are read."""
    text = view.text("attributeCondition")
    if text is not None:
        _tell(view, "attributeCondition", text)
    for key, value in view.mapping("attributeMapping").items():
        if isinstance(value, str):
            _tell(view, f"attributeMapping.{key}", value)


def flow_logs(view: View) -> None:
    """What a subnet's flow logs keep: a filter that nothing passes keeps nothing."""
    path = "logConfig.filterExpr"
    text = view.text(path)
    if text is None:
        return
    _tell(view, path, text)
    if text.strip().lower() in ("false", "!true", "1 == 2"):
        view.warning("gcp-flow-logs", path, f"{show(text)}: no flow passes, and nothing is logged", allowed="true")


def _tell(view: View, path: str, text: str) -> None:
    for words, allowed in _wrong(text):
        view.error("gcp-condition", path, words, allowed=allowed)
        return


def _bare(text: str) -> str:
    """An expression with empty texts and without comments."""
    return _TEXT_OR_COMMENT.sub(lambda match: '""' if match[1] else "", text)


def _wrong(text: str) -> Iterator[tuple[str, str]]:
    bare = _bare(text)
    if re.search(r"['\"]", bare.replace('""', "")):
        yield f"a quotation mark is left open in {show(text)}", "a text in quotation marks"
    elif bare.count("(") != bare.count(")") or bare.count("[") != bare.count("]"):
        yield f"brackets do not pair in {show(text)}", "as many ( as )"
    else:
        for pattern, got, meant in _WRONG:
            if pattern.search(bare):
                yield f"{got} is no operator of an expression: {show(text)}", meant


RULES: Rules = {grant: (EVERY_TYPE,), provider: (GCP_IDENTITY_PROVIDER,), flow_logs: (GCP_SUBNETWORK,)}
