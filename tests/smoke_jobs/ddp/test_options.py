import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from trainyard.smoke_jobs.ddp import result
from trainyard.smoke_jobs.ddp.options import LEVELS, Options, UsageError, from_document, parse, to_json


def test_flags_win_over_the_document_and_the_document_over_defaults() -> None:
    document = json.dumps({"nproc_per_node": 4, "seed": 7, "baseline_drop": 0.1})
    options = parse(["--nproc-per-node", "2", "--break", "data", "--break", "scaling"], {"SMOKE_OPTIONS": document})
    assert (options.nproc_per_node, options.seed, options.baseline_drop) == (2, 7, 0.1)
    assert options.breaks == ("data", "scaling")
    assert options.checks == LEVELS["quick"]
    assert options.timeout_s == Options().timeout_s


def test_the_document_may_be_a_file(tmp_path: Path) -> None:
    path = tmp_path / "options.json"
    path.write_text('{"stack": "demo", "expected_hosts": ["a", "b"], "timeout_s": 60}')
    options = parse([], {"SMOKE_OPTIONS": str(path)})
    assert (options.stack, options.expected_hosts, options.timeout_s) == ("demo", ("a", "b"), 60.0)


def test_options_survive_the_way_to_the_ranks() -> None:
    options = dataclasses.replace(Options(), checks=("data",), breaks=("data",), keep_files=True, usd_per_node_hour=3.5)
    assert parse([], {"SMOKE_OPTIONS": to_json(options)}) == options


def test_all_mistakes_are_reported_at_once() -> None:
    with pytest.raises(UsageError) as caught:
        from_document({"nproc_per_nod": 2, "seed": "x", "checks": "data", "keep_files": 1})
    text = "\n".join(caught.value.problems)
    assert "unknown option 'nproc_per_nod'; did you mean 'nproc_per_node'?" in text
    assert "option 'seed' is 'x'; a int is needed" in text
    assert "'checks' is 'data'; a list of strings" in text
    assert "'keep_files' is 1" in text


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ({"checks": ["chekpoint"]}, "there is no check 'chekpoint'; did you mean 'checkpoint'?"),
        ({"breaks": ["x"]}, "one of rendezvous, devices"),
        ({"expect_transport": "rdma"}, "one of efa, gpudirect, ib or empty"),
        ({"tracking_client": "curl"}, "one of auto, mlflow, rest"),
        ({"checkpoint_uri": "gs://b/p"}, "mount the bucket"),
        ({"timeout_s": 0}, "a positive number of seconds"),
        ({"nodes": -1}, "cannot be negative"),
        ({"kills": 0}, "at least 1"),
        ({"baseline_drop": 1.5}, "between 0 and 1"),
        ({"port": 80}, "1024 to 65534"),
    ],
)
def test_values_that_cannot_be(document: dict[str, Any], text: str) -> None:
    with pytest.raises(UsageError, match=text):
        from_document(document)


@pytest.mark.parametrize("text", ["{", "{}x", "/no/such/file"])
def test_a_document_that_cannot_be_read(text: str) -> None:
    with pytest.raises(UsageError, match="SMOKE_OPTIONS"):
        parse([], {"SMOKE_OPTIONS": text})


def said(output: str) -> dict[str, Any]:
    """The result that was printed, for there is no file."""
    (line,) = [line for line in output.splitlines() if line.startswith(result.LINE_PREFIX)]
    document: dict[str, Any] = json.loads(line.removeprefix(result.LINE_PREFIX))
    return document


def test_a_scratch_folder_that_cannot_be_written_is_a_wrong_option(smoke: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in ("/proc/nope", str(tmp_path / "file")):
        ran = smoke("--nproc-per-node", "1", "--scratch-dir", folder)
        assert ran.code == 2 and "Traceback" not in ran.output, ran.output
        (error,) = said(ran.output)["errors"]
        assert error["message"].startswith(f"scratch_dir {folder} cannot be written: ")


def test_what_is_printed_of_wrong_options_keeps_the_schema() -> None:
    assert result.problems(result.unusable(["port is 1"])) == []


def test_wrong_options_exit_with_2_and_leave_no_result(smoke: Callable[..., Any]) -> None:
    ran = smoke("--nodes", "2", "--node-rank", "5", "--baseline-drop", "0.2")
    assert ran.code == 2
    assert "node_rank is 5 of 2 nodes" in ran.output
    assert "set head to the host name of node 0" in ran.output
    assert ran.result == {}
    told = said(ran.output)
    assert (told["verdict"], told["exit_code"]) == ("usage", 2)
    assert any("node_rank is 5 of 2 nodes" in error["message"] for error in told["errors"])
    ran = smoke("--no-such-flag")
    assert ran.code == 2 and "no-such-flag" in said(ran.output)["errors"][0]["message"]
    ran = smoke("--nodes", "2", "--node-rank", "0", "--head", "h", "--baseline", "/no/file")
    assert ran.code == 2
    for text in (
        "tracking_uri: `local` is for one node",
        "checkpoint_uri: check checkpoint",
        "there is no file /no/file",
    ):
        assert text in ran.output
