"""What data sources answer offline: zones, account, partition; for others what the result's own type promises."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import yaml

from trainyard.catalog import gcp, regions
from trainyard.catalog import region as region_of
from trainyard.recorded.model import UNKNOWN
from trainyard.rehearsal.engine import google_ids, looked_up, synthesised
from trainyard.rehearsal.engine.sdk_types import FieldType, function_result_class, output_fields
from trainyard.rehearsal.engine.wire import says_nothing
from trainyard.rehearsal.engine.written_policies import policy_document
from trainyard.safe_yaml import SAFE_LOADER


class UnknownFunctionError(Exception):
    """A data source whose result no SDK describes: nothing sensible can be answered."""


def _zones(arguments: Mapping[str, Any], place: synthesised.Place) -> dict[str, Any]:
    """The zones of a region: those that the catalogue has and EKS takes, else three of the usual letters."""
    if place.region in regions():
        there = {zone.name: zone.id for zone in region_of(place.region).zones if zone.eks}
    else:
        there = {f"{place.region}{letter}": f"{_zone_prefix(place.region)}-az{n}" for n, letter in enumerate("abc", 1)}
    names = [name for name in there if name not in (arguments.get("excludeNames") or [])]
    names = [name for name in names if there[name] not in (arguments.get("excludeZoneIds") or [])]
    ids = [there[name] for name in names]
    return {"names": names, "zoneIds": ids, "groupNames": [place.region], "id": place.region}


def _zones_of_google(arguments: Mapping[str, Any], place: synthesised.Place) -> dict[str, Any]:
    """The zones of a region: those that the catalogue has, else three of the usual letters."""
    region = str(arguments.get("region") or place.region)
    known = gcp.zones(region) if region in gcp.regions() else tuple(f"{region}-{letter}" for letter in "abc")
    return {"names": sorted(known), "region": region, "id": f"projects/{place.project}/regions/{region}"}


def _zone_prefix(region: str) -> str:
    """The short name of a region in zone ids: `use1` of `us-east-1`, `apse2` of `ap-southeast-2`."""
    area, direction, number = region.split("-")[0], "-".join(region.split("-")[1:-1]), region.split("-")[-1]
    short = {"east": "e", "west": "w", "north": "n", "south": "s", "central": "c", "northeast": "ne"}
    short |= {"southeast": "se", "northwest": "nw", "southwest": "sw", "gov-east": "ge", "gov-west": "gw"}
    return f"{area}{short.get(direction, direction[:1])}{number}"


def _issuer(arn: str, place: synthesised.Place) -> str:
    """The role of a session; whoever is no session is its own issuer."""
    if ":assumed-role/" not in arn:
        return arn
    role = arn.partition(":assumed-role/")[2].partition("/")[0]
    return f"arn:{place.partition}:iam::{place.account}:role/{role}"


def _authorities(arguments: Mapping[str, Any], place: synthesised.Place) -> dict[str, Any]:
    """The authority of one instance of Cloud SQL. No certificate: whoever parses one sees that at once."""
    mark = synthesised.digest(place.account, str(arguments.get("instance", "")))
    body = f"-----BEGIN CERTIFICATE-----\nrehearsal/{mark}\n-----END CERTIFICATE-----\n"
    return {"activeVersion": mark[:40], "certs": [{"cert": body, "sha1Fingerprint": mark[:40]}]}


def _log_encryption(arguments: Mapping[str, Any], place: synthesised.Place) -> dict[str, Any]:
    """The account of Cloud Logging that uses keys for a project."""
    project = str(arguments.get("project") or place.project)
    return {
        "name": f"projects/{project}/cmekSettings",
        "serviceAccountId": f"cmek-p{google_ids.NUMBER}@gcp-sa-logging.iam.gserviceaccount.com",
        "kmsKeyName": "",
    }


def _account(key: str, form: str) -> Callable[[Mapping[str, Any], synthesised.Place], dict[str, Any]]:
    """The account by which a service of Google Cloud acts in a project; `key`: what its address is called."""

    def answer(arguments: Mapping[str, Any], place: synthesised.Place) -> dict[str, Any]:
        email = form.format(number=google_ids.NUMBER)
        project = str(arguments.get("project") or place.project)
        return {key: email, "id": email, "member": f"serviceAccount:{email}", "project": project}

    return answer


def _project(arguments: Mapping[str, Any], place: synthesised.Place) -> dict[str, Any]:
    """A project of Google Cloud: the one that is named, else the provider's."""
    project = str(arguments.get("projectId") or place.project)
    return {"projectId": project, "name": project, "number": google_ids.NUMBER, "id": f"projects/{project}"}


class _Manifests(SAFE_LOADER):
    """Reads manifests as Kubernetes does, to which a moment is a text."""

    yaml_implicit_resolvers = {  # noqa: RUF012 (as PyYAML has it)
        first: [entry for entry in entries if entry[0] != "tag:yaml.org,2002:timestamp"]
        for first, entries in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def _manifests(arguments: Mapping[str, Any], _: synthesised.Place) -> dict[str, Any]:
    """The objects of a text of `ConfigFile` and `ConfigGroup`, unknown where the text may be any.

    Raises `yaml.YAMLError` where it is no YAML.
    """
    text = str(arguments.get("text", ""))
    if says_nothing(text):
        return {"result": UNKNOWN}
    documents = yaml.load_all(text, Loader=_Manifests)
    return {"result": [document for document in documents if document]}


def _prefix_list(arguments: Mapping[str, Any], _: synthesised.Place) -> dict[str, Any]:
    """A list of AWS's; that of S3 has the addresses that its gateway endpoint tells too (`cards/aws/network.yaml`)."""
    name = str(arguments.get("name", ""))
    id_ = str(arguments.get("prefixListId") or f"pl-{synthesised.digest(name)[:8]}")
    return {"id": id_, "prefixListId": id_, "name": name, "cidrBlocks": ["52.216.0.0/15", "54.231.0.0/16"]}


def _registry_token(arguments: Mapping[str, Any], place: synthesised.Place) -> dict[str, Any]:
    """Who may pull of a registry of Amazon's: a user and a password, in base64 as Docker takes them (ECR API,
    `AuthorizationData`)."""
    registry = str(arguments.get("registryId") or place.account)
    endpoint = f"https://{registry}.dkr.ecr.{place.region}.{place.dns_suffix}"
    token = base64.b64encode(b"AWS:rehearsal").decode()
    return {"authorizationToken": token, "proxyEndpoint": endpoint, "userName": "AWS", "password": "rehearsal"}


_ANSWERS: dict[str, Callable[[Mapping[str, Any], synthesised.Place], dict[str, Any]]] = {
    "aws:index/getCallerIdentity:getCallerIdentity": lambda _, p: {
        "accountId": p.account,
        "arn": f"arn:{p.partition}:sts::{p.account}:assumed-role/rehearsal/rehearsal",
        "userId": "AROAREHEARSAL:rehearsal",
        "id": p.account,
    },
    "aws:iam/getSessionContext:getSessionContext": lambda given, p: {
        "issuerArn": _issuer(str(given.get("arn", "")), p),
        "issuerName": _issuer(str(given.get("arn", "")), p).rpartition("/")[2],
        "issuerId": "AROAREHEARSAL",
        "sessionName": "rehearsal",
        "id": str(given.get("arn", "")),
    },
    "aws:index/getPartition:getPartition": lambda _, p: {
        "partition": p.partition,
        "dnsSuffix": p.dns_suffix,
        "reverseDnsPrefix": ".".join(reversed(p.dns_suffix.split("."))),
        "id": p.partition,
    },
    "aws:index/getRegion:getRegion": lambda _, p: {
        "region": p.region,
        "name": p.region,
        "id": p.region,
        "endpoint": f"ec2.{p.region}.{p.dns_suffix}",
        "description": p.region,
    },
    "aws:index/getAvailabilityZones:getAvailabilityZones": _zones,
    "aws:iam/getPolicyDocument:getPolicyDocument": lambda given, _: policy_document(given),
    "gcp:sql/getCaCerts:getCaCerts": _authorities,
    "gcp:logging/getProjectCmekSettings:getProjectCmekSettings": _log_encryption,
    "gcp:storage/getProjectServiceAccount:getProjectServiceAccount": _account(
        "emailAddress", "service-{number}@gs-project-accounts.iam.gserviceaccount.com"
    ),
    "gcp:storage/getTransferProjectServiceAccount:getTransferProjectServiceAccount": _account(
        "email", "project-{number}@storage-transfer-service.iam.gserviceaccount.com"
    ),
    "gcp:bigquery/getDefaultServiceAccount:getDefaultServiceAccount": _account(
        "email", "bq-{number}@bigquery-encryption.iam.gserviceaccount.com"
    ),
    "gcp:organizations/getClientConfig:getClientConfig": lambda _, p: {"project": p.project, "region": p.region},
    "gcp:organizations/getProject:getProject": _project,
    "gcp:compute/getZones:getZones": _zones_of_google,
    "aws:ec2/getPrefixList:getPrefixList": _prefix_list,
    "aws:ecr/getAuthorizationToken:getAuthorizationToken": _registry_token,
    "aws:ecr/getCredentials:getCredentials": _registry_token,
    **looked_up.ANSWERS,
    "kubernetes:yaml:decode": _manifests,
    # Charts and kustomizations are rendered by their own programs, of files that may be anywhere: a finding names them.
    "kubernetes:helm:template": lambda _, __: {"result": UNKNOWN},
    "kubernetes:kustomize:directory": lambda _, __: {"result": UNKNOWN},
}


def _typed(given: Any, type_: FieldType) -> Any:
    """An argument as the result has it: text that stands for a number or a truth is one there, as the bridge of
    Terraform's providers converts it."""
    if isinstance(given, str) and type_.kind in ("boolean", "integer", "number"):
        with suppress(ValueError):
            found = json.loads(given)
            return found if isinstance(found, (bool, int, float)) else given
    return given


def invoke(token: str, arguments: Mapping[str, Any], place: synthesised.Place) -> dict[str, Any]:
    """The result of a data source. Raises `UnknownFunctionError` when nothing describes it."""
    maker = _ANSWERS.get(token)
    result_class = function_result_class(token)
    if maker is None and result_class is None:
        raise UnknownFunctionError(token)
    result = {**arguments, **(maker(arguments, place) if maker is not None else {})}
    if result_class is not None:
        subject = looked_up.subject_of(token, arguments, place)
        fields = output_fields(result_class)
        result |= {key: _typed(result[key], output.type) for key, output in fields.items() if key in arguments}
        known = looked_up.described(subject)
        for key, output in fields.items():
            if key not in result and key != "id":
                made = known[key] if key in known else looked_up.field(key, output.type, subject)
                if made is not None:
                    result[key] = made
        result.setdefault("id", looked_up.identity(subject))
    return result
