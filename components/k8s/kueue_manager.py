"""The configuration file of Kueue's manager: what it manages, what it counts, how it shares, when it gives up."""

from collections.abc import Sequence
from typing import Any

from trainyard.conventions import FAIR_SHARING_STRATEGIES, KUEUE_NAMESPACE, TEAM_LABEL

NAMESPACE = KUEUE_NAMESPACE
"""Namespace of the manager."""

FRAMEWORKS = ("batch/job", "jobset.x-k8s.io/jobset", "trainer.kubeflow.org/trainjob")
"""Kinds that Kueue manages. With `pod`, `deployment` or `statefulset` among them, as by default, no pod could be made
in any namespace while the manager is down."""

UNRATIONED_RESOURCES = ("cpu", "memory", "ephemeral-storage", "hugepages-")
"""Prefixes of resources that pods ask for and queues do not count: GPUs are what is scarce. A resource that is neither
here nor in a queue blocks its job, which is what should happen to a `nvidia.com/mig-...` that nobody has a quota for;
`quotaCheckStrategy: IgnoreUndeclared` (which excludes this list) would let it pass uncounted."""


CLAIMS_UNCOUNTED = {
    "KueueDRAIntegration": False,
    "KueueDRAIntegrationExtendedResource": False,
    "KueueDRAIntegrationPartitionableDevices": False,
    "KueueDRARejectWorkloadsWhenDRADisabled": False,
}
"""Feature gates without which a job's claims are nothing to the manager. With the first, a class of devices that no
queue has a quota of keeps its job out for ever; the next two make the manager end at its start without the first; the
last keeps out every job with a claim (Kueue v0.19.2, validation.go and workload_controller.go, read 2026-11-23)."""


RECOVERY_MINUTES = 20
"""How long a job that ran may hold its nodes while it lacks one that was lost: what a replacement takes, and no more.
5 minutes until a pod leaves a node that does not answer (Kubernetes' default toleration), up to 12 for a cold GPU node
with an image of 10 GB (profiles), rounded up. Then the queue takes the whole job off, whose other nodes stood idle
meanwhile, and brings it back when there is room (`docs/decisions/0061-a-job-that-lost-a-node.md`)."""


def manager_configuration(
    pods_ready_timeout_minutes: int, requeue_limit: int, unrationed_resources: Sequence[str], *, claims: bool = False
) -> dict[str, Any]:
    """The manager's configuration file. It replaces the chart's whole, so what the chart would set is stated too.

    `claims`: pods claim fast interfaces, with all GPUs of their node, which are what is counted.
    """
    return {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": ":8081"},
        # enableClusterQueueResources: the series kueue_cluster_queue_nominal_quota, _resource_usage and the like. Both
        # replicas export every series: a sum has to take `max without (replica_role, pod, instance)` first.
        "metrics": {"bindAddress": ":8443", "enableClusterQueueResources": True},
        "webhook": {"port": 9443},
        "leaderElection": {"leaderElect": True, "resourceName": "c1f6bfd2.kueue.x-k8s.io"},
        "clientConnection": {"qps": 300, "burst": 500},
        # A job without a queue is held, not run; only namespaces of teams depend on the manager.
        "manageJobsWithoutQueueName": True,
        "managedJobsNamespaceSelector": {"matchExpressions": [{"key": TEAM_LABEL, "operator": "Exists"}]},
        "waitForPodsReady": {
            "timeout": f"{pods_ready_timeout_minutes}m",
            "recoveryTimeout": f"{min(pods_ready_timeout_minutes, RECOVERY_MINUTES)}m",
            "blockAdmission": False,
            "requeuingStrategy": {"timestamp": "Eviction", "backoffLimitCount": requeue_limit},
        },
        "fairSharing": {"preemptionStrategies": list(FAIR_SHARING_STRATEGIES)},
        "integrations": {"frameworks": list(FRAMEWORKS)},
        "resources": {"excludeResourcePrefixes": [*UNRATIONED_RESOURCES, *unrationed_resources]},
        **({"featureGates": dict(CLAIMS_UNCOUNTED)} if claims else {}),
    }
