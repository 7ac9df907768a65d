"""Many stacks by another release in few processes: what it makes, what it cannot, and a process that ends."""

from __future__ import annotations

import io
import json
import os
import sys
import time
from pathlib import Path

import pytest

from trainyard.problems import SettingsError
from trainyard.review.change import serve
from trainyard.review.change.many import rehearse_many
from trainyard.review.change.source import Source, outcome_in

RELEASE = """#!{python}
import json, os, sys
with open({starts!r}, "a") as starts:
    starts.write("start\\n")
print('{{"serves": 1}}', flush=True)
for line in sys.stdin:
    request = json.loads(line)
    if request["stack"].endswith("killed.yaml"):
        os._exit(9)
    if request["stack"].endswith("wrong.yaml"):
        print('{{"failed": "no such thing"}}', flush=True)
        continue
    with open(request["outcome"], "w") as outcome:
        json.dump({{"stack": request["stack"], "project": request["project"], "by": os.getpid()}}, outcome)
    print(json.dumps({{"outcome": request["outcome"]}}), flush=True)
"""
"""Another release, as it is seen from here."""


@pytest.fixture
def starts(tmp_path: Path) -> Path:
    return tmp_path / "starts"


def release(folder: Path, text: str) -> Path:
    python = folder / "python"
    python.write_text(text)
    python.chmod(0o755)
    return python


def made(python: Path, folder: Path, names: list[str], workers: int = 1) -> tuple[list[str], dict[str, dict[str, str]]]:
    """The stacks that it was done with, and what it made of which."""
    outcomes = folder / "outcomes"
    outcomes.mkdir()
    files = [folder / f"Pulumi.{name}.yaml" for name in names]
    done = [file.name for file in rehearse_many(python, folder, files, outcomes, workers)]
    found = {name: outcome_in(outcomes, file) for name, file in zip(names, files, strict=True)}
    return done, {name: json.loads(path.read_text()) for name, path in found.items() if path.exists()}


def test_one_process_makes_all(tmp_path: Path, starts: Path) -> None:
    python = release(tmp_path, RELEASE.format(python=sys.executable, starts=str(starts)))
    done, found = made(python, tmp_path, ["a", "b", "c"])
    assert sorted(done) == ["Pulumi.a.yaml", "Pulumi.b.yaml", "Pulumi.c.yaml"]
    assert found["b"]["stack"] == str(tmp_path / "Pulumi.b.yaml")
    assert found["b"]["project"] == str(tmp_path)
    assert len({each["by"] for each in found.values()}) == 1
    assert starts.read_text() == "start\n"


def test_a_stack_on_which_the_process_ends_is_that_stack_s_alone(tmp_path: Path, starts: Path) -> None:
    python = release(tmp_path, RELEASE.format(python=sys.executable, starts=str(starts)))
    done, found = made(python, tmp_path, ["a", "killed", "b", "wrong", "c"])
    assert len(done) == 5
    assert sorted(found) == ["a", "b", "c"], "what is missing is rehearsed for itself"
    assert starts.read_text() == "start\nstart\n"


@pytest.mark.parametrize(
    "text",
    [
        "#!/bin/sh\necho started >> {starts}\nexit 1\n",  # has no module `serve`
        "#!/bin/sh\necho started >> {starts}\necho '{{\"serves\": 2}}'\ncat\n",  # speaks otherwise
    ],
)
def test_a_release_that_cannot_do_many_is_asked_once(tmp_path: Path, starts: Path, text: str) -> None:
    done, found = made(release(tmp_path, text.format(starts=starts)), tmp_path, ["a", "b", "c"])
    assert len(done) == 3
    assert not found
    assert starts.read_text() == "started\n"


def test_a_python_that_is_not_there_makes_nothing(tmp_path: Path) -> None:
    done, found = made(tmp_path / "nowhere", tmp_path, ["a", "b"], workers=2)
    assert len(done) == 2
    assert not found


def test_whoever_stops_in_between_leaves_no_process(tmp_path: Path, starts: Path) -> None:
    python = release(tmp_path, RELEASE.format(python=sys.executable, starts=str(starts)))
    outcomes = tmp_path / "outcomes"
    outcomes.mkdir()
    files = [tmp_path / f"Pulumi.{name}.yaml" for name in "abc"]
    asking = rehearse_many(python, tmp_path, files, outcomes, 1)
    first = next(asking)
    process = json.loads(outcome_in(outcomes, first).read_text())["by"]
    asking.close()  # type: ignore[attr-defined]
    deadline = time.monotonic() + 60
    while _alive(process):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


class Told:
    """What a stack is, whoever judges it."""

    def __init__(self, stack: Path) -> None:
        self.stack = stack.stem.removeprefix("Pulumi.")

    def as_json(self) -> dict[str, object]:
        return {"stack": self.stack, "resources": []}


def test_serving_writes_each_outcome_whole_and_outlives_a_stack_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def judge(_project: Path, stack: Path) -> Told:
        if "wrong" in stack.name:
            raise RuntimeError("no such thing")
        return Told(stack)

    monkeypatch.setattr(serve, "judge", judge)
    requests = [
        json.dumps({"stack": f"/p/Pulumi.{name}.yaml", "project": "/p", "outcome": str(tmp_path / f"{name}.json")})
        for name in ("a", "wrong", "b")
    ]
    answers = io.StringIO()
    serve.serve(requests, answers)
    ready, *told = map(json.loads, answers.getvalue().splitlines())
    assert ready == serve.READY
    assert [told[0], told[2]] == [{"outcome": str(tmp_path / f"{name}.json")} for name in "ab"]
    assert told[1]["failed"].startswith("RuntimeError: no such thing")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "b.json"]


def test_what_was_made_already_is_read_and_what_was_not_is_rehearsed(tmp_path: Path) -> None:
    there = {"stack": "a", "resources": [], "violations": [], "cost": {}, "findings": []}
    outcome_in(tmp_path, Path("Pulumi.a.yaml")).write_text(json.dumps(there))
    source = Source("1.2.3", interpreter=tmp_path / "nowhere", outcomes=tmp_path)
    assert source.read(tmp_path, tmp_path / "Pulumi.a.yaml").resources == ()
    with pytest.raises(Exception, match=r"1\.2\.3.*nowhere"):
        source.read(tmp_path, tmp_path / "Pulumi.b.yaml")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"resources": [', "no JSON"),
        ("[" * 100_000, "nested at most 32 deep"),
        ('{"verdict": {}}', "its settings are wrong"),
    ],
)
def test_what_was_made_and_cannot_be_read_is_told(tmp_path: Path, text: str, words: str) -> None:
    outcome_in(tmp_path, Path("Pulumi.a.yaml")).write_text(text)
    source = Source("1.2.3", interpreter=tmp_path / "nowhere", outcomes=tmp_path)
    with pytest.raises(SettingsError, match=words):
        source.read(tmp_path, tmp_path / "Pulumi.a.yaml")
