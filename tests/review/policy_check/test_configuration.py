"""The pack's configuration, as the engine reconciles it."""

import json
import sys

import pytest
from jsonschema import Draft7Validator
from pulumi_policy import EnforcementLevel, PolicyConfigSchema, StackValidationPolicy

from trainyard.policies.pack import LEVEL, POLICIES
from trainyard.problems import SettingsError
from trainyard.review.policy_check.configuration import read_configuration, reconcile


def of(given):
    return reconcile(POLICIES, given, LEVEL)


def refused(given):
    with pytest.raises(SettingsError) as caught:
        of(given)
    return [str(problem) for problem in caught.value.problems]


def test_defaults_are_those_of_the_schema():
    found = of(None)
    assert found["logs-kept-too-short"].properties == {"minDays": 365}
    assert found["logs-kept-too-short"].level == EnforcementLevel.MANDATORY
    assert found["spot-share-below-target"].level == EnforcementLevel.ADVISORY
    assert found["public-database"].properties == {}


@pytest.mark.parametrize(
    "policy", [policy for policy in POLICIES if policy.config_schema], ids=lambda policy: policy.name
)
def test_what_is_taken_without_a_look_fits_the_schema(policy):
    document = {"type": "object", "properties": policy.config_schema.properties}
    assert Draft7Validator(document).is_valid(of(None)[policy.name].properties)


def test_the_judge_of_schemas_is_imported_where_a_file_says_something(monkeypatch):
    monkeypatch.setitem(sys.modules, "jsonschema", None)  # an import of it fails
    assert of({"logs-kept-too-short": "advisory"})["logs-kept-too-short"].properties == {"minDays": 365}
    with pytest.raises(ImportError):
        of({"logs-kept-too-short": {"minDays": 1}})


def test_what_has_no_default_has_to_be_given():
    schema = PolicyConfigSchema({"minDays": {"type": "number"}}, required=["minDays"])
    policy = StackValidationPolicy("asks", "asks", validate=lambda *_: None, config_schema=schema)
    with pytest.raises(SettingsError, match="asks: got a mapping of 0 keys; breaks the policy's rule required"):
        reconcile([policy], None, LEVEL)


def test_given_values_go_over_the_defaults():
    found = of({"database-without-backups": {"minDays": 30, "enforcementLevel": "advisory"}})
    assert found["database-without-backups"].properties == {"minDays": 30}
    assert found["database-without-backups"].level == EnforcementLevel.ADVISORY


def test_all_sets_every_level_and_a_policy_its_own():
    found = of({"all": "disabled", "public-bucket": "mandatory"})
    assert found.pop("public-bucket").level == EnforcementLevel.MANDATORY
    assert {item.level for item in found.values()} == {EnforcementLevel.DISABLED}


def test_a_value_against_the_schema_is_refused():
    assert refused({"logs-kept-too-short": {"minDays": "long"}}) == [
        "logs-kept-too-short.minDays: got \"long\"; 'long' is not of type 'number'"
    ]
    assert "is greater than the maximum" in refused({"spot-share-below-target": {"minSpotPercent": 101}})[0]


def test_misspelt_policies_properties_and_levels_are_refused_together():
    problems = refused({"public-buckt": "advisory", "logs-kept-too-short": {"minDay": 1}, "public-bucket": "strict"})
    assert len(problems) == 3
    assert "did you mean public-bucket?" in problems[0]
    assert any(
        "minDay: got a number; must be one of minDays (did you mean minDays?)" in problem for problem in problems
    )
    assert any('public-bucket: got "strict"; must be an object or one of' in problem for problem in problems)


@pytest.mark.parametrize(("text", "said"), [("{", "no JSON"), ("[]", "must be a JSON object")])
def test_a_file_that_is_no_object_is_refused(tmp_path, text, said):
    file = tmp_path / "policy.json"
    file.write_text(text)
    with pytest.raises(SettingsError, match=said):
        read_configuration(file)


def test_a_missing_file_is_refused_and_an_empty_one_is_nothing(tmp_path):
    with pytest.raises(SettingsError, match="must be an existing file"):
        read_configuration(tmp_path / "policy.json")
    (tmp_path / "policy.json").write_text("\n")
    assert read_configuration(tmp_path / "policy.json") == {}
    (tmp_path / "policy.json").write_text(json.dumps({"all": "advisory"}))
    assert read_configuration(tmp_path / "policy.json") == {"all": "advisory"}


def test_no_long_value_is_quoted(tmp_path):
    long = "hunter2" * 20
    told = refused({"logs-kept-too-short": {"minDays": long}, "public-bucket": long, "all": {"x": long}})
    assert "a text of 140 characters" in " ".join(told)
    assert "hunter2" not in " ".join(told)
