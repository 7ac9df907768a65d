"""A blind set of sixty in our own components on AWS: 57 of 58 were told at first sight, two of the sixty were none.

Missed: `rights-of-a-node-entry`. No mistakes after all: a tag of the autoscaler left out, which EKS puts itself, and a
handle that two volumes of Mountpoint for S3 share and no pod mounts both of. Of a second set 20 of 21.
"""

from __future__ import annotations

import pytest

from tests.rehearsal.works import mistakes_aws_ninth as ninth
from tests.rehearsal.works.mistakes import context_of, tells
from tests.rehearsal.works.together import told_of_right
from trainyard.rehearsal.refusals.check import check_values

TOLD = {**ninth.REFUSED, **ninth.SILENT, **ninth.LATER}


@pytest.mark.parametrize("what", TOLD)
def test_a_mistake_is_told(rehearsed, what):
    stack, rule, change = TOLD[what]
    rehearsal = rehearsed(stack)
    found = {one.rule for one in check_values(change(rehearsal.known.resources), context_of(rehearsal))}
    assert rule in found or rule in tells(rehearsal, change, rule, ours=True)


@pytest.mark.parametrize("what", ninth.SOUND)
def test_what_is_unusual_and_right_is_not_told(rehearsed, what):
    assert told_of_right(__name__, what, rehearsed, ninth.SOUND) == []
