"""A stack with encrypted settings rehearses: what was not seen is said, and what holds their text is a secret."""

from __future__ import annotations

import re
from pathlib import Path

import pulumi
import pytest

from tests.pulumi_harness import record
from tests.shared import ROOT
from trainyard.problems import SettingsError
from trainyard.recorded.model import Secret, leaves
from trainyard.rehearsal.rehearse import Rehearsal, rehearse
from trainyard.settings.unseen import stand_in
from trainyard.stacks.environment.encrypted import EncryptedTexts

STACK = """
config:
  trainyard:client: acme
  trainyard:cloud: aws
  trainyard:region: us-east-1
  trainyard:teams:
    - { name: vision, members: 12, principals: [{ secure: a }, { secure: b }] }
  trainyard:gpuPools:
    train:
      reserved: { reservationId: { secure: c }, nodes: 1, availabilityZone: us-east-1b }
  trainyard:monthlyBudgetUsd: 60000
  trainyard:alertEmails: [{ secure: d }, plain@example.com, { secure: e }]
  trainyard:awsAccountId: { secure: f }
  trainyard:aws: { adminPrincipals: [{ secure: g }] }
  trainyard:endpointAccess: [{ secure: h }, { secure: i }]
  trainyard:smoke: { image: { secure: j } }
"""
UNSEEN = re.compile(r"unseen-\d+@|:role/unseen-\d+|\b9000000000\d\d\b|203\.0\.113\.|cr-000000000000000|unseen/image")


def stack_file(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "Pulumi.hidden.yaml"
    file.write_text(text)
    return file


@pytest.fixture(scope="module")
def rehearsal(tmp_path_factory: pytest.TempPathFactory) -> Rehearsal:
    return rehearse(ROOT, stack_file(tmp_path_factory.mktemp("stack"), STACK), stand_in=stand_in)


def test_it_rehearses_and_says_what_it_did_not_see(rehearsal: Rehearsal) -> None:
    assert [str(finding) for finding in rehearsal.errors] == []
    (unseen,) = [finding for finding in rehearsal.findings if finding.rule == "unseen-settings"]
    for place in ("teams[0].principals[1]", "alertEmails[2]", "awsAccountId", "endpointAccess[0]", "smoke.image"):
        assert place in unseen.message
    assert "alertEmails[1]" not in unseen.message


def test_no_resource_holds_one_in_the_clear(rehearsal: Rehearsal) -> None:
    seen = dict.fromkeys(("secret", "clear"), 0)
    for resource in (*rehearsal.preview.resources, *rehearsal.known.resources):
        for _, value, secret in leaves(resource.inputs):
            if isinstance(value, str) and UNSEEN.search(value):
                seen["secret" if secret else "clear"] += 1
    assert seen["clear"] == 0
    assert seen["secret"] > 50
    # What is made once an entry of a list is named by the entry, and nothing can hide a name.
    named = {
        resource.type for resource in rehearsal.resources if re.search(r"unseen-\d|9000000000|203\.0", resource.urn)
    }
    assert named == {
        "aws:eks/accessEntry:AccessEntry",
        "aws:eks/accessPolicyAssociation:AccessPolicyAssociation",
        "aws:sns/topicSubscription:TopicSubscription",
    }


def test_a_setting_that_decides_what_is_made_is_refused(tmp_path: Path) -> None:
    text = STACK.replace("client: acme", "client: { secure: x }").replace("region: us-east-1", "region: { secure: y }")
    with pytest.raises(SettingsError) as caught:
        rehearse(ROOT, stack_file(tmp_path, text), stand_in=stand_in)
    assert {(problem.key, problem.got) for problem in caught.value.problems} == {
        ("client", "an encrypted value"),
        ("region", "an encrypted value"),
    }


def test_a_key_under_a_misspelt_namespace_ends_the_program(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        rehearse(ROOT, stack_file(tmp_path, STACK + "  trainyrd:residency: eu\n"), stand_in=stand_in)
    assert [problem.hint for problem in caught.value.problems] == ["did you mean trainyard:residency?"]


def test_marking_leaves_the_rest_as_it_is() -> None:
    class Part(pulumi.CustomResource):
        def __init__(self, name: str, props: dict[str, object]) -> None:
            super().__init__("test:index:Part", name, props)

    def program() -> None:
        texts = EncryptedTexts.of({"trainyard:alertEmails": '["a@example.com"]'}, frozenset({"trainyard:alertEmails"}))
        texts.stay_secret()
        later = pulumi.Output.from_input("later a@example.com")
        Part("part", {"list": ["b@example.com", "to a@example.com"], "map": {"x": 5, "y": later}, "none": None})
        pulumi.export("mail", texts.marked({"to": "a@example.com"}))
        pulumi.export("other", texts.marked(["b"]))

    recording = record(program)
    (part,) = recording.resources
    assert part.inputs["list"] == ["b@example.com", Secret("to a@example.com")]
    assert part.inputs["map"] == {"x": 5, "y": Secret("later a@example.com")}
