"""The entry: every check of values over a recording."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from trainyard.recorded.model import Finding, RecordedResource
from trainyard.rehearsal.context import Stack, ValueContext
from trainyard.rehearsal.refusals.aws import (
    access_entries,
    add_ons,
    arns,
    balancer_logs,
    balancers,
    buckets,
    containers,
    conveyors,
    dashboards,
    database,
    detectors,
    dns_firewall,
    eks,
    events,
    files,
    filter_patterns,
    fleets,
    formats,
    front_doors,
    jobs,
    kept,
    launch_templates,
    messages,
    model_check,
    names,
    network,
    policies,
    said,
    state_machines,
    stores,
    streams,
    taken,
    texts,
    together,
    topic_policies,
    zones,
)
from trainyard.rehearsal.refusals.aws.elsewhere import model_of
from trainyard.rehearsal.refusals.gcp import beside as gcp_beside
from trainyard.rehearsal.refusals.gcp import clusters as gcp_clusters
from trainyard.rehearsal.refusals.gcp import compute as gcp_compute
from trainyard.rehearsal.refusals.gcp import container as gcp_container
from trainyard.rehearsal.refusals.gcp import dashboards as gcp_dashboards
from trainyard.rehearsal.refusals.gcp import databases as gcp_databases
from trainyard.rehearsal.refusals.gcp import elsewhere as gcp_elsewhere
from trainyard.rehearsal.refusals.gcp import expressions as gcp_expressions
from trainyard.rehearsal.refusals.gcp import files as gcp_files
from trainyard.rehearsal.refusals.gcp import forms as gcp_forms
from trainyard.rehearsal.refusals.gcp import fronts as gcp_fronts
from trainyard.rehearsal.refusals.gcp import log_filters as gcp_log_filters
from trainyard.rehearsal.refusals.gcp import machines as gcp_machines
from trainyard.rehearsal.refusals.gcp import names as gcp_names
from trainyard.rehearsal.refusals.gcp import networks as gcp_networks
from trainyard.rehearsal.refusals.gcp import node_system as gcp_node_system
from trainyard.rehearsal.refusals.gcp import nodes as gcp_nodes
from trainyard.rehearsal.refusals.gcp import only_where as gcp_only_where
from trainyard.rehearsal.refusals.gcp import rights as gcp_rights
from trainyard.rehearsal.refusals.gcp import run as gcp_run
from trainyard.rehearsal.refusals.gcp import served as gcp_served
from trainyard.rehearsal.refusals.gcp import services as gcp_services
from trainyard.rehearsal.refusals.gcp import storage as gcp_storage
from trainyard.rehearsal.refusals.gcp import stored as gcp_stored
from trainyard.rehearsal.refusals.gcp import taken as gcp_taken
from trainyard.rehearsal.refusals.gcp import timed as gcp_timed
from trainyard.rehearsal.refusals.gcp import together as gcp_together
from trainyard.rehearsal.refusals.gcp import tpus as gcp_tpus
from trainyard.rehearsal.refusals.gcp import values as gcp_values
from trainyard.rehearsal.refusals.gcp import vertex as gcp_vertex
from trainyard.rehearsal.refusals.gcp import watching as gcp_watching
from trainyard.rehearsal.refusals.gcp import zones as gcp_zones
from trainyard.rehearsal.refusals.kubernetes import check as kubernetes
from trainyard.rehearsal.refusals.rules import EVERY_TYPE, by_type

RULES: Final = by_type(
    module.RULES
    for module in (
        add_ons,
        buckets,
        database,
        dns_firewall,
        eks,
        access_entries,
        events,
        dashboards,
        files,
        filter_patterns,
        formats,
        jobs,
        kept,
        launch_templates,
        messages,
        names,
        network,
        taken,
        policies,
        together,
        texts,
        containers,
        balancers,
        balancer_logs,
        fleets,
        state_machines,
        streams,
        stores,
        front_doors,
        conveyors,
        said,
        arns,
        zones,
        detectors,
        topic_policies,
        gcp_names,
        gcp_compute,
        gcp_container,
        gcp_together,
        gcp_storage,
        gcp_files,
        gcp_fronts,
        gcp_served,
        gcp_services,
        gcp_clusters,
        gcp_nodes,
        gcp_node_system,
        gcp_machines,
        gcp_tpus,
        gcp_networks,
        gcp_databases,
        gcp_stored,
        gcp_vertex,
        gcp_run,
        gcp_watching,
        gcp_log_filters,
        gcp_dashboards,
        gcp_rights,
        gcp_elsewhere,
        gcp_expressions,
        gcp_timed,
        gcp_forms,
        gcp_only_where,
        gcp_taken,
        gcp_values,
        gcp_beside,
        gcp_zones,
    )
)
"""The rules by resource type. The first of two findings about one place is kept, so the order of the modules is part of
what is told."""


def check_values(resources: Sequence[RecordedResource], context: ValueContext) -> list[Finding]:
    """What the clouds would refuse of the values that a program gives its resources.

    Unknown values are never complained about; secret ones are looked at and never shown. Of two findings about one
    place the first is kept: Amazon's models speak before our own rules.

    Args:
        resources: a whole recording (references between resources are followed); best the run with known outputs.
        context: the planned Kubernetes version and the region.
    """
    stack = Stack(resources, context)
    for view in stack.views:
        model = model_of(view.type)
        if model is not None:
            model_check.check(view, model)
        for rule in (*RULES.get(view.type, ()), *RULES.get(EVERY_TYPE, ())):
            rule(view)
    kubernetes.check(stack)
    seen: set[tuple[str, str, str]] = set()
    kept = []
    for finding in stack.findings:
        place = (finding.urn, finding.path, finding.level)
        if place not in seen:
            seen.add(place)
            kept.append(finding)
    stack.let_go()
    return kept
