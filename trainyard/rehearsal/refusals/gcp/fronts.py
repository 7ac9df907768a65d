"""What stands before a service: rules of Cloud Armor, backends without machines.

Sources: Compute Engine API, `SecurityPolicy.rules` ("there must always be a default rule (rule with priority 2147483647
and match "*")"), and the provider's plan, which refuses two rules of one priority; Cloud Load Balancing, "Serverless
network endpoint groups overview" ("a backend service cannot have a health check with serverless network endpoint group
backends"), as generally known in 2026-11.
"""

from __future__ import annotations

from typing import Final

from trainyard.recorded.read import as_number
from trainyard.recorded.types import (
    GCP_BACKEND,
    GCP_REGIONAL_BACKEND,
    GCP_REGIONAL_ENDPOINTS,
    GCP_SECURITY_POLICY,
)
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.rules import Rules

_LAST: Final = 2_147_483_647
_EVERYBODY: Final = "*"


def security_policy(view: View) -> None:
    """Its last rule is for everybody; no two have one priority."""
    seen: dict[int, str] = {}
    for path, rule in view.items("rules"):
        number = as_number(rule.get("priority"))
        if number is None:
            continue
        first = seen.setdefault(int(number), path)
        if first != path:
            view.error("gcp-armor", f"{path}.priority", f"{number:.0f}, as {first} has", allowed="one for each rule")
        ranges = f"{path}.match.config.srcIpRanges"
        given = view.texts(ranges)
        if number == _LAST and given and not view.blurred(ranges) and _EVERYBODY not in given:
            words = f"the last rule is for {show(given[0])}, and not for everybody whom no other rule is for"
            view.error("gcp-armor", ranges, words, allowed='["*"], or another priority')


def serverless(view: View) -> None:
    """Nobody looks whether a service of Cloud Run or a function is well: a check for one is refused."""
    if not view.has("healthChecks") or view.value("healthChecks") == []:
        return
    kind = "networkEndpointType"  # SERVERLESS where none is said
    for path, _ in view.items("backends"):
        group = view.referred(f"{path}.group", GCP_REGIONAL_ENDPOINTS)
        if group is not None and (group.lacks(kind) or group.text(kind) == "SERVERLESS"):
            words = f"{group.name} is a serverless group of endpoints, whose backends take no health check"
            view.error("gcp-backend", "healthChecks", words, allowed="nothing")
            return


RULES: Rules = {
    security_policy: (GCP_SECURITY_POLICY,),
    serverless: (GCP_BACKEND, GCP_REGIONAL_BACKEND),
}
