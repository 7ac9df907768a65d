"""What a session makes once: equal to what was made, made by one process, and anew where its inputs are others."""

import shutil
import subprocess
import sys
import time
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import pytest

from tests.fleet.fleets import project, settings
from tests.remembered import Remembered, rehearsal_of, rehearsing_once, told_by, unjudged
from tests.shared import ROOT
from trainyard.recorded.model import UNKNOWN
from trainyard.rehearsal import rehearse as rehearsing
from trainyard.rehearsal.rehearse import rehearse
from trainyard.review import review as reviewing
from trainyard.review.review import review
from trainyard.settings.unseen import stand_in


def never():
    raise AssertionError("made again")


def test_a_recording_that_is_read_is_the_one_that_was_made(rehearsed, tmp_path):
    made = rehearsed("small-aws")
    kept = Remembered(tmp_path / "kept")
    assert kept.of("stack", lambda: made) is made
    read = Remembered(tmp_path / "kept").of("stack", never)
    assert read is not made
    assert read == made
    assert list(read.preview.classes.values()) == list(made.preview.classes.values()), "the classes themselves"
    unknown = [key for each in read.preview.resources for key, value in each.inputs.items() if value is UNKNOWN]
    assert unknown == [key for each in made.preview.resources for key, value in each.inputs.items() if value is UNKNOWN]
    assert unknown


def ask(folder):
    def make():
        with (folder / "made").open("a") as file:
            file.write("once\n")
        time.sleep(0.2)
        return "thing"

    assert Remembered(folder / "kept").of("thing", make) == "thing"


def test_several_that_ask_at_once_have_it_made_by_one(tmp_path):
    asking = [get_context("fork").Process(target=ask, args=(tmp_path,)) for _ in range(4)]
    for each in asking:
        each.start()
    for each in asking:
        each.join()
    assert [each.exitcode for each in asking] == [0] * 4
    assert (tmp_path / "made").read_text() == "once\n"


def test_what_failed_is_made_again(tmp_path):
    kept = Remembered(tmp_path / "kept")
    with pytest.raises(AssertionError, match="made again"):
        kept.of("thing", never)
    assert kept.of("thing", lambda: 1) == 1


def test_another_text_or_another_lock_is_another_stack(tmp_path):
    kept, file = Remembered(tmp_path / "kept"), tmp_path / "Pulumi.small.yaml"
    file.write_text("config: {}\n")
    made = [rehearsal_of(kept, file, lambda: 1)]
    file.write_text("config: {a: b}\n")
    made.append(rehearsal_of(kept, file, lambda: 2))
    (tmp_path / "Pulumi.small.lock.yaml").write_text("zones: []\n")
    made.append(rehearsal_of(kept, file, lambda: 3))
    assert made == [1, 2, 3]
    assert rehearsal_of(kept, file, never) == 3


def test_who_reviews_a_stack_gets_the_recording(rehearsed, shared_things, monkeypatch):
    """Whatever else `review` asks of a rehearsal: else every command would make it again, and no test would tell."""
    made = rehearsed("small-aws")
    monkeypatch.setattr(rehearsing, "rehearse", lambda *_, **__: never())
    rehearsing_once(shared_things, monkeypatch)
    for alone in (True, False):
        assert review(ROOT, ROOT / "stacks" / "Pulumi.small-aws.yaml", alone=alone).rehearsal == made


def test_a_client_s_stack_is_rehearsed_once_wherever_its_project_lies(tmp_path, monkeypatch):
    """Its recording is the same in another folder; another text of any file that is read makes another."""
    small = {key: value for key, value in settings("globex", teamSize=3).items() if key != "apiAccess"}
    of = {"globex": small}
    here, there, other = (project(tmp_path / name, of) for name in ("here", "there", "other"))
    file = "Pulumi.globex.yaml"
    kept, anew = Remembered(tmp_path / "kept"), rehearse(there, there / file, stand_in=stand_in)
    rehearsing_once(kept, monkeypatch)
    made = reviewing.rehearse(here, here / file, stand_in=stand_in)
    assert replace(made, seconds={}) == replace(anew, seconds={})
    monkeypatch.setattr(rehearsing, "rehearse", lambda *_, **__: never())
    rehearsing_once(kept, monkeypatch)
    assert reviewing.rehearse(there, there / file, stand_in=stand_in) == made
    assert told_by(here, here / file) == told_by(there, there / file)
    for changed in (file, "Pulumi.yaml", "Pulumi.globex.lock.yaml", "__main__.py"):
        with (other / changed).open("a") as text:
            text.write("# more\n")
        assert told_by(other, other / file) != told_by(here, here / file)
        project(other, of)
        (other / "Pulumi.globex.lock.yaml").unlink(missing_ok=True)
        assert told_by(other, other / file) == told_by(here, here / file)
    copied = tmp_path / "copied"
    (copied / "stacks").mkdir(parents=True)
    for name in ("Pulumi.yaml", "stacks/__main__.py", "stacks/Pulumi.demo.yaml", "stacks/Pulumi.demo.lock.yaml"):
        shutil.copy(ROOT / name, copied / name)
    demo = copied / "stacks" / "Pulumi.demo.yaml"
    assert told_by(copied, demo) == told_by(ROOT, ROOT / "stacks" / demo.name)
    assert told_by(copied, Path(shutil.copy(demo, tmp_path))) != told_by(copied, demo), "it lies outside of the project"
    (copied / "stacks" / "__main__.py").write_text("print()\n")
    assert told_by(copied, demo) is None, "whatever its program reads"


def test_what_nobody_judges_is_recorded_the_same(rehearsed):
    with unjudged():
        found = rehearse(ROOT, "small-aws")
    assert found.resources == rehearsed("small-aws").resources
    assert found.findings == ()


READER = """
import sys
from pathlib import Path
from tests.remembered import Remembered
from tests.shared import ROOT
from trainyard.rehearsal.rehearse import rehearse
for stack in ("demo-gcp", "demo"):
    Remembered(Path(sys.argv[1])).of(stack, lambda: sys.exit("not there"))
print([finding.message for finding in rehearse(ROOT, "small-aws").errors])
"""


def test_what_was_read_leaves_the_sdk_whole(rehearsed, tmp_path):
    """In a process of its own, in which nothing has used a provider's SDK before."""
    for stack in ("demo-gcp", "demo"):
        made = rehearsed(stack)
        Remembered(tmp_path / "kept").of(stack, lambda made=made: made)
    command = [sys.executable, "-c", READER, str(tmp_path / "kept")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr
