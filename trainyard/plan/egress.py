"""Where pods of teams may go outside of the network, on every ground."""

from __future__ import annotations

from typing import Literal

from trainyard.plan.context import Context
from trainyard.plan.parts import EgressPlan
from trainyard.settings.way_out import is_closed, way_out_key


def plan_egress(context: Context) -> EgressPlan:
    """The way out; a list of names beside a way out to everywhere would be read by nothing."""
    own = context.settings.network.egress
    mode: Literal["allowlist", "internet"] = context.take("network.egress_mode", "network.egress.mode", own.mode)
    if mode == "internet" and own.allow is not None:
        allowed = "is read where network.egress.mode is allowlist"
        context.ledger.problem("network.egress.allow", own.allow, allowed, "leave one of them out")
    if is_closed(context.settings):
        why = f"{way_out_key(context.settings)} is none: nothing outside is reached"
        return EgressPlan(mode=mode, allow=context.ledger.decide("network.egress_allow", (), why))
    allow = context.take("network.egress_allow", "network.egress.allow", own.allow) if mode == "allowlist" else ()
    return EgressPlan(mode=mode, allow=tuple(allow))


def no_wall(context: Context) -> EgressPlan:
    """The way out where there are no pods to keep to a list of names, and no firewall of names either."""
    source = "no pods: a job stands in a network of the cloud's, an editor has the internet or the network's NAT"
    return EgressPlan(mode=context.ledger.decide("network.egress_mode", "internet", source), allow=())
