"""The program that comments beside a token that may write: what it takes, what it makes inert, whom it asks."""

import importlib.util
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from hypothesis import given

from tests.review.formats.test_formats import as_json, as_markdown, checked
from tests.review.formats.test_markdown_text import TEXTS, tokens
from tests.review.violations import ACCEPTED, VIOLATION
from tests.shared import ROOT
from trainyard.review.formats.markdown import MARKER


def load():
    spec = importlib.util.spec_from_file_location("comment", ROOT / "docs" / "ci" / "comment.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


comment = load()


def test_it_knows_the_mark_of_a_report():
    assert comment.MARKER == MARKER


def test_a_report_of_ours_is_shown_as_it_is(tmp_path):
    before = as_json(checked(plan={"a": 1}))
    text = as_markdown([checked(VIOLATION, accepted=(ACCEPTED,), gateways=3, budget=9, plan={"a": 2})], before)
    file = tmp_path / "trainyard.md"
    file.write_text(text)
    assert comment.report(file) == text


@given(TEXTS)
def test_whatever_a_branch_wrote_does_nothing(text):
    made = comment.inert(text)
    kinds = {token.type for token in tokens(made)}
    assert not {"html_inline", "html_block", "link_open", "image"} & kinds
    assert not re.search(r"@\w|!\d|#\d|://|\bwww\.|\bGH-\d", made, flags=re.IGNORECASE)
    assert not re.search(r"^[ \t]*/\w", made, flags=re.MULTILINE)
    assert comment.inert(made) == made


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"# no report\n", "does not begin with the line"),
        (b"<!-- trainyard check -->x\n", "does not begin with the line"),
        (b"\xff\xfe", "is no UTF-8 text"),
        (MARKER.encode() + b"\n" + b"a" * comment.LARGEST_FILE, "bytes; a report has at most"),
        (None, "there is no such file"),
    ],
)
def test_what_is_no_report_is_refused(tmp_path, content, why):
    file = tmp_path / "trainyard.md"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(comment.Refused, match=why):
        comment.report(file)


def test_a_link_in_the_artifact_is_no_report(tmp_path):
    (tmp_path / "secret").write_text(f"{MARKER}\nof the runner\n")
    (tmp_path / "trainyard.md").symlink_to(tmp_path / "secret")
    with pytest.raises(comment.Refused, match="no such file"):
        comment.report(tmp_path / "trainyard.md")


def test_a_long_report_is_cut_at_a_line(tmp_path):
    file = tmp_path / "trainyard.md"
    file.write_text(f"{MARKER}\n" + "a line\n" * 20_000)
    text = comment.report(file)
    assert len(text) < 65_536
    assert text.endswith("a line" + comment.CUT)


@pytest.fixture
def host():
    """A stand-in of both hosts' API, with the requests that it got and the comments that it has."""
    asked, kept = [], [{"id": 3, "body": "hello"}]

    class Handler(BaseHTTPRequestHandler):
        def answer(self):
            length = int(self.headers.get("Content-Length") or 0)
            asked.append((self.command, self.path, self.rfile.read(length), dict(self.headers)))
            first = self.path.endswith("page=1")
            body = json.dumps((kept if first else []) if self.command == "GET" else {}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PATCH = do_PUT = answer  # noqa: N815

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", asked, kept
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("which", ["GitHub", "GitLab"])
@pytest.mark.parametrize("again", [False, True])
def test_it_comments_once_and_changes_its_own(host, tmp_path, monkeypatch, which, again):
    url, asked, kept = host
    for name in ("GITHUB_ACTIONS", "GITLAB_CI"):
        monkeypatch.delenv(name, raising=False)
    told = {
        "GitHub": {"GITHUB_ACTIONS": "true", "GITHUB_API_URL": url, "GITHUB_REPOSITORY": "acme/ml", "GITHUB_TOKEN": "t",
                   "PULL_REQUEST": "7"},
        "GitLab": {"GITLAB_CI": "true", "CI_API_V4_URL": url, "CI_PROJECT_ID": "5", "CI_MERGE_REQUEST_IID": "7",
                   "TRAINYARD_COMMENT_TOKEN": "t"},
    }[which]  # fmt: skip
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    file = tmp_path / "trainyard.md"
    file.write_text(f"{MARKER}\n@everyone\n")
    if again:
        kept.append({"id": 9, "body": f"{MARKER}\nan earlier one"})
    assert comment.main(str(file)) == 0
    method, path, body, headers = asked[-1]
    places = {
        ("GitHub", False): ("POST", "/repos/acme/ml/issues/7/comments"),
        ("GitHub", True): ("PATCH", "/repos/acme/ml/issues/comments/9"),
        ("GitLab", False): ("POST", "/projects/5/merge_requests/7/notes"),
        ("GitLab", True): ("PUT", "/projects/5/merge_requests/7/notes/9"),
    }
    assert (method, path) == places[which, again]
    assert "@everyone" not in json.loads(body)["body"]
    assert "t" in (headers.get("Authorization", "").removeprefix("Bearer "), headers.get("Private-Token"))


def test_a_refused_report_and_a_silent_host_end_with_1(tmp_path, monkeypatch, capsys):
    told = {"GITHUB_ACTIONS": "true", "GITHUB_API_URL": "http://127.0.0.1:9", "GITHUB_REPOSITORY": "acme/ml",
            "GITHUB_TOKEN": "hush-hush", "PULL_REQUEST": "7"}  # fmt: skip
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    assert comment.main(str(tmp_path / "none.md")) == 1
    (tmp_path / "trainyard.md").write_text(f"{MARKER}\n")
    assert comment.main(str(tmp_path / "trainyard.md")) == 1
    told = capsys.readouterr().err
    assert told.count("no comment: ") == 2 and "hush-hush" not in told
    monkeypatch.setenv("PULL_REQUEST", "")
    assert comment.main(str(tmp_path / "none.md")) == 0
