"""A room that another process may play: each is played once, whoever plays it, and nothing of it is lost."""

from dataclasses import dataclass

import pytest

from trainyard.recorded.kinds import WRONG_KINDS
from trainyard.recorded.model import Finding
from trainyard.rehearsal import judged
from trainyard.rehearsal.context import Case, ValueContext
from trainyard.rehearsal.works import check

THEIRS = Finding("error", "found-elsewhere", "wrong")


@dataclass
class Other:
    """A process that took the room or did not, and found something in it or came to no end."""

    took: bool
    answer: list[Finding] | None = None

    def took_it(self):
        return self.took

    def found(self):
        assert self.took, "nobody waits for what is not begun"
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

    monkeypatch.setattr(check, "ROOMS", {name: room(name) for name in ("placement", check.LAST, "queues")})
    return order


@pytest.fixture
def broken(case, played):
    def of(other=None, refused=()):
        found = judged.broken(case, refused, other)
        return sorted(finding.rule for finding in found)

    of.urn = case.resources[-1].urn
    return of


def test_by_itself_a_process_plays_every_room(broken, played):
    assert broken() == sorted(["placement", check.LAST, "queues"])
    assert played == ["placement", "queues", check.LAST]


@pytest.mark.parametrize("answer", [[THEIRS], []])
def test_what_another_process_plays_is_not_played_here(broken, played, answer):
    assert broken(Other(True, answer)) == sorted(["placement", "queues", *(found.rule for found in answer)])
    assert played == ["placement", "queues"]


def test_what_it_has_not_begun_is_played_here(broken, played):
    assert broken(Other(False)) == sorted(["placement", "queues", check.LAST])
    assert played == ["placement", "queues", check.LAST]


def test_what_it_did_not_end_is_played_here(broken, played):
    assert broken(Other(True, None)) == sorted(["placement", "queues", check.LAST])
    assert played == ["placement", "queues", check.LAST]


def test_of_what_is_of_a_wrong_kind_only_this_process_knows(broken, played):
    wrong = Finding("error", next(iter(WRONG_KINDS)), "wrong", urn=broken.urn, path="name")
    assert broken(Other(True, [THEIRS]), [wrong]) == sorted(["placement", "queues", check.LAST])


def test_the_share_is_that_room_alone(case, played):
    assert [finding.rule for finding in judged.last_broken(case)] == [check.LAST]
    assert played == [check.LAST]
