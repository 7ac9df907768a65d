"""What an admission policy says of a request: rule by rule of the documentation, and what cannot be said."""

import subprocess
import sys

import pytest

from trainyard.rehearsal.works.rights.kubernetes.admission import Judge, Request, scope_of


def pod(**spec):
    return {"metadata": {"name": "a"}, "spec": spec}


def judge(*validations, conditions=(), variables=(), **spec):
    return Judge(
        {
            "validations": [{"expression": text} for text in validations],
            "matchConditions": [{"name": "c", "expression": text} for text in conditions],
            "variables": [{"name": name, "expression": text} for name, text in variables],
            **spec,
        }
    )


ASKED = Request(pod(nodeName="n", terminationGracePeriodSeconds=30), "ada", ("team:a",), namespace="team-a")
UNSAID = "authorizer.group('').resource('pods').check('use').allowed()"


@pytest.mark.parametrize(
    ("expected", "policy"),
    [
        (False, judge("object.spec.nodeName == 'n'")),
        (True, judge("object.spec.nodeName != 'n'")),
        (True, judge("true", "false")),
        (False, judge("true || object.spec.gone == 1")),
        # An error is a refusal, unless failures are ignored.
        (True, judge("object.spec.gone == 1")),
        (False, judge("object.spec.gone == 1", failurePolicy="Ignore")),
        (True, judge("false", failurePolicy="Ignore")),
        # Conditions: one that does not hold ends it; one that fails refuses.
        (False, judge("false", conditions=["request.userInfo.username == 'bob'"])),
        (True, judge("false", conditions=["request.userInfo.username == 'ada'"])),
        (True, judge("true", conditions=["object.spec.gone == 1"])),
        (False, judge("false", conditions=["object.spec.gone == 1", "1 > 2"])),
        (False, judge("false", conditions=["object.spec.gone == 1"], failurePolicy="Ignore")),
        # Variables: worked out in order; an error is that of whoever reads it.
        (True, judge("variables.b", variables=[("a", "object.spec.nodeName"), ("b", "variables.a == 'm'")])),
        (False, judge("true", variables=[("a", "object.spec.gone")])),
        (True, judge("variables.a == 1", variables=[("a", "object.spec.gone")])),
        (False, judge("variables.a == 2", variables=[("a", "1"), ("b", "variables.a"), ("a", "2")])),
        (False, judge("variables.a == 1", "variables.b == 2", "variables.a == 1", variables=[("a", "1"), ("b", "2")])),
        (False, judge("'b' in variables", "variables['a'] == 1", variables=[("a", "1"), ("b", "2")])),
        # Who asks, and where.
        (True, judge("!('team:a' in request.userInfo.groups)")),
        (True, judge("request.namespace != 'team-a' && namespaceObject.metadata.name != 'team-a'")),
        (False, judge("quantity('1Gi').isLessThan(quantity('2Gi'))")),
        # What cannot be said.
        (None, judge(UNSAID)),
        (True, judge("false", UNSAID)),
        (True, judge(UNSAID, "false")),
        (True, judge(UNSAID, "object.spec.gone == 1")),
        (None, judge("object.spec.gone == 1", UNSAID, failurePolicy="Ignore")),
        (None, judge("false", conditions=[UNSAID])),
        (False, judge("false", conditions=[UNSAID, "1 > 2"])),
        (True, judge("true", conditions=[UNSAID, "object.spec.gone == 1"])),
        (None, judge("variables.a", variables=[("a", UNSAID)])),
        (None, judge("object.?spec.?a.orValue(true)")),
        (None, judge("params.data.a == 'b'")),
    ],
)
def test_rules_of_admission(expected, policy):
    assert policy.refuses(ASKED) is expected


def test_parameters_are_asked_where_they_are_known():
    policy = judge("params.data.node == object.spec.nodeName")
    assert policy.refuses(ASKED, {"data": {"node": "n"}}) is False
    assert policy.refuses(ASKED, {"data": {"node": "m"}}) is True


def test_a_request_that_is_read_once_is_told_no_variables_of_another_policy():
    told = scope_of(ASKED)
    ada, bob = (
        judge("variables.who == request.userInfo.username", variables=[("who", who)]) for who in ("'ada'", "'bob'")
    )
    assert [policy.denies(told) for policy in (ada, bob, ada, judge("has(variables.who)"))] == [
        False,
        True,
        False,
        True,
    ]


def test_a_deletion_has_no_object():
    policy = judge("request.options.gracePeriodSeconds <= 600 && object == null")
    asked = Request(None, "ada", operation="DELETE", old=pod(), options={"gracePeriodSeconds": 30})
    assert policy.refuses(asked) is False


def test_texts_of_expressions_are_those_in_quotes():
    found = judge("""object.metadata.labels['exempt'] == "yes" || object.metadata.name != 'a-b'""").literals
    assert found == {"exempt", "yes", "a-b"}


def test_a_namespace_is_told_apart_where_it_is_asked_for_or_named():
    assert judge("request.namespace != 'x'").tells_apart("team-a")
    assert judge("request.userInfo.username != 'system:serviceaccount:team-a:ci'").tells_apart("team-a")
    assert not judge("request.userInfo.username != 'bob'").tells_apart("team-a")


def test_the_package_and_the_evaluator_share_one_extension():
    """A second start of it ends the process that asks: whoever imports the package gets what is there."""
    code = (
        "from trainyard.rehearsal.works.rights.kubernetes.cel import evaluate, scope\n"
        "assert evaluate('a + 1', scope({'a': 1})) == 2\n"
        "import cel\n"
        "assert cel.evaluate('1 + 1') == 2\n"
    )
    turned = "import cel\n" + code
    for text in (code, turned):
        assert subprocess.run([sys.executable, "-c", text], capture_output=True, check=False).returncode == 0
