"""What data sources of AWS answer: in the forms of what they look up, several where they list, another for another."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import pytest

from tests.rehearsal.conftest import Run
from trainyard.recorded.model import UNKNOWN, bare
from trainyard.rehearsal.engine.invokes import invoke
from trainyard.rehearsal.engine.synthesised import Place
from trainyard.rehearsal.engine.wire import says_nothing

PLACE = Place(region="eu-west-1")
KEY = r"arn:aws:kms:eu-west-1:\d{12}:key/[-0-9a-f]{36}"
SECRET = r"arn:aws:secretsmanager:eu-west-1:\d{12}:secret:a-\w{6}"
CERTIFICATE = r"arn:aws:acm:eu-west-1:\d{12}:certificate/[-0-9a-f]{36}"


def asked(module: str, function: str, /, **arguments: Any) -> Mapping[str, Any]:
    import_module(f"pulumi_aws.{module}")  # the SDK describes the answers of what is imported
    return invoke(f"aws:{module}/{function}:{function}", arguments, PLACE)


def test_a_list_of_subnets_has_one_in_each_of_several_zones() -> None:
    ids = asked("ec2", "getSubnets", filters=[{"name": "vpc-id", "values": ["vpc-1"]}])["ids"]
    assert len(set(ids)) == 3
    assert all(re.fullmatch(r"subnet-[0-9a-f]{17}", id_) for id_ in ids)
    found = [asked("ec2", "getSubnet", id=id_) for id_ in ids]
    assert [subnet["availabilityZone"] for subnet in found] == ["eu-west-1a", "eu-west-1b", "eu-west-1c"]
    assert len({subnet["cidrBlock"] for subnet in found}) == 3
    others = asked("ec2", "getSubnets", filters=[{"name": "vpc-id", "values": ["vpc-2"]}])["ids"]
    assert not set(ids) & set(others)


def test_what_is_asked_with_other_words_is_another_and_with_the_same_the_same() -> None:
    in_zone = [asked("ec2", "getSubnet", vpcId="vpc-1", availabilityZone=f"eu-west-1{letter}") for letter in "aab"]
    assert in_zone[0] == in_zone[1]
    assert in_zone[0]["id"] != in_zone[2]["id"]
    assert in_zone[2]["availabilityZone"] == "eu-west-1b"
    one, other = (asked("ec2", "getVpc", tags={"Name": name}) for name in ("one", "other"))
    assert one["cidrBlock"] != other["cidrBlock"]
    assert one["cidrBlockAssociations"][0]["cidrBlock"] == one["cidrBlock"]


@pytest.mark.parametrize(
    ("module", "name", "arguments", "field", "form"),
    [
        ("secretsmanager", "getSecret", {"name": "a"}, "arn", SECRET),
        ("secretsmanager", "getSecret", {"name": "a"}, "kmsKeyId", KEY),
        ("iam", "getRole", {"name": "a"}, "arn", r"arn:aws:iam::\d{12}:role/a"),
        ("kms", "getAlias", {"name": "alias/a"}, "targetKeyArn", KEY),
        ("acm", "getCertificate", {"domain": "a.org"}, "arn", CERTIFICATE),
        ("ec2", "getSecurityGroup", {"name": "a"}, "id", r"sg-[0-9a-f]{17}"),
        ("ec2", "getAmi", {"owners": ["amazon"]}, "imageId", r"ami-[0-9a-f]{17}"),
    ],
)  # fmt: skip
def test_ids_and_arns_look_as_those_of_what_is_looked_up(
    module: str, name: str, arguments: dict[str, Any], field: str, form: str
) -> None:
    assert re.fullmatch(form, asked(module, name, **arguments)[field])


@pytest.mark.parametrize(
    ("module", "name", "form"),
    [
        ("ec2", "getSecurityGroups", r"sg-[0-9a-f]{17}"),
        ("ec2", "getRouteTables", r"rtb-[0-9a-f]{17}"),
        ("ec2", "getVpcs", r"vpc-[0-9a-f]{17}"),
        ("ec2", "getAmiIds", r"ami-[0-9a-f]{17}"),
    ],
)
def test_lists_have_ids_of_what_they_list(module: str, name: str, form: str) -> None:
    ids = asked(module, name, owners=["self"])["ids"]
    assert len(set(ids)) == 3
    assert all(re.fullmatch(form, id_) for id_ in ids)


def test_a_replica_has_the_id_of_its_key_in_its_own_region(run: Run) -> None:
    found = run(
        """
        import pulumi_aws.kms as kms
        away = pulumi.ResourceOptions(provider=Provider("away", region="eu-west-1"))
        key = kms.Key("key", multi_region=True, opts=on_aws)
        replica = kms.ReplicaKey("replica", primary_key_arn=key.arn, opts=away)
        pulumi.export("keys", [key.arn, replica.arn, key.key_id, replica.key_id])
        """
    )
    here, there, id_, same = found.outputs["keys"]
    assert (here, there) == tuple(
        f"arn:aws:kms:{region}:123456789012:key/{id_}" for region in ("us-east-1", "eu-west-1")
    )
    assert id_ == same


def test_what_somebody_wrote_may_be_anything(run: Run) -> None:
    """An id among the values of Parameter Store is unknown; what stands in a secret is not parsed."""
    found = run(
        """
        import json
        import pulumi_aws as all_of_aws
        ask = pulumi.InvokeOptions(provider=aws)
        vpc = all_of_aws.ssm.get_parameter(name="/vpc", opts=ask).value
        subnets = all_of_aws.ssm.get_parameter(name="/subnets", opts=ask).value.split(",")
        secret = all_of_aws.secretsmanager.get_secret_version_output(secret_id="a", opts=ask)
        word = secret.secret_string.apply(lambda text: json.loads(text)["word"])
        ec2.SecurityGroup("group", vpc_id=vpc, description=word, opts=on_aws)
        ec2.Instance("machine", subnet_id=subnets[0], ami="ami-1", instance_type="m5.large", opts=on_aws)
        """
    )
    assert found.findings == ()
    for run_ in (found.preview, found.known):
        assert run_ is not None
        (group,) = run_.of_type("aws:ec2/securityGroup:SecurityGroup")
        (machine,) = run_.of_type("aws:ec2/instance:Instance")
        assert (group.inputs["vpcId"], group.inputs["description"]) == (UNKNOWN, UNKNOWN)
        assert machine.inputs["subnetId"] is UNKNOWN


OF_A_SECRET = """
    import json
    import yaml
    import pulumi_aws as all_of_aws
    import pulumi_gcp as google
    ask = pulumi.InvokeOptions(provider=aws)
    on_google = google.Provider("google", project="p", region="europe-west1")
    secret = all_of_aws.secretsmanager.get_secret_version(secret_id="a", opts=ask).secret_string
    said = json.loads({text})
"""


@pytest.mark.parametrize(
    "asked",
    [
        'said["network"]["vpc"]',
        'said.get("vpc", "none")',
        'said["networks"][0]["vpc"]',
        '[each for each in said["networks"]][0]',
        'json.loads(said["network"])["vpc"]',
        'pulumi.Output.secret(secret).apply(json.loads)["vpc"]',
        'yaml.safe_load(secret)["vpc"]',
        """json.loads(google.secretmanager.get_secret_version(
        secret="s", opts=pulumi.InvokeOptions(provider=on_google)).secret_data)["vpc"]""",
        """google.secretmanager.get_secret_version_output(
        secret="s", opts=pulumi.InvokeOptions(provider=on_google)
        ).secret_data.apply(lambda text: json.loads(text)["vpc"])""",
    ],
)
def test_a_part_of_what_stands_in_a_secret_is_unknown(run: Run, asked: str) -> None:
    found = run(
        OF_A_SECRET.replace("{text}", "secret")
        + f"""
    ec2.SecurityGroup("group", vpc_id={asked}, description="a" if "vpc" in said else "b", opts=on_aws)
    """
    )
    assert found.findings == ()
    for run_ in (found.preview, found.known):
        assert run_ is not None
        (group,) = run_.of_type("aws:ec2/securityGroup:SecurityGroup")
        assert (bare(group.inputs["vpcId"]), group.inputs["description"]) == (UNKNOWN, "a")


def test_numbers_and_names_of_a_secret_may_be_used(run: Run) -> None:
    found = run(
        OF_A_SECRET.replace("{text}", "secret")
        + """
    port = int(said["port"])
    ec2.SecurityGroup("group", description=f"of {said['user']}, {port}", opts=on_aws)
    """
    )
    assert found.findings == ()


def test_a_text_of_its_own_is_parsed_as_ever(run: Run) -> None:
    found = run(OF_A_SECRET.replace("{text}", "'{'"))
    assert [finding.rule for finding in found.errors] == ["program-error"]


def test_what_only_the_content_could_answer_is_no_mistake_of_the_program(run: Run) -> None:
    found = run(OF_A_SECRET.replace("{text}", "secret") + "    int(secret, 16)")
    assert [finding.rule for finding in found.errors] == ["look-up-unknown"]


def test_a_wrong_id_beside_it_is_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # with the checks of values
    found = run(
        """
        import pulumi_aws as all_of_aws
        subnets = all_of_aws.ec2.get_subnets(opts=pulumi.InvokeOptions(provider=aws)).ids
        ec2.SecurityGroup("group", vpc_id=subnets[0], opts=on_aws)
        """
    )
    assert "aws-id" in {finding.rule for finding in found.errors}


def test_the_zones_of_a_region_are_those_that_it_has() -> None:
    def zones(region: str, **arguments: Any) -> Any:
        token = "aws:index/getAvailabilityZones:getAvailabilityZones"
        return invoke(token, arguments, Place(region=region))["names"]

    assert zones("us-west-1") == ["us-west-1a", "us-west-1b"]
    assert zones("ap-northeast-1") == ["ap-northeast-1a", "ap-northeast-1c", "ap-northeast-1d"]
    assert zones("us-west-2", excludeNames=["us-west-2d"]) == ["us-west-2a", "us-west-2b", "us-west-2c"]
    assert zones("us-east-2", excludeZoneIds=["use2-az1"]) == ["us-east-2b", "us-east-2c"]
    assert zones("xx-nowhere-9") == ["xx-nowhere-9a", "xx-nowhere-9b", "xx-nowhere-9c"]


def test_what_is_preferred_is_what_there_is_and_a_machine_is_one_that_is_sold() -> None:
    kinds = ["db.r6g.xlarge", "db.m5.large"]
    found = asked("rds", "getOrderableDbInstance", engine="postgres", preferredInstanceClasses=kinds)
    assert found["instanceClass"] == "db.r6g.xlarge"
    rds = import_module("pulumi_aws.rds")
    assert rds.InstanceType(asked("rds", "getOrderableDbInstance", engine="postgres")["instanceClass"])


def test_a_service_of_endpoints_is_the_one_that_is_asked_for() -> None:
    def found(**arguments: str) -> tuple[str, str]:
        answer = asked("ec2", "getVpcEndpointService", **arguments)
        return answer["serviceName"], answer["serviceType"]

    assert found(service="dynamodb") == ("com.amazonaws.eu-west-1.dynamodb", "Gateway")
    assert found(service="s3", serviceType="Interface") == ("com.amazonaws.eu-west-1.s3", "Interface")
    another = "com.amazonaws.vpce.eu-west-1.vpce-svc-0123456789abcdef0"
    assert found(serviceName=another) == (another, "Interface")


def test_an_arn_of_which_nobody_knows_the_form_is_not_known_to_rules_and_is_given_back_as_it_was_asked() -> None:
    arn = asked("ssoadmin", "getInstances")["arns"][0]
    assert arn.startswith("arn:aws:") and says_nothing(arn) and not says_nothing(f"x {arn}")
    assert asked("ssoadmin", "getPermissionSet", instanceArn=arn, name="admin")["instanceArn"] == arn
    files = asked("efs", "getFileSystem", fileSystemId="fs-1")["arn"]
    assert not says_nothing(files)


CHART = """
from pulumi_kubernetes.core.v1 import ConfigMap
from pulumi_kubernetes.helm.v3 import Chart, ChartOpts, FetchOpts

chart = Chart("ingress", ChartOpts(chart="ingress", version="1.0.0", fetch_opts=FetchOpts(repo="https://charts.test")))
ConfigMap("after", GIVEN={"a": "1"}, opts=pulumi.ResourceOptions(depends_on=[chart]))
"""


@pytest.mark.parametrize(("given", "rules"), [("data", set()), ("dates", {"unknown-key"})])
def test_a_chart_that_is_rendered_elsewhere_ends_no_program(run: Run, given: str, rules: set[str]) -> None:
    found = run(CHART.replace("GIVEN", given)).findings
    assert {finding.rule for finding in found} == rules | {"manifests-unchecked"}


@pytest.mark.parametrize(
    ("asked", "value"),
    [
        ('cloudformation.get_stack(name="n", opts=at).outputs["VpcId"]', UNKNOWN),
        ('cloudformation.get_stack(name="n", opts=at).outputs.get("VpcId")', UNKNOWN),
        ('cloudformation.get_stack(name="n", opts=at).outputs.get("VpcId", "vpc-1")', "vpc-1"),
        ('cloudformation.get_stack_output(name="n", opts=at).outputs["VpcId"]', UNKNOWN),
        ('"VpcId" in cloudformation.get_stack(name="n", opts=at).outputs', True),
        ('list(cloudformation.get_stack(name="n", opts=at).outputs)', []),
        ('ec2.get_vpc(id="vpc-0123456789abcdef0", opts=at).tags["Name"]', UNKNOWN),
        ('ec2.get_vpc_output(id="vpc-0123456789abcdef0", opts=at).tags["Name"]', UNKNOWN),
        ('{**ec2.get_vpc(id="vpc-0123456789abcdef0", opts=at).tags, "Name": "x"}', {"Name": "x"}),
        ('ec2.Vpc.get("v", "vpc-0123456789abcdef0", opts=on_aws).tags["Name"]', UNKNOWN),
        ('core.ConfigMap.get("c", "ns/name").data["key"]', UNKNOWN),
    ],
)
def test_a_map_that_is_looked_up_has_every_key(run: Run, asked: str, value: object) -> None:
    found = run(
        "from pulumi_aws import cloudformation\n"
        f"at = pulumi.InvokeOptions(provider=aws)\npulumi.export('found', {asked})\n"
    )
    assert found.findings == ()
    assert found.known.stack_outputs == found.preview.stack_outputs == {"found": value}


def test_two_maps_that_are_looked_up_hold_two_things(run: Run) -> None:
    found = run(
        """
        from pulumi_aws import cloudformation
        at = pulumi.InvokeOptions(provider=aws)
        one, other = (cloudformation.get_stack(name=name, opts=at).outputs["Zone"] for name in "ab")
        pulumi.export("same", one == other)
        """
    )
    assert found.known.stack_outputs == {"same": False}


def test_a_map_that_the_program_makes_lacks_what_is_not_in_it(run: Run) -> None:
    found = run(
        'vpc = ec2.Vpc("v", cidr_block="10.0.0.0/16", tags={}, opts=on_aws)\n'
        'vpc.tags.apply(lambda tags: tags["Name"])\n'
    )
    assert [finding.rule for finding in found.errors] == ["program-error"]


@pytest.mark.parametrize(("given", "found"), [("true", True), (True, True), ("false", False)])
def test_what_is_given_as_text_comes_back_as_what_it_stands_for(given: object, found: object) -> None:
    assert asked("ec2", "getAmi", mostRecent=given)["mostRecent"] is found


def test_a_token_of_a_registry_is_a_user_and_a_password() -> None:
    token = asked("ecr", "getCredentials", registryId="1")["authorizationToken"]
    assert base64.b64decode(token).startswith(b"AWS:")


def test_a_document_that_is_given_as_a_map_comes_back_as_text(run: Run) -> None:
    found = run(
        """
        import json
        from pulumi_aws import iam
        trust = {"Version": "2012-10-17", "Statement": [
            {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "lambda.amazonaws.com"}}]}
        role = iam.Role("r", assume_role_policy=trust, opts=on_aws)
        pulumi.export("same", role.assume_role_policy.apply(lambda text: json.loads(text) == trust))
        pulumi.export("arn", role.arn)
        """
    )
    assert [finding.rule for finding in found.errors] == []
    assert found.known.stack_outputs["same"] is True


def test_a_document_may_have_what_is_not_known_yet(run: Run) -> None:
    found = run(
        """
        from pulumi_aws import iam
        role = iam.Role("a", assume_role_policy="{}", opts=on_aws)
        at = pulumi.InvokeOptions(provider=aws)
        document = iam.get_policy_document(opts=at, statements=[
            {"actions": ["s3:GetObject"], "resources": [role.arn]}])
        iam.Policy("p", policy=document.json, opts=on_aws)
        """
    )
    assert [finding.rule for finding in found.errors if finding.rule in ("program-error", "wrong-type")] == []
