"""Every YAML snippet of the documents, as the engine reads it and as our offline reader does."""

import datetime
import json
import re

import pytest
import yaml

from tests.shared import ROOT
from trainyard.policies.exceptions import parse
from trainyard.policies.pack import POLICIES
from trainyard.rehearsal.engine.project import read_stack
from trainyard.settings.read import read_settings
from trainyard.user_files import parse_yaml

DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
SNIPPETS = [
    (f"{path.relative_to(ROOT)} {number}", body)
    for path in DOCUMENTS
    for number, body in enumerate(re.findall(r"^```ya?ml\n(.*?)^```", path.read_text("utf-8"), flags=re.M | re.S), 1)
]
REQUIRED = {
    f"trainyard:{key}": value for key, value in {"client": "acme", "cloud": "aws", "region": "us-east-1"}.items()
}
SIZED = {"trainyard:teamSize": 12}


class EngineLoader(yaml.SafeLoader):
    """What Go's yaml.v3 makes of scalars: YAML 1.2's two booleans, and timestamps."""


EngineLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
EngineLoader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile("true|false|True|False|TRUE|FALSE"), list("tfTF")
)
EngineLoader.add_constructor(
    "tag:yaml.org,2002:bool", lambda loader, node: loader.construct_scalar(node).lower() == "true"
)


def as_the_engine_prints(value):
    """Go prints a timestamp so where it hands a value to the program."""
    if isinstance(value, datetime.date):
        return f"{value:%Y-%m-%d} 00:00:00 +0000 UTC"
    if isinstance(value, dict):
        return {key: as_the_engine_prints(item) for key, item in value.items()}
    return [as_the_engine_prints(item) for item in value] if isinstance(value, list) else value


def config_of(content):
    """The settings of a snippet, where it is a stack file or a part of one."""
    config = content.get("config", content) if isinstance(content, dict) else {}
    return {key: value for key, value in config.items() if str(key).startswith("trainyard:")}


def problems_of(config, tmp_path):
    """What is wrong with settings that a stack file holds, read offline from the file."""
    (tmp_path / "Pulumi.yaml").write_text((ROOT / "Pulumi.yaml").read_text("utf-8"), "utf-8")
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "__main__.py").write_text("")
    (tmp_path / "stacks" / "Pulumi.doc.yaml").write_text(
        yaml.safe_dump({"config": {**REQUIRED, **SIZED, **config}}), "utf-8"
    )
    stack = read_stack(tmp_path, "doc")
    own = {key.removeprefix("trainyard:"): text for key, text in stack.values.items() if key.startswith("trainyard:")}
    return [*stack.problems, *read_settings(own).problems]


def test_there_are_snippets_of_stack_files():
    assert len([name for name, body in SNIPPETS if config_of(parse_yaml(body, name))]) >= 2


@pytest.mark.parametrize(("name", "body"), SNIPPETS, ids=[name for name, _ in SNIPPETS])
def test_a_snippet_is_read_alike_by_the_engine_and_offline(name, body):
    assert as_the_engine_prints(yaml.load(body, Loader=EngineLoader)) == as_the_engine_prints(parse_yaml(body, name))


@pytest.mark.parametrize(("name", "body"), SNIPPETS, ids=[name for name, _ in SNIPPETS])
def test_the_settings_of_a_snippet_are_valid_both_ways(name, body, tmp_path):
    for way, content in enumerate((yaml.load(body, Loader=EngineLoader), parse_yaml(body, name))):
        (tmp_path / str(way)).mkdir()
        config = config_of(content)
        assert problems_of(config, tmp_path / str(way)) == []
        for exception in parse(json.dumps(as_the_engine_prints(config.get("trainyard:policyExceptions", [])))):
            assert exception.policy in {policy.name for policy in POLICIES}


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("2027-03-31", datetime.date(2027, 3, 31)),
        ("2027-03-31 00:00:00 +0000 UTC", datetime.date(2027, 3, 31)),
        ("2027-03-31T00:00:00Z", datetime.date(2027, 3, 31)),
    ],
)
def test_a_last_day_is_read_however_it_was_written(text, read):
    entry = {"policy": "p", "resource": "*", "reason": "r", "owner": "o", "expires": text}
    [exception] = parse(json.dumps([entry]))
    assert exception.expires == read


@pytest.mark.parametrize("text", ["no", "off", "yes", "on"])
def test_a_boolean_of_yaml_1_1_is_refused_as_the_engine_refuses_it(text, tmp_path):
    value = parse_yaml(f"protect: {text}", "a line")["protect"]
    assert value == text
    assert "must be of type boolean" in str(problems_of({"trainyard:protect": value}, tmp_path)[0])
