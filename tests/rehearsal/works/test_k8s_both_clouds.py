"""Sets within the cluster on both clouds, put to the whole verdict, and what is right beside every rule that came.

| set | mistakes | refused, at first sight | silent, at first sight | told now |
| --- | --- | --- | --- | --- |
| sixth | 55 | 14 of 17 | 13 of 38 | 55 |
| seventh | 30 | 8 of 10 | 6 of 20 | 30 |

Of forty plainer ones, put once after these were mended, 32 were told at first sight; what five of the others came to is
in `MORE`.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.rehearsal.works import mistakes_k8s_seventh as seventh
from tests.rehearsal.works import mistakes_k8s_sixth as sixth
from tests.rehearsal.works.mistakes import DROP, added, both, edit, put, tells, told
from tests.rehearsal.works.mistakes_k8s_first import (
    CLUSTER_QUEUE,
    CONFIG_MAP,
    CRON_JOB,
    DAEMONS,
    DEPLOYMENT,
    FIRST,
    JOB,
    LIMITS,
    NOTEBOOKS,
    POD_MONITOR,
    RELEASE,
    RUNTIME,
    SERVICE_MONITOR,
    STACK,
    TRAIN,
    VOLUME,
    expression,
    said,
    values,
)
from tests.rehearsal.works.mistakes_k8s_fourth import FLUENT, PRIORITY_CLASS
from tests.rehearsal.works.mistakes_k8s_second import CLASS
from tests.rehearsal.works.mistakes_k8s_seventh import retold
from tests.rehearsal.works.mistakes_k8s_sixth import ADMISSION, CLAIMS, GOOGLE, RULES, jobset, profile, variable
from tests.rehearsal.works.test_k8s_sets import of
from tests.rehearsal.works.test_k8s_unseen import refused
from tests.rehearsal.works.together import told_together
from trainyard.policies.pack import POLICIES
from trainyard.review.policy_check.check import check_policies

__all__ = ["of"]  # the fixture

EVERY = [
    pytest.param(one, id=f"{which}-{one.name}")
    for which, found in (("sixth", sixth.MISTAKES), ("seventh", seventh.MISTAKES))
    for one in found
    if one.rule is not None
]


@pytest.mark.parametrize("mistake", EVERY)
def test_a_mistake_is_told(of, mistake):
    stack = of(mistake.stack)
    kind, _, name = mistake.rule.rpartition(":")
    if kind == "refusal":
        found = refused(stack, mistake.change)
    elif kind == "policy":
        changed_to = mistake.change(list(stack.known.resources))
        rules = [policy for policy in POLICIES if policy.name == name]
        found = {one.policy for one in check_policies("s", [], changed_to, stack.settings, policies=rules).violations}
    else:
        found = tells(stack, mistake.change, name, ours=True)
    assert name in found, found


def test_nothing_is_left():
    left = [one for one in (*sixth.MISTAKES, *seventh.MISTAKES) if one.rule is None]
    assert not left


def claim(name: str, spec: dict[str, Any]) -> Any:
    """Adds a claim for a disk of the platform's."""
    body = {"resources": {"requests": {"storage": "1Gi"}}, **spec}
    return added("core/v1:PersistentVolumeClaim", name, {"spec": body}, "kueue-system")


def service(spec: dict[str, Any]) -> Any:
    """Adds a service beside the tracking server."""
    return added("core/v1:Service", "database", {"spec": spec}, "mlflow")


JOBSET = "kubernetes:jobset.x-k8s.io/v1alpha2:JobSet"
POOL = "gcp:container/nodePool:NodePool"


def shared(pool: str) -> Any:
    """Has pods take turns on the GPUs of a pool."""
    turns = {"gpuSharingStrategy": "TIME_SHARING", "maxSharedClientsPerGpu": 4}
    return edit(POOL, pool, put("nodeConfig.guestAccelerators[0].gpuSharingConfig", turns))


REQUEST = "spec.spec.devices.requests[0]"
ALONE = [{"name": "train-flex-start", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": "24"}]}]
OWN_CLASS = added("resource.k8s.io/v1:DeviceClass", "infiniband.acme.example", {"spec": {}})
PAUSE = {"name": "spare", "image": "registry.k8s.io/pause:3.10", "resources": {"requests": {"cpu": "1"}}}
SPARE = both(
    added("scheduling.k8s.io/v1:PriorityClass", "spare", {"value": -100}),
    added(
        "apps/v1:Deployment", "spare",
        {"spec": {"selector": {"matchLabels": {"app": "spare"}}, "template": {
            "metadata": {"labels": {"app": "spare"}},
            "spec": {"priorityClassName": "spare", "containers": [PAUSE], "nodeSelector": {"ml.platform/pool": "cpu"}},
        }}},
        "kube-system",
    ),
)  # fmt: skip
EXCLUSIVE = (
    "spec.template.spec.replicatedJobs[0].template.metadata.annotations.alpha~jobset~sigs~k8s~io/exclusive-topology"
)
SOUND = {
    "the last day of the week": (
        "demo", "refusals", edit(CRON_JOB, "checkpoint-drill-job", put("spec.schedule", "17 4 1,15 */2 6")),
    ),
    "a condition that compares": (
        "demo", "refusals",
        edit(ADMISSION, "kueue-gpu-guard",
             put("spec.matchConditions[0].expression", "request.operation == 'CREATE' || size(object.kind) > 0")),
    ),
    "all devices of a class": (
        GOOGLE, "refusals",
        edit(CLAIMS, "teams-foundation-fabric-train", put(f"{REQUEST}.exactly.allocationMode", "All"),
             put(f"{REQUEST}.exactly.count", DROP)),
    ),
    "sockets where there are no adapters": (
        "demo", "programs",
        edit(JOB, "smoke-dev-on-demand-job",
             lambda i: i["spec"]["template"]["spec"]["containers"][0]["env"].append(
                 {"name": "NCCL_NET", "value": "Socket"})),
    ),
    "all eight GPUs by number": (
        "demo", "programs", edit(RUNTIME, TRAIN, variable("CUDA_VISIBLE_DEVICES", "0,1,2,3,4,5,6,7")),
    ),
    "no GPU for a program without": (
        "demo", "programs", edit(RUNTIME, "runtimes-torch-cpu", variable("CUDA_VISIBLE_DEVICES", "")),
    ),
    "a limit far above what a scrape brings": (
        "demo", "programs", edit(POD_MONITOR, "monitoring-gpus", put("spec.sampleLimit", 5000)),
    ),
    "labels called otherwise, where the target's are dropped": (
        "demo", "programs", edit(POD_MONITOR, "monitoring-gpus", put("spec.podMetricsEndpoints[0].honorLabels", False)),
    ),
    "figures of every namespace but one of Kubernetes' own": (
        "demo", "references", values(STACK, "kube-state-metrics.namespacesDenylist", ["kube-node-lease"]),
    ),
    "half an hour between messages": (
        "demo", "references", values(STACK, "alertmanager.config.route.group_interval", "30m"),
    ),
    "a budget of other pods": (
        "demo", "placement",
        added("policy/v1:PodDisruptionBudget", "other",
              {"spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "other"}}}}, "mlflow"),
    ),
    "the same words for pods of another namespace": (
        "demo", "placement",
        added("policy/v1:PodDisruptionBudget", "other",
              {"spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app.kubernetes.io/name": "mlflow"}}}},
              "egress-proxy"),
    ),
    "a service that is a name of elsewhere": (
        "demo", "references", service({"type": "ExternalName", "externalName": "db.acme.example"}),
    ),
    "a service whose endpoints are written down": (
        "demo", "references",
        both(
            service({"ports": [{"port": 5432}]}),
            added("core/v1:Endpoints", "database",
                  {"subsets": [{"addresses": [{"ip": "10.0.0.9"}], "ports": [{"port": 5432}]}]}, "mlflow"),
        ),
    ),
    "one team's volume with an option more": (
        "demo", "programs",
        edit(VOLUME, "volumes-vision-data-volume", lambda i: i["spec"]["mountOptions"].append("metadata-ttl 60")),
    ),
    "one failed job is kept": (
        "demo", "programs", edit(CRON_JOB, "checkpoint-drill-job", put("spec.failedJobsHistoryLimit", 1)),
    ),
    "pods that are less important, and may have nodes": (
        "demo", "programs", edit(PRIORITY_CLASS, "teams-cpu-only", put("value", -5)),
    ),
    "pods that keep room for others": ("demo", "programs", SPARE),
    "a disk of one node": (
        "demo", "programs", claim("own", {"storageClassName": "trainyard-gp3", "accessModes": ["ReadWriteOnce"]}),
    ),
    "a raw disk of several nodes": (
        "demo", "programs",
        claim("raw", {"storageClassName": "trainyard-gp3", "accessModes": ["ReadWriteMany"], "volumeMode": "Block"}),
    ),
    "shared files that many write": (
        "demo", "programs",
        both(added("storage.k8s.io/v1:StorageClass", "shared", {"provisioner": "efs.csi.aws.com"}),
             claim("files", {"storageClassName": "shared", "accessModes": ["ReadWriteMany"]})),
    ),
    "a ratio with a ratio": (
        "demo", "programs", edit(RULES, "monitoring-rules", expression("GpuIdle", "< 0.02", "< 0.5")),
    ),
    "a sum of ratios": (
        "demo", "programs",
        edit(RULES, "monitoring-rules", expression("GpuIdle", "max by (namespace, pod) (max", "sum by (pod) (max"),
             expression("GpuIdle", "< 0.02", "< 2")),
    ),
    "a job alone in its zone": (
        GOOGLE, "placement", edit(RUNTIME, "runtimes-tpu-v6e", put(EXCLUSIVE, "topology.kubernetes.io/zone")),
    ),
    "a class of devices of one's own": (
        GOOGLE, "references",
        both(OWN_CLASS, edit(CLAIMS, "teams-foundation-fabric-train",
                             put(f"{REQUEST}.exactly.deviceClassName", "infiniband.acme.example"))),
    ),
    "the exporter's own arguments beside its list": (
        "demo", "programs", values("gpu-dcgm-exporter", "arguments", ["--collect-interval=15000"]),
    ),
    "a notebook's home that many nodes read": (
        NOTEBOOKS, "programs",
        values("notebooks-release", "singleuser.storage.dynamic.storageAccessModes", ["ReadWriteOnce"]),
    ),
    "the same port on the node": (
        "demo", "refusals",
        edit(DAEMONS, "team-logs", put("spec.template.spec.hostNetwork", True),
             put(f"{FIRST}.ports", [{"containerPort": 2020, "hostPort": 2020}])),
    ),
    "another port on the node, in a network of the pod's own": (
        "demo", "refusals",
        edit(DAEMONS, "team-logs", put(f"{FIRST}.ports", [{"containerPort": 2020, "hostPort": 2021}])),
    ),
    "a home on a volume": ("demo", "programs", edit(RUNTIME, "runtimes-torch", retold("HOME", "/checkpoints/home"))),
    "as much memory at most as is guaranteed": (
        NOTEBOOKS, "references", profile(0, lambda one: one.update(mem_limit="12G")),
    ),
    "a minute of metadata": (
        "demo-gcp", "programs",
        edit(VOLUME, "volumes-vision-checkpoints-volume",
             said("spec/mountOptions", "metadata-cache:ttl-secs:0", "metadata-cache:ttl-secs:60")),
    ),
    "metadata for ever of what is only read": (
        "demo-gcp", "programs",
        edit(VOLUME, "volumes-vision-data-volume",
             lambda i: i["spec"]["mountOptions"].append("metadata-cache:ttl-secs:-1")),
    ),
    "cores by default": (
        "demo", "references", edit(LIMITS, "teams-vision-defaults", put("spec.limits[0].default", {"cpu": "200"})),
    ),
    "a role that is gathered from another": (
        "demo", "references",
        both(
            added("rbac.authorization.k8s.io/v1:ClusterRole", "all",
                  {"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"to": "all"}}]}}),
            added("rbac.authorization.k8s.io/v1:ClusterRole", "part",
                  {"metadata": {"labels": {"to": "all"}},
                   "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}),
        ),
    ),
    "whoever asks says so in a Secret": (
        "demo", "programs",
        edit(SERVICE_MONITOR, "monitoring-queues", put("spec.endpoints[0].bearerTokenFile", DROP),
             put("spec.endpoints[0].authorization", {"credentials": {"name": "token", "key": "token"}})),
    ),
    "no limit for all groups": ("demo", "placement", values("autoscaler-release", "extraArgs.max-nodes-total", "0")),
    "a limit far above all groups": (
        "demo", "placement", values("autoscaler-release", "extraArgs.max-nodes-total", "1000"),
    ),
    "faster persistent disks": ("demo-gcp", "programs", edit(CLASS, "disks-class", put("parameters.type", "pd-ssd"))),
    "every ten minutes of an hour": (
        "demo", "references", edit(CRON_JOB, "checkpoint-drill-job", put("spec.schedule", "*/10 4 * * 0")),
    ),
    "either format of logs": (
        "demo", "programs",
        edit(CONFIG_MAP, "team-logs-configuration", said(FLUENT, "parser cri", "parser docker, cri")),
    ),
    "figures that are recorded every five minutes": (
        "demo", "programs", edit(RULES, "monitoring-rules", lambda i: i["spec"]["groups"][1].update(interval="5m")),
    ),
    "the plug-in among other folders": (
        GOOGLE, "programs", edit(RUNTIME, TRAIN, retold("LD_LIBRARY_PATH", "/opt/lib:/usr/local/gib/lib64")),
    ),
    "so many pods of a job that stay": (
        "demo", "placement",
        added("policy/v1:PodDisruptionBudget", "proofs",
              {"spec": {"minAvailable": 1, "selector": {"matchLabels": {"app.kubernetes.io/name": "trainyard-smoke"}}}},
              "team-vision"),
    ),
    "levels of the network that EKS counts": (
        "demo", "placement",
        added("kueue.x-k8s.io/v1beta2:Topology", "layers",
              {"spec": {"levels": [{"nodeLabel": f"topology.k8s.aws/network-node-layer-{n}"} for n in (1, 2, 4)]}}),
    ),
    "GPUs that pods of one take turns on": (GOOGLE, "placement", shared("gpu-nodes-dev-on-demand")),
    "images that are pulled by nobody": (
        NOTEBOOKS, "flows", values("notebooks-release", "prePuller.hook.pullOnlyOnChanges", False),
    ),
    "a hub whose people are in a database": (
        NOTEBOOKS, "references", values("notebooks-release", "hub.db.type", "postgres"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SOUND)
def test_what_is_right_is_believed(of, name):
    which, room, _ = SOUND[name]
    stack = of(which)

    def judged(resources):
        if room == "refusals":
            return sorted(refused(stack, lambda _: list(resources)))
        return told(stack, lambda _: list(resources), room, ours=True)

    changes = {what: change for what, (*where, change) in SOUND.items() if where == [which, room]}
    assert told_together((__name__, which, room), name, stack.known.resources, changes, judged) == []


def test_a_queue_of_flex_start_alone_asks_for_all(of):
    alone = edit(
        CLUSTER_QUEUE, "kueue-cluster-queue-foundation",
        put("spec.admissionChecksStrategy.admissionChecks[0].onFlavors", DROP),
        put("spec.resourceGroups[0].flavors", ALONE), put("spec.resourceGroups[1]", DROP),
    )  # fmt: skip
    assert "queues-provisioning" not in {one.rule for one in told(of(GOOGLE), alone, "queues")}


def test_another_program_may_forget_its_failures(of):
    """Somebody else may send them elsewhere: only a stack that reads them there is told."""
    change = edit(CRON_JOB, "checkpoint-drill-job", put("spec.failedJobsHistoryLimit", 0))
    assert not told(of("demo"), change, "programs")


def test_a_set_without_names_may_need_none(of):
    """Programs that look for nobody by name."""
    sweep = jobset(network={"enableDNSHostnames": False})
    pod = "spec.replicatedJobs[0].template.spec.template.spec"
    nameless = both(sweep, edit(JOBSET, "added-sweep", put(f"{pod}.containers[0].command", ["python", "sweep.py"])))
    assert "reference-host-names" in {one.rule for one in told(of("demo"), sweep, "references", ours=True)}
    assert "reference-host-names" not in {one.rule for one in told(of("demo"), nameless, "references", ours=True)}


def test_several_gpus_of_nodes_whose_gpus_are_shared_are_told(of):
    taken = both(shared("gpu-nodes-tune-spot"), shared("gpu-nodes-tune-on-demand"))
    assert "placement-shared-gpu" in {one.rule for one in told(of(GOOGLE), taken, "placement")}


def first_argument(word: str) -> Any:
    """What the program that writes alerts down is told."""
    return edit(DEPLOYMENT, "monitoring-alert-log-deployment", put(f"{FIRST}.args", [word]))


def measured(change: Any) -> Any:
    """Changes the values of the exporter of GPUs."""
    return edit(RELEASE, "gpu-dcgm-exporter", lambda i: change(i["values"]))


def recorded(**rule: str) -> Any:
    """Changes the second figure that the stack records."""
    return edit(RULES, "monitoring-rules", lambda i: i["spec"]["groups"][1]["rules"][1].update(rule))


C4 = put("nodeConfig.machineType", "c4-standard-8")
PROBED = f"{FIRST}.readinessProbe.tcpSocket.port"
ACTIVE = "sum(max by (UUID, GPU_I_ID) (DCGM_FI_PROF_GR_ENGINE_ACTIVE)) or vector(0)"
MORE = {
    "an exporter that does not tolerate spot nodes": (
        "demo", "placement-exporter", measured(lambda values: values["tolerations"].pop())),
    "a probe of a port on which the proxy does not listen": (
        "demo", "programs-port", edit(DEPLOYMENT, "egress-deployment", put(PROBED, 3129))),
    "a network of another cloud": (
        GOOGLE, "programs-interface", edit(RUNTIME, TRAIN, retold("NCCL_NET", "AWS Libfabric"))),
    "a port of which the service knows nothing": ("demo-gcp", "programs-port", first_argument("8081")),
    "a bracket that is never closed": ("demo", "watching-syntax", recorded(expr=f"({ACTIVE}")),
    "a bracket that nothing opens": ("demo", "watching-syntax", recorded(expr=f"{ACTIVE})")),
    "an operator with nothing behind it": ("demo", "watching-syntax", recorded(expr=f"{ACTIVE} and")),
    "a figure whose name has a space": ("demo", "watching-syntax", recorded(record="trainyard:gpus active")),
    "a limit of nodes below what queues count": (
        "demo", "placement-autoscaler", values("autoscaler-release", "extraArgs.max-nodes-total", "1")),
    "machines that take no persistent disk": (
        "demo-gcp", "programs-storage-class",
        both(edit(POOL, "cluster-system", C4), edit(POOL, "cluster-cpu", C4))),
}  # fmt: skip
BELIEVED = {
    "an exporter that tolerates everything": (
        "demo", measured(lambda values: values.update(tolerations=[{"operator": "Exists"}]))),
    "a number that is no port": ("demo-gcp", first_argument("30000")),
    "brackets in a text": ("demo", recorded(expr=ACTIVE + ' unless up{job="a(b"}')),
    "a difference that begins with its sign": ("demo", recorded(expr=f"-({ACTIVE})")),
}  # fmt: skip


@pytest.mark.parametrize("name", MORE)
def test_the_rest_of_a_class_is_told(of, name):
    stack, rule, change = MORE[name]
    assert rule in tells(of(stack), change, rule, ours=True)


@pytest.mark.parametrize("name", BELIEVED)
def test_what_is_right_beside_it_is_believed(of, name):
    stack, change = BELIEVED[name]
    rules = {rule for _, rule, _ in MORE.values()}
    assert not rules & {one.rule for one in told(of(stack), change, ours=True)}
