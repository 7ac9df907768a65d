"""A blind set of 54 changes of our own stacks on AWS, and one of 46 in corners that the first left out.

| set | refused | does not work | right |
| --- | --- | --- | --- |
| first | 24 of 28 told | 13 of 13 told | 10 of 11 believed |
| second | 24 of 27 told | 10 of 10 told | 8 of 8 believed |

Missed: `home-five-deep`, `alarm-over-eight-days`, `read-at-the-start-alone`, `alarm-on-a-search`,
`writes-to-a-bucket-itself`, `one-ampersand`, `read-only-as-a-word`. No mistakes after all: a tag of the autoscaler with
a wrong key, on a group whose machines it knows by themselves; the action of a budget that the account may have. Not
believed, and not mended: a class of database of which the catalogue has no price. Of 128 more, written after these were
mended, 117 were told.
"""

from __future__ import annotations

import shutil

import pytest

from tests.rehearsal.refusals.builders import findings, resource
from tests.rehearsal.works import mistakes_aws_tenth as tenth
from tests.rehearsal.works.mistakes import context_of, tells
from tests.rehearsal.works.together import told_of_right
from tests.shared import ROOT
from trainyard.problems import SettingsError
from trainyard.rehearsal.refusals.check import check_values
from trainyard.rehearsal.rehearse import rehearse

TOLD = {**tenth.REFUSED, **tenth.SILENT, **tenth.LATER}


def unlocked(stack, folder):
    """The stack's file by itself: without the lock, which would be what is said first."""
    return shutil.copy(ROOT / "stacks" / f"Pulumi.{stack}.yaml", folder / f"Pulumi.{stack}.yaml")


@pytest.mark.parametrize("what", tenth.SETTINGS)
def test_settings_are_refused(tmp_path, what):
    stack, words, changed = tenth.SETTINGS[what]
    with pytest.raises(SettingsError) as refused:
        rehearse(ROOT, unlocked(stack, tmp_path), config_overrides=changed)
    assert words in str(refused.value)


@pytest.mark.parametrize("what", tenth.SOUND_SETTINGS)
def test_settings_that_are_right_are_believed(tmp_path, what):
    stack, changed = tenth.SOUND_SETTINGS[what]
    assert rehearse(ROOT, unlocked(stack, tmp_path), config_overrides=changed).findings == ()


@pytest.mark.parametrize("what", TOLD)
def test_a_mistake_is_told(rehearsed, what):
    stack, rule, change = TOLD[what]
    rehearsal = rehearsed(stack)
    found = {one.rule for one in check_values(change(rehearsal.known.resources), context_of(rehearsal))}
    assert rule in found or rule in tells(rehearsal, change, rule, ours=True)


@pytest.mark.parametrize(
    ("type_", "is_told"),
    [
        *((name, True) for name in ("t2.micro", "g2.8xlarge", "r3.8xlarge", "c1.medium")),
        *((name, False) for name in ("g2.2xlarge", "c1.xlarge", "m2.4xlarge", "r3.xlarge", "t3.micro")),
    ],
)
def test_an_old_type_with_a_way_to_its_disks_may_be_asked_for_it(type_, is_told):
    machine = resource("aws:ec2/instance:Instance", "old", {"instanceType": type_, "ebsOptimized": True})
    assert ("ebs-optimized" in {one.rule for one in findings([machine])}) is is_told


@pytest.mark.parametrize("what", tenth.SOUND)
def test_what_is_unusual_and_right_is_not_told(rehearsed, what):
    assert told_of_right(__name__, what, rehearsed, tenth.SOUND) == []
