"""Ids of AWS types have the forms that AWS gives them, whether or not somebody wrote them down."""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from trainyard.rehearsal.engine import generate_aws_ids
from trainyard.rehearsal.engine.synthesised import Place, Subject, arn, identity, special

PLACE = Place(region="eu-west-1")


def subject(type_: str, **inputs: Any) -> Subject:
    return Subject(type_, "one", inputs, PLACE)


@pytest.mark.parametrize(
    ("type_", "form"),
    [
        (
            "aws:lb/loadBalancer:LoadBalancer",
            "arn:aws:elasticloadbalancing:eu-west-1:\\d{12}:loadbalancer/app/one/[0-9a-f]{16}",
        ),
        (
            "aws:lb/targetGroup:TargetGroup",
            "arn:aws:elasticloadbalancing:eu-west-1:\\d{12}:targetgroup/one/[0-9a-f]{16}",
        ),
        ("aws:sagemaker/space:Space", "arn:aws:sagemaker:eu-west-1:\\d{12}:space/d-0/one"),
        ("aws:iam/samlProvider:SamlProvider", "arn:aws:iam::\\d{12}:saml-provider/one"),
        ("aws:s3tables/tableBucket:TableBucket", "arn:aws:s3tables:eu-west-1:\\d{12}:bucket/one"),
        ("aws:batch/jobDefinition:JobDefinition", "arn:aws:batch:eu-west-1:\\d{12}:job-definition/one:1"),
        ("aws:batch/jobQueue:JobQueue", "arn:aws:batch:eu-west-1:\\d{12}:job-queue/one"),
        (
            "aws:globalaccelerator/listener:Listener",
            "arn:aws:globalaccelerator::\\d{12}:accelerator/x{8}-x{4}-x{4}-x{4}-x{12}/listener/one-[0-9a-f]{8}",
        ),
        ("aws:fsx/openZfsVolume:OpenZfsVolume", "fsvol-[0-9a-f]{17}"),
        ("aws:ec2/vpcEndpointService:VpcEndpointService", "vpce-svc-[0-9a-f]{17}"),
        ("aws:nobody/knows:Knows", "one-[0-9a-f]{8}"),
    ],
)
def test_an_id_is_as_aws_has_it(type_: str, form: str) -> None:
    made = identity(subject(type_))
    assert re.fullmatch(form, made)
    if made.startswith("arn:"):
        assert arn(subject(type_), made) == made


def test_lists_that_the_cloud_fills_have_as_many_as_it_gives() -> None:
    zone, proof = subject("aws:route53/zone:Zone"), subject("aws:ses/domainDkim:DomainDkim", domain="example.com")
    assert len(special(zone, "Z1")["nameServers"]) == 4
    assert len(set(special(proof, "example.com")["dkimTokens"])) == 3


def test_a_version_of_a_secret_goes_by_the_secrets_arn() -> None:
    secret = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-a1b2c3"
    version = subject("aws:secretsmanager/secretVersion:SecretVersion", secretId=secret)
    assert special(version, identity(version))["arn"] == secret


@pytest.mark.parametrize(
    ("id_", "form"),
    [
        (
            "arn:aws:m2:us-east-1:123456789012:app/abc12",
            "arn:{partition}:m2:{region}:{account}:app/{cloud_name}-{hex:.8}",
        ),
        (
            "arn:aws:glue:us-east-1:123456789012:registry/my-name",
            "arn:{partition}:glue:{region}:{account}:registry/{cloud_name}",
        ),
        ("arn:aws:iam::123456789012:mfa/x", "arn:{partition}:iam::{account}:mfa/{cloud_name}-{hex:.8}"),
        ("tgw-rtb-12345678", "tgw-rtb-{hex:.8}"),
        ("1b671a64-40d5-491e-99b0-da01ff1f3341", "{uuid}"),
        ("domain-id-12345678", None),
        ("arn:aws:sso:::a/b,arn:aws:sso:::c/d", None),
        ("my-name", None),
    ],
)
def test_a_form_is_read_from_what_a_page_imports(id_: str, form: str | None) -> None:
    assert generate_aws_ids.form(id_) == form


def test_the_table_is_what_the_sdk_says() -> None:
    """A share of its pages: all of them are read when the table is written."""
    where = find_spec("pulumi_aws")
    assert where is not None and where.origin is not None
    kept = json.loads(generate_aws_ids.FILE.read_text(encoding="utf-8"))
    written = dict(generate_aws_ids.forms(Path(where.origin).parent / "fsx"))
    assert written and written == {type_: form for type_, form in kept.items() if type_.startswith("aws:fsx/")}
