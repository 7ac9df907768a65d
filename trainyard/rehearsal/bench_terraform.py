"""As many resources as a stack records, as a configuration of Terraform: what `make bench` plans beside a rehearsal.

Each resource of a type that `bench_terraform.yaml` spells stands for itself. For what would need another provider, or
a cluster that answers, there are more of the former, in the shares that they were recorded in.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

PROVIDER: Final = "registry.terraform.io/hashicorp/aws"
_TABLE: Final = Path(__file__).with_suffix(".yaml")
_REFERENCE: Final = re.compile(r"<(aws_\w+)((?:\.[\w\[\]]+)*)>")
_TIMEOUT_S: Final = 600
_PLANNED: Final = re.compile(r"^Plan: (\d+) to add, 0 to change, 0 to destroy\.$", re.MULTILINE)
_DOCUMENTS: Final = frozenset({"assume_role_policy", "policy", "event_pattern"})
_BESIDE: Final[dict[str, Any]] = {
    "terraform": {"required_providers": {"aws": {"source": "hashicorp/aws", "version": "~> 5.0"}}},
    "provider": {
        "aws": {
            "region": "us-east-1",
            "access_key": "of-nobody",
            "secret_key": "of-nobody",
            "skip_credentials_validation": True,
            "skip_requesting_account_id": True,
            "skip_metadata_api_check": "true",
            "skip_region_validation": True,
            "default_tags": {"tags": {"client": "bench", "environment": "bench"}},
        }
    },
}
"""A provider that asks nobody: it plans from its schema, and there are no data sources."""


class CannotCompareError(RuntimeError):
    """Terraform, or its provider for AWS, is not there, or does not plan what it was given."""


def configuration(recorded: Mapping[str, int], total: int) -> dict[str, Any]:
    """`main.tf.json` with `total` resources of AWS.

    Args:
        recorded: how many resources of each of Pulumi's types a stack has; types of other providers are passed over.
        total: how many resources there shall be.

    Raises:
        CannotCompareError: they are fewer than the types that they are of, and refer to.
    """
    table: dict[str, dict[str, Any]] = yaml.safe_load(_TABLE.read_text(encoding="utf-8"))
    blocks = {block.pop("type"): block for block in table.values()}
    shares = {type_: recorded[token] for token, type_ in zip(table, blocks, strict=True) if recorded.get(token)}
    counts = _counted(shares or dict.fromkeys(blocks, 1), blocks, total)
    resources = {
        type_: {f"r{number}": _spelled(blocks[type_], number, counts) for number in range(count)}
        for type_, count in counts.items()
    }
    return {**_BESIDE, "resource": resources}


def _counted(shares: Mapping[str, int], blocks: Mapping[str, Any], total: int) -> Counter[str]:
    """How many there shall be of each type: one of whatever is referred to, then all in turn by their shares."""
    wanted = list(shares)
    for type_ in wanted:
        named = dict.fromkeys(type_ for type_, _ in _REFERENCE.findall(json.dumps(blocks[type_])))
        wanted += [type_ for type_ in named if type_ not in wanted]
    counts = Counter(dict.fromkeys(wanted, 1))
    if total < len(wanted):
        raise CannotCompareError(f"{total} resources are too few for the {len(wanted)} types of AWS that they need")
    by_share = [type_ for type_ in wanted for _ in range(shares.get(type_, 0))]
    first = Counter(by_share) - counts
    left = [*first.elements()]
    while counts.total() < total:
        left = left or [*by_share]
        counts[left.pop(0)] += 1
    return counts


def _spelled(block: Mapping[str, Any], number: int, counts: Mapping[str, int]) -> dict[str, Any]:
    """One resource's block: its number and its neighbours' put in, its documents as JSON."""

    def put_in(value: Any, bare: bool) -> Any:
        if isinstance(value, str):
            own = value.replace("<n>", str(number))
            return _REFERENCE.sub(lambda found: _neighbour(found, number, counts, bare), own)
        if isinstance(value, list):
            return [put_in(part, bare) for part in value]
        if isinstance(value, dict):
            return {put_in(key, bare): put_in(part, bare) for key, part in value.items()}
        return value

    spelled = {key: put_in(value, key == "depends_on") for key, value in block.items()}
    return {key: json.dumps(value) if key in _DOCUMENTS else value for key, value in spelled.items()}


def _neighbour(found: re.Match[str], number: int, counts: Mapping[str, int], bare: bool) -> str:
    type_, attribute = found.groups()
    named = f"{type_}.r{number % counts[type_]}{attribute}"
    return named if bare else f"${{{named}}}"


@dataclass(frozen=True, slots=True)
class Terraform:
    """A folder that is initialized, and who plans it."""

    program: str
    folder: Path
    versions: str
    environment: Mapping[str, str] = field(repr=False)

    @property
    def command(self) -> list[str]:
        """What is timed: a plan of a stack of which nothing stands."""
        return [self.program, f"-chdir={self.folder}", "plan", "-refresh=false", "-input=false", "-no-color"]


def initialized(folder: Path, written: Mapping[str, Any]) -> Terraform:
    """Terraform in a folder, with the provider from the mirror that the environment names, or that is on this machine:
    a bench downloads nothing that nobody asked for.

    Raises:
        CannotCompareError: Terraform is not on the path or does not answer, the provider cannot be had, or another
            number is planned.
    """
    program = shutil.which("terraform")
    if program is None:
        raise CannotCompareError("terraform is not on the path (PATH)")
    (folder / "main.tf.json").write_text(json.dumps(written, indent=1))
    environment = _environment(folder)
    said = _answer([program, f"-chdir={folder}", "init", "-input=false", "-no-color"], environment)
    if said.returncode:
        raise CannotCompareError(
            f"the provider {PROVIDER} cannot be had: `terraform init` says {_first_error(said.stderr)} {_NAMED}"
        )
    versions = json.loads(_answer([program, f"-chdir={folder}", "version", "-json"], environment).stdout)
    used = f"Terraform {versions['terraform_version']}, hashicorp/aws {versions['provider_selections'][PROVIDER]}"
    terraform = Terraform(program, folder, used, environment)
    planned = _answer(terraform.command, environment)
    found = _PLANNED.search(planned.stdout)
    wanted = sum(len(named) for named in written["resource"].values())
    if planned.returncode or found is None or int(found[1]) != wanted:
        raise CannotCompareError(f"{used} does not plan the {wanted} resources: {_first_error(planned.stderr)}")
    return terraform


_NAMED: Final = (
    "A mirror is named by TF_CLI_CONFIG_FILE (provider_installation), or by TF_CLI_ARGS_init=-plugin-dir=FOLDER"
)


def _environment(folder: Path) -> dict[str, str]:
    """What Terraform runs with: nothing of whoever runs the bench that leads to an account or another folder.

    Raises:
        CannotCompareError: no mirror is named, and the provider is in no folder of this machine.
    """
    of_others = ("TF_DATA_DIR", "TF_WORKSPACE")
    own = {name: value for name, value in os.environ.items() if not name.startswith("AWS_") and name not in of_others}
    own |= {"CHECKPOINT_DISABLE": "1", "AWS_EC2_METADATA_DISABLED": "true"}
    if _names_a_mirror(own):
        return own
    there = [path for path in _local_mirrors() if (path / PROVIDER).is_dir()]
    if not there:
        raise CannotCompareError(
            f"the provider {PROVIDER} is not on this machine, and a bench does not download it. {_NAMED}"
        )
    # Without a word on `direct` Terraform asks no registry.
    mirrors = "".join(f"filesystem_mirror {{ path = {json.dumps(str(path))} }}\n" for path in there)
    (folder / "mirrors.tfrc").write_text(f"provider_installation {{\n{mirrors}}}\n")
    return {**own, "TF_CLI_CONFIG_FILE": str(folder / "mirrors.tfrc")}


def _names_a_mirror(environment: Mapping[str, str]) -> bool:
    """Whether somebody said where providers come from; a file that is not there, or says other things, does not."""
    if "-plugin-dir" in environment.get("TF_CLI_ARGS_init", ""):
        return True
    try:
        return "provider_installation" in Path(environment.get("TF_CLI_CONFIG_FILE", "")).read_text(encoding="utf-8")
    except OSError:
        return False


def _local_mirrors() -> list[Path]:
    """Folders in which Terraform looks for providers before it asks a registry ("CLI configuration", implied local
    mirrors), and its cache, which is laid out as they are."""
    shares = [os.environ.get("XDG_DATA_HOME") or "~/.local/share"]
    shares += (os.environ.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share").split(":")
    folders = ["~/.terraform.d/plugins", *(f"{share}/terraform/plugins" for share in shares)]
    cache = os.environ.get("TF_PLUGIN_CACHE_DIR")
    return [Path(folder).expanduser() for folder in (*folders, *([cache] if cache else []))]


def _answer(command: list[str], environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        raise CannotCompareError(f"`terraform {command[2]}` did not end within {_TIMEOUT_S} s") from None


def _first_error(stderr: str) -> str:
    """The first error as one line."""
    _, _, error = stderr.partition("Error: ")
    return " ".join((error or stderr or "nothing").split())[:300]
