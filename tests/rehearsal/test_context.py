"""What checks see of a recording is gone with them: it and its views hold each other."""

import gc
import weakref

import pytest

from tests.policies.truth import made
from trainyard.policies.security_privileges import privilege_on_any_resource
from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.read import UnknownInput
from trainyard.recorded.resources import Resources
from trainyard.rehearsal.context import Stack, ValueContext
from trainyard.rehearsal.refusals import check as refusals
from trainyard.rehearsal.works import check as works

ROLE = made("aws:iam/role:Role", "r", {"inlinePolicies": UNKNOWN})


@pytest.fixture
def without_collections():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize(("room", "check"), [(refusals, "check_values"), (works, "check_works")])
def test_what_a_check_looked_at_is_let_go_with_its_end(monkeypatch, without_collections, room, check):
    seen = []

    class Watched(Stack):
        def __init__(self, *given):
            super().__init__(*given)
            seen.append(weakref.ref(self))

    monkeypatch.setattr(room, "Stack", Watched)
    getattr(room, check)([ROLE], ValueContext("1.35", "us-east-1"))
    assert [found() for found in seen] == [None]


def test_a_policy_that_raises_in_the_end_what_it_met_first_holds_no_resources(without_collections):
    resources = Resources([ROLE])
    seen = weakref.ref(resources)
    said = privilege_on_any_resource._check(resources, {})
    with pytest.raises(UnknownInput, match="inlinePolicies") as raised:
        list(said)
    del resources, said, raised
    assert seen() is None
