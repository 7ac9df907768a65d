"""What Google's provider takes: the second half of `data/gcp_values.json`, from the provider's own description.

`generate` runs it. The sources are a work tree of GoogleCloudPlatform/magic-modules, from which the provider is made
(its YAML files, and the Go schemas of what is written by hand), and the docstrings of the installed pulumi_gcp, which
is newer: a value that either names is taken. Facts only: names, values, ranges, lengths and forms.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from trainyard.rehearsal.refusals.gcp.generate_documented import documented

Limits = dict[str, Any]
"""What one input may be: `in` (texts), `range` (numbers), `length` (of a text), `items` (of a list), `like` (a regular
expression), `form` (a word of `values.FORMS`); beside which others it may not be (`not_with`), has to be (`with`), or
of which of them there has to be exactly one (`one_of`): inputs by their whole path, without numbers of lists."""

_MODULES: Final[Mapping[str, tuple[str, ...]]] = {
    "accesscontextmanager": ("accesscontextmanager",),
    "alloydb": ("alloydb",),
    "artifactregistry": ("artifactregistry",),
    "backupdisasterrecovery": ("backupdr",),
    "bigquery": ("bigquery", "bigqueryconnection", "bigquerydatatransfer", "bigqueryreservation"),
    "bigqueryanalyticshub": ("bigqueryanalyticshub",),
    "bigtable": ("bigtable",),
    "billing": ("billingbudgets",),
    "binaryauthorization": ("binaryauthorization",),
    "certificatemanager": ("certificatemanager",),
    "cloudbuild": ("cloudbuild",),
    "cloudbuildv2": ("cloudbuildv2",),
    "clouddeploy": ("clouddeploy",),
    "cloudfunctions": ("cloudfunctions",),
    "cloudfunctionsv2": ("cloudfunctions2",),
    "cloudidentity": ("cloudidentity",),
    "cloudquota": ("cloudquotas",),
    "cloudrunv2": ("cloudrunv2",),
    "cloudscheduler": ("cloudscheduler",),
    "cloudtasks": ("cloudtasks",),
    "colab": ("colab",),
    "composer": ("composer",),
    "compute": ("compute",),
    "container": ("container",),
    "dataform": ("dataform",),
    "dataplex": ("dataplex",),
    "dataproc": ("dataproc", "metastore"),
    "datastream": ("datastream",),
    "developerconnect": ("developerconnect",),
    "dns": ("dns",),
    "essentialcontacts": ("essentialcontacts",),
    "eventarc": ("eventarc",),
    "filestore": ("filestore",),
    "firestore": ("firestore",),
    "gkebackup": ("gkebackup",),
    "gkehub": ("gkehub", "gkehub2"),
    "hypercomputecluster": ("hypercomputecluster",),
    "iam": ("iambeta", "iam2", "iam3", "iamworkforcepool"),
    "iap": ("iap",),
    "kms": ("kms",),
    "logging": ("logging",),
    "lustre": ("lustre",),
    "managedkafka": ("managedkafka",),
    "memcache": ("memcache",),
    "memorystore": ("memorystore",),
    "monitoring": ("monitoring",),
    "netapp": ("netapp",),
    "networkconnectivity": ("networkconnectivity",),
    "networkmanagement": ("networkmanagement",),
    "networksecurity": ("networksecurity",),
    "networkservices": ("networkservices",),
    "organizations": ("resourcemanager",),
    "orgpolicy": ("orgpolicy",),
    "osconfig": ("osconfig", "osconfigv2"),
    "parallelstore": ("parallelstore",),
    "parametermanager": ("parametermanager", "parametermanagerregional"),
    "privilegedaccessmanager": ("privilegedaccessmanager",),
    "projects": ("resourcemanager", "apikeys"),
    "pubsub": ("pubsub", "pubsublite"),
    "redis": ("redis",),
    "secretmanager": ("secretmanager", "secretmanagerregional"),
    "serviceaccount": ("resourcemanager",),
    "servicedirectory": ("servicedirectory",),
    "servicenetworking": ("servicenetworking",),
    "serviceusage": ("serviceusage",),
    "spanner": ("spanner",),
    "sql": ("sql",),
    "storage": ("storage", "storagecontrol", "storagetransfer", "storageinsights"),
    "tags": ("tags",),
    "tpu": ("tpuv2",),
    "vectorsearch": ("vectorsearch",),
    "vertex": ("vertexai",),
    "vpcaccess": ("vpcaccess",),
    "workbench": ("workbench",),
    "workflows": ("workflows",),
    "workstations": ("workstations",),
}
"""Modules of pulumi_gcp that stacks for training use, with the folders of magic-modules that describe them."""

_GO: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "gcp:container/cluster:Cluster": ("container", ("ResourceContainerCluster",)),
    "gcp:container/nodePool:NodePool": ("container", ("ResourceContainerNodePool", "schemaNodePool")),
    "gcp:storage/bucket:Bucket": ("storage", ("ResourceStorageBucket",)),
    "gcp:sql/databaseInstance:DatabaseInstance": ("sql", ("ResourceSqlDatabaseInstance",)),
    "gcp:sql/user:User": ("sql", ("ResourceSqlUser",)),
    "gcp:dns/recordSet:RecordSet": ("dns", ("ResourceDnsRecordSet",)),
    "gcp:compute/instance:Instance": ("compute", ("ResourceComputeInstance",)),
    "gcp:compute/instanceTemplate:InstanceTemplate": ("compute", ("ResourceComputeInstanceTemplate",)),
    "gcp:serviceaccount/account:Account": ("resourcemanager", ("ResourceGoogleServiceAccount",)),
    "gcp:serviceaccount/key:Key": ("resourcemanager", ("ResourceGoogleServiceAccountKey",)),
    "gcp:projects/iAMCustomRole:IAMCustomRole": ("resourcemanager", ("ResourceGoogleProjectIamCustomRole",)),
    "gcp:monitoring/dashboard:Dashboard": ("monitoring", ("ResourceMonitoringDashboard",)),
}
"""Types whose schema is written by hand, with the folder and the functions that hold it."""


@dataclass(slots=True)
class _Node:
    """One property of the provider, with those below it."""

    limits: Limits = field(default_factory=dict)
    below: dict[str, _Node] = field(default_factory=dict)
    call: str = ""  # a function of the same folder that describes it


def provider_limits(checkout: Path) -> tuple[dict[str, dict[str, Limits]], dict[str, dict[str, Limits]]]:
    """By type and path of an input, what the provider takes; and what inputs are to each other."""
    go = {folder: _go_roots(checkout, folder) for folder, _ in _GO.values()}
    found: dict[str, dict[str, Limits]] = {}
    together: dict[str, dict[str, Limits]] = {}
    for module, folders in _MODULES.items():
        package = importlib.import_module(f"pulumi_gcp.{module}")
        getattr(package, "_utilities", None)  # the SDK loads a module when something of it is asked for
        nested = importlib.util.find_spec(f"pulumi_gcp.{module}._inputs")
        inputs = importlib.import_module(nested.name) if nested is not None else None
        for kind, args in sorted(inspect.getmembers(package, inspect.isclass)):
            resource = getattr(package, kind.removesuffix("Args"), None)
            token = str(getattr(resource, "pulumi_type", ""))
            if not kind.endswith("Args") or not token:
                continue
            # Where a nested block has the name already, the SDK calls the resource's own arguments so.
            own = getattr(importlib.import_module(resource.__module__), f"{kind[:-4]}InitArgs", args)
            top = _Node()
            for folder in folders:
                path = checkout / "mmv1" / "products" / folder / f"{kind[:-4]}.yaml"
                if path.is_file():
                    top.below |= _described(path.read_text(encoding="utf-8"), is_by_hand=token in _GO)
            folder, roots = _GO.get(token, ("", ()))
            for root in roots:
                top.below |= go[folder][root].below
            limits = dict(_walk(own, inputs, top, go.get(folder, {}), "", ()))
            if limits:
                found[token] = dict(sorted(limits.items()))
            others = dict(_together(own, inputs, top, go.get(folder, {})))
            if others:
                together[token] = dict(sorted(others.items()))
    return found, together


def _described(text: str, *, is_by_hand: bool) -> dict[str, _Node]:
    """What a file says. Of a type that no longer is made of it, and whose code is not read, it is too old to say."""
    if not is_by_hand and ("!ruby/" in text or re.search(r"^exclude_resource: true", text, re.MULTILINE)):
        return {}
    return _of_yaml(yaml.safe_load(text))


def _of_yaml(document: Mapping[str, Any]) -> dict[str, _Node]:
    properties = [*(document.get("parameters") or ()), *(document.get("properties") or ())]
    return {item["name"]: _property(item) for item in properties if not item.get("output")}


def _property(item: Mapping[str, Any]) -> _Node:
    node, kind = _Node(), item.get("type")
    inner = item.get("item_type") or {}
    for holder in (item, inner):
        if holder.get("type") == "Enum":
            node.limits["in"] = [str(text) for text in holder.get("enum_values") or ()]
        for key in ("validation", "item_validation"):
            said = holder.get(key) or {}
            if "regex" in said and (kind != "Array" or key == "item_validation" or holder is inner):
                node.limits["like"] = str(said["regex"])
            if "function" in said:
                node.limits |= _check(str(said["function"]))
        for each in holder.get("properties") or ():
            if not each.get("output"):
                node.below[each["name"]] = _property(each)
    for key, told in _TOGETHER_YAML.items():
        if item.get(key):
            node.limits[told] = [str(each) for each in item[key]]
    if kind == "Array" and ("min_size" in item or "max_size" in item):
        low, high = item.get("min_size"), item.get("max_size")
        if all(size is None or str(size).isdigit() for size in (low, high)) and str(high) != "1":
            node.limits["items"] = [_whole(low), _whole(high)]
    return node


_TOGETHER_YAML: Final = {"conflicts": "not_with", "required_with": "with", "exactly_one_of": "one_of"}
_TOGETHER_GO: Final = {"ConflictsWith": "not_with", "RequiredWith": "with", "ExactlyOneOf": "one_of"}
"""How the provider's description calls what inputs are to each other, with our words for it."""


def _whole(size: object) -> int | None:
    return None if size is None else int(str(size))


def _check(text: str) -> Limits:
    """What a validator of the provider asks for; nothing where it is not one of those that are read here."""
    numbers = [float(each) if "." in each else int(each) for each in re.findall(r"-?\d+(?:\.\d+)?", text)]
    texts = re.findall(r'"((?:[^"\\]|\\.)*)"', text)
    if "StringInSlice" in text or "ValidateEnum" in text:
        return {"in": texts, "any_case": True} if re.search(r"\}\s*,\s*true\)", text) else {"in": texts}
    if "IntBetween" in text or "FloatBetween" in text:
        return {"range": numbers[:2]}
    if "IntAtLeast" in text or "FloatAtLeast" in text:
        return {"range": [numbers[0], None]}
    if "StringLenBetween" in text:
        return {"length": numbers[:2]}
    if "StringIsNotEmpty" in text:
        return {"length": [1, None]}
    for name, form in _FORM_OF.items():
        if name in text:
            return {"form": form}
    literal = re.search(r"(?:ValidateRegexp\(|MustCompile\()\s*(`[^`]*`|\"[^\"]*\")\s*\)", text)
    return {"like": literal[1][1:-1]} if literal else {}


_FORM_OF: Final[Mapping[str, str]] = {
    "IsCIDRNetwork(28, 28)": "cidr",
    "IsCIDR": "cidr",
    "ValidateIpCidrRange": "cidr",
    "ValidateRFC3339Date": "datetime",
    "ValidateRFC3339Time": "time",
    "ValidateHourlyOnly": "hour",
    "ValidateGCEName": "compute-name",
    "ValidateRFC6996Asn": "asn",
    "StringIsJSON": "json",
    "ValidateBase64String": "base64",
    "validateRecordNameTrailingDot": "absolute-name",
}
"""Functions of the provider that ask for a form, with the word for it."""


_GO_TOKEN: Final = re.compile(
    r"^func (?:\([^)]*\) )?(?P<func>\w+)\(|^var (?P<var>\w+) |"
    r'"(?P<key>\w+)":\s*(?:(?P<call>\w+)\(\)|(?:&schema\.Schema)?\{)|'
    r"ValidateFunc:\s*(?P<check>\S)|"
    r'(?P<together>ConflictsWith|RequiredWith|ExactlyOneOf):\s*(?:\[\]string\{(?P<of>[^}]*)\}|(?P<list>\w+))|`[^`]*`|"(?:\\.|[^"\\])*"|//[^\n]*|[{}]',
    re.MULTILINE,
)


def _go_roots(checkout: Path, folder: str) -> dict[str, _Node]:
    """The properties that each function and variable of a folder holds, by its name."""
    roots: dict[str, _Node] = {}
    for path in sorted((checkout / "mmv1" / "third_party" / "terraform" / "services" / folder).glob("*.go*")):
        if "_test." not in path.name and "data_source" not in path.name and "_migrate" not in path.name:
            _read_go(re.sub(r"\{\{.*?\}\}", "", path.read_text(encoding="utf-8")), roots)
    return roots


def _read_go(text: str, roots: dict[str, _Node]) -> None:
    lists = dict(re.findall(r"(\w+)\s*:?=\s*\[\]string\{([^}]*)\}", text))
    stack: list[_Node | None] = []  # one an open brace: the property that it opens
    root = _Node()
    position = 0
    while (match := _GO_TOKEN.search(text, position)) is not None:
        position = match.end()
        here = next((node for node in reversed(stack) if node is not None), root)
        if name := match["func"] or match["var"]:
            root, stack = roots.setdefault(name, _Node()), []
        elif match["key"]:
            node = here.below.setdefault(match["key"], _Node())
            if match["call"]:
                node.call = match["call"]
            else:
                stack.append(node)
        elif match["together"]:
            named = re.findall(r'"([^"]+)"', match["of"] or lists.get(match["list"] or "", ""))
            if named:
                here.limits[_TOGETHER_GO[match["together"]]] = named
        elif match["check"]:
            position = _end(text, match.start("check"))
            here.limits |= _check(text[match.start("check") : position])
        elif match[0] == "{":
            stack.append(None)
        elif match[0] == "}" and stack:
            stack.pop()


def _end(text: str, start: int) -> int:
    """Where an expression ends: at the first comma or line's end outside all brackets."""
    depth = 0
    for match in re.compile(r'`[^`]*`|"(?:\\.|[^"\\])*"|[(){}\[\],\n]').finditer(text, start):
        character = match[0]
        if character in "({[":
            depth += 1
        elif character in ")}]":
            depth -= 1
        elif character in ",\n" and depth == 0:
            return match.start()
        if depth < 0:
            return match.start()
    return len(text)


def _walk(
    args: Any, inputs: Any, node: _Node, functions: Mapping[str, _Node], prefix: str, above: tuple[Any, ...]
) -> Iterator[tuple[str, Limits]]:
    for snake, annotation in args.__init__.__annotations__.items():
        if snake in ("return", "__self__"):
            continue
        path = f"{prefix}{_camel(snake)}"
        _, described = _below(node, snake, functions)
        limits = {key: said for key, said in described.limits.items() if key not in _TOGETHER_YAML.values()}
        described_so = documented(args, snake, str(annotation))
        if "in" in limits or ("in" in described_so and not limits):
            words = sorted({*limits.pop("in", ()), *described_so.get("in", ())} - {""})
            # Prose writes x86_64 where the provider takes X86_64; words in capitals are the API's own.
            if not described.limits and not all(word.isupper() for word in words):
                limits["any_case"] = True
            if words:
                limits["in"] = words
        for key in ("form", "range", "length"):
            if key in described_so and not limits:
                limits[key] = described_so[key]
        if limits:
            yield path, limits
        nested = re.search(r"(\w+Args)(?:Dict)?\b", str(annotation))
        below = getattr(inputs, nested[1], None) if nested and inputs is not None else None
        if below is not None and below not in above:
            yield from _walk(below, inputs, described, functions, f"{path}.", (*above, below))


def _below(node: _Node, snake: str, functions: Mapping[str, _Node]) -> tuple[str, _Node]:
    """An input's property, with the name that the provider has for it: lists are named in the singular there."""
    singular = snake[:-3] + "y" if snake.endswith("ies") else snake.removesuffix("s")
    for name in (snake, _camel(snake), singular, _camel(singular), snake.removesuffix("es")):
        if name in node.below:
            found = node.below[name]
            return name, functions.get(found.call, found)
    return snake, _Node()


def _together(args: Any, inputs: Any, top: _Node, functions: Mapping[str, _Node]) -> Iterator[tuple[str, Limits]]:
    """What inputs are to each other, each by its path in the SDK."""
    paths: dict[str, str] = {}
    said: dict[str, Limits] = {}
    for theirs, path, node in _paths(args, inputs, top, functions, "", "", ()):
        paths.setdefault(_plain(theirs), path)
        of = {key: node.limits[key] for key in _TOGETHER_YAML.values() if key in node.limits}
        if of:
            said[path] = of
    for path, of in said.items():
        found = {}
        for key, names in of.items():
            others = [paths.get(_plain(name), "") for name in names]
            if all(others) or (key == "not_with" and any(others)):
                found[key] = sorted({other for other in others if other} - {path})
        if any(found.values()):
            yield path, {key: others for key, others in found.items() if others}


def _paths(
    args: Any,
    inputs: Any,
    node: _Node,
    functions: Mapping[str, _Node],
    theirs: str,
    ours: str,
    above: tuple[Any, ...],
) -> Iterator[tuple[str, str, _Node]]:
    for snake, annotation in args.__init__.__annotations__.items():
        if snake in ("return", "__self__"):
            continue
        name, described = _below(node, snake, functions)
        yield f"{theirs}{name}", f"{ours}{_camel(snake)}", described
        nested = re.search(r"(\w+Args)(?:Dict)?\b", str(annotation))
        below = getattr(inputs, nested[1], None) if nested and inputs is not None else None
        if below is not None and below not in above:
            into = (f"{theirs}{name}.", f"{ours}{_camel(snake)}.", (*above, below))
            yield from _paths(below, inputs, described, functions, *into)


def _plain(path: str) -> str:
    """A path as both spell it: without numbers, underscores and capitals."""
    return ".".join(part for part in path.replace("_", "").lower().split(".") if not part.isdigit())


def _camel(snake: str) -> str:
    first, *others = snake.split("_")
    return first + "".join(word.capitalize() for word in others)


def as_text(limits: Mapping[str, Any]) -> str:
    """The table as it is written."""
    return json.dumps(limits, separators=(",", ":"), sort_keys=True)
