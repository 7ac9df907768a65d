"""Clients that are alike are judged once, and what is wrong with one of them is found all the same."""

from __future__ import annotations

import copy
import datetime
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.shared import ROOT
from trainyard.capture import Captured, derived, noting_derived
from trainyard.recorded.model import UNKNOWN, RecordedResource, Secret, leaves
from trainyard.rehearsal import rehearse as rehearse_module
from trainyard.rehearsal.engine.recorder import Recording
from trainyard.rehearsal.shape import once
from trainyard.rehearsal.shape import sound as shapes
from trainyard.review.bench import clients
from trainyard.review.review import Review, judge

Change = Callable[[RecordedResource], RecordedResource]

MANAGED = """config:
  trainyard:client: {name}
  trainyard:environment: research
  trainyard:cloud: {cloud}
  trainyard:region: {region}
  trainyard:teams: [{{name: research, members: 3}}]
  trainyard:monthlyBudgetUsd: 9000
  trainyard:alertEmails: [ml@{name}.example]
  trainyard:owner: ml@{name}.example
  trainyard:costCentre: ml-{number}
{more}  pulumi:disable-default-providers: ["*"]
"""
ON_GOOGLE = (
    '  trainyard:gcp: {{project: {name}-ml, projectNumber: "{account}", billingAccount: 012345-6789AB-CDEF01}}\n'
)


@pytest.fixture
def remembered(monkeypatch: pytest.MonkeyPatch) -> Iterator[shapes.Sound]:
    """What is remembered in a test of its own, which judges many stacks."""
    found = shapes.Sound()
    monkeypatch.setattr(shapes, "OF_THIS_PROCESS", found)
    with once.judging_many():
        yield found


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of medium clients on AWS, every fourteenth of them alike, with small ones on both clouds beside."""
    folder = clients(ROOT, tmp_path_factory.mktemp("clients"), 31)
    for cloud, region, template in (("aws", "us-east-1", ""), ("gcp", "us-central1", ON_GOOGLE)):
        for number, name in enumerate(("vexora", "vortik")):
            more = template.format(name=name, account=210987654300 + number)
            text = MANAGED.format(name=name, cloud=cloud, region=region, number=1300 + 100 * number, more=more)
            (folder / "stacks" / f"Pulumi.{name}-{cloud}.yaml").write_text(text, encoding="utf-8")
    return folder


def judged(project: Path, stack: str) -> Review:
    found = judge(project, project / "stacks" / f"Pulumi.{stack}.yaml")
    assert isinstance(found, Review), found
    return found


def told(review: Review) -> dict[str, Any]:
    policies = review.judged.as_json()
    return {**review.as_json(), "policies": {key: policies[key] for key in policies if key != "seconds"}, "seconds": 0}


ON_A_CLUSTER = MANAGED.replace("  trainyard:environment: research\n", "").replace("9000\n", "90000\n")
"""On Google Cloud with a cluster of its own, and so with the database of MLflow, which has an address."""


def test_clients_on_googles_clusters_are_judged_once_and_their_databases_have_addresses_of_their_own(
    project: Path, remembered: shapes.Sound, tmp_path: Path
) -> None:
    addresses = []
    for number, name in enumerate(("vexora", "vortik")):
        more = ON_GOOGLE.format(name=name, account=210987654300 + number) + "  trainyard:profile: medium\n"
        text = ON_A_CLUSTER.format(name=name, cloud="gcp", region="europe-west4", number=1300, more=more)
        file = tmp_path / f"Pulumi.{name}.yaml"
        file.write_text(text, encoding="utf-8")
        found = judge(project, file)
        assert isinstance(found, Review), found
        assert found.verdict.state.deployable, found.verdict
        resources = found.rehearsal.known.resources
        addresses.append({one.name: one.outputs[key] for one in resources for key in ADDRESSES if key in one.outputs})
    assert remembered.known == 2
    first, second = addresses
    assert [name.replace("vexora", "vortik") for name in first] == list(second)
    assert list(first.values()) == list(second.values())


ADDRESSES = ("privateIpAddress", "networks")


@pytest.mark.parametrize(
    ("one", "other", "again"),
    [("c014", "c028", 2), ("vexora-aws", "vortik-aws", 2), ("vexora-gcp", "vortik-gcp", 2), ("c001", "c002", 0)],
)
def test_the_next_client_is_told_what_it_would_be_told_alone(
    project: Path, remembered: shapes.Sound, monkeypatch: pytest.MonkeyPatch, one: str, other: str, again: int
) -> None:
    judged(project, one)
    with_others = told(judged(project, other))
    assert (remembered.asked, remembered.known) == (4, again)
    monkeypatch.setenv(once.SWITCH, "1")
    assert told(judged(project, other)) == with_others
    assert remembered.asked == 4, "with the switch nobody asks"


def test_one_stack_alone_has_no_shape(project: Path) -> None:
    with once.judging_many(False):
        assert once.sound() is None
        assert judged(project, "vortik-aws").rehearsal.shape is None


Recorded = tuple[Recording, Recording, Captured, Mapping[str, Any]]


@pytest.fixture(scope="module")
def recorded(project: Path) -> Mapping[str, Recorded]:
    """What the programs of two clients that are alike record, run once for all mistakes."""
    found: dict[str, Recorded] = {}
    run = rehearse_module._recorded

    def keep(config: Any, *given: Any) -> tuple[Recording, Recording, Captured]:
        with noting_derived() as noted:
            preview, known, captured = run(config, *given)
        found[config.stack] = (preview, known, captured, noted)
        return preview, known, captured

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rehearse_module, "_recorded", keep)
        for stack in ("c014", "c028"):
            judged(project, stack)
    return found


@pytest.fixture
def with_recorded(recorded: Mapping[str, Recorded], monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Change], None]:
    """Makes a client's rehearsal take what was recorded of it, with a change of each resource."""

    def change_of(stack: str, change: Change) -> None:
        def changing(config: Any, *_: Any) -> tuple[Recording, Recording, Captured]:
            preview, known, captured = again(recorded[config.stack])
            if config.stack not in stack.split():
                return preview, known, captured
            changed = [replace(run, resources=[change(one) for one in run.resources]) for run in (preview, known)]
            return changed[0], changed[1], captured

        monkeypatch.setattr(rehearse_module, "_recorded", changing)

    return change_of


def _texts_changed(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: _texts_changed(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [_texts_changed(item, change) for item in value]
    return value


def of_inputs(type_: str, change: Callable[[str], str], name: str = "") -> Change:
    """A change of all texts that resources of a type are given, of those whose name ends so."""

    def changed(one: RecordedResource) -> RecordedResource:
        if one.type != type_ or not one.name.endswith(name):
            return one
        return replace(one, inputs=_texts_changed(one.inputs, change))

    return changed


def _key_in_clear(one: RecordedResource) -> RecordedResource:
    if not _is_filled(one):
        return one
    return replace(one, inputs={**one.inputs, "data": {"key": "AKIAZ7XQ4LJ2M5NPRTVW", **one.inputs["data"]}})


def _is_filled(one: RecordedResource) -> bool:
    return one.type == "kubernetes:core/v1:ConfigMap" and one.inputs.get("data", UNKNOWN) is not UNKNOWN


MISTAKES: Mapping[str, Change] = {
    "another client's bucket in a right": of_inputs(
        "aws:iam/rolePolicy:RolePolicy", lambda text: text.replace("c028-c028-checkpoints", "c014-c014-checkpoints")
    ),
    "another client's address": of_inputs(
        "aws:sns/topicSubscription:TopicSubscription", lambda text: text.replace("ml@acme", "ml@c014")
    ),
    "a capital in a bucket's name": of_inputs(
        "aws:s3/bucket:Bucket", lambda text: text.replace("c028-c028", "C028-c028"), "data"
    ),
    "another range of addresses": of_inputs(
        "aws:ec2/subnet:Subnet", lambda text: "192.168.0.0/20" if text.startswith("10.") else text
    ),
    "a key in the clear": _key_in_clear,
}


@pytest.fixture(scope="module")
def of_the_first(project: Path, recorded: Mapping[str, Recorded]) -> shapes.Sound:
    """What is remembered once the first of two clients is judged, which is sound; the same for all mistakes."""
    found = shapes.Sound()
    with pytest.MonkeyPatch.context() as patch, once.judging_many():
        patch.setattr(shapes, "OF_THIS_PROCESS", found)
        patch.setattr(rehearse_module, "_recorded", lambda config, *_: again(recorded[config.stack]))
        assert judged(project, "c014").verdict.state == "sound"
    assert found.known == 0
    return found


def again(kept: Recorded) -> tuple[Recording, Recording, Captured]:
    """What a program recorded, with what it derived noted anew."""
    preview, known, captured, noted = kept
    for made, of in noted.items():
        derived(made, *of)
    return preview, known, captured


@pytest.fixture
def after_the_first(of_the_first: shapes.Sound, monkeypatch: pytest.MonkeyPatch) -> Iterator[shapes.Sound]:
    """What is remembered in a test of its own, which begins after the first client."""
    found = copy.deepcopy(of_the_first)
    monkeypatch.setattr(shapes, "OF_THIS_PROCESS", found)
    with once.judging_many():
        yield found


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_client_that_is_alike_but_for_one_mistake_is_judged_in_full(
    project: Path, after_the_first: shapes.Sound, with_recorded: Callable[[str, Change], None], mistake: str
) -> None:
    remembered = after_the_first
    with_recorded("c028", MISTAKES[mistake])
    found = judged(project, "c028")
    assert remembered.known == 0
    if mistake != "another client's address":  # which nobody can know to be another's
        assert found.rehearsal.findings or found.judged.violations
    with_recorded("c014", lambda one: one)
    assert judged(project, "c028").verdict.state == "sound"
    assert remembered.known == 2, "without the mistake it is as the first"


def test_a_pattern_that_means_the_first_of_two_clients_keeps_it_from_being_remembered(
    project: Path, remembered: shapes.Sound, with_recorded: Callable[[str, Change], None]
) -> None:
    def meant(one: RecordedResource) -> RecordedResource:
        if not _is_filled(one) or "CHECKPOINTS_URI" not in one.inputs["data"]:
            return one
        return replace(one, inputs={**one.inputs, "data": {**one.inputs["data"], "for": "c01*"}})

    with_recorded("c014 c028", meant)
    assert judged(project, "c014").verdict.state == "sound"
    judged(project, "c028")
    assert remembered.known == 0


@pytest.mark.parametrize("secret", [False, True])
def test_what_all_say_keeps_the_next_from_being_answered_where_it_is_nearly_its_name(
    project: Path, remembered: shapes.Sound, with_recorded: Callable[[str, Change], None], secret: bool
) -> None:
    def said(one: RecordedResource) -> RecordedResource:
        if secret:
            return replace(one, inputs=_secrets_changed(one.inputs, "k028-batterystaple")) if one.has_secrets else one
        return (
            replace(one, inputs={**one.inputs, "data": {**one.inputs["data"], "of": "k028"}})
            if _is_filled(one)
            else one
        )

    with_recorded("c014 c028", said)
    assert judged(project, "c014").rehearsal.shape is not None
    assert [len(remembered._answers), len(remembered._vocabularies)] == [2, 1]
    assert judged(project, "c028").rehearsal.shape is None
    assert [remembered.known, len(remembered._vocabularies)] == [0, 1], "another form would say nothing"


def test_secrets_are_told_apart_and_not_kept(
    project: Path, remembered: shapes.Sound, with_recorded: Callable[[str, Change], None]
) -> None:
    def other_secret(one: RecordedResource) -> RecordedResource:
        return replace(one, inputs=_secrets_changed(one.inputs)) if one.has_secrets else one

    with_recorded("c014", other_secret)
    shape = judged(project, "c014").rehearsal.shape
    assert shape is not None
    assert len(remembered._answers) == 2
    judged(project, "c028")
    assert remembered.known == 0
    assert isinstance(shape.key, tuple)
    assert len(shape.key[0]) == 64, "a digest, and classes"
    kept = repr(vars(remembered)) + repr(
        [vars(each) for each in vars(remembered).values() if hasattr(each, "__dict__")]
    )
    assert "batterystaple" in _secrets(project)
    assert "batterystaple" not in kept
    assert "checkpoints" in kept, "what is no secret"


@pytest.mark.parametrize(("administrator", "again"), [("norvik", 2), ("c014", 1), ("c028", 1), ("c01", 1), ("c0*", 1)])
def test_a_configuration_that_may_mean_one_client_has_each_judged_by_the_policies(
    project: Path,
    remembered: shapes.Sound,
    with_recorded: Callable[[str, Change], None],
    administrator: str,
    again: int,
) -> None:
    with_recorded("", lambda one: one)
    one = {"team-administers-cluster": {"administrators": [f"arn:aws:iam::210987654321:role/{administrator}"]}}
    for stack in ("c014", "c028"):
        judge(project, project / "stacks" / f"Pulumi.{stack}.yaml", policy_configuration=one)
    assert remembered.known == again


def test_a_stack_with_a_class_of_its_own_program_has_no_shape(
    project: Path, remembered: shapes.Sound, recorded: Mapping[str, Recorded], monkeypatch: pytest.MonkeyPatch
) -> None:
    preview, known, captured, _ = recorded["c014"]
    own = type("Own", (), {"__module__": "__main__"})
    runs = [replace(run, classes={**run.classes, "team:index:Own": own}) for run in (preview, known)]
    monkeypatch.setattr(rehearse_module, "_recorded", lambda *_: (*runs, captured))
    assert judged(project, "c014").rehearsal.shape is None
    assert not remembered._answers


def test_another_day_asks_again_what_is_refused(
    project: Path,
    remembered: shapes.Sound,
    with_recorded: Callable[[str, Change], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with_recorded("", lambda one: one)
    rehearse_module.rehearse(project, project / "stacks" / "Pulumi.c014.yaml")
    day = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=1)
    tomorrow = type("datetime", (datetime.datetime,), {"now": classmethod(lambda *_: day)})
    monkeypatch.setattr(datetime, "datetime", tomorrow)
    rehearse_module.rehearse(project, project / "stacks" / "Pulumi.c028.yaml")
    assert (remembered.asked, remembered.known) == (2, 0)


def _secrets_changed(value: Any, secret: str = "correct-batterystaple") -> Any:
    if isinstance(value, Secret):
        return Secret(secret) if value.value is UNKNOWN else value
    if isinstance(value, dict):
        return {key: _secrets_changed(item, secret) for key, item in value.items()}
    return value


def _secrets(project: Path) -> str:
    resources = judged(project, "c014").rehearsal.preview.resources
    return " ".join(str(text) for one in resources for _, text, secret in leaves(one.inputs) if secret)


@pytest.mark.parametrize(
    ("stack", "setting"),
    [
        ("c0280", ""),
        ("c028", "  trainyard:network: {cidr: 10.64.0.0/16}\n"),
        ("goog", ""),
        (
            "c028",
            "  trainyard:policyExceptions: "
            "[{policy: alerts-reach-nobody, resource: '*no*', reason: later this year, owner: ml, expires: '%s'}]\n",
        ),
    ],
)
def test_another_name_range_or_exception_is_another_shape(
    project: Path, remembered: shapes.Sound, tmp_path: Path, stack: str, setting: str
) -> None:
    text = (project / "stacks" / "Pulumi.c028.yaml").read_text(encoding="utf-8").replace("c028", stack)
    expired = datetime.datetime.now(datetime.UTC).date() - datetime.timedelta(days=2)
    file = tmp_path / f"Pulumi.{stack}.yaml"
    more = setting % expired.isoformat() if "%s" in setting else setting
    file.write_text(text.replace("config:\n", f"config:\n{more}"), encoding="utf-8")
    judged(project, "c014")
    found = judge(project, file)
    assert isinstance(found, Review)
    assert remembered.known == 0
    if "expires" in setting:
        assert [one.policy for one in found.judged.violations] == ["exception-expired"]


def test_another_day_and_another_configuration_ask_the_policies_again(
    project: Path,
    remembered: shapes.Sound,
    with_recorded: Callable[[str, Change], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with_recorded("", lambda one: one)
    judged(project, "c014")
    file = project / "stacks" / "Pulumi.c028.yaml"
    judge(project, file, policy_configuration={"alerts-reach-nobody": "advisory"})
    assert remembered.known == 1, "what is refused and works does not go by the policies' configuration"
    monkeypatch.setattr("trainyard.review.judging.today", lambda: datetime.date(2027, 1, 1))
    judge(project, file)
    assert remembered.known == 2
