"""The offline check: two runs, levels, exceptions, and an engine's environment that must not leak in."""

import os

import pulumi
import pytest
from pulumi_policy import Severity

from tests.policies.truth import BY_ID, bucket, made
from trainyard.policies import exceptions
from trainyard.policies.rules import resource_rule
from trainyard.problems import SettingsError
from trainyard.recorded.model import UNKNOWN, Secret
from trainyard.recorded.read import number_at
from trainyard.review.policy_check.check import check_policies

DATABASE = "aws:rds/instance:Instance"


def judge(preview, known, settings=None, configuration=None, policies=("public-database",)):
    rules = tuple(BY_ID[name] for name in policies)
    return check_policies("demo", preview, known, settings or {}, policies=rules, configuration=configuration)


def database(public):
    return made(DATABASE, "tracking", {"publiclyAccessible": public}, parent="urn:pulumi:test::p::c:index:C::mlflow")


def exception(**changes):
    entry = {
        "policy": "public-database",
        "resource": "tracking",
        "reason": "a test",
        "owner": "me",
        "expires": "2999-12-31",
    }
    return {"policyExceptions": [{**entry, **changes}]}


def test_nothing_mandatory_hides_behind_an_unknown():
    report = judge([database(UNKNOWN)], [database(True)])
    assert [violation.policy for violation in report.mandatory] == ["public-database"]
    [undecided] = report.undecided
    assert undecided.policy == "public-database"
    assert "publiclyAccessible can't be known" in undecided.message


def test_a_violation_of_both_runs_is_told_once():
    assert len(judge([database(True)], [database(True)]).violations) == 1


def test_a_violation_that_only_the_preview_has_counts():
    assert len(judge([database(True)], [database(False)]).violations) == 1


def test_a_violation_says_where_what_and_how_to_mend_it():
    [violation] = judge([], [database(True)]).violations
    assert violation.message == "publiclyAccessible is on"
    assert violation.description == "A database has no public address."
    assert (violation.severity, violation.level, violation.name) == ("critical", "mandatory", "tracking")
    assert "Leave publiclyAccessible off" in violation.remediation
    assert "NIST 800-53r5 SC-7" in violation.controls


@pytest.mark.parametrize(("level", "seen"), [("advisory", ["advisory"]), ("disabled", [])])
def test_levels_are_the_configurations(level, seen):
    report = judge([], [database(True)], configuration={"public-database": level})
    assert [violation.level for violation in report.violations] == seen


@pytest.mark.parametrize("resource", ["tracking", "*tracking", "mlflow/tracking", "mlflow/*", f"*{DATABASE}*"])
def test_an_exception_takes_a_violation_away_and_is_told(resource):
    report = judge([database(True)], [database(True)], exception(resource=resource))
    assert report.violations == ()
    [accepted] = report.accepted
    assert (accepted.reason, accepted.owner, accepted.expires) == ("a test", "me", "2999-12-31")


@pytest.mark.parametrize("changes", [{"resource": "other"}, {"policy": "public-bucket"}, {"expires": "2020-01-01"}])
def test_an_exception_for_something_else_or_that_is_over_covers_nothing(changes):
    report = judge([], [database(True)], exception(**changes))
    assert len(report.violations) == 1
    assert report.accepted == ()


def test_an_exception_for_the_whole_stack():
    settings = exception(policy="budget-without-alerts", resource="*")
    report = judge([], [bucket()], settings, policies=("budget-without-alerts",))
    assert report.violations == ()
    assert len(report.accepted) == 1


def test_an_expired_exception_is_a_violation_itself():
    report = judge([], [], exception(expires="2020-01-01"), policies=("exception-expired",))
    [violation] = report.mandatory
    assert violation.message == "public-database for tracking expired on 2020-01-01 (me: a test)"


@pytest.mark.parametrize("text", ["2026-12-31", "2026-12-31T00:00:00Z"])
def test_the_last_day_still_counts(text):
    entry = f'[{{"policy":"p","resource":"*","reason":"r","owner":"o","expires":"{text}"}}]'
    [found] = exceptions.parse(entry)
    assert not found.expired(found.expires)
    assert found.expired(found.expires.replace(year=2027))


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"policy": "public-databse"}, "did you mean public-database?"),
        ({"expires": "soon"}, "must be a date like 2027-03-31"),
        ({"reason": " "}, "reason: must be a text"),
        ({"more": "x"}, "must have exactly the keys"),
    ],
)
def test_a_malformed_exception_is_an_error_of_the_settings(entry, said):
    with pytest.raises(SettingsError) as caught:
        judge([], [database(True)], exception(**entry))
    assert said in str(caught.value)


def test_an_engines_environment_stays_as_it_was_and_out_of_the_check(monkeypatch):
    monkeypatch.setenv("PULUMI_PROJECT", "other")
    monkeypatch.setenv("PULUMI_STACK", "other")
    monkeypatch.setenv("PULUMI_DRY_RUN", "false")
    monkeypatch.setenv("PULUMI_CONFIG", '{"trainyard:residency": "uae"}')
    report = judge([], [bucket(region="us-east-1")], policies=("region-outside-residency",))
    assert report.violations == ()
    assert dict(report.not_applicable) == {"region-outside-residency": "no residency regime is chosen"}
    assert os.environ["PULUMI_STACK"] == "other"


def test_the_stacks_settings_do_not_leak_into_this_process():
    judge([], [bucket(region="us-east-1")], {"residency": "uae"}, policies=("region-outside-residency",))
    assert pulumi.Config("trainyard").get("residency") is None


def test_an_undecided_policy_names_the_whole_path():
    nested = bucket(lifecycleRules=[{"action": {"type": UNKNOWN}}])
    pool = made("gcp:storage/bucket:Bucket", "data", dict(nested.inputs))
    [undecided] = judge([pool], [], policies=("lifecycle-deletes-newest-version",)).undecided
    assert undecided.message == "string value at .lifecycleRules[0].action.type can't be known during preview"


def test_a_verdict_does_not_hang_on_how_a_message_reads():
    """What looks like the analyser's own text, or begins as the description does, is what the policy said."""
    messages = ["can't run policy 'odd' of the pack: it is red", "Says something odd."]

    @resource_rule(
        "odd",
        "Says something odd.",
        types=(DATABASE,),
        severity=Severity.LOW,
        controls=("NIST 800-53r5 SC-7",),
        fix="Nothing can be done about it.",
    )
    def odd(resource, config):
        yield from messages

    report = check_policies("demo", [], [database(False)], {}, policies=(odd,))
    assert {violation.message for violation in report.violations} == set(messages)
    assert report.undecided == ()


def test_a_violation_tells_no_secret_that_a_policy_has_read():
    image = Secret("registry.example.com/hunter2:latest")
    pod = made("kubernetes:core/v1:Pod", "pod", {"spec": {"containers": [{"name": "main", "image": image}]}})
    [violation] = judge([], [pod], policies=("image-without-digest",)).violations
    assert violation.message.endswith(": [secret]")


def test_a_name_that_a_login_has_too_is_told():
    login = {"stringData": {"MLFLOW_TRACKING_USERNAME": Secret("vision")}}
    labels = {"metadata": {"name": "team-vision", "labels": {"ml.platform/team": "vision"}}}
    others = [made("kubernetes:core/v1:Secret", "l", login), made("kubernetes:core/v1:Namespace", "n", labels)]
    image = "registry.example.com/vision:latest"
    pod = made("kubernetes:core/v1:Pod", "pod", {"spec": {"containers": [{"name": "main", "image": image}]}})
    [violation] = judge([], [pod, *others], policies=("image-without-digest",)).violations
    assert violation.message.endswith(f": {image}")


def test_what_cannot_be_read_is_a_violation_and_no_traceback():
    resources = [{"name": "nvidia.com/gpu", "nominalQuota": "many"}]
    spec = {"resourceGroups": [{"flavors": [{"name": "spot", "resources": resources}]}]}
    queue = made("kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue", "queue", {"spec": spec})
    pool = made("gcp:container/nodePool:NodePool", "pool", {"cluster": "c"})
    [violation] = judge([], [pool, queue], policies=("quota-exceeds-pool",)).violations
    assert violation.message == "cannot be judged: nominalQuota: 'many' is not a quantity of 0 or more"


def test_a_rule_on_one_resource_says_which_it_cannot_judge():
    @resource_rule("t-size", "-", types=(DATABASE,), severity=Severity.LOW, controls=("NIST 800-53r5 SC-7",), fix="-")
    def t_size(resource, _):
        yield f"{number_at(resource.inputs, 'allocatedStorage'):g} GiB"

    item = made(DATABASE, "tracking", {"allocatedStorage": "much"})
    [violation] = check_policies("demo", [], [item], {}, policies=(t_size,)).violations
    assert (violation.name, violation.message) == (
        "tracking",
        "cannot be judged: allocatedStorage: 'much' is not a number",
    )
