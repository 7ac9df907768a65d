"""Logs, alarms, messages, budgets and what is told of costs."""

from __future__ import annotations

from typing import Final

from trainyard.cards.card import API_CALL, AutomaticName, Card, Free, Priced, estimate, service_model

_ALERTS: Final = "fewer e-mails than the thousand a month that SNS sends for nothing"

CARDS: Final = (
    Card(
        "aws:cloudwatch/logGroup:LogGroup",
        estimate(1),
        Priced("storage.log_group"),
        taggable=True,
        stateful=False,
        id="{cloud_name}",
        arn="log-group:{cloud_name}",
        arn_service="logs",
        model=service_model(
            "logs.CreateLogGroup", names={"name": "logGroupName"}, undescribed="retentionInDays skipDestroy"
        ),
        automatic_name=AutomaticName("name", 512, r"[._/#A-Za-z0-9-]+"),
        key_input="kmsKeyId",
    ),
    Card(
        "aws:cloudwatch/metricAlarm:MetricAlarm",
        API_CALL,
        Priced("services.alarm"),
        taggable=True,
        stateful=False,
        arn="alarm:{cloud_name}",
        model=service_model(
            "cloudwatch.PutMetricAlarm",
            names={
                "name": "AlarmName",
                "metricQueries": "Metrics",
                "metricQueries.metric": "MetricStat",
                "metricQueries.metric.metricName": "Metric.MetricName",
                "metricQueries.metric.namespace": "Metric.Namespace",
            },
            undescribed="dimensions metricQueries.metric.dimensions",
        ),
    ),
    Card(
        "aws:sns/topic:Topic",
        API_CALL,
        Free(_ALERTS),
        taggable=True,
        stateful=False,
        id="{arn}",
        arn="{cloud_name}",
        model=service_model(
            "sns.CreateTopic",
            undescribed=(
                "applicationFailureFeedbackRoleArn applicationSuccessFeedbackRoleArn "
                "applicationSuccessFeedbackSampleRate archivePolicy contentBasedDeduplication "
                "deliveryPolicy displayName fifoThroughputScope fifoTopic firehoseFailureFeedbackRoleArn "
                "firehoseSuccessFeedbackRoleArn firehoseSuccessFeedbackSampleRate "
                "httpFailureFeedbackRoleArn httpSuccessFeedbackRoleArn httpSuccessFeedbackSampleRate "
                "kmsMasterKeyId lambdaFailureFeedbackRoleArn lambdaSuccessFeedbackRoleArn "
                "lambdaSuccessFeedbackSampleRate maximumMessageSize policy signatureVersion "
                "sqsFailureFeedbackRoleArn sqsSuccessFeedbackRoleArn sqsSuccessFeedbackSampleRate "
                "tracingConfig"
            ),
        ),
        automatic_name=AutomaticName("name", 256, r"[A-Za-z0-9_-]+"),
        key_input="kmsMasterKeyId",
    ),
    Card(
        "aws:sns/topicPolicy:TopicPolicy",
        API_CALL,
        Free("a permission of a topic"),
        taggable=False,
        stateful=False,
        model=service_model("sns.SetTopicAttributes", names={"arn": "TopicArn"}, undescribed="policy"),
    ),
    Card(
        "aws:sns/topicSubscription:TopicSubscription",
        API_CALL,
        Free(_ALERTS),
        taggable=False,
        stateful=False,
        id="{arn}",
        arn="{tail:topic}:{uuid}",
        model=service_model(
            "sns.Subscribe",
            names={"topic": "TopicArn"},
            undescribed=(
                "confirmationTimeoutInMinutes deliveryPolicy endpointAutoConfirms filterPolicy "
                "filterPolicyScope rawMessageDelivery redrivePolicy replayPolicy subscriptionRoleArn"
            ),
        ),
    ),
    Card(
        "aws:sqs/queue:Queue",
        estimate(26, "the provider waits until the attributes are seen"),
        None,
        taggable=True,
        stateful=False,
        arn="{cloud_name}",
        key_input="kmsMasterKeyId",
    ),
    Card(
        "aws:budgets/budget:Budget",
        API_CALL,
        Free("budgets that only notify are free"),
        taggable=True,
        stateful=False,
        id="{account}:{cloud_name}",
        arn="budget/{cloud_name}",
        model=service_model(
            "budgets.CreateBudget.Budget",
            "budgets.CreateBudget",
            names={
                "name": "BudgetName",
                "limitAmount": "BudgetLimit.Amount",
                "limitUnit": "BudgetLimit.Unit",
                "notifications": "/NotificationsWithSubscribers.Notification",
            },
            undescribed=(
                "costFilters plannedLimits timePeriodStart timePeriodEnd "
                "notifications.subscriberEmailAddresses notifications.subscriberSnsTopicArns"
            ),
        ),
        automatic_name=AutomaticName("name", 100, r"[^:\\]+"),
    ),
    Card(
        "aws:budgets/budgetAction:BudgetAction",
        API_CALL,
        Priced("services.budget_action"),
        taggable=True,
        stateful=False,
        model=service_model("budgets.CreateBudgetAction"),
    ),
    Card(
        "aws:costexplorer/anomalyMonitor:AnomalyMonitor",
        API_CALL,
        Free("cost anomaly detection is free"),
        taggable=True,
        stateful=False,
        id="{arn}",
        arn="anomalymonitor/{uuid}",
        model=service_model(
            "ce.CreateAnomalyMonitor.AnomalyMonitor", names={"name": "MonitorName"}, undescribed="monitorSpecification"
        ),
    ),
    Card(
        "aws:costexplorer/anomalySubscription:AnomalySubscription",
        API_CALL,
        Free("cost anomaly detection is free"),
        taggable=True,
        stateful=False,
        id="{arn}",
        arn="anomalysubscription/{uuid}",
        model=service_model("ce.CreateAnomalySubscription.AnomalySubscription", names={"name": "SubscriptionName"}),
    ),
    Card(
        "aws:costexplorer/costAllocationTag:CostAllocationTag",
        API_CALL,
        Free("a setting of billing"),
        taggable=False,
        stateful=False,
        model=service_model("ce.UpdateCostAllocationTagsStatus.CostAllocationTagsStatus"),
    ),
    Card(
        "aws:costexplorer/costCategory:CostCategory",
        API_CALL,
        Free("a setting of billing"),
        taggable=True,
        stateful=False,
    ),
)
