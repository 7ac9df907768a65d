"""What Terraform is given beside a rehearsal: as many resources, which name each other, and a word where it cannot."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import yaml

from trainyard.rehearsal import bench_terraform
from trainyard.rehearsal.bench import Cost, beside_terraform
from trainyard.rehearsal.bench_terraform import CannotCompareError, configuration, initialized
from trainyard.rehearsal.rehearse import Rehearsal

TABLE = yaml.safe_load(Path(bench_terraform.__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
NETWORK = {"aws:ec2/vpc:Vpc": 1, "aws:ec2/subnet:Subnet": 12, "aws:ec2/routeTableAssociation:RouteTableAssociation": 12}


def counts(written: dict[str, dict[str, dict[str, object]]]) -> dict[str, int]:
    return {type_: len(named) for type_, named in written["resource"].items()}


def test_there_are_as_many_as_asked_for_in_the_shares_of_the_stack() -> None:
    few = counts(configuration(NETWORK, 26))
    assert few == {"aws_vpc": 1, "aws_subnet": 12, "aws_route_table_association": 12, "aws_route_table": 1}
    many = counts(configuration({**NETWORK, "kubernetes:core/v1:ConfigMap": 29}, 577))
    assert sum(many.values()) == 577
    assert many["aws_subnet"] > 10 * many["aws_vpc"] and many["aws_route_table"] == 1


def test_a_stack_without_aws_has_every_type_in_its_place() -> None:
    written = configuration({"gcp:container/cluster:Cluster": 3}, 100)
    assert set(written["resource"]) == {block["type"] for block in TABLE.values()}
    with pytest.raises(CannotCompareError, match="9 resources are too few for the 59 types of AWS"):
        configuration({}, 9)


def test_every_reference_leads_to_a_resource_and_nothing_is_left_to_put_in() -> None:
    written = configuration({}, 300)["resource"]
    text = json.dumps(written)
    assert not re.search(r"<n>|<aws_", text)
    named = set(re.findall(r"(aws_\w+)\.(r\d+)", text))
    assert len(named) > 40
    assert {number in written[type_] for type_, number in named} == {True}
    assert written["aws_nat_gateway"]["r0"]["depends_on"] == ["aws_internet_gateway.r0"]
    policy = json.loads(written["aws_iam_role_policy"]["r1"]["policy"])
    assert policy["Statement"][1]["Resource"] == "${aws_s3_bucket.r1.arn}/*"


def test_the_types_are_those_that_a_stack_records(rehearsed: Callable[[str], Rehearsal]) -> None:
    recorded = {resource.type for resource in rehearsed("demo").resources}
    assert set(TABLE) <= recorded


def stand_in(folder: Path, init: str, plan: str) -> None:
    """A `terraform` that answers so; the bench reads nothing else of it."""
    selected = json.dumps({"terraform_version": "1.2.3", "provider_selections": {bench_terraform.PROVIDER: "5.6.7"}})
    answers = f"case $2 in init) {init};; version) echo '{selected}';; plan) {plan};; esac"
    (folder / "terraform").write_text(f"#!/bin/sh\n{answers}\n")
    (folder / "terraform").chmod(0o755)


@pytest.fixture
def named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mirror is named, which a stand-in does not read."""
    (tmp_path / "of-mine.tfrc").write_text("provider_installation {}")
    monkeypatch.setenv("TF_CLI_CONFIG_FILE", str(tmp_path / "of-mine.tfrc"))


@pytest.fixture
def nothing_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody names a mirror, and the provider is nowhere where Terraform looks for it."""
    for name in ("TF_CLI_CONFIG_FILE", "TF_CLI_ARGS_init", "TF_PLUGIN_CACHE_DIR", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_DATA_DIRS", str(tmp_path / "share"))
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.mark.usefixtures("nothing_named")
@pytest.mark.parametrize("says", ["", "disable_checkpoint = true", None])
def test_nothing_is_downloaded_that_nobody_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str | None
) -> None:
    """A configuration without a word on providers names no mirror, and one that is not there neither."""
    monkeypatch.setenv("TF_CLI_CONFIG_FILE", str(tmp_path / "of-mine.tfrc"))
    if says is not None:
        (tmp_path / "of-mine.tfrc").write_text(says)
    stand_in(tmp_path, f"echo > {tmp_path}/asked", "exit 0")
    with pytest.raises(
        CannotCompareError, match=r"hashicorp/aws is not on this machine, and a bench does not download"
    ):
        initialized(tmp_path, configuration(NETWORK, 26))
    assert not (tmp_path / "asked").exists()


@pytest.mark.usefixtures("nothing_named")
@pytest.mark.parametrize("where", ["home/.terraform.d/plugins", "share/terraform/plugins", "cache"])
def test_a_provider_of_this_machine_is_taken_without_a_registry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.setenv("TF_PLUGIN_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / where / bench_terraform.PROVIDER).mkdir(parents=True)
    stand_in(tmp_path, "exit 0", "echo 'Plan: 26 to add, 0 to change, 0 to destroy.'")
    asked = Path(initialized(tmp_path, configuration(NETWORK, 26)).environment["TF_CLI_CONFIG_FILE"]).read_text()
    assert json.dumps(str(tmp_path / where)) in asked
    assert asked.startswith("provider_installation {") and "direct" not in asked


@pytest.mark.usefixtures("named")
def test_terraform_sees_no_account_and_no_folder_of_whoever_runs_the_bench(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL", "TF_DATA_DIR", "TF_WORKSPACE"):
        monkeypatch.setenv(name, "mine")
    stand_in(tmp_path, "exit 0", "echo 'Plan: 26 to add, 0 to change, 0 to destroy.'")
    environment = initialized(tmp_path, configuration(NETWORK, 26)).environment
    assert "mine" not in environment.values()
    assert environment["TF_CLI_CONFIG_FILE"] == str(tmp_path / "of-mine.tfrc")


@pytest.mark.usefixtures("named")
def test_a_terraform_that_does_not_end_is_no_measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(bench_terraform, "_TIMEOUT_S", 0.2)
    stand_in(tmp_path, "exec sleep 20", "exit 0")
    with pytest.raises(CannotCompareError, match=r"`terraform init` did not end within 0\.2 s"):
        initialized(tmp_path, configuration(NETWORK, 26))


@pytest.mark.usefixtures("named")
def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = configuration(NETWORK, 26)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CannotCompareError, match="terraform is not on the path"):
        initialized(tmp_path, written)
    stand_in(tmp_path, "echo 'Error: no registry answers.' >&2; exit 1", "exit 0")
    with pytest.raises(
        CannotCompareError, match=r"hashicorp/aws cannot be had: .*no registry answers\. A mirror is named by"
    ):
        initialized(tmp_path, written)
    stand_in(tmp_path, "exit 0", "echo 'Plan: 25 to add, 0 to change, 0 to destroy.'")
    with pytest.raises(
        CannotCompareError, match=r"Terraform 1\.2\.3, hashicorp/aws 5\.6\.7 does not plan the 26 resources"
    ):
        initialized(tmp_path, written)


@pytest.mark.usefixtures("named")
def test_both_are_measured_by_turns_or_it_is_said_why_not(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    rehearsed: Callable[[str], Rehearsal],
) -> None:
    turns: list[str] = []

    def cost(command: Sequence[str], environment: object, accepted: object = (0,)) -> Cost:
        turns.append("plan" if "plan" in command else "rehearse")
        return Cost(8.0, 4.0, 500.0) if turns[-1] == "plan" else Cost(2.0, 2.0, 200.0)

    monkeypatch.setattr("trainyard.rehearsal.bench.process_cost", cost)
    resources = rehearsed("demo").resources
    made = sum(resource.is_made for resource in resources)
    monkeypatch.setenv("PATH", str(tmp_path))
    beside_terraform(Path(), "demo", resources, 2)
    assert capsys.readouterr().out == "terraform plan       not measured: terraform is not on the path (PATH)\n"
    assert turns == []
    stand_in(tmp_path, "exit 0", f"echo 'Plan: {made} to add, 0 to change, 0 to destroy.'")
    beside_terraform(Path(), "demo", resources, 2)
    assert turns == ["plan", "rehearse", "plan", "rehearse"]
    said = capsys.readouterr().out
    assert f"{made} resources, Terraform 1.2.3, hashicorp/aws 5.6.7" in said
    assert "rehearse / plan      wall 0.25 (0.25-0.25)   CPU 0.50 (0.50-0.50)" in said
