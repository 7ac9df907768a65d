"""What managed training is made of, sent to AWS's APIs: moto's server answers what it has, botocore's own model the
rest."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber
from moto.server import ThreadedMotoServer

from tests.components.aws.api_shape import api_shape, refusals
from tests.conftest import MANAGED
from trainyard.rehearsal.works.managed.aws.editors import DOMAIN, SCRIPT, USER_PROFILE
from trainyard.rehearsal.works.managed.aws.jobs import COMMAND

APP, GROUP = "aws:sagemaker/mlflowApp:MlflowApp", "aws:sagemaker/modelPackageGroup:ModelPackageGroup"
BUDGET, ACTION = "aws:budgets/budget:Budget", "aws:budgets/budgetAction:BudgetAction"
RULE, BOARD = "aws:cloudwatch/eventRule:EventRule", "aws:cloudwatch/dashboard:Dashboard"
ACCOUNT = "123456789012"
NOT_OF_THE_CALL = ("tags", "tagsAll", "retentionPolicy")
"""Inputs that the provider sends in another spelling, or at another time."""
SPELLINGS = {"autoMountHomeEfs": "AutoMountHomeEFS", "defaultDomainIdLists": "DefaultDomainIdList"}
"""What the provider spells otherwise than the API."""


class Stack:
    """A recorded stack, and its requests as the APIs take them."""

    def __init__(self, rehearsed: Any) -> None:
        self.resources, self.region = rehearsed.resources, rehearsed.outputs["region"]

    def of(self, type_: str) -> list[Any]:
        return [item for item in self.resources if item.type == type_]

    def request(self, resource: Any) -> dict[str, Any]:
        kept = {key: value for key, value in resource.inputs.items() if key not in NOT_OF_THE_CALL}
        found: dict[str, Any] = api_shape(kept, SPELLINGS)
        return found

    def client(self, service: str) -> Any:
        return boto3.client(service, region_name=self.region, aws_access_key_id="a", aws_secret_access_key="b")


@pytest.fixture(scope="module", params=MANAGED)
def stack(request: Any, rehearsed: Any) -> Stack:
    return Stack(rehearsed(request.param))


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    running = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    yield "http://{}:{}".format(*running.get_host_and_port())
    running.stop()


@pytest.fixture
def aws(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An account with nothing in it."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", server)
    urllib.request.urlopen(urllib.request.Request(f"{server}/moto-api/reset", method="POST")).close()


def test_the_domain_is_made_described_and_gone(stack: Stack, aws: None) -> None:
    (domain,) = stack.of(DOMAIN)
    request, sagemaker = stack.request(domain), stack.client("sagemaker")
    assert refusals("sagemaker", "CreateDomain", request) == []
    sagemaker.create_domain(**request)
    (listed,) = sagemaker.list_domains()["Domains"]
    found = sagemaker.describe_domain(DomainId=listed["DomainId"])
    assert found["AppNetworkAccessType"] == domain.inputs["appNetworkAccessType"]
    editors = found["DefaultUserSettings"]
    for editor in ("JupyterLabAppSettings", "CodeEditorAppSettings"):
        idle = editors[editor]["AppLifecycleManagement"]["IdleSettings"]
        assert (idle["LifecycleManagement"], idle["IdleTimeoutInMinutes"]) == ("ENABLED", 60)
    sagemaker.delete_domain(DomainId=listed["DomainId"])
    assert sagemaker.list_domains()["Domains"] == []


def test_models_are_registered_in_the_stack_s_groups(stack: Stack, aws: None) -> None:
    sagemaker = stack.client("sagemaker")
    for group in stack.of(GROUP):
        sagemaker.create_model_package_group(**stack.request(group))
    names = {
        each["ModelPackageGroupName"] for each in sagemaker.list_model_package_groups()["ModelPackageGroupSummaryList"]
    }
    assert names == {group.inputs["modelPackageGroupName"] for group in stack.of(GROUP)} != set()


def test_the_smoke_job_is_taken_and_ends(stack: Stack, aws: None) -> None:
    (command,) = stack.of(COMMAND)
    request, sagemaker = json.loads(command.inputs["triggers"][0]), stack.client("sagemaker")
    assert refusals("sagemaker", "CreateTrainingJob", request) == []
    sagemaker.create_training_job(**request)
    found = sagemaker.describe_training_job(TrainingJobName=request["TrainingJobName"])
    assert found["TrainingJobStatus"] == "Completed"
    assert found["ResourceConfig"]["InstanceType"] == request["ResourceConfig"]["InstanceType"]
    assert found["VpcConfig"]["Subnets"] == request["VpcConfig"]["Subnets"]


def test_a_job_that_failed_reaches_the_rule_and_one_that_trains_does_not(stack: Stack, aws: None) -> None:
    events = stack.client("events")
    ended = next(rule for rule in stack.of(RULE) if rule.name == "managed-jobs-ended")
    events.put_rule(Name="ended", EventPattern=ended.inputs["eventPattern"])
    assert [rule["Name"] for rule in events.list_rules()["Rules"]] == ["ended"]
    sqs = stack.client("sqs")
    queue = sqs.create_queue(QueueName="told")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    events.put_targets(Rule="ended", Targets=[{"Id": "told", "Arn": arn}])
    kind = json.loads(ended.inputs["eventPattern"])["detail-type"][0]
    sent = [
        {"Source": "aws.sagemaker", "DetailType": kind, "Detail": json.dumps({"TrainingJobStatus": status})}
        for status in ("Failed", "Stopped", "InProgress", "Completed")
    ]
    assert events.put_events(Entries=sent)["FailedEntryCount"] == 0
    told = sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10).get("Messages", [])
    assert {json.loads(each["Body"])["detail"]["TrainingJobStatus"] for each in told} == {"Failed", "Stopped"}


def test_the_budget_is_made_and_its_alerts_are_sent(stack: Stack, aws: None) -> None:
    (budget,) = stack.of(BUDGET)
    inputs, budgets = budget.inputs, stack.client("budgets")
    budgets.create_budget(
        AccountId=ACCOUNT,
        Budget={
            "BudgetName": inputs["name"],
            "BudgetLimit": {"Amount": inputs["limitAmount"], "Unit": inputs["limitUnit"]},
            "TimeUnit": inputs["timeUnit"],
            "BudgetType": inputs["budgetType"],
            "CostFilters": {each["name"]: list(each["values"]) for each in inputs["costFilters"]},
        },
        NotificationsWithSubscribers=[
            {
                "Notification": {
                    "NotificationType": each["notificationType"],
                    "ComparisonOperator": each["comparisonOperator"],
                    "Threshold": each["threshold"],
                    "ThresholdType": each["thresholdType"],
                },
                "Subscribers": [
                    *({"SubscriptionType": "EMAIL", "Address": to} for to in each["subscriberEmailAddresses"]),
                    *({"SubscriptionType": "SNS", "Address": to} for to in each["subscriberSnsTopicArns"]),
                ],
            }
            for each in inputs["notifications"]
        ],
    )
    (found,) = budgets.describe_budgets(AccountId=ACCOUNT)["Budgets"]
    assert found["CostFilters"] == {"Service": ["Amazon SageMaker"]}
    told = budgets.describe_notifications_for_budget(AccountId=ACCOUNT, BudgetName=inputs["name"])["Notifications"]
    assert {each["NotificationType"] for each in told} == {"ACTUAL", "FORECASTED"}


def test_the_dashboard_is_taken(stack: Stack, aws: None) -> None:
    (board,) = stack.of(BOARD)
    cloudwatch = stack.client("cloudwatch")
    cloudwatch.put_dashboard(DashboardName=board.inputs["dashboardName"], DashboardBody=board.inputs["dashboardBody"])
    assert cloudwatch.get_dashboard(DashboardName=board.inputs["dashboardName"])["DashboardBody"]


STUBBED: tuple[tuple[str, str, dict[str, Any]], ...] = (
    (
        USER_PROFILE,
        "create_user_profile",
        {"UserProfileArn": f"arn:aws:sagemaker:us-east-1:{ACCOUNT}:user-profile/d/p"},
    ),
    (SCRIPT, "create_studio_lifecycle_config", {}),
    (APP, "create_mlflow_app", {"Arn": f"arn:aws:sagemaker:us-east-1:{ACCOUNT}:mlflow-app/app-0123456789ab"}),
)
"""What moto 5.2.5 has not, with what SageMaker answers."""


@pytest.mark.parametrize(("type_", "call", "answer"), STUBBED, ids=[call for _, call, _ in STUBBED])
def test_what_moto_has_not_passes_the_service_s_own_model(
    stack: Stack, type_: str, call: str, answer: dict[str, Any]
) -> None:
    made = stack.of(type_)
    assert made
    for resource in made:
        client, request = stack.client("sagemaker"), stack.request(resource)
        with Stubber(client) as stub:
            stub.add_response(call, answer, request)
            assert getattr(client, call)(**request).items() >= answer.items()
            stub.assert_no_pending_responses()


def test_the_brake_passes_the_service_s_own_model(stack: Stack) -> None:
    (action,) = stack.of(ACTION)
    inputs, client = action.inputs, stack.client("budgets")
    request = {
        "AccountId": ACCOUNT,
        "BudgetName": inputs["budgetName"],
        "NotificationType": inputs["notificationType"],
        "ActionType": inputs["actionType"],
        "ActionThreshold": api_shape(inputs["actionThreshold"]),
        "Definition": api_shape(inputs["definition"]),
        "ExecutionRoleArn": inputs["executionRoleArn"],
        "ApprovalModel": inputs["approvalModel"],
        "Subscribers": [api_shape(each) for each in inputs["subscribers"]],
    }
    answer = {"AccountId": ACCOUNT, "BudgetName": inputs["budgetName"], "ActionId": "0" * 36}
    with Stubber(client) as stub:
        stub.add_response("create_budget_action", answer, request)
        assert client.create_budget_action(**request)["ActionId"] == answer["ActionId"]
    assert not any(name.startswith("arn:") for name in inputs["definition"]["iamActionDefinition"]["roles"])
