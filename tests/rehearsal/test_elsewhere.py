"""Rooms that two processes share: each is played once, whoever plays it, and nothing of it is lost."""

from dataclasses import dataclass

import pytest

from trainyard.recorded.kinds import WRONG_KINDS
from trainyard.recorded.model import Finding
from trainyard.rehearsal import judged
from trainyard.rehearsal.context import Case, ValueContext
from trainyard.rehearsal.works import check

THEIRS = Finding("error", "found-elsewhere", "wrong")
ROOMS = ("references", "programs", "placement", "queues")
"""In their turn."""


@dataclass
class Other:
    """A process that leaves some rooms to this one, in their order, and found something in the rest or never ended."""

    left: list[int]
    answer: list[Finding] | None = None

    def take(self):
        return self.left.pop(0) if self.left else None

    def found(self):
        return self.answer


@pytest.fixture
def case(rehearsed):
    return Case(rehearsed("small-gcp").known.resources, ValueContext("1.35", ""))


@pytest.fixture
def played(case, monkeypatch):  # after the recording, which is judged in full and kept for other tests
    """The rooms that were played, in their order; each notes its name at the first resource."""
    order = []

    def room(name):
        def look(stack):
            order.append(name)
            stack.views[0].error(name, "", "wrong")

        return look

    monkeypatch.setattr(
        check, "ROOMS", {name: room(name) for name in ("placement", "programs", "queues", "references")}
    )
    return order


@pytest.fixture
def broken(case, played):
    def of(other=None, refused=()):
        found = judged.broken(case, refused, other)
        return sorted(finding.rule for finding in found)

    of.urn = case.resources[-1].urn
    return of


def test_by_itself_a_process_plays_every_room_and_the_longest_first(broken, played):
    assert broken() == sorted(ROOMS)
    assert tuple(played) == ROOMS


@pytest.mark.parametrize("answer", [[THEIRS], []])
@pytest.mark.parametrize("mine", [[0, 2], [1], [3], [], [0, 1, 2, 3]])
def test_what_another_process_plays_is_not_played_here(broken, played, answer, mine):
    here = [ROOMS[number] for number in mine]
    assert broken(Other([*mine], answer)) == sorted([*here, *(found.rule for found in answer)])
    assert played == here


@pytest.mark.parametrize("mine", [[0, 2], [], [0, 1, 2, 3]])
def test_what_it_did_not_end_is_played_here(broken, played, mine):
    assert broken(Other([*mine], None)) == sorted(ROOMS)
    assert sorted(played) == sorted(ROOMS), "each once"


def test_of_what_is_of_a_wrong_kind_only_this_process_knows(broken, played):
    wrong = Finding("error", next(iter(WRONG_KINDS)), "wrong", urn=broken.urn, path="name")
    assert broken(Other([], [THEIRS]), [wrong]) == sorted(ROOMS)


def test_two_clusters_have_the_same_share(case, played, monkeypatch):
    monkeypatch.setattr(check, "by_cluster", lambda resources: [resources, resources])
    judged.broken(case, [], Other([1, 3], []))
    assert played == ["programs", "queues", "programs", "queues"]


def test_the_share_beside_is_what_is_taken_there(case, played):
    assert [finding.rule for finding in judged.broken_beside(case, Other([1, 2]).take)] == ["programs", "placement"]
    assert played == ["programs", "placement"]


def test_what_is_of_a_wrong_kind_comes_to_light_later_and_all_is_looked_at_again(case, played, monkeypatch):
    monkeypatch.setattr(judged, "check_values", lambda *_: [])
    wrong = Finding("error", next(iter(WRONG_KINDS)), "wrong", urn=case.resources[-1].urn, path="name")
    found, _ = judged.judged_by_rules(case, lambda: judged.Refused([], [wrong]), Other([0], [THEIRS]))
    assert THEIRS not in found
    assert played == ["references", *ROOMS]
