"""BudgetAlerts: what is registered, and what Budgets, SNS and Cost Explorer make of it."""

from __future__ import annotations

import functools
import json
from typing import Any

import boto3
import pytest
from moto import mock_aws

from tests.components.aws.api_shape import KEY_ARN, REGION, api_shape, inputs_of, refusals
from tests.pulumi_harness import ACCOUNT, Recorded, Recording, record
from trainyard.components.aws.budget import BudgetAlerts

EMAILS = ["ml-platform@acme.example", "finance@acme.example"]
SCOPE = {"key": "stack", "value": "acme-production"}


def arguments(**changes: Any) -> Any:
    return {
        "account_id": ACCOUNT,
        "key_arn": KEY_ARN,
        "budget_name": "acme-production",
        "scope": SCOPE,
        "monthly_usd": 30000,
        "actual_percents": [50, 80, 100],
        "forecast_percents": [100],
        "emails": EMAILS,
        "anomaly_threshold_usd": 200,
        "anomaly_detection": True,
        "activate_cost_tags": False,
        "cost_tag_keys": ["stack", "client", "team"],
        **changes,
    }


def alerts(**changes: Any) -> Recording:
    return record(lambda: BudgetAlerts("acme-budget", arguments(**changes)))


def test_a_member_account_has_no_anomaly_monitor() -> None:
    left = alerts(anomaly_detection=False)
    assert not [resource.name for resource in left.resources if resource.type.startswith("aws:costexplorer/")]
    assert left.one("aws:budgets/budget:Budget").inputs["notifications"]


@functools.cache
def complete() -> Recording:
    return alerts()


def budget(recording: Recording) -> Recorded:
    return recording.one("aws:budgets/budget:Budget", "acme-budget-budget")


def topic_arn(recording: Recording) -> str:
    policy = recording.one("aws:sns/topicPolicy:TopicPolicy")
    return str(policy.inputs["arn"])


class TestTopic:
    def test_encrypted_with_the_environments_key(self) -> None:
        assert complete().one("aws:sns/topic:Topic").inputs["kmsMasterKeyId"] == KEY_ARN

    def test_only_billing_and_alarms_of_this_account_publish(self) -> None:
        policy = json.loads(complete().one("aws:sns/topicPolicy:TopicPolicy").inputs["policy"])
        assert [statement.pop("Sid") for statement in policy["Statement"]] == [
            "Budgets",
            "CostAnomalies",
            "Alarms",
        ]
        common = {"Effect": "Allow", "Action": "sns:Publish", "Resource": topic_arn(complete())}
        ours = {"aws:SourceAccount": ACCOUNT}
        assert policy["Statement"] == [
            {
                **common,
                "Principal": {"Service": "budgets.amazonaws.com"},
                "Condition": {
                    "StringEquals": ours,
                    "ArnLike": {"aws:SourceArn": f"arn:aws:budgets::{ACCOUNT}:*"},
                },
            },
            {
                **common,
                "Principal": {"Service": "costalerts.amazonaws.com"},
                "Condition": {"StringEquals": ours},
            },
            {
                **common,
                "Principal": {"Service": "cloudwatch.amazonaws.com"},
                "Condition": {
                    "StringEquals": ours,
                    "ArnLike": {"aws:SourceArn": f"arn:aws:cloudwatch:*:{ACCOUNT}:alarm:*"},
                },
            },
        ]

    def test_each_address_is_subscribed_under_a_name_of_its_own(self) -> None:
        subscriptions = complete().of_type("aws:sns/topicSubscription:TopicSubscription")
        assert {(s.name, s.inputs["protocol"], s.inputs["endpoint"], s.inputs["topic"]) for s in subscriptions} == {
            (f"acme-budget-{email}", "email", email, topic_arn(complete())) for email in EMAILS
        }


class TestEnvironmentBudget:
    def test_amount_and_filter(self) -> None:
        found = inputs_of(budget(complete()))
        assert (found["name"], found["accountId"]) == ("acme-production", ACCOUNT)
        assert (found["budgetType"], found["timeUnit"]) == ("COST", "MONTHLY")
        assert (found["limitAmount"], found["limitUnit"]) == ("30000", "USD")
        # One value: a second would add costs, not narrow them.
        assert found["costFilters"] == [{"name": "TagKeyValue", "values": ["user:stack$acme-production"]}]
        assert found["costTypes"] == {"includeCredit": False, "includeRefund": False}

    def test_actual_and_forecast_reach_topic_and_addresses(self) -> None:
        found = inputs_of(budget(complete()))["notifications"]
        assert [(n["notificationType"], n["threshold"]) for n in found] == [
            ("ACTUAL", 50),
            ("ACTUAL", 80),
            ("ACTUAL", 100),
            ("FORECASTED", 100),
        ]
        for notification in found:
            assert notification["comparisonOperator"] == "GREATER_THAN"
            assert notification["thresholdType"] == "PERCENTAGE"
            assert notification["subscriberSnsTopicArns"] == [topic_arn(complete())]
            assert notification["subscriberEmailAddresses"] == EMAILS

    def test_waits_until_it_may_publish(self) -> None:
        policy = complete().one("aws:sns/topicPolicy:TopicPolicy").urn
        for type_ in ("aws:budgets/budget:Budget", "aws:costexplorer/anomalySubscription:AnomalySubscription"):
            assert all(policy in resource.dependencies for resource in complete().of_type(type_))


class TestAnomalies:
    def test_monitor_sees_this_environment(self) -> None:
        monitor = inputs_of(complete().one("aws:costexplorer/anomalyMonitor:AnomalyMonitor"))
        assert monitor["monitorType"] == "CUSTOM"
        assert "monitorDimension" not in monitor
        specification = json.loads(monitor["monitorSpecification"])
        assert specification.pop("Tags") == {
            "Key": "stack",
            "MatchOptions": ["EQUALS"],
            "Values": ["acme-production"],
        }
        assert specification == {"And": None, "CostCategories": None, "Dimensions": None, "Not": None, "Or": None}

    def test_subscription_tells_the_topic_at_once(self) -> None:
        subscription = inputs_of(complete().one("aws:costexplorer/anomalySubscription:AnomalySubscription"))
        assert subscription["frequency"] == "IMMEDIATE"
        assert subscription["subscribers"] == [{"type": "SNS", "address": topic_arn(complete())}]
        assert len(subscription["monitorArnLists"]) == 1
        assert subscription["thresholdExpression"] == {
            "dimension": {
                "key": "ANOMALY_TOTAL_IMPACT_ABSOLUTE",
                "matchOptions": ["GREATER_THAN_OR_EQUAL"],
                "values": ["200"],
            }
        }

    def test_amazons_model_accepts_both(self) -> None:
        monitor = inputs_of(complete().one("aws:costexplorer/anomalyMonitor:AnomalyMonitor"))
        specification = json.loads(monitor["monitorSpecification"])
        request = {
            "AnomalyMonitor": {
                "MonitorName": "acme-budget-anomalies-1a2b3c4",
                "MonitorType": monitor["monitorType"],
                "MonitorSpecification": {key: value for key, value in specification.items() if value is not None},
            }
        }
        assert refusals("ce", "CreateAnomalyMonitor", request) == []
        subscription = inputs_of(complete().one("aws:costexplorer/anomalySubscription:AnomalySubscription"))
        threshold = subscription["thresholdExpression"]["dimension"]
        request = {
            "AnomalySubscription": {
                "SubscriptionName": "acme-budget-anomaly-alerts-1a2b3c4",
                "AccountId": subscription["accountId"],
                "Frequency": subscription["frequency"],
                "MonitorArnList": subscription["monitorArnLists"],
                "Subscribers": api_shape(subscription["subscribers"]),
                "ThresholdExpression": {"Dimensions": api_shape(threshold)},
            }
        }
        assert refusals("ce", "CreateAnomalySubscription", request) == []
        request["AnomalySubscription"]["Frequency"] = "HOURLY"
        assert refusals("ce", "CreateAnomalySubscription", request)


class TestCostTags:
    def test_left_alone_unless_asked(self) -> None:
        assert complete().of_type("aws:costexplorer/costAllocationTag:CostAllocationTag") == []

    def test_activated(self) -> None:
        tags = alerts(activate_cost_tags=True).of_type("aws:costexplorer/costAllocationTag:CostAllocationTag")
        assert {(tag.inputs["tagKey"], tag.inputs["status"]) for tag in tags} == {
            ("stack", "Active"),
            ("client", "Active"),
            ("team", "Active"),
        }


def test_without_addresses_the_topic_is_told_alone() -> None:
    recording = alerts(emails=[])
    assert recording.of_type("aws:sns/topicSubscription:TopicSubscription") == []
    for notification in inputs_of(budget(recording))["notifications"]:
        assert notification["subscriberEmailAddresses"] == []
        assert notification["subscriberSnsTopicArns"] == [topic_arn(recording)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"budget_name": "acme:production"}, "budget_name is 'acme:production'.*no colon or backslash"),
        ({"budget_name": "a" * 101}, "at most 100 characters"),
        ({"actual_percents": [10, 20, 30, 40, 50]}, "have 6 entries together, must have 1 to 5"),
        ({"actual_percents": [], "forecast_percents": []}, "have 0 entries together, must have 1 to 5"),
        ({"emails": [f"person{i}@acme.example" for i in range(11)]}, "emails has 11 entries, must have at most 10"),
        ({"monthly_usd": 0}, "monthly_usd is 0, must be above 0"),
        ({"anomaly_threshold_usd": -1}, "anomaly_threshold_usd is -1, must be above 0"),
    ],
)
def test_what_aws_would_refuse_is_refused_by_name(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        alerts(**change)


def test_outputs() -> None:
    seen: list[str] = []

    def program() -> None:
        made = BudgetAlerts("acme-budget", arguments())
        made.topic_arn.apply(seen.append)
        made.budget_name.apply(seen.append)

    record(program)
    assert sorted(seen) == ["acme-production", topic_arn(complete())]


def test_first_preview_registers_the_same_resources() -> None:
    preview = record(lambda: BudgetAlerts("acme-budget", arguments()), preview=True)
    assert {(r.type, r.name) for r in preview.resources} == {(r.type, r.name) for r in complete().resources}


def budget_request(inputs: dict[str, Any]) -> dict[str, Any]:
    """CreateBudget, as the provider calls it."""
    body = {
        "BudgetName": inputs["name"],
        "BudgetType": inputs["budgetType"],
        "TimeUnit": inputs["timeUnit"],
        "BudgetLimit": {"Amount": inputs["limitAmount"], "Unit": inputs["limitUnit"]},
        "CostFilters": {entry["name"]: entry["values"] for entry in inputs["costFilters"]},
        "CostTypes": api_shape(inputs["costTypes"]),
    }
    notifications = [
        {
            "Notification": api_shape({key: item[key] for key in notification_keys}),
            "Subscribers": [{"SubscriptionType": "SNS", "Address": arn} for arn in item["subscriberSnsTopicArns"]]
            + [{"SubscriptionType": "EMAIL", "Address": email} for email in item["subscriberEmailAddresses"]],
        }
        for item in inputs["notifications"]
        for notification_keys in [("notificationType", "comparisonOperator", "threshold", "thresholdType")]
    ]
    return {"AccountId": inputs["accountId"], "Budget": body, "NotificationsWithSubscribers": notifications}


def test_amazons_model_accepts_the_budget() -> None:
    request = budget_request(inputs_of(budget(complete())))
    assert refusals("budgets", "CreateBudget", request) == []
    request["NotificationsWithSubscribers"][0]["Notification"]["NotificationType"] = "EXPECTED"
    assert "'EXPECTED' is none of" in refusals("budgets", "CreateBudget", request)[0]


@mock_aws
def test_budgets_accepts_them_and_returns_the_filter() -> None:
    client = boto3.client("budgets", region_name=REGION)
    for recorded in complete().of_type("aws:budgets/budget:Budget"):
        client.create_budget(**budget_request(inputs_of(recorded)))
    assert len(client.describe_budgets(AccountId=ACCOUNT)["Budgets"]) == 1
    found = client.describe_budget(AccountId=ACCOUNT, BudgetName="acme-production")["Budget"]
    assert found["CostFilters"] == {"TagKeyValue": ["user:stack$acme-production"]}
    assert float(found["BudgetLimit"]["Amount"]) == 30000
    notifications = client.describe_notifications_for_budget(AccountId=ACCOUNT, BudgetName="acme-production")
    assert [(n["NotificationType"], n["Threshold"]) for n in notifications["Notifications"]] == [
        ("ACTUAL", 50),
        ("ACTUAL", 80),
        ("ACTUAL", 100),
        ("FORECASTED", 100),
    ]


@mock_aws
def test_sns_accepts_the_topic_its_policy_and_the_subscriptions() -> None:
    client = boto3.client("sns", region_name=REGION)
    topic = inputs_of(complete().one("aws:sns/topic:Topic"))
    arn = client.create_topic(
        Name="acme-budget-alerts-1a2b3c4",
        Attributes={"KmsMasterKeyId": topic["kmsMasterKeyId"], "SignatureVersion": str(topic["signatureVersion"])},
    )["TopicArn"]
    policy = complete().one("aws:sns/topicPolicy:TopicPolicy").inputs["policy"].replace(topic_arn(complete()), arn)
    client.set_topic_attributes(TopicArn=arn, AttributeName="Policy", AttributeValue=policy)
    for subscription in complete().of_type("aws:sns/topicSubscription:TopicSubscription"):
        given = inputs_of(subscription)
        client.subscribe(TopicArn=arn, Protocol=given["protocol"], Endpoint=given["endpoint"])
    attributes = client.get_topic_attributes(TopicArn=arn)["Attributes"]
    assert json.loads(attributes["Policy"]) == json.loads(policy)
    assert attributes["KmsMasterKeyId"] == KEY_ARN
    subscribed = client.list_subscriptions_by_topic(TopicArn=arn)["Subscriptions"]
    assert {entry["Endpoint"] for entry in subscribed} == set(EMAILS)
