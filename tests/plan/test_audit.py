"""What is on record by default, and what a stack file says otherwise."""

from tests.plan.stack_files import keys, plan_of

ON_CALL = "arn:aws:iam::123456789012:user/on-call"


def told(plan, key):
    (decision,) = [found for found in plan.core.decisions if found.key == key]
    return decision


def test_by_default_the_stack_records_and_watches_and_nobody_has_a_key_to_the_glass():
    plan = plan_of()
    audit = plan.ground.audit
    assert (audit.trail.retention_days, audit.trail.lock, audit.trail.lock_days) == (365, "governance", 90)
    assert audit.threat_detection.runtime is False
    assert audit.break_glass_user_arns == ()
    assert "0.1 USD a hundred thousand events" in told(plan, "audit.trail").source
    assert "USD a vCPU-month" in told(plan, "audit.runtime_agent").source
    assert [item.monthly_usd for item in plan.core.idle_floor.items if "trail" in item.what] == [1.0]


def test_what_somebody_else_does_is_told_with_its_reason_and_costs_nothing():
    trail = keys(by="organization", reason="the landing zone has one")
    plan = plan_of(audit=keys(trail=trail, threat_detection=keys(by="none", reason="a sandbox of a week")))
    audit = plan.ground.audit
    assert audit.trail is None and audit.records
    assert audit.threat_detection is None and not audit.watched
    assert told(plan, "audit.trail").source == "setting audit.trail: the landing zone has one"
    assert not [item for item in plan.core.idle_floor.items if "trail" in item.what]


def test_users_are_named_once():
    plan = plan_of(audit=keys(break_glass=keys(principals=[ON_CALL, ON_CALL])))
    assert plan.ground.audit.break_glass_user_arns == (ON_CALL,)


def test_what_leaves_the_region_all_the_same_is_told_whether_a_regime_is_chosen_or_not():
    plan = plan_of(residency="us", alertEmails=["ml@acme.example"], stateBackend="s3://state?region=us-east-1")
    assert told(plan, "residency.leaves").value.startswith("alerts by mail, budgets")
    assert told(plan, "residency.state").value == "s3://state?region=us-east-1"
    assert "mail" not in told(plan_of(residency="us"), "residency.leaves").value
    assert told(plan_of(), "residency.regime").value == "none"
    assert "no policy holds it" in told(plan_of(), "residency.regime").source


def test_what_containers_write_is_kept_unless_a_stack_file_says_otherwise():
    assert plan_of().ground.audit.container_log_retention_days == 365
    off = plan_of(audit=keys(container_logs=keys(enabled=False)))
    assert off.ground.audit.container_log_retention_days is None
