"""Caches and searches: nodes that can take over, versions and their parameters, zones and their subnets.

Sources: Amazon ElastiCache User Guide, "Replication" and "Parameter group families"; Amazon OpenSearch Service
Developer Guide, "Configuring a multi-AZ domain", "Fine-grained access control" and "Supported instance types"; Amazon
API Gateway Developer Guide, "Routes for HTTP APIs" and "Throttling"; Amazon EC2 Auto Scaling API reference (2026-11).
"""

from __future__ import annotations

import re
from typing import Final

from trainyard.recorded.read import as_number
from trainyard.recorded.types import (
    AUTOSCALING_SCHEDULE,
    HTTP_API,
    HTTP_INTEGRATION,
    REPLICATION_GROUP,
    SAGEMAKER_ENDPOINT_CONFIGURATION,
    SEARCH_DOMAIN,
)
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.rules import Rules

_PARAMETERS: Final = "aws:elasticache/parameterGroup:ParameterGroup"
_ROUTE: Final = "aws:apigatewayv2/route:Route"
_NODES_OF_A_CACHE: Final = (
    "numCacheClusters",
    "numNodeGroups",
    "replicasPerNodeGroup",
    "nodeGroupConfigurations",
    "globalReplicationGroupId",
)
"""What says how many nodes a cache has; the last, that they are as many as another's in another region."""


def cache(view: View) -> None:
    """Who takes over needs somebody beside it, and parameters are of the engine's version."""
    nodes, replicas = view.number("numCacheClusters"), view.number("replicasPerNodeGroup")
    single = nodes == 1 or all(view.lacks(name) for name in _NODES_OF_A_CACHE)
    if view.flag("automaticFailoverEnabled") and single:
        view.error(
            "cache-failover",
            "numCacheClusters",
            f"{nodes or 1:g} node and automaticFailoverEnabled",
            allowed="2 at least",
        )
    if view.flag("multiAzEnabled") and (
        view.lacks("automaticFailoverEnabled") or view.flag("automaticFailoverEnabled") is False
    ):
        view.error("cache-failover", "multiAzEnabled", "is given without automaticFailoverEnabled", allowed="both")
    if view.flag("multiAzEnabled") and replicas == 0:
        view.error("cache-failover", "replicasPerNodeGroup", "0 with multiAzEnabled", allowed="1 at least")
    if (view.has("authToken") or view.has("userGroupIds")) and view.flag("transitEncryptionEnabled") is False:
        view.error("cache-auth", "transitEncryptionEnabled", "is false beside a password", allowed="true")
    engine, version = view.text("engine") or "redis", view.text("engineVersion")
    parameters = view.referred("parameterGroupName", _PARAMETERS)
    family = parameters.text("family") if parameters is not None else None
    if family is None or view.is_unknown("engine"):
        return
    if not family.startswith(engine):
        view.error(
            "cache-family", "parameterGroupName", f"is of family {family}, and the engine is {engine}", allowed=engine
        )
    elif (
        version is not None
        and (major := version.split(".")[0])
        and not _fits(family.removeprefix(engine), major, version)
    ):
        view.error(
            "cache-family",
            "parameterGroupName",
            f"is of family {family}, and the engine's version is {version}",
            allowed=f"{engine}{major}",
        )


def _fits(of: str, major: str, version: str) -> bool:
    return of.split(".")[0] == major and (of.endswith(".x") or "." not in of or version.startswith(of))


def search(view: View) -> None:
    """A domain's zones have subnets and nodes each, and its own users come by TLS alone."""
    at = "clusterConfig"
    aware = view.flag(f"{at}.zoneAwarenessEnabled")
    zones = (
        2.0
        if view.lacks(f"{at}.zoneAwarenessConfig")
        else view.number(f"{at}.zoneAwarenessConfig.availabilityZoneCount")
    )
    nodes = 1.0 if view.lacks(f"{at}.instanceCount") else view.number(f"{at}.instanceCount")
    subnets = len(view.entries("vpcOptions.subnetIds"))
    if aware and zones is not None and nodes is not None and nodes < zones:
        view.error(
            "search-zones", f"{at}.instanceCount", f"{nodes:g} nodes in {zones:g} zones", allowed=f"at least {zones:g}"
        )
    known = subnets and not view.blurred("vpcOptions.subnetIds")
    if aware and known and zones is not None and subnets != zones:
        view.error("search-zones", "vpcOptions.subnetIds", f"are {subnets} for {zones:g} zones", allowed=f"{zones:g}")
    if known and subnets > 1 and (view.lacks(f"{at}.zoneAwarenessEnabled") or aware is False):
        view.error("search-zones", "vpcOptions.subnetIds", f"are {subnets} without zoneAwarenessEnabled", allowed="one")
    if view.flag("advancedSecurityOptions.enabled"):
        for path, needed in (
            ("encryptAtRest.enabled", "encryptAtRest.enabled"),
            ("nodeToNodeEncryption.enabled", "nodeToNodeEncryption.enabled"),
            ("domainEndpointOptions.enforceHttps", "domainEndpointOptions"),  # on by the provider's default in it
        ):
            if view.lacks(needed) or view.flag(path) is False:
                view.error("search-security", path, "is not on beside advancedSecurityOptions", allowed="true")
    kind, count = view.text(f"{at}.instanceType"), view.number(f"{at}.dedicatedMasterCount")
    if view.flag(f"{at}.dedicatedMasterEnabled") and count is not None and count not in (3, 5):
        view.error("search-masters", f"{at}.dedicatedMasterCount", f"got {count:g}", allowed="3 or 5")
    stored = kind is not None and re.match(r"(i\d|im4|or\d|oi\d|ultrawarm|m3|r3|[a-z]+\d+\w*d\.)", kind)
    if kind is not None and not stored and (view.lacks("ebsOptions") or view.flag("ebsOptions.ebsEnabled") is False):
        view.error(
            "search-storage",
            "ebsOptions",
            f"is off, and {kind} has no disks of its own",
            allowed="ebsEnabled with volumeSize",
        )


def route(view: View) -> None:
    """A route of an API has a method and a path, and leads to an integration."""
    key, target = view.text("routeKey"), view.text("target")
    methods = "ANY|DELETE|GET|HEAD|OPTIONS|PATCH|POST|PUT"
    api = view.referred("apiId", HTTP_API)
    spoken = api.text("protocolType") if api is not None else None
    if key is not None and spoken == "HTTP" and key != "$default" and not re.fullmatch(rf"({methods}) /\S*", key):
        view.error(
            "api-route", "routeKey", f"got {show(key)}", allowed="$default, or a method and a path: GET /things/{id}"
        )
    if target is not None and not target.startswith("integrations/"):
        view.error("api-route", "target", f"got {show(target)}", allowed="integrations/ID")
    kind = view.text("authorizationType")
    if kind in ("JWT", "CUSTOM") and view.lacks("authorizerId"):
        view.error("api-route", "authorizerId", f"is missing for {kind}", allowed="an authorizer of the API")


def integration(view: View) -> None:
    """What an HTTP API waits for at most."""
    kind = view.text("integrationType")
    if kind not in (None, "MOCK") and view.lacks("integrationUri") and view.lacks("integrationSubtype"):
        view.error("api-integration", "integrationUri", f"is missing for {kind}", allowed="what is called")
    waits = view.number("timeoutMilliseconds")
    api = view.referred("apiId", HTTP_API)
    most = 30000 if api is not None and api.text("protocolType") == "HTTP" else 29000
    if waits is not None and api is not None and not 50 <= waits <= most:
        view.error("api-integration", "timeoutMilliseconds", f"got {waits:g}", allowed=f"50 to {most}")


def scheduled(view: View) -> None:
    """A group of machines that is made larger or smaller by the clock stays between its two numbers."""
    least, most, wanted = (view.number(name) for name in ("minSize", "maxSize", "desiredCapacity"))
    least, most, wanted = (None if number == -1 else number for number in (least, most, wanted))
    if least is not None and most is not None and least > most:
        view.error("scaling-schedule", "minSize", f"{least:g} is above maxSize {most:g}", allowed="at most it")
    for number, end, word in ((most, wanted, "maxSize"), (wanted, least, "desiredCapacity")):
        if number is not None and end is not None and end > number:
            view.error(
                "scaling-schedule",
                word,
                f"got {number:g}, and {'desiredCapacity' if word == 'maxSize' else 'minSize'} is {end:g}",
                allowed=f"at least {end:g}",
            )


def variants(view: View) -> None:
    """A variant of an endpoint runs on machines or on none, and is called once."""
    seen: set[str] = set()
    for kind in ("productionVariants", "shadowProductionVariants"):
        for path, entry in view.items(kind):
            name = entry.get("variantName")
            if isinstance(name, str) and name in seen:
                view.error(
                    "sagemaker-variant", f"{path}.variantName", f"{show(name)} comes twice", allowed="each name once"
                )
            seen.add(str(name))
            machines = entry.get("instanceType") is not None or as_number(entry.get("initialInstanceCount"))
            if machines and entry.get("serverlessConfig") is not None:
                view.error(
                    "sagemaker-variant",
                    f"{path}.serverlessConfig",
                    "is given beside instanceType",
                    allowed="one of them",
                )
            if (
                not machines
                and entry.get("serverlessConfig") is None
                and "instanceType" not in entry
                and entry.get("modelName")
            ):
                view.error(
                    "sagemaker-variant",
                    f"{path}.instanceType",
                    "is missing, and so is serverlessConfig",
                    allowed="one of them",
                )


RULES: Final[Rules] = {
    cache: (REPLICATION_GROUP,),
    search: (SEARCH_DOMAIN,),
    route: (_ROUTE,),
    integration: (HTTP_INTEGRATION,),
    scheduled: (AUTOSCALING_SCHEDULE,),
    variants: (SAGEMAKER_ENDPOINT_CONFIGURATION,),
}
