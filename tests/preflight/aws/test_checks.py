"""What AWS is asked before a stack is created: what is right is fine, what is wrong fails, and the rest is said so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest

from tests.account.answers import MOTO_ACCOUNT, REGION, Answers, aws, refusal
from tests.account.demo import subject
from tests.shared import ROOT
from trainyard.conventions.aws import tunnel_port
from trainyard.plan.resolve import resolve_stack
from trainyard.preflight.aws import (
    capacity,
    checks,
    endpoint,
    identity,
    managed,
    network,
    offerings,
    quotas,
    rights,
    roles,
    taken,
    versions,
)
from trainyard.preflight.aws.families import class_of, known_quota, quota_of
from trainyard.preflight.model import Answer, Line, Subject
from trainyard.recorded.resources import Resources

__all__ = ["subject"]  # the fixture

NAMES = {
    "L-1216C47A": "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances",
    "L-DB2E81BA": "Running On-Demand G and VT instances",
    "L-417A185B": "Running On-Demand P instances",
    "L-34B43A08": "All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests",
    "L-3819A6DF": "All G and VT Spot Instance Requests",
    "L-7212CCBC": "All P4, P3 and P2 Spot Instance Requests",
    "L-C4BD4855": "All P5 Spot Instance Requests",
    "L-0263D0A3": "EC2-VPC Elastic IPs",
}
FINE, FAILS, UNKNOWN = Answer.FINE, Answer.FAILS, Answer.UNKNOWN


def listed(**values: float) -> Callable[..., Any]:
    """The quotas of `ec2`; of other services none, so that AWS's defaults hold."""

    def answer(asked: Any) -> Any:
        if asked["ServiceCode"] != "ec2":
            return {"Quotas": []}
        found = {code: values.get(code.replace("-", "_"), 10_000.0) for code in NAMES}
        return {"Quotas": [{"QuotaCode": code, "QuotaName": NAMES[code], "Value": found[code]} for code in found]}

    return answer


def default(asked: Any) -> Any:
    return {"Quota": {"QuotaCode": asked["QuotaCode"], "Value": 5.0}}


@pytest.fixture
def ask(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Line]]:
    def asked(
        check: Callable[..., Iterator[Line]], answers: Answers | None = None, of: Subject = subject
    ) -> list[Line]:
        with aws(monkeypatch, answers) as account:
            return list(check(of, account))

    return asked


def answers_of(lines: list[Line]) -> dict[str, Answer]:
    return {line.what: line.answer for line in lines}


def only(lines: list[Line], answer: Answer) -> list[Line]:
    return [line for line in lines if line.answer is answer]


# Quotas

QUOTAS: Answers = {"service-quotas.GetAWSDefaultServiceQuota": default, "ec2.DescribeAddresses": {"Addresses": []}}


def test_enough_quota_is_fine_and_names_who_shares_it(ask) -> None:
    lines = ask(quotas.check, {**QUOTAS, "service-quotas.ListServiceQuotas": listed()})
    assert not only(lines, FAILS), only(lines, FAILS)
    told = {line.what: line.told for line in lines}
    assert "train-on-demand 2 × 96" in told["Running On-Demand P instances (L-417A185B)"]
    assert "train-reserved" in told
    assert "need no quota" in told["train-reserved"]


def test_a_new_account_has_none_and_gets_the_request(ask) -> None:
    lines = ask(quotas.check, {**QUOTAS, "service-quotas.ListServiceQuotas": listed(L_417A185B=0.0, L_7212CCBC=96.0)})
    failing = {line.what: line for line in only(lines, FAILS)}
    assert set(failing) == {
        "Running On-Demand P instances (L-417A185B)",
        "All P4, P3 and P2 Spot Instance Requests (L-7212CCBC)",
    }
    assert failing["Running On-Demand P instances (L-417A185B)"].command == (
        "aws service-quotas request-service-quota-increase --service-code ec2 --quota-code L-417A185B"
        " --desired-value 192 --region us-east-1"
    )


def test_what_runs_already_counts_and_what_is_the_stacks_own_does_not(ask) -> None:
    def running(*tags: tuple[str, str]) -> Any:
        each = {
            "InstanceType": "p3.16xlarge",
            "State": {"Name": "running"},
            "CpuOptions": {"CoreCount": 32, "ThreadsPerCore": 2},
            "Tags": [{"Key": key, "Value": value} for key, value in tags],
        }
        return {"Reservations": [{"Instances": [each]}]}

    def lines(described: Any) -> list[Line]:
        table = {
            **QUOTAS,
            "service-quotas.ListServiceQuotas": listed(L_417A185B=200.0),
            "ec2.DescribeInstances": described,
        }
        return only(ask(quotas.check, table), FAILS)

    (failing,) = lines(running(("Name", "somebody else's")))
    assert "64 run already" in failing.told
    assert "--desired-value 256" in failing.command
    assert not lines(running(("client", "acme"), ("environment", "demo")))


def test_pieces_are_counted_beside_what_is_there(ask) -> None:
    with_five = {"Vpcs": [{"VpcId": f"vpc-{number}", "CidrBlock": "10.99.0.0/16"} for number in range(5)]}
    table = {**QUOTAS, "service-quotas.ListServiceQuotas": listed(), "ec2.DescribeVpcs": with_five}
    (failing,) = only(ask(quotas.check, table), FAILS)
    assert failing.what == "VPCs per Region (L-F678F1CE)"
    assert "--desired-value 6" in failing.command


def test_a_refused_listing_still_says_what_is_needed(ask, subject: Subject, monkeypatch) -> None:
    with aws(monkeypatch, {"service-quotas.ListServiceQuotas": refusal("AccessDenied")}) as account:
        lines, has_credentials = checks.ask_all(subject, account, checks.QUESTIONS[1:2])
    assert has_credentials
    assert {line.answer for line in lines} == {FINE, UNKNOWN}
    assert any("192 vCPUs are needed" in line.told and "ListServiceQuotas" in line.told for line in lines)


@pytest.mark.parametrize(
    ("type_", "market", "code"),
    [
        ("p4d.24xlarge", "on-demand", "L-417A185B"),
        ("p5en.48xlarge", "on-demand", "L-417A185B"),
        ("p4d.24xlarge", "spot", "L-7212CCBC"),
        ("p5.48xlarge", "spot", "L-C4BD4855"),
        ("g6e.12xlarge", "spot", "L-3819A6DF"),
        ("m7i.2xlarge", "on-demand", "L-1216C47A"),
        ("inf2.xlarge", "on-demand", None),
        ("p6-b200.48xlarge", "spot", None),
    ],
)
def test_a_type_counts_against_the_quota_whose_name_means_it(type_: str, market: Any, code: str | None) -> None:
    entries = [{"QuotaCode": each, "QuotaName": name, "Value": 1} for each, name in NAMES.items()]
    found = quota_of(type_, market, entries)
    assert (found.code if found else None) == code


def test_codes_are_a_fallback() -> None:
    assert class_of("inf2.xlarge") == "inf"
    found = known_quota("p4d.24xlarge", "spot")
    assert found is not None
    assert (found.code, found.value) == ("L-7212CCBC", None)
    assert known_quota("inf2.xlarge", "spot") is None


# SageMaker


@pytest.fixture(scope="module")
def small(rehearsed) -> Subject:
    plan = resolve_stack(ROOT, ROOT / "stacks" / "Pulumi.small-aws.yaml").plan
    return Subject("small-aws", plan, Resources(rehearsed("small-aws").resources))


def of_sagemaker(small: Subject, **values: float) -> Answers:
    """Every quota that the plan needs, at 50 unless named by its type."""
    names = [name for name, *_ in managed._needs(small.plan.ground.managed)]
    found = [
        {
            "QuotaCode": f"L-{number:08X}",
            "QuotaName": name,
            "Value": next((value for type_, value in values.items() if type_.replace("_", ".") in name), 50.0),
        }
        for number, name in enumerate(names)
    ]
    return {"service-quotas.ListServiceQuotas": {"Quotas": found}}


def test_quotas_of_sagemaker_are_by_type_and_use(ask, small: Subject) -> None:
    lines = ask(managed.check, of_sagemaker(small), of=small)
    assert {line.answer for line in lines} == {FINE}
    assert len(lines) == len({line.what for line in lines})
    smoke = small.plan.ground.managed.smoke.instance_type
    failing = only(ask(managed.check, of_sagemaker(small, **{smoke.replace(".", "_"): 0.0}), of=small), FAILS)
    assert f"{smoke} for training job usage" in [line.what for line in failing]
    assert "--service-code sagemaker" in failing[0].command


def test_too_few_editors_make_people_wait_and_fail_nothing(ask, small: Subject) -> None:
    first = small.plan.ground.managed.editor_types[0]
    lines = ask(managed.check, of_sagemaker(small, **{first.replace(".", "_"): 1.0}), of=small)
    assert not only(lines, FAILS)
    assert any("who wants more waits" in line.told for line in only(lines, UNKNOWN))


def test_a_stack_with_a_cluster_has_no_quota_of_sagemaker(ask) -> None:
    assert ask(managed.check) == []


# Offerings


def sold(*without: str) -> Callable[..., Any]:
    def answer(asked: Any) -> Any:
        types = [type_ for each in asked["Filters"] for type_ in each["Values"] if type_ not in without]
        zones = [f"us-east-1{letter}" for letter in "abcdf"]
        return {
            "InstanceTypeOfferings": [{"InstanceType": type_, "Location": zone} for type_ in types for zone in zones]
        }

    return answer


def test_zones_and_types_that_are_sold_are_fine(ask) -> None:
    lines = ask(offerings.check, {"ec2.DescribeInstanceTypeOfferings": sold()})
    assert {line.answer for line in lines} == {FINE}


def test_a_type_that_is_not_sold_fails(ask) -> None:
    lines = ask(offerings.check, {"ec2.DescribeInstanceTypeOfferings": sold("p4d.24xlarge")})
    failing = {line.what for line in only(lines, FAILS)}
    assert failing == {"train-reserved", "train-spot", "train-on-demand"}


def test_a_zone_where_eks_places_no_control_plane_fails(ask, subject: Subject) -> None:
    name = subject.plan.ground.control_planes[0].zones[0]
    zones = [
        {
            "ZoneName": zone.name,
            "ZoneId": "use1-az3" if zone.name == name else f"use1-az9{zone.slot}",
            "State": "available",
        }
        for zone in subject.plan.ground.network.zones
    ]
    table = {"ec2.DescribeAvailabilityZones": {"AvailabilityZones": zones}, "ec2.DescribeInstanceTypeOfferings": sold()}
    (failing,) = only(ask(offerings.check, table), FAILS)
    assert "use1-az3" in failing.told
    table["ec2.DescribeAvailabilityZones"] = {"AvailabilityZones": [each for each in zones if each["ZoneName"] != name]}
    assert "no zone of this account" in only(ask(offerings.check, table), FAILS)[0].told


# Capacity


def reservation(subject: Subject, **changed: Any) -> Any:
    (group,) = (each for each in subject.plan.clusters[0].node_groups if each.reservation)
    found = {
        "CapacityReservationId": group.reservation.id,
        "State": "active",
        "InstanceType": group.instance_types[0],
        "AvailabilityZone": group.zones[0],
        "TotalInstanceCount": group.max_nodes,
        "AvailableInstanceCount": group.max_nodes,
        **changed,
    }
    return {"CapacityReservations": [found]}


def scores(score: int) -> Any:
    return {
        "SpotPlacementScores": [
            {"Region": REGION, "AvailabilityZoneId": f"use1-az{n}", "Score": score} for n in range(1, 7)
        ]
    }


def test_a_reservation_that_fits_is_fine(ask, subject: Subject) -> None:
    table = {"ec2.DescribeCapacityReservations": reservation(subject), "ec2.GetSpotPlacementScores": scores(9)}
    assert {line.answer for line in ask(capacity.check, table)} == {FINE}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"State": "expired"}, "it is expired"),
        ({"InstanceType": "p5.48xlarge"}, "it is of p5.48xlarge"),
        ({"AvailabilityZone": "us-east-1f"}, "it is in us-east-1f"),
        ({"TotalInstanceCount": 0}, "it has 0 machines"),
        ({"ReservationType": "capacity-block"}, "it is a Capacity Block"),
        ({"EndDate": datetime(2026, 1, 1, tzinfo=UTC)}, "it ended 2026-01-01"),
    ],
)
def test_a_reservation_that_does_not_fit_fails(ask, subject: Subject, changed: dict[str, Any], said: str) -> None:
    table = {
        "ec2.DescribeCapacityReservations": reservation(subject, **changed),
        "ec2.GetSpotPlacementScores": scores(9),
    }
    (failing,) = only(ask(capacity.check, table), FAILS)
    assert said in failing.told


@pytest.mark.parametrize(("state", "answer"), [("active", UNKNOWN), ("scheduled", FINE)])
def test_a_reservation_that_others_use_is_told(ask, subject: Subject, state: str, answer: Answer) -> None:
    """A first `up` finds no machine in it, and a later one finds its own nodes there; before it begins none is free."""
    table = {
        "ec2.DescribeCapacityReservations": reservation(subject, AvailableInstanceCount=0, State=state),
        "ec2.GetSpotPlacementScores": scores(9),
    }
    (line,) = [line for line in ask(capacity.check, table) if ": cr-" in line.what]
    assert line.answer == answer
    assert "0 free" in line.told


def test_a_reservation_of_somebody_else_fails(ask) -> None:
    table = {
        "ec2.DescribeCapacityReservations": refusal("InvalidCapacityReservationId.NotFound"),
        "ec2.GetSpotPlacementScores": scores(9),
    }
    (failing,) = only(ask(capacity.check, table), FAILS)
    assert "has no reservation cr-" in failing.told


def test_a_low_score_is_no_failure(ask, subject: Subject) -> None:
    table = {"ec2.DescribeCapacityReservations": reservation(subject), "ec2.GetSpotPlacementScores": scores(2)}
    lines = ask(capacity.check, table)
    assert not only(lines, FAILS)
    assert any("2 of 10" in line.told for line in only(lines, UNKNOWN))


# Rights


def simulated(**decisions: str) -> Callable[..., Any]:
    """Every action allowed, but those named (`ec2_CreateVpc`), on whichever resource unless it is a star alone."""

    def answer(asked: Any) -> Any:
        results = []
        for action in asked["ActionNames"]:
            decision = decisions.get(action.replace(":", "_"), "allowed")
            extra: dict[str, Any] = {}
            if decision == "starDeny":
                decision = "implicitDeny" if asked["ResourceArns"] == ["*"] else "allowed"
            if decision == "condition":
                decision, extra = "implicitDeny", {"MissingContextValues": ["ec2:Vpc"]}
            if decision == "scp":
                decision, extra = "explicitDeny", {"OrganizationsDecisionDetail": {"AllowedByOrganizations": False}}
            results.append({"EvalActionName": action, "EvalDecision": decision, **extra})
        return {"EvaluationResults": results}

    return answer


AS_ROLE: Answers = {
    "sts.GetCallerIdentity": {
        "Account": MOTO_ACCOUNT,
        "UserId": "AROAEXAMPLEEXAMPLE123:me",
        "Arn": f"arn:aws:sts::{MOTO_ACCOUNT}:assumed-role/deploy/me",
    },
    "iam.GetRole": {
        "Role": {
            "Path": "/teams/",
            "RoleName": "deploy",
            "RoleId": "AROAEXAMPLEEXAMPLE123",
            "Arn": f"arn:aws:iam::{MOTO_ACCOUNT}:role/teams/deploy",
            "CreateDate": datetime(2026, 1, 1, tzinfo=UTC),
        }
    },
}


def test_an_identity_that_may_do_all_is_fine(ask) -> None:
    lines = ask(rights.check, {**AS_ROLE, "iam.SimulatePrincipalPolicy": simulated()})
    assert [line.answer for line in lines] == [FINE]
    assert "role/teams/deploy" in lines[0].told, "the path of the role, which STS does not tell"


def test_what_it_may_not_do_fails_by_name_and_conditions_are_not_known(ask) -> None:
    decisions = simulated(
        ec2_CreateVpc="implicitDeny",
        eks_CreateCluster="scp",
        ec2_CreateSubnet="condition",
        logs_CreateLogGroup="starDeny",
        s3_PutEncryptionConfiguration="explicitDeny",
    )
    lines = ask(rights.check, {**AS_ROLE, "iam.SimulatePrincipalPolicy": decisions})
    found = answers_of(lines)
    assert found["ec2:CreateVpc"] is found["eks:CreateCluster"] is found["s3:PutEncryptionConfiguration"] is FAILS
    assert found["ec2:CreateSubnet"] is UNKNOWN
    assert "logs:CreateLogGroup" not in found, "a right to the stack's own log groups is enough"
    told = {line.what: line.told for line in lines}
    assert "a policy of the organisation" in told["eks:CreateCluster"]


def test_the_root_user_cannot_be_simulated(ask) -> None:
    root = {"Account": MOTO_ACCOUNT, "UserId": MOTO_ACCOUNT, "Arn": f"arn:aws:iam::{MOTO_ACCOUNT}:root"}
    assert [line.answer for line in ask(rights.check, {"sts.GetCallerIdentity": root})] == [UNKNOWN]


# Identity


def test_another_account_than_the_stacks_fails(ask, subject: Subject) -> None:
    def of(account_id: str | None) -> Subject:
        return replace(subject, plan=replace(subject.plan, ground=replace(subject.plan.ground, account_id=account_id)))

    assert not only(ask(identity.check, of=of(MOTO_ACCOUNT)), FAILS)
    (failing,) = only(ask(identity.check, of=of("999999999999")), FAILS)
    assert "999999999999" in failing.told


def test_who_is_no_deployer_is_told(ask, subject: Subject) -> None:
    def of(*deployers: str) -> Subject:
        return replace(subject, plan=replace(subject.plan, ground=replace(subject.plan.ground, deployers=deployers)))

    prefix = f"arn:aws:iam::{subject.plan.ground.account_id or MOTO_ACCOUNT}:role"
    failing = only(ask(identity.check, AS_ROLE, of=of(f"{prefix}/other")), FAILS)
    assert any("is none of aws.deployers" in line.told for line in failing)
    failing = only(ask(identity.check, AS_ROLE, of=of(f"arn:aws:iam::{MOTO_ACCOUNT}:role/teams/deploy")), FAILS)
    assert not any("deployers" in line.told for line in failing), "its path is not part of what STS says"


def test_who_is_no_administrator_is_told_before_he_shuts_himself_out(ask, subject: Subject) -> None:
    def failing(*administrators: str, deployers: tuple[str, ...] = ()) -> list[Line]:
        ground = subject.plan.ground
        (plane,) = ground.control_planes
        planes = (replace(plane, admin_principal_arns=administrators),)
        plan = replace(subject.plan, ground=replace(ground, control_planes=planes, deployers=deployers))
        found = only(ask(identity.check, AS_ROLE, of=replace(subject, plan=plan)), FAILS)
        return [line for line in found if line.what in ("administrators", "deployers")]

    prefix = f"arn:aws:iam::{MOTO_ACCOUNT}:role"
    (line,) = failing(f"{prefix}/ann")
    assert line.what == "administrators" and f"add {prefix}/deploy" in line.remedy
    assert not failing(), "whoever deploys has an entry of his own"
    assert not failing(f"{prefix}/ann", f"{prefix}/teams/deploy")
    assert not failing(f"{prefix}/deploy", deployers=(f"{prefix}/other",)), "administrators administer keys too"
    assert [line.what for line in failing(f"{prefix}/ann", deployers=(f"{prefix}/other",))] == ["deployers"]


def test_a_region_that_is_off_fails(ask) -> None:
    off = {"Regions": [{"RegionName": REGION, "OptInStatus": "not-opted-in"}]}
    assert answers_of(ask(identity.check, {"ec2.DescribeRegions": off}))["region"] is FAILS


# Service-linked roles


def linked(name: str, there: set[str]) -> Any:
    if name not in there:
        return refusal("NoSuchEntity")({})
    return {"Role": {**AS_ROLE["iam.GetRole"]["Role"], "RoleName": name, "Path": "/aws-service-role/"}}


@pytest.mark.parametrize(
    ("there", "creates", "answer"),
    [(True, False, FINE), (False, False, FAILS), (False, True, FINE), (True, True, FAILS)],
)
def test_the_role_of_auto_scaling_has_to_be_there_or_made(ask, subject: Subject, there, creates, answer) -> None:
    names = {roles.AUTOSCALING} if there else set()
    of = replace(
        subject, plan=replace(subject.plan, ground=replace(subject.plan.ground, create_autoscaling_role=creates))
    )
    lines = ask(roles.check, {"iam.GetRole": lambda asked: linked(asked["RoleName"], names)}, of=of)
    assert answers_of(lines)[roles.AUTOSCALING] is answer
    assert all(line.answer is FINE for line in lines if line.what != roles.AUTOSCALING)


# Addresses


def test_addresses_that_overlap_are_told(ask, subject: Subject, monkeypatch) -> None:
    cidr = subject.plan.ground.network.cidr
    with aws(monkeypatch) as account:
        ec2 = boto3.client("ec2", REGION)
        vpc = ec2.create_vpc(CidrBlock=cidr)["Vpc"]["VpcId"]
        assert answers_of(list(network.check(subject, account))) == {vpc: UNKNOWN}
        ec2.create_tags(
            Resources=[vpc], Tags=[{"Key": "client", "Value": "acme"}, {"Key": "environment", "Value": "demo"}]
        )
        assert answers_of(list(network.check(subject, account))) == {"VPCs": FINE}, "the stack's own is no clash"


def test_a_network_that_shall_reach_the_api_must_not_overlap(ask, subject: Subject) -> None:
    ground = subject.plan.ground
    (control_plane,) = ground.control_planes

    def of(text: str) -> Subject:
        access = replace(control_plane.access, networks=(text,))
        changed = replace(ground, control_planes=(replace(control_plane, access=access),))
        return replace(subject, plan=replace(subject.plan, ground=changed))

    none = {"ec2.DescribeVpcs": {"Vpcs": []}}
    assert answers_of(ask(network.check, none, of=of(ground.network.cidr)))[ground.network.cidr] is FAILS
    assert not only(ask(network.check, none, of=of("192.168.250.0/24")), FAILS)


# Already there


def test_nothing_there_is_fine(ask) -> None:
    assert answers_of(ask(taken.check)) == {"names": FINE}


def test_what_is_there_under_our_names_fails_unless_it_is_ours(ask, subject: Subject, monkeypatch) -> None:
    cluster = subject.plan.clusters[0].name
    group = f"/aws/eks/{cluster}/cluster"
    marks = {"client": "acme", "environment": "demo"}
    with aws(monkeypatch) as account:
        logs, eks = boto3.client("logs", REGION), boto3.client("eks", REGION)
        detector = boto3.client("guardduty", REGION).create_detector(Enable=True)["DetectorId"]
        logs.create_log_group(logGroupName=group)
        eks.create_cluster(name=cluster, roleArn=f"arn:aws:iam::{MOTO_ACCOUNT}:role/x", resourcesVpcConfig={})
        assert answers_of(list(taken.check(subject, account))) == {group: FAILS, cluster: FAILS, "GuardDuty": FAILS}
        arn = eks.describe_cluster(name=cluster)["cluster"]["arn"]
        eks.tag_resource(resourceArn=arn, tags=marks)
        logs.tag_log_group(logGroupName=group, tags=marks)
        boto3.client("guardduty", REGION).delete_detector(DetectorId=detector)
        assert {line.answer for line in taken.check(subject, account)} == {FINE}


# Versions


def offered(subject: Subject, **changed: Any) -> Answers:
    wanted = subject.plan.clusters[0].kubernetes_version
    add_ons = {each.name: each.version for each in subject.plan.ground.control_planes[0].add_ons}

    def versions_of(asked: Any) -> Any:
        name = asked["addonName"]
        return {"addons": [{"addonName": name, "addonVersions": [{"addonVersion": add_ons[name]}]}]}

    zones = [{"Name": zone.name} for zone in subject.plan.ground.network.zones]
    return {
        "eks.DescribeClusterVersions": {
            "clusterVersions": [{"clusterVersion": wanted, "versionStatus": "STANDARD_SUPPORT"}]
        },
        "eks.DescribeAddonVersions": versions_of,
        "rds.DescribeOrderableDBInstanceOptions": {
            "OrderableDBInstanceOptions": [{"AvailabilityZones": zones, "MultiAZCapable": True}]
        },
        **changed,
    }


def test_versions_that_are_offered_are_fine(ask, subject: Subject) -> None:
    assert {line.answer for line in ask(versions.check, offered(subject))} == {FINE}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {"eks.DescribeClusterVersions": {"clusterVersions": [{"clusterVersion": "1.99"}]}},
            "set kubernetesVersion: 1.99",
        ),
        ({"rds.DescribeOrderableDBInstanceOptions": {"OrderableDBInstanceOptions": []}}, "databaseInstanceClass"),
        ({"eks.DescribeAddonVersions": {"addons": []}}, "a release of Trainyard"),
    ],
)
def test_what_is_not_offered_fails(ask, subject: Subject, changed: Answers, said: str) -> None:
    failing = only(ask(versions.check, offered(subject, **changed)), FAILS)
    assert failing
    assert all(said in line.remedy for line in failing)


# Endpoint


def test_a_tunnel_is_tried_where_there_is_a_bastion(ask, subject: Subject, monkeypatch) -> None:
    tried: list[tuple[str, int]] = []

    def reaches(host: str, port: int) -> bool:
        tried.append((host, port))
        return True

    monkeypatch.setattr(endpoint, "reaches", reaches)
    name = subject.plan.clusters[0].name
    assert answers_of(ask(endpoint.check)) == {name: FINE}
    assert tried == [("127.0.0.1", tunnel_port(name))]
    monkeypatch.setattr(endpoint, "reaches", lambda host, port: False)
    assert answers_of(ask(endpoint.check)) == {name: UNKNOWN}, "there is no cluster yet"


def test_a_public_endpoint_that_is_there_has_to_answer(ask, subject: Subject, monkeypatch) -> None:
    ground, (cluster,) = subject.plan.ground, subject.plan.clusters
    access = replace(ground.control_planes[0].access, bastion=None)
    changed = replace(ground, control_planes=(replace(ground.control_planes[0], access=access),))
    public = replace(cluster, public_access_cidrs=("192.0.2.0/24",))
    of = replace(subject, plan=replace(subject.plan, ground=changed, clusters=(public,)))
    (before,) = ask(endpoint.check, {"eks.DescribeCluster": refusal("ResourceNotFoundException")}, of=of)
    assert (before.answer, "192.0.2.0/24" in before.told) == (UNKNOWN, True)
    there = {"eks.DescribeCluster": {"cluster": {"endpoint": "https://abc.gr7.us-east-1.eks.amazonaws.com"}}}
    for answers, expected in ((True, FINE), (False, FAILS)):
        monkeypatch.setattr(endpoint, "reaches", lambda host, port, found=answers: found)
        assert answers_of(ask(endpoint.check, there, of=of)) == {cluster.name: expected}


# All together


def test_one_refusal_does_not_end_the_others(subject: Subject, monkeypatch) -> None:
    with aws(monkeypatch, {"iam.SimulatePrincipalPolicy": refusal("AccessDenied"), **AS_ROLE}) as account:
        lines, has_credentials = checks.ask_all(subject, account)
    assert has_credentials
    assert {line.check for line in lines} == {question.name for question in checks.QUESTIONS}
    (told,) = (line for line in lines if line.check == rights.NAME)
    assert told.answer is UNKNOWN
    assert "SimulatePrincipalPolicy" in told.told


def test_a_stack_without_a_cluster_is_asked_of_what_it_has(subject: Subject, ask) -> None:
    early = replace(subject, plan=replace(subject.plan, clusters=()), resources=Resources(()))
    assert [line.what for line in ask(offerings.check, {"ec2.DescribeInstanceTypeOfferings": sold()}, of=early)]
    assert not ask(versions.check, of=early)
    assert not ask(capacity.check, of=early)
