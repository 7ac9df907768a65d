"""The JSON schema of a stack file says what the settings say: the same keys, and the same of each value by itself."""

import json
import re
from typing import get_origin

import jsonschema
import pytest
import yaml

from tests.shared import ROOT, as_configuration
from trainyard.catalog.tables import YamlLoader
from trainyard.cli.schema import schema_document
from trainyard.plan.resolve import resolve_stack
from trainyard.rehearsal.engine.project import stack_files
from trainyard.settings.common import Settings
from trainyard.settings.mistakes import fields_of, models_in
from trainyard.settings.read import MOVED, read_settings
from trainyard.settings.schema import example, leaves

SCHEMA = schema_document()
CHECK = jsonschema.Draft7Validator(SCHEMA)
EXAMPLES = stack_files(ROOT / "stacks")


def read(text):
    """A stack file as an editor sees it: a date is text."""
    return json.loads(json.dumps(yaml.load(text, Loader=YamlLoader), default=str))


def refused(config):
    return [error.json_path for error in CHECK.iter_errors({"config": config})]


LEAST = {"client": "acme", "cloud": "aws", "region": "us-east-1", "teamSize": 12}


def config(**changes):
    return {f"trainyard:{key}": value for key, value in (LEAST | changes).items() if value is not None}


def test_it_is_a_schema_that_editors_know():
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"].startswith("http://json-schema.org/draft-07/")


def test_its_patterns_are_those_of_javascript_too():
    def patterns(node):
        if isinstance(node, dict):
            yield from (value for key, value in node.items() if key == "pattern" and isinstance(value, str))
            yield from (key for key in node.get("patternProperties", {}))
        for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            yield from patterns(inner)

    found = set(patterns(SCHEMA))
    assert len(found) > 5
    # Python's own: named groups, ends of a text, flags, possessive repeats; letters of any alphabet.
    own = re.compile(r"\(\?[P<#aiLmsux-]|\\[AZwWbB]|[*+?}]\+")
    assert [text for text in found if own.search(re.sub(r"\[[^\]]*\]", "[]", text))] == []


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda path: path.name)
def test_the_examples_are_right_and_name_it_to_an_editor(file):
    text = file.read_text()
    assert list(CHECK.iter_errors(read(text))) == []
    place = text.splitlines()[0].partition("$schema=")[2]
    assert json.loads((file.parent / place).read_text()) == SCHEMA


EXCEPTION = {"policy": "public-bucket", "resource": "*", "reason": "long enough a reason", "expires": "2099-01-01"}


def described(node):
    while "$ref" in node or "anyOf" in node:
        node = SCHEMA["$defs"][node["$ref"].rpartition("/")[2]] if "$ref" in node else node["anyOf"][0]
    return node


def test_every_setting_is_there_with_its_description_and_default():
    def check(model, properties, prefix=""):
        for key, field in fields_of(model).items():
            node = properties[prefix + key]
            assert node["description"].startswith(field.description)
            if field.default is None:
                assert "default" not in node
            elif not field.is_required():
                assert node["default"] == ({} if models_in(type(field.default)) else field.default)
            for inner in models_in(field.annotation):
                value = described(node)
                value = described(value["items"]) if value["type"] == "array" else value
                for named in value.get("patternProperties", {}).values():
                    value = described(named)
                assert value["required" if "required" in value else "properties"]
                check(inner, value["properties"])

    check(Settings, SCHEMA["properties"]["config"]["properties"], "trainyard:")


def test_the_example_names_every_setting_and_is_a_sound_stack(tmp_path):
    def paths(model, prefix=""):
        for key, field in fields_of(model).items():
            models = models_in(field.annotation)
            inside = (
                "*." if models and not isinstance(field.default, models[0]) and "Pool" in models[0].__name__ else ""
            )
            inside = inside or (
                "*." if models and (isinstance(field.default, list) or get_origin(field.annotation) is dict) else ""
            )
            if models:
                yield from paths(models[0], f"{prefix}{key}.{inside}")
            else:
                yield prefix + key

    assert {path for path, _ in leaves(example())} == set(paths(Settings))
    text = (ROOT / "trainyard" / "settings" / "example.yaml").read_text()
    assert list(CHECK.iter_errors(read(text))) == []
    (tmp_path / "Pulumi.yaml").write_text("name: trainyard\nruntime: python\n")
    (tmp_path / "__main__.py").write_text("")
    (tmp_path / "Pulumi.all.yaml").write_text(text)
    other = resolve_stack(tmp_path, "all").warnings  # a stack is of one cloud, and the example names both
    unread = ["gcp", "gpuPools.train.flexStart", "gpuPools.train.localSsds"]
    assert [text.partition(": what only Google Cloud ")[0] for text in other] == unread


@pytest.mark.parametrize(
    "changes",
    [
        {"regionn": "us-east-1"},
        {"client": None},
        {"client": "A B"},
        {"cloud": "azure"},
        {"teamSize": 0},
        {"teamSize": "many"},
        {"protect": "maybe"},
        {"residency": "mars"},
        {"alertEmails": "ml-platform@acme.example"},
        {"alertEmails": ["nobody"]},
        {"storage": {"lustre": {"capacity": 4800}}},
        {"storage": {"artifactRetentionDays": 3}},
        {"gpuPools": {"Train": {}}},
        {"gpuPools": {"train": {"reserved": {"nodes": 1}}}},
        {"gpuPools": {"train": {"spot": {"maxNodes": -1}}}},
        {"teams": [{"name": "vision"}]},
        {"teams": [{"name": "vision", "members": 3, "share": 0}]},
        {"policyExceptions": [{"policy": "a", "resource": "*", "reason": "a good reason", "owner": "me"}]},
        {"aws": {"accountId": "12"}},
        {"network": {"cidr": "10.0.0.0-16"}},
        {"client": {"secure": "v1:abc", "salt": "x"}},
        {"client": {"secure": "v1:abc"}},
        {"owner": {"secure": "v1:abc"}},
        {"gpuPools": {"secure": "v1:abc"}},
        {"teams": [{"name": {"secure": "v1:abc"}, "members": 5}]},
    ],
    ids=str,
)
def test_what_the_settings_refuse_where_it_stands_is_refused(changes):
    assert refused(config(**changes))
    assert read_settings(as_configuration(LEAST | changes)).problems


@pytest.mark.parametrize(
    "changes",
    [
        {"teamSize": "12"},
        {"protect": "false"},
        {"kubernetesVersion": 1.35},
        {"owner": "Jürgen Müller"},
        {"policyExceptions": [{**EXCEPTION, "owner": {"secure": "v1:abc"}}]},
        {"aws": {"accountId": {"secure": "v1:abc"}}},
        {"alertEmails": {"secure": "v1:abc"}},
        {"alertEmails": [{"secure": "v1:abc"}]},
        {"storage": {"lustre": {"zone": None}}},
        {"mlflow": {"replicas": "2"}},
        {"scheduler": {"priorities": {"production": 1000}}},
    ],
    ids=str,
)
def test_what_the_settings_take_is_not_refused(changes):
    assert refused(config(**changes)) == []
    plain = json.loads(json.dumps(changes).replace('{"secure": "v1:abc"}', "null"))
    if plain == changes:
        assert read_settings(as_configuration(LEAST | changes)).problems == ()


def test_other_namespaces_pass_and_a_key_without_one_does_not():
    others = {"pulumi:disable-default-providers": ["*"], "aws:region": "us-east-1", "acme-net:cidr": {"any": 1}}
    assert refused(config() | others) == []
    assert refused(config() | {"teamsize": 12})
    assert refused(config() | {"trainyard:config:teamSize": 12})
    assert list(CHECK.iter_errors({"secretsprovider": "awskms://x", "encryptedkey": "k", "config": config()})) == []
    assert list(CHECK.iter_errors({"confg": config(), "config": config()}))


def test_what_pulumi_says_of_a_stack_passes():
    file = {"encryptionsalt": "v1:a=", "environment": ["base"], "config": config()}
    assert list(CHECK.iter_errors(file)) == []


@pytest.mark.parametrize(("old", "new"), MOVED.items())
def test_the_old_place_of_a_key_is_deprecated_and_not_refused(old, new):
    value = example()
    for step in new.split("."):
        value = value[step]
    *above, last = old.split(".")
    nested = {last: value}
    for step in reversed(above):
        nested = {step: nested}
    assert refused(config(**nested)) == []
    node = {
        "properties": {
            key.partition(":")[2]: item for key, item in SCHEMA["properties"]["config"]["properties"].items()
        }
    }
    for step in old.split("."):
        node = described(node)["properties"][step]
    assert node["deprecated"] is True
    assert new in node["description"]


def test_wrong_values_at_an_old_place_are_refused():
    assert refused(config(network={"natPerZone": "perhaps"}))
