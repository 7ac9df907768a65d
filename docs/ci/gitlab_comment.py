"""Puts the Markdown of a check on the merge request, over the comment of an earlier run. Nothing without a token."""

import json
import os
import sys
import urllib.request
from pathlib import Path

MARKER = "<!-- trainyard check -->"


def call(url: str, token: str, method: str = "GET", body: str | None = None) -> object:
    """One request to GitLab's API."""
    data = json.dumps({"body": body}).encode() if body is not None else None
    headers = {"PRIVATE-TOKEN": token, "Content-Type": "application/json"}
    request = urllib.request.Request(url, data=data, method=method, headers=headers)  # noqa: S310 (GitLab's own address)
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
        return json.load(answer)


def main(file: str) -> None:
    """Comments on the merge request of this pipeline."""
    token, merge_request = os.environ.get("TRAINYARD_COMMENT_TOKEN"), os.environ.get("CI_MERGE_REQUEST_IID")
    if not token or not merge_request:
        print("no TRAINYARD_COMMENT_TOKEN, or no merge request: no comment")
        return
    project = f"{os.environ['CI_API_V4_URL']}/projects/{os.environ['CI_PROJECT_ID']}"
    notes = f"{project}/merge_requests/{merge_request}/notes"
    text = Path(file).read_text(encoding="utf-8")
    found = call(f"{notes}?per_page=100&sort=asc", token)
    earlier = [note["id"] for note in found if note["body"].startswith(MARKER)] if isinstance(found, list) else []
    if earlier:
        call(f"{notes}/{earlier[0]}", token, "PUT", text)
    else:
        call(notes, token, "POST", text)


if __name__ == "__main__":
    main(sys.argv[1])
