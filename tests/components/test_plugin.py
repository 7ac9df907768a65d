"""The components as a package for other languages: schema, construction from what is on the wire, the real process."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import subprocess
import sys
import tomllib
from typing import Any

import grpc
import pulumi
import pytest
import yaml
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc

from tests.components.plugin_inputs import INPUTS
from tests.pulumi_harness import Recording, plain, record
from tests.shared import ROOT
from trainyard import components
from trainyard.components.plugin import COMPONENTS, Components, provider, whole_numbers

NAMES = [component.__name__ for component in COMPONENTS]


@pytest.fixture(scope="module")
def package() -> Components:
    return provider()


@pytest.fixture(scope="module")
def schema(package: Components) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(package.schema)
    return found


def wire(value: Any) -> Any:
    """As a request carries it: every number is a double."""
    if isinstance(value, dict):
        return {key: wire(item) for key, item in value.items()}
    if isinstance(value, list):
        return [wire(item) for item in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def constructed(package: Components, name: str, inputs: dict[str, Any]) -> tuple[Recording, dict[str, Any]]:
    state: dict[str, Any] = {}

    def program() -> None:
        made = package.construct("acme", f"trainyard:index:{name}", inputs, pulumi.ResourceOptions())
        state.update(made.state)

    return record(program), state


def by_urn(recording: Recording) -> dict[str, Any]:
    return {resource.urn: plain(resource.inputs) for resource in recording.resources}


def test_every_component_of_the_folder_is_in_the_package() -> None:
    found = set()
    for module in pkgutil.walk_packages(components.__path__, "trainyard.components."):
        if module.name.endswith((".__main__", ".pgpass")) or ".mlflow_runtime." in module.name:
            continue  # programs, which are run and not imported
        for kind in vars(importlib.import_module(module.name)).values():
            if inspect.isclass(kind) and issubclass(kind, pulumi.ComponentResource) and kind.__module__ == module.name:
                found.add(kind)
    assert found == set(COMPONENTS)
    assert sorted(INPUTS) == sorted(NAMES) == NAMES


def test_no_consumer_has_to_load_the_schema_of_another_provider(schema: dict[str, Any]) -> None:
    assert schema["dependencies"] == []
    assert set(schema["resources"]) == {f"trainyard:index:{name}" for name in NAMES}


def test_every_argument_and_output_is_described(schema: dict[str, Any]) -> None:
    groups = [
        (name, kind[side]) for name, kind in schema["resources"].items() for side in ("inputProperties", "properties")
    ]
    groups += [(name, kind["properties"]) for name, kind in schema["types"].items()]
    missing = [f"{name}.{key}" for name, keys in groups for key, value in keys.items() if "description" not in value]
    assert len(groups) > 60
    assert missing == []


@pytest.mark.parametrize("name", NAMES)
def test_plain_values_from_another_language_make_it(package: Components, schema: dict[str, Any], name: str) -> None:
    recording, state = constructed(package, name, wire(INPUTS[name]))
    assert recording.one(f"trainyard:index:{name}").name == "acme"
    assert len(recording.resources) > 1
    outputs = schema["resources"][f"trainyard:index:{name}"]
    assert set(outputs["required"]) <= set(state) <= set(outputs["properties"])
    # No double has found its way into a text ("1024.0Gi"): the same as with whole numbers.
    assert by_urn(recording) == by_urn(constructed(package, name, INPUTS[name])[0])


def test_nested_outputs_have_the_names_of_the_schema(package: Components) -> None:
    seen: dict[str, Any] = {}

    def program() -> None:
        made = package.construct("acme", "trainyard:index:StorageTiers", wire(INPUTS["StorageTiers"]))
        made.state["shared"]["accessPointIds"]["vision"].apply(lambda value: seen.update(vision=value))
        made.state["lustre"]["dataMountName"].apply(lambda value: seen.update(mount=value))

    record(program)
    assert seen["mount"].endswith("/data")
    assert seen["vision"]


def test_a_missing_argument_is_named(package: Components) -> None:
    inputs = {key: value for key, value in INPUTS["Database"].items() if key != "keyArn"}
    with pytest.raises(Exception, match="Missing required input 'keyArn' on 'Database'"):
        package.construct("acme", "trainyard:index:Database", inputs)


def test_whole_numbers_keep_what_is_not_whole() -> None:
    given = {"a": 2.0, "b": [1.5, "2.0", True, None], "c": {"d": 3}}
    assert whole_numbers(given) == {"a": 2, "b": [1.5, "2.0", True, None], "c": {"d": 3}}
    assert isinstance(whole_numbers(2.0), int)
    seen: list[Any] = []

    def program() -> None:
        whole_numbers(pulumi.Output.from_input({"port": 5432.0})).apply(seen.append)

    record(program)
    assert [(value, type(value["port"])) for value in seen] == [({"port": 5432}, int)]


def test_the_engine_can_start_it_and_ask_for_its_schema(schema: dict[str, Any]) -> None:
    """As the language host does: the folder's `__main__.py` with the engine's address; it answers with its port."""
    started = subprocess.Popen(
        [sys.executable, "-u", str(ROOT / "components" / "__main__.py"), "127.0.0.1:1"], stdout=subprocess.PIPE
    )
    try:
        assert started.stdout is not None
        port = int(started.stdout.readline())
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            answer = provider_pb2_grpc.ResourceProviderStub(channel).GetSchema(  # type: ignore[no-untyped-call]
                provider_pb2.GetSchemaRequest(), timeout=300
            )
        assert json.loads(answer.schema) == schema
    finally:
        started.terminate()
        started.wait(30)
        assert started.stdout is not None
        started.stdout.close()


def test_the_package_is_installed_in_the_version_that_it_is() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    requirements = (ROOT / "components" / "requirements.txt").read_text().split()
    assert requirements == [f"{project['name']}=={project['version']}"]
    plugin = yaml.safe_load((ROOT / "components" / "PulumiPlugin.yaml").read_text())
    assert plugin["runtime"]["name"] == "python"
