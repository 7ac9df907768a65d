"""Results of smoke jobs: those of the stack are read, everything else is refused with its place."""

from __future__ import annotations

import copy
import json

import pytest

from tests.smoke_jobs.report.support import document
from trainyard.problems import SettingsError
from trainyard.review.handover.proof import charts, read_result, subject_of, told_of

DEMO = document(stack="demo")


def read(tmp_path, content, stack="demo"):
    path = tmp_path / "result.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return read_result(path, stack)


def test_a_result_of_the_stack_is_read_as_it_is(tmp_path):
    assert read(tmp_path, DEMO) == json.loads(json.dumps(DEMO))
    assert subject_of(DEMO) == "train" and told_of(DEMO).startswith("train: It cannot train")
    assert charts(DEMO)[0].title == "Bus bandwidth by message size"


def changed(*path, value):
    found = copy.deepcopy(DEMO)
    at = found
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return found


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "no JSON"),
        ("[]", "trainyard.smoke/1"),
        ({"schema": "trainyard.smoke/1"}, "field required"),
        ({"schema": "other"}, "trainyard.smoke/1"),
        (changed("checks", value={}), "list"),
        (changed("checks", 0, "figure", value={"name": "x"}), "field required"),
        (changed("curves", "bandwidth", 0, "bytes", value=0), "greater than or equal to 1"),
        (changed("curves", "scaling", value=[{"ranks": 1, "samples_per_second": "many"}]), "number"),
        (changed("verdict", value="pass"), "does not belong to exit code"),
        (changed("job", "stack", value="other"), "must be of demo"),
        (changed("job", "stack", value=""), "must be of demo"),
        (changed("topology", "nodes", value=True), "integer"),
    ],
)
def test_what_is_no_result_of_the_stack_is_refused(tmp_path, content, said):
    with pytest.raises(SettingsError) as caught:
        read(tmp_path, content)
    assert all("--smoke" in problem.key for problem in caught.value.problems)
    assert any(said in str(problem) for problem in caught.value.problems), [str(one) for one in caught.value.problems]


def test_a_number_that_is_none_is_refused(tmp_path):
    with pytest.raises(SettingsError, match="finite"):
        read(tmp_path, json.dumps(DEMO).replace("1250.0", "NaN").replace("1.25", "NaN"))


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(SettingsError, match="no such file"):
        read_result(tmp_path / "absent.json", "demo")
