"""An account as it is: as whom the program comes in, and what every role, budget and alert has to be there."""

from __future__ import annotations

import json

import pytest

from tests.rehearsal.change.changing import between, findings
from tests.shared import ROOT
from trainyard.rehearsal.rehearse import Rehearsal, rehearse
from trainyard.review.review import review

BOUNDARY = "arn:aws:iam::123456789012:policy/boundary"
DEPLOY = "arn:aws:iam::123456789012:role/deploy"
SETTINGS = f"""\
  trainyard:aws:
    permissionsBoundary: {BOUNDARY}
    rolePath: /teams/ml/
    assumeRole: {DEPLOY}
    profile: acme
    budgetScope: account
    adminPrincipals: [{DEPLOY}]
"""
ROLE = "aws:iam/role:Role"


@pytest.fixture(scope="module")
def bound(tmp_path_factory: pytest.TempPathFactory) -> Rehearsal:
    file = tmp_path_factory.mktemp("stack") / "Pulumi.bound.yaml"
    file.write_text((ROOT / "stacks" / "Pulumi.demo.yaml").read_text().replace("config:\n", f"config:\n{SETTINGS}", 1))
    found = rehearse(ROOT, file)
    assert not found.errors, found.errors
    return found


def of(rehearsal: Rehearsal, type_: str):
    return [one for one in rehearsal.resources if one.type == type_]


def test_every_role_has_the_path_and_the_boundary(bound: Rehearsal, rehearsed) -> None:
    roles = of(bound, ROLE)
    assert len(roles) == len(of(rehearsed("demo"), ROLE)) > 10
    assert {(one.inputs["path"], one.inputs["permissionsBoundary"]) for one in roles} == {("/teams/ml/", BOUNDARY)}
    assert not any(one.inputs.get("permissionsBoundary") for one in of(rehearsed("demo"), ROLE))


def test_the_key_knows_the_control_planes_role_by_its_path(bound: Rehearsal, rehearsed) -> None:
    """The key comes before the role, and so names it by what its ARN will be."""

    def named(rehearsal: Rehearsal) -> bool:
        (role,) = [one for one in of(rehearsal, ROLE) if one.name == "cluster-control"]
        beginning = str(role.outputs["arn"]).rsplit("-", 1)[0]
        return any(
            beginning in json.dumps(one.inputs) for one in rehearsal.resources if one.type.startswith("aws:kms/")
        )

    assert "/teams/ml/" in str(next(one for one in of(bound, ROLE) if one.name == "cluster-control").outputs["arn"])
    assert named(bound) and named(rehearsed("demo"))


def test_provider_and_kubeconfig_are_the_same_principal_and_people_are_themselves(bound: Rehearsal) -> None:
    (aws,) = [one for one in bound.known.resources if one.type == "pulumi:providers:aws"]
    assert DEPLOY in json.dumps(aws.inputs) and aws.inputs["profile"] == "acme"
    providers = [one for one in bound.known.resources if one.type == "pulumi:providers:kubernetes"]
    assert len(providers) == 2
    for provider in providers:
        (user,) = json.loads(provider.inputs["kubeconfig"])["users"]
        assert user["user"]["exec"]["args"][-4:] == ["--profile", "acme", "--role-arn", DEPLOY]
    (user,) = json.loads(bound.outputs["kubeconfig"])["users"]
    assert user["user"]["exec"]["args"][-2:] == ["--region", "us-east-1"], (
        "a person has no right to the deployer's role"
    )


def test_the_creator_among_the_administrators_has_one_entry(bound: Rehearsal) -> None:
    entries = of(bound, "aws:eks/accessEntry:AccessEntry")
    assert [one.inputs["principalArn"] for one in entries].count(DEPLOY) == 1
    (cluster,) = of(bound, "aws:eks/cluster:Cluster")
    assert cluster.inputs["accessConfig"]["bootstrapClusterCreatorAdminPermissions"] is False


def test_a_budget_of_the_account_needs_no_tag(bound: Rehearsal, rehearsed) -> None:
    (whole,) = of(bound, "aws:budgets/budget:Budget")
    assert not whole.inputs.get("costFilters")
    (tagged,) = of(rehearsed("demo"), "aws:budgets/budget:Budget")
    assert tagged.inputs["costFilters"][0]["values"] == ["user:project$acme-demo"]
    told = {decision.key: decision.source for decision in rehearsed_plan("demo").core.decisions}["budget.scope"]
    assert "until then the budget stays at 0" in told


def rehearsed_plan(stack: str):
    from trainyard.plan.resolve import resolve_stack

    return resolve_stack(ROOT, stack).plan


def test_no_anomaly_monitor_unless_asked_for(rehearsed) -> None:
    """A member account may not watch a tag: the first `up` would fail at it."""
    for stack in ("demo", "large-aws", "uae-aws"):
        assert not [one for one in rehearsed(stack).resources if one.type.startswith("aws:costexplorer/")]


def test_the_account_stage_has_no_way_in_for_emergencies_yet(tmp_path) -> None:
    """It would be a role with a right to no cluster, which IAM refuses."""
    text = (ROOT / "stacks" / "Pulumi.demo.yaml").read_text()
    on_call = "{ principals: ['arn:aws:iam::123456789012:user/on-call'] }"
    more = f"  trainyard:stage: account\n  trainyard:audit: {{ breakGlass: {on_call} }}\n"
    file = tmp_path / "Pulumi.early.yaml"
    file.write_text(text.replace("config:\n", f"config:\n{more}", 1))
    found = rehearse(ROOT, file)
    assert not found.errors, found.errors
    assert not [one for one in found.resources if "break-glass" in one.name]


def test_the_account_stage_says_what_comes_next(tmp_path) -> None:
    file = tmp_path / "Pulumi.early.yaml"
    text = (ROOT / "stacks" / "Pulumi.demo.yaml").read_text()
    file.write_text(text.replace("config:\n", "config:\n  trainyard:stage: account\n", 1))
    assert review(ROOT, file).verdict.next_steps[-1].endswith("take `stage` out")


def with_aws(folder, block: str) -> Rehearsal:
    """The demo with something said of AWS."""
    file = folder / "Pulumi.demo.yaml"
    folder.mkdir(exist_ok=True)
    text = (ROOT / "stacks" / "Pulumi.demo.yaml").read_text()
    file.write_text(text.replace("config:\n", f"config:\n  trainyard:aws: {block}\n", 1))
    return rehearse(ROOT, file)


def administrators(rehearsal: Rehearsal) -> set[str]:
    return {
        one.inputs["principalArn"] for one in of(rehearsal, "aws:eks/accessPolicyAssociation:AccessPolicyAssociation")
    }


def test_the_role_that_deploys_administers_whoever_else_is_named(tmp_path) -> None:
    ann = "arn:aws:iam::123456789012:role/ann"
    found = with_aws(tmp_path / "a", f"{{ assumeRole: {DEPLOY}, adminPrincipals: [{ann}] }}")
    assert administrators(found) == {DEPLOY, ann}


def test_who_deploys_is_told_that_he_shuts_himself_out(rehearsed, tmp_path) -> None:
    """As soon as anybody is named, the entry that followed whoever deploys goes."""
    demo = rehearsed("demo").known.resources
    (own,) = administrators(rehearsed("demo"))
    named = with_aws(tmp_path / "a", "{ adminPrincipals: [arn:aws:iam::123456789012:role/ann] }").known.resources
    (told_of,) = findings(between(demo, named), "change-deployer-shut-out")
    assert told_of.level == "warning" and "role/ann" in told_of.message and "whoever runs" in told_of.message
    (by_name,) = findings(between(demo, named, deployed=True), "change-deployer-shut-out")
    assert own in by_name.message, "a state knows who he is"
    himself = with_aws(tmp_path / "b", f"{{ adminPrincipals: [{own}] }}").known.resources
    assert not findings(between(demo, himself, deployed=True), "change-deployer-shut-out")
    without_cluster = [one for one in demo if one.type.startswith("aws:kms/")]
    assert not findings(between(demo, without_cluster), "change-deployer-shut-out"), "the cluster goes too"
    assert not findings(between(named, demo), "change-deployer-shut-out")


def test_sessions_onto_nodes_are_off_and_a_right_of_the_agent_alone(rehearsed, tmp_path) -> None:
    def rights(rehearsal: Rehearsal) -> list[dict]:
        found = [one for one in of(rehearsal, "aws:iam/rolePolicy:RolePolicy") if one.name == "cluster-node-sessions"]
        return [json.loads(one.inputs["policy"]) for one in found]

    assert rights(rehearsed("demo")) == []
    file = tmp_path / "Pulumi.demo.yaml"
    text = (ROOT / "stacks" / "Pulumi.demo.yaml").read_text()
    file.write_text(text.replace("config:\n", "config:\n  trainyard:aws: { nodeSessions: true }\n", 1))
    found = review(ROOT, file)
    ((statement,),) = [each["Statement"] for each in rights(found.rehearsal)]
    assert all(action.startswith(("ssm:Update", "ssmmessages:")) for action in statement["Action"])
    assert found.policies is not None and not found.policies.violations and not found.rehearsal.findings
