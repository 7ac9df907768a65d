"""Files that are wrong before any setting is: each is a message that names the file, none a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainyard.problems import Problem, SettingsError
from trainyard.rehearsal.engine.project import read_stack
from trainyard.user_files import DEEPEST

PROJECT = "name: trainyard\nmain: stacks\nstackConfigDir: stacks\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "Pulumi.yaml").write_text(PROJECT)
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "__main__.py").write_text("")
    (tmp_path / "stacks" / "Pulumi.test.yaml").write_text("config:\n  trainyard:client: acme\n")
    return tmp_path


def problem(folder: Path) -> str:
    with pytest.raises(SettingsError) as caught:
        read_stack(folder, "test")
    assert len(caught.value.problems) == 1
    return str(caught.value)


def test_a_good_file(folder: Path) -> None:
    assert read_stack(folder, "test").values == {"trainyard:client": "acme"}


@pytest.mark.parametrize("content", ["", "encryptionsalt: v1:abc\n", "config:\n", "# nothing\n"])
def test_a_file_without_configuration_is_an_empty_one(folder: Path, content: str) -> None:
    (folder / "stacks" / "Pulumi.test.yaml").write_text(content)
    assert read_stack(folder, "test").values == {}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\x86\xff\x00\x01", "must be in UTF-8"),
        (b"- a\n- b\n", "got a list of 2; must be a mapping"),
        (b"config: 5\n", "config: got a number; must be a mapping"),
        (b"config: [client]\n", "config: got a list of 1; must be a mapping"),
        (b"config:\n\ttrainyard:client: x\n", "line 2"),
        (b"config:\n  trainyard:client: a\n  trainyard:client: b\n", '"trainyard:client" is there twice'),
    ],
)
def test_a_wrong_file_is_told(folder: Path, content: bytes, words: str) -> None:
    (folder / "stacks" / "Pulumi.test.yaml").write_bytes(content)
    told = problem(folder)
    assert told.startswith("Pulumi.test.yaml")
    assert words in told


def test_a_folder_in_the_place_of_the_file_is_told(folder: Path) -> None:
    (folder / "stacks" / "Pulumi.test.yaml").unlink()
    (folder / "stacks" / "Pulumi.test.yaml").mkdir()
    with pytest.raises(SettingsError, match=r"can be read"):
        read_stack(folder, folder / "stacks" / "Pulumi.test.yaml")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "Pulumi.yaml: name: got nothing"),
        ("name: 5\n", "Pulumi.yaml: name: got 5"),
        ("name: x\n", "Pulumi.yaml: main: got nothing"),
        ("name: x\nmain: nowhere\n", 'Pulumi.yaml: main: got "nowhere"; must be a folder with a __main__.py'),
        (PROJECT + "config: [client]\n", "Pulumi.yaml: config: got a list of 1"),
    ],
)
def test_a_wrong_project_is_told(folder: Path, content: str, words: str) -> None:
    (folder / "Pulumi.yaml").write_text(content)
    assert problem(folder).startswith(words)


def test_no_setting_comes_near_the_deepest_level(folder: Path) -> None:
    deep = DEEPEST - 4
    (folder / "stacks" / "Pulumi.test.yaml").write_text(f"config:\n  trainyard:storage: {'[' * deep}{']' * deep}\n")
    assert read_stack(folder, "test").values["trainyard:storage"].startswith("[[")


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("trainyard:value: no", "no"),  # YAML 1.1 makes false of it
        ("trainyard:value: on", "on"),
        ("trainyard:value: true", "true"),
        ("trainyard:value: 12:30:00", "12:30:00"),  # YAML 1.1 makes 45000 of it
        ("trainyard:value: 1.30", "1.3"),
        ("trainyard:value: 1e3", "1000"),
        ("trainyard:value: 0x10", "16"),
        ("trainyard:value: 012345670123", "1402433619"),
        ("trainyard:value: 2027-03-31", "2027-03-31T00:00:00Z"),
        ("trainyard:value: { on: [yes, 5] }", '{"on":["yes",5]}'),
        ("trainyard:value: { 5: x, true: y }", '{"5":"x","true":"y"}'),
        ("trainyard:value: { until: 2027-03-31 }", '{"until":"2027-03-31 00:00:00 +0000 UTC"}'),
        ("trainyard:value: { until: '2027-03-31' }", '{"until":"2027-03-31"}'),
    ],
)
def test_a_value_reaches_the_program_as_the_engine_hands_it_over(folder: Path, line: str, text: str) -> None:
    (folder / "stacks" / "Pulumi.test.yaml").write_text(f"config:\n  {line}\n")
    assert read_stack(folder, "test").values["trainyard:value"] == text


def test_what_stands_for_an_encrypted_value_has_the_form_that_is_asked_for(folder: Path) -> None:
    (folder / "stacks" / "Pulumi.test.yaml").write_text(
        "config:\n  trainyard:mail: [{ secure: abc }, plain, { secure: def }]\n  aws:secretKey: { secure: ghi }\n"
    )
    asked = []

    def stand_in(path, number):
        asked.append(path)
        return f"unseen-{number}@example.com" if path[0] == "trainyard:mail" else None

    config = read_stack(folder, "test", stand_in=stand_in)
    assert asked == [("trainyard:mail", 0), ("trainyard:mail", 2), ("aws:secretKey",)]
    assert config.values["trainyard:mail"] == '["unseen-1@example.com","plain","unseen-2@example.com"]'
    assert config.values["aws:secretKey"].startswith("rehearsed-secret-")
    assert config.placeholders == {"unseen-1@example.com", "unseen-2@example.com", config.values["aws:secretKey"]}
    assert config.unseen == ("mail[0]", "mail[2]", "aws:secretKey")
    assert config.secret_keys == {"trainyard:mail", "aws:secretKey"}


def test_a_value_that_must_not_be_encrypted_is_a_problem(folder: Path) -> None:
    (folder / "stacks" / "Pulumi.test.yaml").write_text("config:\n  trainyard:region: { secure: abc }\n")
    config = read_stack(folder, "test", stand_in=lambda path, number: Problem("region", "an encrypted value", "plain"))
    assert [problem.key for problem in config.problems] == ["region"]


def test_a_mapping_with_a_key_secure_of_another_kind_is_no_encrypted_value(folder: Path) -> None:
    (folder / "stacks" / "Pulumi.test.yaml").write_text("config:\n  trainyard:value: { secure: [5] }\n")
    config = read_stack(folder, "test")
    assert config.values["trainyard:value"] == '{"secure":[5]}'
    assert not config.unseen


@pytest.mark.parametrize(("wanted", "value"), [("object", "hunter2hunter2"), ("array", '"{password: hunter2}"')])
def test_what_stands_in_the_place_of_a_mapping_or_a_list_is_not_told(folder: Path, wanted: str, value: str) -> None:
    """It may be a password of it, and messages reach the logs of CI."""
    (folder / "Pulumi.yaml").write_text(f"{PROJECT}config:\n  value: {{ type: {wanted} }}\n")
    (folder / "stacks" / "Pulumi.test.yaml").write_text(f"config:\n  trainyard:value: {value}\n")
    (told,) = map(str, read_stack(folder, "test").problems)
    assert "hunter2" not in told
    assert f"must be of type {wanted}" in told


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("  trainyard:teamSize: 012\n", ["teamSize: got 012"]),
        ("  teamSize: -017\n", ["teamSize: got -017"]),
        ("  trainyard:mlflow:\n    database: {storageGib: 0_50}\n", ["mlflow.database.storageGib: got 0_50"]),
        ("  trainyard:aws: {accountId: 012345678901}\n", ["aws.accountId: got 012345678901"]),
        ("  trainyard:teams: [{members: 5}, {members: 05}]\n", ["teams[1].members: got 05"]),
        ('  trainyard:aws: {accountId: "012345678901"}\n', []),
        ("  trainyard:teamSize: 0o14\n  trainyard:x: [0, 0.5, -0.1, 0x1F]\n", []),  # nobody reads these by ten
        ("  trainyard:at: 2026-01-02\n  trainyard:to: 07:00\n  trainyard:id: 012345-6789AB-CDEF01\n", []),
        ("  other:code: 0123\n", []),  # whoever reads it may mean it
        ("  trainyard:text: |\n    012\n", []),
    ],
)
def test_a_number_that_people_and_the_engine_read_otherwise_is_told(
    folder: Path, content: str, told: list[str]
) -> None:
    (folder / "stacks" / "Pulumi.test.yaml").write_text(f"salt: 0123\nconfig:\n{content}")
    problems = read_stack(folder, "test").problems
    assert [f"{one.key}: got {one.got}" for one in problems] == told
    assert all("must be without it, or in quotes" in one.allowed for one in problems)


def test_a_key_without_a_namespace_is_the_projects_own(folder: Path) -> None:
    """Also where the project declares it: it is not missing."""
    (folder / "Pulumi.yaml").write_text(
        f"{PROJECT}config:\n  client:\n    type: string\n  teamSize:\n    type: integer\n"
    )
    file = folder / "stacks" / "Pulumi.test.yaml"
    file.write_text("config:\n  client: acme\n  trainyard:teamSize: 12\n")
    found = read_stack(folder, "test")
    assert (found.values, found.problems) == ({"trainyard:client": "acme", "trainyard:teamSize": "12"}, ())
    file.write_text("config:\n  client: acme\n  trainyard:client: other\n  teamSize: many\n")
    assert {one.key for one in read_stack(folder, "test").problems} == {"trainyard:client", "teamSize"}


def test_a_number_that_is_none_is_not_called_encrypted(folder: Path) -> None:
    (folder / "stacks" / "Pulumi.test.yaml").write_text("config:\n  trainyard:monthlyBudgetUsd: .nan\n")
    assert read_stack(folder, "test").secret_keys == frozenset()
