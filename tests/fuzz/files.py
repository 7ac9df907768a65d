"""Random settings files: plausible, as somebody may write them; wild, each value legal by itself; hostile."""

from __future__ import annotations

import copy
import datetime
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Literal

import yaml
from pydantic.alias_generators import to_camel

from tests.fuzz.extras import add_some
from tests.fuzz.fields import POOLS, World, draw_model, existing_zones, machine, world
from trainyard import catalog
from trainyard.catalog import gcp
from trainyard.conventions.gcp import local_ssd_choices
from trainyard.conventions.gcp_files import LUSTRE_TIERS
from trainyard.plan.aws.managed import OF_A_CLUSTER as OF_A_CLUSTER_ON_AWS
from trainyard.plan.gcp.managed import OF_A_CLUSTER as OF_A_CLUSTER_ON_GOOGLE
from trainyard.plan.managed import OF_A_CLUSTER
from trainyard.plan.profiles import PROFILE_NAMES, profile
from trainyard.settings.clouds import NOT_ON_GCP
from trainyard.settings.common import Settings
from trainyard.settings.read import MOVED

Style = Literal["plausible", "wild", "hostile"]
SHARES: dict[Style, int] = {"plausible": 50, "wild": 30, "hostile": 20}
"""How many in a hundred files are of each style."""

NAMESPACE = "trainyard"
SECRET = "hunter2-not-to-be-told"
"""Stands for a password under a key that is none, which must not reach a log."""

Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """One random settings file. `values` are the keys without their namespace; `text` is the whole file."""

    name: str
    style: Style
    values: Values
    text: str
    stack: str = "dev"


def case(seed: str, style: Style | None = None) -> Case:
    """The file of a seed: always the same, whichever files were drawn before."""
    rng = Random(seed)
    drawn = rng.choices(tuple(SHARES), weights=tuple(SHARES.values()))[0]
    style = style or drawn
    place = world(rng)
    values = draw_model(Settings, rng, place)
    if style == "plausible":
        _settle(values, rng, place)
        add_some(values, rng, place)
    if style == "hostile":
        for _ in range(rng.choice((1, 1, 2, 4))):
            rng.choice(ATTACKS)(values, rng)
    text = file_text(values)
    if style != "hostile":
        return Case(seed, style, values, text)
    stack = rng.choice(("dev", "dev", "production", "Prod_1", "9", "a" * 60, "ünï", "-"))
    return Case(seed, style, values, garbled(text, rng) if rng.random() < 0.2 else text, stack)


def without(drawn: Case, keys: Iterable[str]) -> Case | None:
    """A file without the settings that a refusal names, as its author mends it; a person's team is counted where nobody
    is. None where nothing is left to take back.
    """
    values = copy.deepcopy(drawn.values)
    for key in keys:
        _cut(values, tuple(re.split(r"[.\[]", key.replace("]", ""))))
    if values.get("cloud") == "gcp":
        values.setdefault("gcp", {})
        values["gcp"] |= {"project": "acme-ml", "projectNumber": "123456789012"} | values["gcp"]
    if not {"teamSize", "profile", "teams"} & values.keys():
        values["teamSize"] = 12
    return None if values == drawn.values else replace(drawn, values=values, text=file_text(values))


def _cut(values: Any, path: tuple[str, ...]) -> None:
    """Takes away what is at a path, or the nearest around it that is there."""
    holder, last = None, None
    for step in path:
        key = int(step) if isinstance(values, list) and step.isdigit() else step
        inside = isinstance(values, dict) and key in values
        if not inside and not (isinstance(values, list) and isinstance(key, int) and key < len(values)):
            break
        holder, last, values = values, key, values[key]
    if holder is not None and last not in ("client", "cloud", "region"):
        del holder[last]


def file_text(values: Values) -> str:
    """A stack file of the project with these keys."""
    config = {f"{NAMESPACE}:{key}": value for key, value in values.items()}
    return yaml.dump({"config": config}, sort_keys=False, allow_unicode=True, Dumper=_Dumper)


class _Dumper(yaml.SafeDumper):
    """Writes anchors only for what the attack meant as one."""

    def ignore_aliases(self, data: Any) -> bool:
        return not isinstance(data, list) or len(data) < 9


# Plausible: what belongs together fits together


def _settle(values: Values, rng: Random, place: World) -> None:
    """Makes an author's file of unrelated values: the team is there, ranges are in order, money is enough."""
    values.pop("residency", None) if rng.random() < 0.8 else None
    if rng.random() < 0.8:
        values["alertEmails"] = ["ml-platform@acme.example"]
    values["alertEmails"] = sorted(set(values.get("alertEmails", ())))
    _settle_people(values, rng)
    for name, pool in values.get("gpuPools", {}).items():
        _settle_pool(name, pool, rng, place)
    _settle_owners(values, rng)
    _settle_ranges(values, rng)
    _settle_network(values, place)
    _settle_audit(values.get("audit", {}), rng)
    _settle_cache(values, place)
    if place.cloud == "gcp":
        _settle_google(values, rng)
    if values["teamSize"] < int(profile("medium").figure("team_size.minimum").value):
        _settle_managed(values, place)
    elif place.cloud == "aws" and rng.random() < 0.5:
        values.setdefault("managed", {})["beside"] = True
    else:
        values.pop("managed", None)
    if "capacities" in values.get("smoke", {}):
        values["smoke"]["capacities"] = rng.choice((["on-demand"], ["on-demand", "spot"], ["reserved", "on-demand"]))
    if rng.random() < 0.85:
        values["monthlyBudgetUsd"] = rng.choice((40_000, 90_000, 400_000, 3_000_000, 50_000_000))
    if place.cloud == "aws" and rng.random() < 0.08:
        there = {"vpcId": "vpc-0123456789abcdef0", "wayOut": rng.choice(("nat", "transit-gateway"))}
        there |= {"zones": existing_zones(rng, place, every=True), "endpoints": rng.choice(([], ["s3", "sts"]))}
        values.setdefault("aws", {})["existingNetwork"] = there
        _settle_existing(values, there, place)


def _settle_google(values: Values, rng: Random) -> None:
    """What Google Cloud needs, and nothing that it does not read."""
    values["gcp"] = {"project": "acme-ml", "projectNumber": "123456789012", **values.get("gcp", {})}
    if values["gcp"].get("billingCurrency", "USD") != "USD":
        values["gcp"]["billingUnitsPerUsd"] = 0.93
    if not values["alertEmails"]:
        values["gcp"].pop("billingAccount", None)
    for path in NOT_ON_GCP:
        _take_out(values, path)
    for pool in values.get("gpuPools", {}).values():
        pool.get("spot", {}).pop("instanceTypes", None)
    lustre = values.get("storage", {}).get("lustre", {})
    if {"capacityGib", "throughputMbpsPerTib"} & lustre.keys():
        throughput = lustre.setdefault("throughputMbpsPerTib", 500)
        lustre["capacityGib"] = LUSTRE_TIERS[throughput].step * rng.randint(1, 9)
    if values.get("storage", {}).get("sharedFileSystem") is False:
        values["gcp"].pop("sharedFilesGib", None)
    if values["gcp"].get("sharedFilesGib", 0) >= 10_240:
        values["gcp"]["sharedFilesGib"] = 2560 * rng.randint(4, 40)
    for key in ("networkProject", "sharedNetwork"):
        values["gcp"].pop(key, None)
    if rng.random() < 0.1:
        values["gcp"] |= {"networkProject": "acme-network", "sharedNetwork": _shared_network(rng)}
        values["gcp"].pop("fastNetwork", None)
        for key in ("cidr", "serviceCidr", "reservedCidrs"):
            values.get("network", {}).pop(key, None)


def _shared_network(rng: Random) -> Values:
    """A network of a host project's, whose ranges lie apart."""
    return {
        "network": "production",
        "subnetwork": "ml",
        "nodeCidr": "10.8.0.0/20",
        "podRange": "ml-pods",
        "podCidr": "10.16.0.0/13",
        "serviceRange": "ml-services",
        "serviceCidr": "10.32.0.0/20",
        "controlPlaneCidr": "172.16.0.16/28",
        "privateServicesCidr": "10.40.0.0/20",
        "hostRights": rng.choice(("host", "stack")),
    }


def _settle_managed(values: Values, place: World) -> None:
    """What a team without a cluster can say."""
    for path in (*OF_A_CLUSTER, *(OF_A_CLUSTER_ON_GOOGLE if place.cloud == "gcp" else OF_A_CLUSTER_ON_AWS)):
        _take_out(values, path)
    if place.cloud == "gcp":
        _take_out(values, "storage.dataAccess")
    values.pop("stage", None)


def _take_out(values: Values, path: str) -> None:
    *above, key = (to_camel(step) for step in path.split("."))
    for step in above:
        values = values.get(step, {})
    values.pop(key, None)


def _settle_audit(audit: Values, rng: Random) -> None:
    """What the stack does not record has a reason, files stay as long as they are locked, and an alarm has a trail."""
    trail, watch = audit.get("trail", {}), audit.get("threatDetection", {})
    for part in (trail, watch):
        if part.get("by", "stack") != "stack":
            part.setdefault("reason", "somebody else does it")
            for unread in part.keys() - {"by", "reason"}:
                part.pop(unread)
    if {"retentionDays", "lockDays"} & trail.keys():
        trail["lockDays"], trail["retentionDays"] = sorted((rng.randint(1, 400), rng.randint(1, 3650)))
    if trail.get("by") == "none":
        audit.pop("breakGlass", None)
    logs = audit.get("containerLogs", {})
    if logs.get("enabled") is False:
        logs.pop("retentionDays", None)


def _settle_cache(values: Values, place: World) -> None:
    """A cache of images needs the account, whose its logins are; without one there are none."""
    images = values.get("images", {})
    if not images.get("cache"):
        images.pop("cacheLogins", None)
        return
    account = values.setdefault("aws", {}).setdefault("accountId", "123456789012")
    for registry in images.get("cacheLogins", {}):
        secret = f"secret:ecr-pullthroughcache/{registry}-AbCdEf"
        images["cacheLogins"][registry] = f"arn:aws:secretsmanager:{place.region}:{account}:{secret}"


def _settle_owners(values: Values, rng: Random) -> None:
    """Whole nodes have owners where a pool has several GPUs a node and a fabric, as the profile's first pool has."""
    teams = [team["name"] for team in values.get("teams", [])]
    for name, pool in values.get("gpuPools", {}).items():
        own = pool.pop("owners", None)
        if own is not None and name == POOLS[0] and teams and not {"instanceType", "gpu", "fabric"} & pool.keys():
            pool["owners"] = {rng.choice(teams): rng.choice((0, 1))}
            pool.pop("spot", None)
            pool.pop("onDemand", None)


def _settle_ranges(values: Values, rng: Random) -> None:
    for nodes in (values.get("systemNodes", {}), values.get("cpuPool", {})):
        if "minNodes" in nodes or "maxNodes" in nodes:
            nodes["minNodes"], nodes["maxNodes"] = sorted((rng.randint(1, 12), rng.randint(1, 12)))
    mlflow = values.get("mlflow", {})
    if "workers" in mlflow:
        mlflow["workers"] = min(mlflow["workers"], 4)
    disk = mlflow.get("database", {})
    if "maxStorageGib" in disk:
        disk["storageGib"] = min(disk.get("storageGib", 50), 30_000)
        disk["maxStorageGib"] = max(disk["maxStorageGib"], disk["storageGib"] * 2)


def _settle_network(values: Values, place: World) -> None:
    network = values.get("network", {})
    if network.get("egress", {}).get("mode") == "internet":
        network["egress"].pop("allow", None)
    if "cidr" in network:
        network["cidr"] = network["cidr"].rsplit("/", 1)[0] + "/16"
        network["serviceCidr"] = "10.255.0.0/16" if network["cidr"].startswith("172.20.") else "172.20.0.0/16"
    else:
        network.pop("serviceCidr", None)
    if "reservedCidrs" in network:
        network["reservedCidrs"] = ["10.254.0.0/16"]
    if len(network.get("zones", ())) < 2:
        network.pop("zones", None)
    zones = network.get("zones", place.zones)
    if there := values.get("aws", {}).get("existingNetwork"):
        zones = tuple(_settle_existing(values, there, place))
    lustre = values.get("storage", {}).get("lustre", {})
    if "zone" in lustre:
        lustre["zone"] = zones[0]
    if access := values.get("apiAccess"):
        for key in ("cidrs", "networks", "securityGroups"):
            access[key] = access.get(key, [])[:1]
        reached = access["cidrs"] if access.get("mode") == "public" else access["networks"] + access["securityGroups"]
        if access.get("mode") in ("public", "private") and not reached:
            access.pop("mode")
        if access.get("mode") in ("bastion", "private"):
            access.pop("cidrs")


def _settle_existing(values: Values, there: Values, place: World) -> Values:
    """A network that is there fits what else is asked for; its zones."""
    network, aws = values.setdefault("network", {}), values["aws"]
    network["cidr"] = "10.20.0.0/16"
    for key in ("serviceCidr", "zones"):
        network.pop(key, None)
    there["endpoints"] = sorted(set(there.get("endpoints", ())))
    there.pop("secondaryCidrs", None)
    there["routeTables"] = [] if "s3" in there["endpoints"] else ["rtb-0123456789abcdef0"]
    if there.get("flowLogs") == "account":
        aws.pop("flowLogRetentionDays", None)
    aws.pop("natPerZone", None)
    aws.pop("endpointZones", None)
    if len(there["zones"]) < 2 and place.cloud == "aws":
        del aws["existingNetwork"]
        return dict.fromkeys(place.zones)
    zones: Values = there["zones"]
    return zones


def _settle_people(values: Values, rng: Random) -> None:
    teams = list({team["name"]: team for team in values.get("teams", [])}.values())
    for team in teams:
        team["members"] = rng.randint(1, 15)
        team.pop("share", None)
    if teams and rng.random() < 0.4:
        cuts = sorted(rng.sample(range(1, 100), len(teams) - 1))
        for team, low, high in zip(teams, (0, *cuts), (*cuts, 100), strict=True):
            team["share"] = high - low
    if "teams" in values:
        values["teams"] = teams
    people = sum(team["members"] for team in teams)
    values["teamSize"] = max(people, rng.choice((1, 3, 5, 8, 12, 19, 20, 35, 60, 200)))
    if rng.random() < 0.8:
        values.pop("profile", None)
    elif values.get("profile") == PROFILE_NAMES[0]:
        values["teamSize"] = max(1, people)
    sign_on = values.get("mlflow", {}).get("signOn")
    if sign_on is not None:
        values["mlflow"]["enabled"] = True
        sign_on["teams"] = {team: f"ml-{team}" for team in [team["name"] for team in teams] or ["everyone"]}
    smoke = values.get("smoke", {})
    if "team" in smoke:
        smoke["team"] = rng.choice([team["name"] for team in teams] or ["everyone"])


def _settle_pool(name: str, pool: Values, rng: Random, place: World) -> None:
    if name not in POOLS:
        pool.pop("enabled", None)
        if "gpu" not in pool:
            pool["instanceType"] = rng.choice(place.sold)
        pool.setdefault("onDemand", {})["maxNodes"] = rng.randint(1, 4)
    if "instanceType" in pool:
        pool.pop("gpu", None)
    for capacity in ("spot", "onDemand"):
        nodes = pool.get(capacity, {})
        if "instanceTypes" in nodes:
            nodes["instanceTypes"] = _alternatives(pool, place)
        for key in ("minNodes", "maxNodes"):
            if key in nodes:
                nodes[key] = min(nodes[key], rng.choice((1, 4, 16)))
        if "minNodes" in nodes or (name not in POOLS and capacity in pool):
            nodes.setdefault("minNodes", 0)
            nodes["maxNodes"] = max(nodes["minNodes"], nodes.get("maxNodes", 2))
    item = machine(pool["instanceType"], place) if "instanceType" in pool else None
    if item is None or not item.fabric_interfaces:
        pool.pop("fabric", None)
    if not pool.get("fabric"):
        pool.pop("zone", None)
    # On a pool of its own, of machines without a fabric; both settings are refused elsewhere.
    if name in POOLS or item is None or item.fabric_interfaces or {"reserved", "flexStart"} & pool.keys():
        pool.pop("sharing", None)
    # Where it is known what machine the pool gets; where it is not, most numbers are refused.
    choices = local_ssd_choices(item.type) if item is not None else ()
    if "localSsds" in pool and choices:
        pool["localSsds"] = rng.choice(choices)
    elif place.cloud != "aws":
        pool.pop("localSsds", None)
    if "sharing" in pool:
        pool["sharing"]["acrossTeams"] = True
        pool.pop("wholeNodesOnly", None)
    reserved = pool.get("reserved")
    if reserved is not None:
        reserved["nodes"] = rng.randint(1, 8)
        reserved.pop("maxNodes", None)
        pool.pop("zone", None)
        if item is not None:
            offered = catalog.offered_zones if place.cloud == "aws" else gcp.offered_zones
            zones = [zone for zone in offered(item.type, place.region) if zone in place.zones]
            reserved["availabilityZone"] = rng.choice(zones or place.zones)
            if place.cloud != "aws" or not item.capacity_block:
                reserved.pop("kind", None)


def _alternatives(pool: Values, place: World) -> list[str]:
    """Spot instances that may stand in for the pool's: none, where the profile picks that."""
    if "instanceType" not in pool or place.cloud != "aws":
        return []
    own = catalog.instance(pool["instanceType"])
    return [
        other.type
        for other in catalog.instances(own.gpu)
        if other.type in place.sold
        and (other.gpus, other.efa_interfaces) == (own.gpus, own.efa_interfaces)
        and other.vcpus >= own.vcpus
        and other.memory_gib >= own.memory_gib
    ]


# Hostile: what comes of typing errors, of templates that were not filled in, and of malice

ODD: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 10**30, -(10**30), float("inf"), float("nan"), [], {}, [[]], {"a": {}}, [None],
    "", " ", "null", "NaN", "1e9", "0x10", "１２", "yes", "on", "12:30:45", "1_000", "a" * 5000, "ünïcödé", "日本",
    "\u202e\u0000\u001b[31m", "{", "[", "{}", "[]", '{"a": 1}', "[1, 2]", "<script>alert(1)</script>",
    "${config:region}", "{{ region }}", "$(reboot)", "../../etc/passwd", "'; DROP TABLE runs; --",
    {"secure": "AAABAQ=="}, datetime.date(2026, 12, 1), datetime.datetime(2026, 12, 1, 3, 4, 5), b"\x00\xff",
    "0.0.0.0/0", "::/0", "10.0.0.0/0", "127.0.0.0/16", "us-east-1", "p4d.24xlarge", SECRET,
    "*", "*.com", ".", "..", ".org", "PyPI.org", "pypi.org:443", "https://pypi.org/", "10.0.0.1", "localhost",
    "arn:aws:iam::123456789012:root", "arn:aws:iam::*:role/ml", "arn:aws:s3:::commoncrawl/path",
    "arn:aws:sts::123456789012:assumed-role/ml/me", "arn:aws:iam::123456789012:role/aws-service-role/eks/x",
    "o-UPPER12345", "o-", "docker.io/", "docker.io/Library", "nvcr.io/nvidia:latest", "block", "NO_PERMISSIONS",
)  # fmt: skip


def _places(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of everything that a file holds."""
    inside = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [found for key, value in inside for found in ((*path, key), *_places(value, (*path, key)))]


def _holder(values: Values, path: tuple[Any, ...]) -> Any:
    node: Any = values
    for step in path[:-1]:
        node = node[step]
    return node


def _odd_value(values: Values, rng: Random) -> None:
    places = _places(values)
    if places:  # another attack may have taken everything away
        path = rng.choice(places)
        _holder(values, path)[path[-1]] = rng.choice(ODD)


def _odd_key(values: Values, rng: Random) -> None:
    mappings = [
        values,
        *(node for path in _places(values) if isinstance(node := _holder(values, path)[path[-1]], dict)),
    ]
    key: Any = rng.choice(
        (
            "password",
            "teamsize",
            "TeamSize",
            "on",
            True,
            1,
            None,
            2.5,
            "a.b",
            "",
            "x" * 3000,
            "gpu-pools",
            "a\nb",
            "\x1b[31mred",
        )
    )
    rng.choice(mappings)[key] = rng.choice((SECRET, {"token": SECRET}, [SECRET]))


def _misspelt(values: Values, rng: Random) -> None:
    path = rng.choice(_places(values))
    holder, key = _holder(values, path), path[-1]
    if isinstance(holder, dict) and isinstance(key, str) and len(key) > 2:
        cut = rng.randrange(len(key))
        holder[key[:cut] + rng.choice(("", "x", key[cut] * 2)) + key[cut + 1 :]] = holder.pop(key)


def _missing(values: Values, rng: Random) -> None:
    path = rng.choice(_places(values))
    holder = _holder(values, path)
    del holder[path[-1]]


def _as_text(values: Values, rng: Random) -> None:
    path = rng.choice(_places(values))
    holder = _holder(values, path)
    holder[path[-1]] = json.dumps(holder[path[-1]], default=str)


def _many(values: Values, rng: Random) -> None:
    lists = [node for path in _places(values) if isinstance(node := _holder(values, path)[path[-1]], list) and node]
    if lists:
        found = rng.choice(lists)
        found[:] = found * rng.choice((2, 50))


def _nested(values: Values, rng: Random) -> None:
    deep: Any = "x"
    for _ in range(rng.choice((5, 40))):
        deep = [deep] if rng.random() < 0.5 else {"a": deep}
    path = rng.choice(_places(values))
    _holder(values, path)[path[-1]] = deep


def _old_place(values: Values, rng: Random) -> None:
    """A key where older files have it, with whatever value."""
    node, (*above, last) = values, rng.choice(tuple(MOVED)).split(".")
    for step in above:
        node = node.setdefault(step, {}) if isinstance(node, dict) else {}
    if isinstance(node, dict):
        node[last] = rng.choice(ODD)


def _twice(values: Values, rng: Random) -> None:
    """An alias: the same mapping or list at a second place, which is nowhere within it."""
    paths = _places(values)
    found, other = rng.choice(paths), rng.choice(paths)
    same, holder = _holder(values, found)[found[-1]], _holder(values, other)
    if other[: len(found)] != found and found[: len(other)] != other and not _within(same, holder):
        holder[other[-1]] = same


def _within(value: Any, sought: Any) -> bool:
    """Whether a mapping or list is, or holds, this very one: other attacks have put one at several places."""
    if value is sought:
        return True
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_within(part, sought) for part in parts)


GARBAGE = (
    "\t", "\n\t- x\n", ": ", "{", "}", "[", "#", "'", '"', "~", "? ", "|\n", ">-\n", "---\n", "%YAML 9\n", "config:\n",
    "&a [*a, *a]", "&b {b: *b}", "*a", "<<: *a", "!!python/object:os.system ls", "!!binary x", "!!timestamp 2026-13-45",
    "\ufeff", "\r\n", "\u2028", "\x85", "\0",
)  # fmt: skip


def garbled(text: str, rng: Random) -> str:
    """The text of a file after a slip of an editor, a merge or a template."""
    for _ in range(rng.choice((1, 1, 3))):
        at, lines = rng.randrange(len(text)), text.splitlines(keepends=True)
        line = rng.randrange(len(lines))
        text = rng.choice((
            text[:at] + rng.choice(GARBAGE) + text[at:],
            text[:at],
            text[:at] + text[at + rng.randrange(30) :],
            "".join((*lines[: line + 1], *lines[line:])),  # a line is there twice
            "".join((*lines[:line], " " + lines[line], *lines[line + 1 :])),
            text.replace(": ", ":", 1),
        )) or "config"  # fmt: skip
    return text


ATTACKS: tuple[Callable[[Values, Random], None], ...] = (
    _odd_value, _odd_value, _odd_value, _odd_key, _misspelt, _missing, _as_text, _many, _nested, _old_place, _twice,
)  # fmt: skip
