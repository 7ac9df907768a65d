"""The room: follows what programs, alarms and volumes are told to what is recorded."""

from __future__ import annotations

from trainyard.recorded.node_groups import EKS_NODE_GROUP
from trainyard.rehearsal.context import Stack
from trainyard.rehearsal.works.programs import (
    buckets,
    connections,
    databases,
    enforced,
    hardware,
    kept,
    money,
    scrape_times,
    switched_off,
    watchdog,
)
from trainyard.rehearsal.works.programs.aws import (
    alarms,
    awaited,
    batches,
    budget_filters,
    cached_images,
    counted,
    dns_rules,
    ecs_machines,
    events,
    file_systems,
    groups,
    handlers,
    heard,
    keys,
    left_hanging,
    messages,
    own_metrics,
    patterns,
    prefixes,
    recorded_buckets,
    table_folders,
    units_of_metrics,
)
from trainyard.rehearsal.works.programs.gcp import (
    alerts,
    allowed_places,
    attributes,
    boards,
    bucket_mounts,
    called,
    collected,
    database_ways,
    entry_points,
    exports,
    figures,
    handed_on,
    identities,
    in_vain,
    kinds,
    log_fields,
    monitored,
    places,
    slices,
)
from trainyard.rehearsal.works.programs.kubernetes import (
    addresses,
    admission_hooks,
    annotation_keys,
    certificates,
    class_parameters,
    command_words,
    companions,
    configured,
    deadlines,
    encoded,
    fluent_bit,
    gang_hosts,
    gone,
    guards,
    imports,
    key_files,
    listening,
    loopback,
    memory,
    mount_options,
    mount_owners,
    never,
    nginx,
    node_logs,
    options,
    pod_disks,
    priorities,
    ranks,
    scaling,
    schemes,
    scrape_limits,
    scraped,
    siblings,
    sizes,
    squid,
    storage,
    surroundings,
    tracking_logins,
    tracking_server,
    unscraped,
    usage,
    visible,
    web_paths,
    writing,
)
from trainyard.rehearsal.works.programs.node_groups import groups_of
from trainyard.rehearsal.works.references.kubernetes.cluster import Cluster
from trainyard.rehearsal.works.watching import check as watching
from trainyard.rehearsal.works.watching import names


def check(stack: Stack) -> None:
    """Notes what names something that is not there, or is elsewhere."""
    alarms.check(stack)
    own_metrics.check_boards(stack)
    own_metrics.check_halves(stack)
    units_of_metrics.check(stack)
    batches.check(stack)
    left_hanging.check(stack)
    keys.check(stack)
    patterns.check(stack)
    awaited.check(stack)
    events.check(stack)
    counted.check(stack)
    dns_rules.check(stack)
    ecs_machines.check(stack)
    table_folders.check(stack)
    heard.check(stack)
    cached_images.check(stack)
    prefixes.check(stack)
    recorded_buckets.check(stack)
    money.check(stack)
    budget_filters.check(stack)
    file_systems.check(stack)
    handlers.check(stack)
    entry_points.check(stack)
    alerts.check(stack)
    places.check(stack)
    boards.check(stack)
    enforced.check(stack)
    cluster = stack.once(Cluster)
    switched_off.check(stack, cluster)
    in_vain.check(stack)
    figures.check(stack)
    monitored.check(stack)
    kinds.check(stack)
    handed_on.check(stack)
    identities.check(stack)
    database_ways.check(stack)
    allowed_places.check(stack)
    called.check(stack)
    exports.check(stack)
    attributes.check(stack)
    buckets.check(stack, cluster)
    databases.check(stack, cluster)
    if not cluster.views:
        return
    messages.check(stack, cluster)
    connections.check(stack, cluster)
    listening.check(cluster)
    loopback.check(cluster)
    options.check(cluster)
    writing.check(cluster)
    certificates.check(stack, cluster)
    key_files.check(cluster)
    watching.check(cluster)
    squid.check(cluster)
    fluent_bit.check(cluster)
    node_logs.check(cluster)
    watchdog.check(stack, cluster)
    deadlines.check(stack, cluster, list(groups_of(stack)))
    never.check(stack, cluster)
    ranks.check(stack, cluster)
    gang_hosts.check(cluster)
    visible.check(cluster)
    slices.check(cluster)
    priorities.check(cluster)
    sizes.check(cluster)
    pod_disks.check(cluster)
    memory.check(cluster)
    configured.check(cluster)
    mount_options.check(cluster)
    mount_owners.check(cluster)
    siblings.check(cluster)
    surroundings.check(cluster)
    usage.check(cluster)
    imports.check(cluster)
    tracking_logins.check(cluster)
    tracking_server.check(cluster)
    hardware.check(cluster)
    kept.check(stack, cluster)
    schemes.check(cluster)
    scraped.check(cluster)
    scrape_limits.check(cluster)
    scrape_times.check(stack, cluster)
    guards.check(cluster)
    admission_hooks.check(cluster)
    annotation_keys.check(cluster)
    command_words.check(cluster)
    companions.check(cluster)
    gone.check(cluster)
    unscraped.check(cluster)
    encoded.check(cluster)
    nginx.check(cluster)
    web_paths.check(cluster)
    scaling.check(stack, cluster)
    storage.check(cluster, stack.of_type(EKS_NODE_GROUP))
    class_parameters.check(cluster)
    bucket_mounts.check(cluster)
    collected.check(cluster)
    log_fields.check(stack, cluster)
    addresses.check(cluster)
    groups.check(stack, cluster)
    names.check(stack, cluster)
