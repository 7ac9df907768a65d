"""Trails and threat detection are paid for by what happens."""

import pytest

from tests.cost.recorded import node_group, priced, resource
from trainyard.recorded.types import BUCKET, DETECTOR, DETECTOR_FEATURE, TRAIL

TIERS = [resource(BUCKET, f"acme-{purpose}") for purpose in ("data", "checkpoints", "artifacts")]
EVENTS_A_BUCKET = (10_000 + 500) * 1000
"""Reads and writes a month that a medium team is assumed to make."""


def selector(*begins):
    fields = [{"field": "eventCategory", "equals": ["Data"]}]
    fields += [{"field": "resources.ARN", "startsWiths": list(begins)}] if begins else []
    return {"fieldSelectors": fields}


def of(cost, type_):
    return [line for line in cost.lines if line.type == type_]


def trail(*selectors, **inputs):
    management = {"fieldSelectors": [{"field": "eventCategory", "equals": ["Management"]}]}
    return resource(TRAIL, "trail", {"advancedEventSelectors": [management, *selectors], **inputs})


def test_a_trail_costs_nothing_idle_and_ten_cents_a_hundred_thousand_events():
    (line,) = of(priced(*TIERS, trail(selector("arn:a/", "arn:b/", "arn:c/"))), TRAIL)
    assert line.usd.floor == 0
    assert line.usd.expected == pytest.approx(3 * EVENTS_A_BUCKET / 100_000 * 0.10)
    assert not of(priced(*TIERS, trail()), TRAIL)
    assert not of(priced(*TIERS, trail(selector("arn:a/"), enableLogging=False)), TRAIL)


def test_a_selector_without_a_bucket_is_on_every_one():
    (line,) = of(priced(*TIERS, trail(selector())), TRAIL)
    assert line.usd.expected == pytest.approx(3 * EVENTS_A_BUCKET / 100_000 * 0.10)


def test_what_is_not_known_is_told_not_guessed():
    cost = priced(resource(TRAIL, "trail", {"eventSelectors": [{}], "insightSelectors": [{"insightType": "x"}]}))
    assert [entry.what for entry in cost.unpriced] == ["data events of basic selectors", "insights"]


def test_a_detector_is_paid_by_source():
    cost = priced(
        *TIERS,
        resource(DETECTOR, "detector", {"enable": True}),
        resource(DETECTOR_FEATURE, "s3", {"name": "S3_DATA_EVENTS", "status": "ENABLED"}),
        resource(DETECTOR_FEATURE, "eks", {"name": "EKS_AUDIT_LOGS", "status": "ENABLED"}),
        resource(DETECTOR_FEATURE, "off", {"name": "RDS_LOGIN_EVENTS", "status": "DISABLED"}),
    )
    usd = {line.what: line.usd.expected for line in (*of(cost, DETECTOR), *of(cost, DETECTOR_FEATURE))}
    assert usd == {
        "management events": pytest.approx(1.5 * 4),
        "flow and DNS logs": pytest.approx(30 * 1),
        "reads and writes of objects": pytest.approx(3 * EVENTS_A_BUCKET / 1e6 * 0.8),
        "requests to clusters": pytest.approx(12 * 1.6),
    }
    assert {line.usd.floor for line in (*of(cost, DETECTOR), *of(cost, DETECTOR_FEATURE))} == {0}
    assert not of(priced(resource(DETECTOR, "detector", {"enable": False})), DETECTOR)


def test_agents_are_paid_by_the_vcpu_of_the_nodes_that_run():
    agents = resource(DETECTOR_FEATURE, "agents", {"name": "RUNTIME_MONITORING", "status": "ENABLED"})
    (line,) = of(priced(agents, *node_group(fewest=0, most=2)), DETECTOR_FEATURE)
    assert (line.usd.floor, line.usd.ceiling) == (0, pytest.approx(2 * 96 * 1.5))
    (entry,) = priced(resource(DETECTOR_FEATURE, "new", {"name": "NEW_THING", "status": "ENABLED"})).unpriced
    assert entry.what == "NEW_THING"
