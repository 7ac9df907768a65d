"""Nothing is left, or it is told: seeded leftovers are all found and priced, and others' things are not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest

from tests.account.answers import MOTO_ACCOUNT, REGION, Answers, aws, refusal
from tests.shared import ROOT
from trainyard import cards
from trainyard.account.aws import Account
from trainyard.cards.card import Free
from trainyard.plan.parts import Plan
from trainyard.plan.resolve import resolve_stack
from trainyard.teardown.aws.prove import FINDERS, FREE_KINDS, prove
from trainyard.teardown.aws.search import kind_of
from trainyard.teardown.model import Kept, Left, Proof

CLUSTER = "acme-demo"
OWN = [{"Key": "client", "Value": "acme"}, {"Key": "environment", "Value": "demo"}]
OTHERS = [{"Key": "client", "Value": "acme"}, {"Key": "environment", "Value": "prod"}]
BY_DRIVER = [{"Key": "ebs.csi.aws.com/cluster-name", "Value": CLUSTER}]
BY_CNI = [{"Key": "cluster.k8s.amazonaws.com/name", "Value": CLUSTER}]
BY_CONTROLLER = [{"Key": "elbv2.k8s.aws/cluster", "Value": CLUSTER}]
PLAIN = {each["Key"]: each["Value"] for each in OWN}

LACKING: Answers = {
    "ec2.DescribeCapacityReservations": {"CapacityReservations": []},
    "fsx.DescribeBackups": {"Backups": []},
}
"""What moto does not know."""


@pytest.fixture(scope="module")
def plan() -> Plan:
    return resolve_stack(ROOT, ROOT / "stacks" / "Pulumi.demo.yaml").plan


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[Account]:
    with aws(monkeypatch, LACKING) as found:
        yield found


def client(service: str) -> Any:
    return boto3.client(service, REGION)


def tagged(kind: str, tags: Any = OWN) -> list[dict[str, Any]]:
    return [{"ResourceType": kind, "Tags": tags}]


def the(proof: Proof, kind: str) -> list[Left]:
    return [each for each in proof.left if each.kind == kind]


def test_an_empty_account_is_proof(plan: Plan, account: Account) -> None:
    proof = prove(plan, account)
    assert proof.left == ()
    assert proof.unseen == ()
    assert proof.holds


def seed_volume(tags: Any = BY_DRIVER) -> None:
    client("ec2").create_volume(
        AvailabilityZone=f"{REGION}a", Size=100, VolumeType="gp3", TagSpecifications=tagged("volume", tags)
    )


def seed_snapshot(tags: Any = OWN) -> None:
    ec2 = client("ec2")
    volume = ec2.create_volume(AvailabilityZone=f"{REGION}a", Size=40)["VolumeId"]
    ec2.create_snapshot(VolumeId=volume, TagSpecifications=tagged("snapshot", tags))


def subnet() -> str:
    ec2 = client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.77.0.0/16")["Vpc"]["VpcId"]
    return str(ec2.create_subnet(VpcId=vpc, CidrBlock="10.77.1.0/24")["Subnet"]["SubnetId"])


def seed_interface(tags: Any = BY_CNI) -> None:
    client("ec2").create_network_interface(SubnetId=subnet(), TagSpecifications=tagged("network-interface", tags))


def seed_address(tags: Any = OWN) -> None:
    client("ec2").allocate_address(Domain="vpc", TagSpecifications=tagged("elastic-ip", tags))


def seed_gateway(tags: Any = OWN) -> None:
    client("ec2").create_nat_gateway(SubnetId=subnet(), TagSpecifications=tagged("natgateway", tags))


def seed_instance(tags: Any = OWN) -> None:
    client("ec2").run_instances(
        ImageId="ami-12c6146b", MinCount=1, MaxCount=1, InstanceType="m7i.xlarge",
        TagSpecifications=tagged("instance", tags),
    )  # fmt: skip


def seed_endpoint(tags: Any = OWN) -> None:
    ec2, place = client("ec2"), subnet()
    vpc = ec2.describe_subnets(SubnetIds=[place])["Subnets"][0]["VpcId"]
    ec2.create_vpc_endpoint(
        VpcId=vpc, ServiceName=f"com.amazonaws.{REGION}.sts", VpcEndpointType="Interface", SubnetIds=[place],
        TagSpecifications=tagged("vpc-endpoint", tags),
    )  # fmt: skip


def seed_balancer(tags: Any = BY_CONTROLLER) -> None:
    client("elbv2").create_load_balancer(Name="k8s-ingress", Subnets=[subnet()], Type="network", Tags=tags)


def seed_classic(tags: Any = None) -> None:
    listener = {"Protocol": "tcp", "LoadBalancerPort": 80, "InstancePort": 80}
    own = tags or [{"Key": f"kubernetes.io/cluster/{CLUSTER}", "Value": "owned"}]
    client("elb").create_load_balancer(
        LoadBalancerName="a1b2", Listeners=[listener], AvailabilityZones=[f"{REGION}a"], Tags=own
    )


def seed_bucket(tags: Any = OWN) -> None:
    s3 = client("s3")
    s3.create_bucket(Bucket="some-bucket")
    s3.put_bucket_versioning(Bucket="some-bucket", VersioningConfiguration={"Status": "Enabled"})
    for _ in range(2):
        s3.put_object(Bucket="some-bucket", Key="key", Body=b"x" * 1000)
    s3.delete_object(Bucket="some-bucket", Key="key")
    s3.put_bucket_tagging(Bucket="some-bucket", Tagging={"TagSet": tags})


def seed_database(tags: Any = OWN) -> None:
    client("rds").create_db_instance(
        DBInstanceIdentifier="some-database", Engine="postgres", DBInstanceClass="db.t4g.medium", AllocatedStorage=20,
        MasterUsername="u", MasterUserPassword="password1", StorageType="gp3", Tags=tags,
    )  # fmt: skip


def seed_lustre(tags: Any = OWN) -> None:
    client("fsx").create_file_system(
        FileSystemType="LUSTRE", StorageCapacity=1200, StorageType="SSD", SubnetIds=[subnet()], Tags=tags,
        LustreConfiguration={"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 500},
    )  # fmt: skip


def seed_file_system(tags: Any = OWN) -> None:
    client("efs").create_file_system(CreationToken="some", Tags=tags)


def seed_repository(tags: Any = OWN) -> None:
    client("ecr").create_repository(repositoryName="some-images", tags=tags)


def seed_key(tags: Any = OWN) -> None:
    client("kms").create_key(Tags=[{"TagKey": each["Key"], "TagValue": each["Value"]} for each in tags])


def seed_secret(tags: Any = OWN) -> None:
    client("secretsmanager").create_secret(Name="some-secret", SecretString="x", Tags=tags)


def seed_log_group(tags: Any = OWN) -> None:
    """What is told by its name: its tags say nothing here."""
    name = f"/aws/eks/{CLUSTER}/cluster" if tags == OWN else "/aws/eks/acme-demolition/cluster"
    logs = client("logs")
    logs.create_log_group(logGroupName=name)
    logs.create_log_stream(logGroupName=name, logStreamName="s")
    event = {"timestamp": int(datetime.now(UTC).timestamp() * 1000), "message": "m" * 1000}
    logs.put_log_events(logGroupName=name, logStreamName="s", logEvents=[event])


def seed_alarm(tags: Any = OWN) -> None:
    client("cloudwatch").put_metric_alarm(
        AlarmName=f"alarm-{len(tags[1]['Value'])}", MetricName="m", Namespace="n", Period=60, EvaluationPeriods=1,
        Threshold=1, ComparisonOperator="GreaterThanThreshold", Statistic="Sum", Tags=tags,
    )  # fmt: skip


PAID: dict[str, tuple[Callable[..., None], str, float]] = {
    "volume": (seed_volume, "volume", 100 * 0.08),
    "snapshot": (seed_snapshot, "snapshot", 40 * 0.05),
    "public address": (seed_address, "public address", 730 * 0.005),
    "NAT gateway": (seed_gateway, "NAT gateway", 730 * 0.045),
    "instance": (seed_instance, "instance", 730 * 0.2016),
    "VPC endpoint": (seed_endpoint, "VPC endpoint", 730 * 0.01),
    "load balancer": (seed_balancer, "load balancer", 730 * 0.0225),
    "classic load balancer": (seed_classic, "load balancer", 730 * 0.0225),
    "bucket": (seed_bucket, "bucket", 2000 / 1e9 * 0.023),
    "database": (seed_database, "database", 730 * 0.065 + 20 * 0.115),
    "FSx": (seed_lustre, "FSx file system", 1200 * 0.34),
    "key": (seed_key, "key", 1.0),
    "secret": (seed_secret, "secret", 0.4),
    "alarm": (seed_alarm, "alarm", 0.1),
    "log group": (seed_log_group, "log group", 1026 / 1e9 * 0.03),
}


@pytest.fixture(scope="module")
def seeded(plan: Plan) -> Proof:
    """One of everything, the environment's own."""
    with pytest.MonkeyPatch.context() as patched, aws(patched, LACKING) as account:
        for seed, _, _ in PAID.values():
            seed()
        return prove(plan, account)


@pytest.mark.parametrize("name", PAID)
def test_what_is_left_is_found_and_priced(seeded: Proof, name: str) -> None:
    _, kind, price = PAID[name]
    prices = [each.usd for each in seeded.owed if each.kind == kind and each.command]
    assert prices == [pytest.approx(price, rel=0.05)] * sum(of == kind for _, of, _ in PAID.values())
    assert not seeded.holds
    assert seeded.unseen == ()


def test_what_is_anothers_is_not_ours(plan: Plan, account: Account) -> None:
    for seed, _, _ in PAID.values():
        seed(OTHERS)
    proof = prove(plan, account)
    assert proof.left == ()
    assert proof.holds


def test_what_is_free_is_told_and_proves_nothing_wrong(plan: Plan, account: Account) -> None:
    seed_interface()
    seed_file_system()
    seed_repository()
    proof = prove(plan, account)
    assert {each.kind for each in proof.free} == {"network interface", "EFS file system", "image repository"}
    assert proof.holds, "empty, they cost nothing"


def test_what_the_issue_names_together(plan: Plan, account: Account) -> None:
    for seed in (seed_volume, seed_log_group, seed_interface, seed_snapshot):
        seed()
    proof = prove(plan, account)
    assert {each.kind for each in proof.left} == {"volume", "log group", "network interface", "snapshot"}
    assert all(each.usd is not None for each in proof.left)
    assert not proof.holds
    assert [each.kind for each in proof.left][:2] == ["volume", "snapshot"], "the dearest first"


def test_a_repository_that_holds_images_is_paid_for(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    """The image cache makes repositories without our tags, below the environment's name."""
    repository = {
        "repositoryName": "acme-demo/hub/library/busybox",
        "repositoryArn": f"arn:aws:ecr:{REGION}:{MOTO_ACCOUNT}:repository/acme-demo/hub/library/busybox",
    }
    table = {
        **LACKING,
        "ecr.DescribeRepositories": {"repositories": [repository]},
        "ecr.ListTagsForResource": {"tags": []},
        "ecr.DescribeImages": {"imageDetails": [{"imageSizeInBytes": 3_000_000_000}]},
    }
    with aws(monkeypatch, table) as account:
        (found,) = prove(plan, account).owed
    assert (found.kind, found.found_by, found.usd) == ("image repository", "name", pytest.approx(0.3))


def test_a_reservation_of_the_stacks_own_is_paid_for(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    reservation = {
        "CapacityReservationId": "cr-0123456789abcdef0", "InstanceType": "p4d.24xlarge", "State": "active",
        "TotalInstanceCount": 2, "Tags": OWN,
    }  # fmt: skip
    table = {**LACKING, "ec2.DescribeCapacityReservations": {"CapacityReservations": [reservation]}}
    with aws(monkeypatch, table) as account:
        (found,) = prove(plan, account).owed
    assert found.usd is not None
    assert found.usd > 2 * 10_000


def test_what_is_pending_or_terminated_is_no_leftover(plan: Plan, account: Account) -> None:
    seed_key()
    seed_instance()
    kms, ec2 = client("kms"), client("ec2")
    kms.schedule_key_deletion(KeyId=kms.list_keys()["Keys"][0]["KeyId"], PendingWindowInDays=30)
    machine = ec2.describe_instances()["Reservations"][0]["Instances"][0]
    ec2.terminate_instances(InstanceIds=[machine["InstanceId"]])
    for disk in ec2.describe_volumes()["Volumes"]:
        ec2.delete_volume(VolumeId=disk["VolumeId"])
    proof = prove(plan, account)
    assert proof.holds
    assert [each.told for each in the(proof, "key")] == ["PendingDeletion"]
    assert the(proof, "instance") == []


def test_what_was_kept_is_priced_and_no_leftover(plan: Plan, account: Account) -> None:
    seed_bucket()
    seed_volume()
    kept = [Kept("Bucket", ("some-bucket", "arn:aws:s3:::some-bucket"), "--keep data")]
    proof = prove(plan, account, kept)
    assert [each.kind for each in proof.owed] == ["volume"]
    assert [each.id for each in proof.kept] == ["some-bucket"]


def test_a_snapshot_of_the_database_that_stays_is_known_by_its_name(plan: Plan, account: Account) -> None:
    seed_database()
    client("rds").create_db_snapshot(DBInstanceIdentifier="some-database", DBSnapshotIdentifier="last", Tags=OWN)
    client("rds").delete_db_instance(DBInstanceIdentifier="some-database", SkipFinalSnapshot=True)
    assert not prove(plan, account).holds
    proof = prove(plan, account, [Kept("database snapshot", ("last",), "--keep tracking")])
    assert proof.holds, proof.owed
    (found,) = proof.kept
    assert found.usd == pytest.approx(20 * 0.095)


def test_a_kind_that_may_not_be_listed_proves_nothing(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    with aws(monkeypatch, {**LACKING, "ec2.DescribeVolumes": refusal("UnauthorizedOperation")}) as account:
        proof = prove(plan, account)
    assert [each.kind for each in proof.unseen] == ["volumes"]
    assert "DescribeVolumes" in proof.unseen[0].why
    assert not proof.holds


@pytest.mark.parametrize(
    ("arn", "price"),
    [
        (f"arn:aws:aps:{REGION}:{MOTO_ACCOUNT}:workspace/ws-1", None),
        (f"arn:aws:ec2:{REGION}:{MOTO_ACCOUNT}:security-group/sg-1", 0.0),
        (f"arn:aws:ec2:eu-west-1:{MOTO_ACCOUNT}:volume/vol-1", None),
    ],
)
def test_what_only_the_tags_tell_is_told(
    plan: Plan, monkeypatch: pytest.MonkeyPatch, arn: str, price: float | None
) -> None:
    answer = {"ResourceTagMappingList": [{"ResourceARN": arn, "Tags": OWN}]}
    with aws(monkeypatch, {**LACKING, "resourcegroupstaggingapi.GetResources": answer}) as account:
        proof = prove(plan, account)
    assert [(each.arn, each.usd) for each in proof.left] == [(arn, price)]
    assert proof.holds is (price == 0.0)


def test_what_the_tags_still_tell_and_the_service_does_not_is_gone(plan: Plan, monkeypatch) -> None:
    arn = f"arn:aws:ec2:{REGION}:{MOTO_ACCOUNT}:instance/i-0123456789abcdef0"
    answer = {"ResourceTagMappingList": [{"ResourceARN": arn, "Tags": OWN}]}
    with aws(monkeypatch, {**LACKING, "resourcegroupstaggingapi.GetResources": answer}) as account:
        assert prove(plan, account).left == ()


@pytest.mark.parametrize(
    ("arn", "kind"),
    [
        ("arn:aws:s3:::bucket", "s3"),
        ("arn:aws:sns:us-east-1:1:topic", "sns"),
        ("arn:aws:ec2:us-east-1:1:volume/vol-1", "ec2:volume"),
        ("arn:aws:rds:us-east-1:1:db:name", "rds:db"),
        ("arn:aws:logs:us-east-1:1:log-group:/aws/eks/x/cluster", "logs:log-group"),
        ("arn:aws:elasticloadbalancing:us-east-1:1:loadbalancer/net/n/1", "elasticloadbalancing:loadbalancer"),
    ],
)
def test_an_arn_says_its_kind(arn: str, kind: str) -> None:
    assert kind_of(arn) == kind


def test_an_editor_that_runs_is_paid_for(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    domain = f"arn:aws:sagemaker:{REGION}:{MOTO_ACCOUNT}:domain/d-1"
    app = {"DomainId": "d-1", "SpaceName": "ann", "AppType": "JupyterLab", "AppName": "default"}
    running = {**app, "Status": "InService", "ResourceSpec": {"InstanceType": "ml.g5.xlarge"}}
    table = {
        **LACKING,
        "resourcegroupstaggingapi.GetResources": {"ResourceTagMappingList": [{"ResourceARN": domain, "Tags": OWN}]},
        "sagemaker.ListApps": {"Apps": [running, {**app, "Status": "Deleted"}]},
    }
    with aws(monkeypatch, table) as account:
        proof = prove(plan, account)
    assert [(each.kind, each.id) for each in proof.owed] == [("SageMaker app", "d-1/ann/default")]
    assert proof.owed[0].usd == pytest.approx(730 * 1.408, rel=0.01)
    assert [each.kind for each in proof.free] == ["sagemaker:domain"]


def test_a_detector_is_paid_for_by_what_it_reads(plan: Plan, account: Account) -> None:
    client("guardduty").create_detector(Enable=True, Tags=PLAIN)
    (found,) = prove(plan, account).owed
    assert (found.kind, found.usd) == ("GuardDuty detector", None)


REAL_KINDS = {"ec2:eip": "ec2:elastic-ip", "ec2:default-security-group": "ec2:security-group"}
"""Where the name of a recorded ARN's kind is Pulumi's own."""

BY_WHAT_USES_IT = ("eks:nodegroup", "ec2:internet-gateway")
"""What the cards price by its machines and by what goes through it: the machines are listed one by one."""


@pytest.mark.parametrize("stack", ["demo", "large-aws", "small-aws"])
def test_what_the_cards_price_is_looked_for_or_of_unknown_price(rehearsed, stack: str) -> None:
    looked = {kind for _, kinds in FINDERS.values() for kind in kinds}
    seen = set()
    for each in rehearsed(stack).resources:
        arn, card = each.outputs.get("arn"), cards.of(each.type)
        if each.package == "aws" and card.taggable and isinstance(arn, str) and arn.count(":") >= 5:
            kind = REAL_KINDS.get(kind_of(arn), kind_of(arn))
            seen.add(kind)
            free = isinstance(card.price, Free) or kind in BY_WHAT_USES_IT
            assert free or kind not in FREE_KINDS, f"{kind} costs something"
    assert seen & looked
    assert seen & FREE_KINDS


def test_no_kind_is_free_and_looked_for() -> None:
    looked = {kind for _, kinds in FINDERS.values() for kind in kinds}
    assert not looked & FREE_KINDS
