"""Puts the Markdown of a check on a pull or merge request, over the comment of an earlier run.

It runs beside a token that may write, so it runs as the target branch has it, in a job that runs nothing of the
request's own branch, with nothing but the standard library. The report was written by that branch's code and may hold
anything: it is taken only where it is text of a size that was expected and begins as a report does, and what could
call people, load a picture, hide a link or give GitLab a command is made plain.

Usage: python3 -I comment.py REPORT, in a job of GitHub Actions (GITHUB_TOKEN, PULL_REQUEST) or of GitLab CI
(TRAINYARD_COMMENT_TOKEN). Ends with 1 where there is no report or it is none.
"""

import json
import os
import re
import sys
import unicodedata
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path

MARKER = "<!-- trainyard check -->"
LARGEST_FILE = 2_000_000
"""Bytes. A report of a hundred stacks has a tenth of it."""
LONGEST_COMMENT = 60_000
"""Characters; GitHub takes 65,536 and GitLab a million."""
BREAK = "\N{ZERO WIDTH NON-JOINER}"
CUT = "\n\n… the report is longer: the artifact of this run holds the whole.\n"


class Refused(Exception):  # noqa: N818 - reads as what it says
    """What was handed over is no report."""


def report(file: Path) -> str:
    """The text of a report as it may be posted.

    Raises Refused where the file is missing, too large, no text or no report.
    """
    if not file.is_file() or file.is_symlink():
        raise Refused(f"{file}: there is no such file; the check left no report")
    size = file.stat().st_size
    if size > LARGEST_FILE:
        raise Refused(f"{file}: {size} bytes; a report has at most {LARGEST_FILE}")
    try:
        text = file.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise Refused(f"{file}: is no UTF-8 text ({error.reason})") from None
    first, _, rest = text.partition("\n")
    if first != MARKER:
        raise Refused(f"{file}: does not begin with the line {MARKER}")
    body = inert(rest)
    if len(body) > LONGEST_COMMENT:
        body = body[:LONGEST_COMMENT].rpartition("\n")[0] + CUT
    return f"{MARKER}\n{body}"


def inert(text: str) -> str:
    """Markdown that formats and does nothing else: no HTML, picture, link, mention, reference or command.

    Headings, lists, tables, code and emphasis stay. Signs that do something are parted from what makes them do it, by a
    letter without width: once, however often it is asked for.
    """
    kept = "".join(letter for letter in text if letter in "\n\t" or not _is_hidden(letter))
    for sign, before in _SIGNS:
        kept = re.sub(rf"({sign})(?={before})", rf"\1{BREAK}", kept, flags=re.IGNORECASE)
    return re.sub(r"^([ \t]*)/(?=\w)", rf"\1{BREAK}/", kept, flags=re.MULTILINE)  # GitLab's quick actions


_SIGNS = (
    ("<", r"[a-z/!?]"),  # a tag, a comment, an address in angle brackets
    ("&", r"[#\w]"),  # `&#64;` is an @; GitLab's epics
    ("[@#$%!]", r'[\w"]'),  # mentions, and the numbers of issues, requests, snippets and milestones
    ("!", r"\["),  # a picture
    (r"\]", r"[(\[:]"),  # an inline link, a link to a definition, a definition
    (r"\bGH", r"-\d"),
    (":", "//"),
    (r"\bwww", r"\."),
)


def _is_hidden(letter: str) -> bool:
    """Controls, halves of letters, private use, and what turns the direction of writing (CVE-2021-42574)."""
    return (
        unicodedata.category(letter) in ("Cc", "Cs", "Co")
        or letter in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    )


def call(url: str, headers: Mapping[str, str], method: str = "GET", body: str | None = None) -> object:
    """One request to the API of the host."""
    data = json.dumps({"body": body}).encode() if body is not None else None
    told = {**headers, "Content-Type": "application/json", "User-Agent": "trainyard-comment"}
    request = urllib.request.Request(url, data=data, method=method, headers=told)  # noqa: S310 (the host's own address)
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
        return json.load(answer)


def pages(url: str, headers: Mapping[str, str]) -> Iterator[dict[str, object]]:
    """What all pages of a list hold."""
    for page in range(1, 101):
        found = call(f"{url}?per_page=100&page={page}", headers)
        if not isinstance(found, list) or not found:
            return
        yield from found


def where(environment: Mapping[str, str]) -> tuple[str, str, dict[str, str], str] | None:
    """The list of comments, a comment (with `{}` for its id), the headers, and the method that changes one.

    None outside of a pull or merge request, or without a token.
    """
    number = environment.get("PULL_REQUEST", "")
    if environment.get("GITHUB_ACTIONS") and number.isdigit() and environment.get("GITHUB_TOKEN"):
        issues = f"{environment['GITHUB_API_URL']}/repos/{environment['GITHUB_REPOSITORY']}/issues"
        headers = {"Authorization": f"Bearer {environment['GITHUB_TOKEN']}", "Accept": "application/vnd.github+json"}
        return f"{issues}/{number}/comments", f"{issues}/comments/{{}}", headers, "PATCH"
    token, number = environment.get("TRAINYARD_COMMENT_TOKEN"), environment.get("CI_MERGE_REQUEST_IID", "")
    if environment.get("GITLAB_CI") and number.isdigit() and token:
        notes = f"{environment['CI_API_V4_URL']}/projects/{environment['CI_PROJECT_ID']}/merge_requests/{number}/notes"
        return notes, f"{notes}/{{}}", {"PRIVATE-TOKEN": token}, "PUT"
    return None


def main(file: str) -> int:
    """Comments on the request of this pipeline; the exit status."""
    place = where(os.environ)
    if place is None:
        print("no pull or merge request, or no token: no comment")
        return 0
    comments, comment, headers, change = place
    try:
        text = report(Path(file))
        earlier = (found for found in pages(comments, headers) if str(found["body"]).startswith(MARKER))
        mine = next(earlier, None)
        if mine is None:
            call(comments, headers, "POST", text)
        else:
            call(comment.format(mine["id"]), headers, change, text)
    except Refused as error:
        print(f"no comment: {error}", file=sys.stderr)
        return 1
    except urllib.error.URLError as error:
        print(f"no comment: {comments}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
