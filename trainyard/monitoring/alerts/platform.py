"""Alerts on the platform itself: nodes, controllers, disks, certificates, and figures that do not come."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.conventions import KUEUE_NAMESPACE
from trainyard.conventions.monitoring import KEEPERS
from trainyard.monitoring import names as n
from trainyard.monitoring.model import Alert, Runbook
from trainyard.monitoring.thresholds import Thresholds
from trainyard.problems import count

WATCHDOG = "Watchdog"
"""Always fires: where it stops arriving, nothing else would arrive either."""
CERTIFICATE_EXPIRY = "trainyard_certificate_expiry_seconds"
"""When a certificate of the platform's ends, seconds since the epoch, by `certificate`."""


def _node(at: Thresholds) -> Alert:
    return Alert(
        "NodeNotReady",
        "a node is not ready",
        'max by (node) (kube_node_status_condition{condition="Ready", status="true"}) == 0',
        "critical",
        f"node {{{{ $labels.node }}}} has not been ready for {count(at.node_not_ready_minutes, 'minute')}",
        Runbook(
            "A node does not report, or reports that it cannot run pods. Jobs on it are restarted elsewhere; a "
            "node that "
            "is still starting is not meant, it has longer.",
            ("`kubectl describe node NODE` shows its conditions and events.",),
            ("If it does not come back by itself: `kubectl delete node NODE` and end the instance.",),
        ),
        f"{at.node_not_ready_minutes}m",
        "node_not_ready_minutes",
    )


def _down(kind: str, which: str) -> str:
    """The expression of what is to have replicas and has none available; `which` are the labels of those meant."""
    available, wanted = {
        "deployment": ("kube_deployment_status_replicas_available", "kube_deployment_spec_replicas"),
        "statefulset": ("kube_statefulset_status_replicas_available", "kube_statefulset_replicas"),
    }[kind]
    return (
        f"(max by (namespace, {kind}) ({available}{{{which}}}) == 0)"
        f" and on (namespace, {kind}) (max by (namespace, {kind}) ({wanted}{{{which}}}) > 0)"
    )


def _agents_down(which: str) -> str:
    """The expression of agents that are missing on nodes, save while a new version goes from node to node.

    Such a rollout takes a minute or two a node, so on a large cluster it is longer than what is patiently waited for.
    One that does not move on is no rollout: it is told of.
    """

    def each(expression: str) -> str:
        return f"max by (namespace, daemonset) ({expression})"

    missing, updated, desired = (
        f"kube_daemonset_status_{what}{{{which}}}"
        for what in ("number_unavailable", "updated_number_scheduled", "desired_number_scheduled")
    )
    moves = f"{each(f'changes({updated}[20m])')} > 0"
    return (
        f"{each(missing)} > 0 unless on (namespace, daemonset)"
        f" ({moves} and on (namespace, daemonset) ({each(updated)} < {each(desired)}))"
    )


_KEEPERS = "|".join(KEEPERS)


def _keeper() -> Alert:
    return Alert(
        "KeeperCannotAct",
        "a keeper cannot do its work",
        _down("deployment", f'namespace="{KUEUE_NAMESPACE}", deployment=~"{_KEEPERS}"'),
        "critical",
        "{{ $labels.deployment }} has had no whole round for 15 minutes: nothing is held, released or given back by it",
        Runbook(
            "A keeper asks the API server, and most ask Prometheus, once or twice a minute. It is ready only while its "
            "last whole round is under five minutes old, and this one has not been ready for ten more: it does not "
            "run, or what it asks is refused. Nothing changes meanwhile: what is held stays held, what is not is not, "
            "so a team may spend past its budget and idle GPUs stay held.",
            (
                f"`kubectl -n {KUEUE_NAMESPACE} logs deployment/KEEPER` has the reason in lines with `failed`.",
                f"`kubectl -n {KUEUE_NAMESPACE} get pods -l app.kubernetes.io/name=KEEPER` says whether it runs.",
            ),
            (
                "HTTP 401 or 403: its Role or account was changed by hand; `pulumi up --refresh` restores both.",
                "No answer of Prometheus: see TargetDown and DiskFull; a network policy between the two namespaces "
                "closes the way too.",
                "It does not run: `kubectl describe` of its pod; Pending means that the system nodes have no room.",
                "Till then, hold and release by hand: "
                '`kubectl -n NAMESPACE patch localqueue QUEUE --type merge -p \'{"spec":{"stopPolicy":"Hold"}}\'`.',
            ),
        ),
        "10m",
    )


def _controllers(at: Thresholds, namespaces: Sequence[str]) -> tuple[Alert, ...]:
    ours = f'namespace=~"{"|".join(sorted(namespaces))}"'
    deployments = _down("deployment", f'{ours}, deployment!~"{_KEEPERS}"')  # a keeper's absence has its own alert
    sets = _down("statefulset", ours)
    see = (
        "`kubectl -n NAMESPACE get pods` shows in which state they are; `kubectl -n NAMESPACE describe pod POD` "
        "says why.",
        "`kubectl -n NAMESPACE logs POD --previous` is what it wrote before it ended.",
    )
    return (
        Alert(
            "ControllerDown",
            "a controller of the platform is down",
            f"({deployments}) or ({sets})",
            "critical",
            "no replica of {{ $labels.namespace }}/{{ $labels.deployment }}{{ $labels.statefulset }} is available",
            Runbook(
                "A program that the platform consists of has no replica left: Kueue admits no jobs, the "
                "autoscaler starts "
                "no nodes, MLflow takes no metrics. Jobs that run go on.",
                see,
                (
                    "Pending: the system nodes have no room; `systemNodes.maxNodes` in the stack file.",
                    "CrashLoopBackOff: undo the last change of the stack file and `pulumi up` again.",
                ),
            ),
            f"{at.controller_down_minutes}m",
            "controller_down_minutes",
        ),
        _keeper(),
        Alert(
            "NodeAgentDown",
            "an agent does not run on its nodes",
            _agents_down(ours),
            "warning",
            "{{ $labels.namespace }}/{{ $labels.daemonset }} does not run on {{ $value }} nodes where it should",
            Runbook(
                "A device plugin, a storage driver or an exporter is missing on some nodes: jobs there find no GPU, no "
                "data, or are not measured.",
                see,
                (
                    "If it is one node, drain and replace it.",
                    "If it is all of them, the last change of the chart is at fault.",
                ),
            ),
            "30m",
        ),
    )


def _disks(at: Thresholds) -> Alert:
    claims = "kubelet_volume_stats_{}_bytes"
    of_claims = (
        f"min by (namespace, persistentvolumeclaim) ({claims.format('available')} / {claims.format('capacity')})"
    )
    files = '{fstype=~"ext4|xfs|btrfs|lustre"}'
    of_nodes = f"min by (instance, mountpoint) (node_filesystem_avail_bytes{files} / node_filesystem_size_bytes{files})"
    return Alert(
        "DiskFull",
        "a disk is nearly full",
        f"{of_claims} * 100 < {at.disk_free_percent} or {of_nodes} * 100 < {at.disk_free_percent}",
        "warning",
        "{{ $value | humanize }} % is left on {{ $labels.namespace }}/{{ $labels.persistentvolumeclaim }}"
        "{{ $labels.instance }}{{ $labels.mountpoint }}",
        Runbook(
            "A volume or a disk of a node has little room left. A full disk of a node evicts its pods; a full "
            "volume of "
            "Prometheus ends all figures.",
            ("`kubectl get pvc -A` lists the volumes; `df -h` on the node its disks.",),
            (
                "Prometheus' volume: raise `monitoring.storageGib` in the stack file, and the claim that stands with "
                "`kubectl -n monitoring patch pvc NAME`, since no template of claims changes one.",
                "A node's disk: images and scratch files of its jobs; `gpuPools.POOL.rootDiskGib` for new nodes.",
                "The data tier: what jobs wrote there and nobody reads.",
            ),
        ),
        "15m",
        "disk_free_percent",
    )


def _certificates(at: Thresholds) -> Alert:
    return Alert(
        "CertificateExpiring",
        "a certificate ends soon",
        f"(max by (certificate) ({CERTIFICATE_EXPIRY}) - time()) / 86400 < {at.certificate_days}",
        "warning",
        "the certificate of {{ $labels.certificate }} ends in {{ $value | humanize }} days",
        Runbook(
            "A certificate that the platform made for itself ends soon; its clients refuse it then.",
            (f"`{CERTIFICATE_EXPIRY}` in Prometheus is the second at which it ends.",),
            ("`pulumi up`: in the last year of a certificate it makes a new one, and its clients stay.",),
        ),
        "1h",
        "certificate_days",
    )


def _figures() -> tuple[Alert, ...]:
    targets = (
        "`kubectl -n monitoring port-forward svc/monitoring-prometheus 9090` and then /targets says what it "
        "cannot read.",
    )
    walls = "If the pods run: a network policy between `monitoring` and them is missing, or their port has changed."
    return (
        Alert(
            "GpuFiguresMissing",
            "GPUs are not measured",
            # The exporter that starts anew on one node after another is away from each for a few minutes.
            f"sum({n.GPUS_PROVISIONED})"
            " - (count(count by (UUID) (last_over_time(DCGM_FI_DEV_GPU_TEMP[10m]))) or vector(0)) > 0",
            "warning",
            "{{ $value }} GPUs of the nodes that there are give no figures",
            Runbook(
                "There are GPUs that no exporter reports. No alert on their hardware or on their use can fire.",
                (*targets, "`kubectl -n kube-system get pods -l app.kubernetes.io/name=dcgm-exporter -o wide`"),
                (
                    "A node without the exporter's pod: `kubectl -n kube-system describe daemonset dcgm-exporter`.",
                    walls,
                ),
            ),
            "30m",
        ),
        Alert(
            "QueueFiguresMissing",
            "the queues give no figures",
            "absent(kueue_cluster_queue_status)",
            "critical",
            "Kueue's manager is not read: waits, use and money of teams are unknown",
            Runbook(
                "No figure of any queue arrives. Alerts on waits, budgets and cost cannot fire, and no team is held.",
                targets,
                ("`kubectl -n kueue-system get pods`: is the manager up?", walls),
            ),
            "15m",
        ),
        Alert(
            "ObjectFiguresMissing",
            "the cluster's objects give no figures",
            "absent(kube_node_info)",
            "critical",
            "kube-state-metrics is not read: nodes, jobs and controllers are unknown",
            Runbook(
                "No figure of any node, job or controller arrives. Alerts on them cannot fire.",
                targets,
                ("`kubectl -n monitoring get pods`: is kube-state-metrics up?", walls),
            ),
            "15m",
        ),
        Alert(
            "TargetDown",
            "a program is not read",
            "count by (job) (up == 0)",
            "warning",
            "{{ $value }} of the programs behind {{ $labels.job }} do not answer Prometheus",
            Runbook("Prometheus knows where a program's figures are and gets none.", targets, (walls,)),
            "20m",
        ),
        Alert(
            "RulesFailing",
            "a rule cannot be evaluated",
            "max by (rule_group) (increase(prometheus_rule_evaluation_failures_total[15m])) > 0",
            "critical",
            "rules of {{ $labels.rule_group }} cannot be evaluated",
            Runbook(
                "Prometheus cannot compute a rule: what it is to tell is not told.",
                ("`kubectl -n monitoring logs monitoring-prometheus-0 -c prometheus` names the rule and the reason.",),
                (
                    "Many-to-many matching: two programs export the same series, mostly after a chart was "
                    "installed twice.",
                ),
            ),
            "5m",
        ),
        Alert(
            "AlertsNotDelivered",
            "alerts do not leave",
            "max by (integration) (increase(alertmanager_notifications_failed_total[15m])) > 0",
            "critical",
            "Alertmanager cannot hand alerts on to {{ $labels.integration }}",
            Runbook(
                "Alerts fire and nobody is told. This one does not leave either: it is seen on the dashboard, and from "
                "outside the cluster by what misses the watchdog.",
                (
                    "`kubectl -n monitoring logs alertmanager-monitoring-alertmanager-0 -c alertmanager` says "
                    "what the topic answered.",
                ),
                (
                    "AccessDenied: the role of Alertmanager's service account may not publish; `pulumi up` "
                    "restores it.",
                    "A timeout: the way out of the network, or the endpoint, is closed for the namespace.",
                ),
            ),
            "5m",
        ),
        Alert(
            WATCHDOG,
            "the watchdog",
            "vector(1)",
            "info",
            "alerts are evaluated and leave the cluster",
            Runbook(
                "Always fires. Where it stops arriving, Prometheus or Alertmanager is silent, and no other alert would "
                "arrive either.",
                ("`kubectl -n monitoring get pods` shows Prometheus and Alertmanager.",),
                ("Bring them back: mostly a full volume, or system nodes without room.",),
            ),
        ),
    )


def platform_alerts(at: Thresholds, namespaces: Sequence[str]) -> tuple[Alert, ...]:
    """Every alert on the platform itself; `namespaces` are those that the platform's own programs run in."""
    return (_node(at), *_controllers(at, namespaces), _disks(at), _certificates(at), *_figures())
