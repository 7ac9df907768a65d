"""An account is asked with time-outs and all pages, and says in a sentence why it cannot be."""

from __future__ import annotations

import boto3
import pytest
from botocore.parsers import ResponseParserError
from moto import mock_aws

from tests.account.answers import MOTO_ACCOUNT, aws, refusal
from trainyard.account.aws import Account, CannotAskError, NoCredentialsError, RefusedError, account_of, tags_in


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch, tmp_path) -> Account:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    return account_of("us-east-1")


def test_without_credentials_it_says_how_to_get_them(nobody: Account) -> None:
    with pytest.raises(NoCredentialsError, match="no AWS credentials") as told:
        nobody.identity  # noqa: B018
    assert "AWS_PROFILE" in told.value.remedy


def test_a_profile_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(NoCredentialsError, match="acme-deploy"):
        account_of("us-east-1", None, "acme-deploy").identity  # noqa: B018


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("ExpiredToken", NoCredentialsError),
        ("UnrecognizedClientException", NoCredentialsError),
        ("AccessDenied", RefusedError),
        ("UnauthorizedOperation", RefusedError),
        ("Throttling", RefusedError),
    ],
)
def test_what_aws_answers_with_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, code: str, kind: type[CannotAskError]
) -> None:
    with aws(monkeypatch, {"ec2.DescribeVpcs": refusal(code)}) as account, pytest.raises(kind) as told:
        account.call("ec2", "describe_vpcs")
    assert "DescribeVpcs" in str(told.value) or code in str(told.value)
    assert told.value.remedy


def test_a_proxy_that_answers_in_aws_place_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def page(asked: object) -> object:
        raise ResponseParserError("Unable to parse response, invalid XML received: b'<!doctype html>\\n<title>Log in'")

    with aws(monkeypatch, {"ec2.DescribeVpcs": page}) as account, pytest.raises(CannotAskError) as told:
        account.call("ec2", "describe_vpcs")
    assert "AWS did not answer" in str(told.value)
    assert "HTTPS_PROXY" in told.value.remedy


def test_absence_is_told_from_refusal() -> None:
    assert RefusedError("InvalidVpcID.NotFound", "", "").is_absence
    assert RefusedError("ResourceNotFoundException", "", "").is_absence
    assert not RefusedError("AccessDenied", "", "").is_absence


def test_every_page_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def page(asked: dict[str, str]) -> dict[str, object]:
        token = asked.get("NextToken", "a")
        following = {"a": "b", "b": "c", "c": ""}[token]
        return {"Vpcs": [{"VpcId": f"vpc-{token}"}], **({"NextToken": following} if following else {})}

    with aws(monkeypatch, {"ec2.DescribeVpcs": page}) as account:
        assert [each["VpcId"] for each in account.each("ec2", "describe_vpcs", "Vpcs")] == ["vpc-a", "vpc-b", "vpc-c"]


def test_it_comes_in_as_the_role_that_the_stack_names(monkeypatch: pytest.MonkeyPatch) -> None:
    with mock_aws():
        account = account_of("us-east-1", "arn:aws:iam::210987654321:role/deploy")
        assert account.identity["account"] == "210987654321"
        assert "/deploy/" in account.identity["arn"]
        assert boto3.client("sts", "us-east-1").get_caller_identity()["Account"] == MOTO_ACCOUNT


def test_every_client_has_time_outs_and_sends_again_what_was_throttled() -> None:
    with mock_aws():
        config = account_of("us-east-1").client("ec2").meta.config
    assert (config.connect_timeout, config.read_timeout) == (5, 30)
    assert config.retries == {"total_max_attempts": 6, "mode": "adaptive"}


@pytest.mark.parametrize(
    "entry",
    [
        {"Tags": [{"Key": "client", "Value": "acme"}]},
        {"TagList": [{"Key": "client", "Value": "acme"}]},
        {"tags": {"client": "acme"}},
        {"tags": [{"key": "client", "value": "acme"}]},
    ],
)
def test_tags_are_read_however_a_service_writes_them(entry: dict[str, object]) -> None:
    assert tags_in(entry) == {"client": "acme"}
    assert tags_in({}) == {}
