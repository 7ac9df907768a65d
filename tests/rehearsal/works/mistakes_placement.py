"""Pods that no node takes, and what else keeps them from running: mistakes put into the demo stack."""

from __future__ import annotations

from typing import Any

from tests.rehearsal.works.mistakes import DROP, Mistake, added, both, drop, edit, in_json, put
from trainyard.recorded.types import ADD_ON, DEPLOYMENT, DISRUPTION_BUDGET, HELM_RELEASE, JOB, VOLUME

GROUP = "aws:eks/nodeGroup:NodeGroup"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
DAEMON_SET = "kubernetes:apps/v1:DaemonSet"
FLAVOR = "kubernetes:kueue.x-k8s.io/v1beta2:ResourceFlavor"
RUNTIME = "kubernetes:trainer.kubeflow.org/v1alpha1:ClusterTrainingRuntime"
POD = "spec.template.spec"
RUNTIME_POD = "spec.template.spec.replicatedJobs[0].template.spec.template.spec"
AFFINITY = f"{POD}.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
TERMS = "requiredDuringSchedulingIgnoredDuringExecution"
SYSTEM = {"ml.platform/pool": "system"}
CRITICAL = [{"key": "CriticalAddonsOnly", "operator": "Exists"}]


def requests(container: int, **amounts: str) -> Any:
    """What a container of a workload requests and may use."""
    return put(f"{POD}.containers[{container}].resources", {"requests": amounts, "limits": amounts})


def deployment(name: str, **spec: Any) -> Any:
    """A Deployment of the platform's own that somebody adds."""
    pod = {"containers": [{"name": "main", "image": "example.com/a@sha256:0"}], "tolerations": CRITICAL}
    return added(
        "apps/v1:Deployment",
        name,
        {
            "spec": {
                "replicas": spec.pop("replicas", 2),
                "selector": {"matchLabels": {"app": name}},
                "template": {"metadata": {"labels": {"app": name}}, "spec": {**pod, "nodeSelector": SYSTEM, **spec}},
            }
        },
        "mlflow",
    )


def apart(name: str, key: str = "kubernetes.io/hostname") -> dict[str, Any]:
    """Affinity that keeps a pod off its like."""
    term = {"labelSelector": {"matchLabels": {"app": name}}, "topologyKey": key}
    return {"podAntiAffinity": {TERMS: [term]}}


NO_NODE = "placement-no-node"
MISTAKES = [
    Mistake(
        "tag of another pool",
        "the tags that the autoscaler reads were copied from another pool",
        edit("aws:autoscaling/tag:Tag", "gpu-nodes-tune-spot-label-ml-platform-pool", put("tag.value", "train")),
        "placement-scaling-tag",
    ),
    Mistake(
        "tag of a taint that nodes lost",
        "the taint of spot nodes was taken away, and its tag was not",
        edit("aws:eks/nodeGroup:NodeGroup", "gpu-nodes-tune-spot", lambda inputs: inputs["taints"].pop(1)),
        "placement-scaling-tag",
    ),
    Mistake(
        "a pool that is not called so",
        "the server was meant for the pool `systems`",
        edit(DEPLOYMENT, "mlflow-deployment", put(f"{POD}.nodeSelector.ml~platform/pool", "systems")),
        NO_NODE,
    ),
    Mistake(
        "no toleration",
        "somebody tidied the tolerations of the proxy away",
        edit(DEPLOYMENT, "egress-deployment", put(f"{POD}.tolerations", [])),
        NO_NODE,
    ),
    Mistake(
        "a toleration of another effect",
        "NoExecute tolerated, NoSchedule is what the node has",
        edit(DEPLOYMENT, "egress-deployment", put(f"{POD}.tolerations[0].effect", "NoExecute")),
        NO_NODE,
    ),
    Mistake(
        "a toleration of another value",
        "`yes` where the taint says `true`",
        edit(DEPLOYMENT, "mlflow-deployment", put(f"{POD}.tolerations[0].value", "yes")),
        NO_NODE,
    ),
    Mistake(
        "a taint more",
        "the system nodes got a second taint, nothing tolerates it",
        edit(
            GROUP, "cluster-system", put("taints[1]", {"key": "maintenance", "value": "yes", "effect": "NO_SCHEDULE"})
        ),
        NO_NODE,
    ),
    Mistake(
        "a node group relabelled",
        "the system nodes are now called infra, their pods are not told",
        edit(GROUP, "cluster-system", put("labels.ml~platform/pool", "infra")),
        NO_NODE,
    ),
    Mistake(
        "memory of the whole machine",
        "a server requests 16Gi of a machine of 16 GiB",
        edit(DEPLOYMENT, "mlflow-deployment", requests(0, cpu="1", memory="16Gi")),
        NO_NODE,
    ),
    Mistake(
        "cores of the whole machine",
        "four cores of a machine of four, of which the kubelet keeps some",
        edit(DEPLOYMENT, "egress-deployment", requests(0, cpu="4", memory="1Gi")),
        NO_NODE,
    ),
    Mistake(
        "an init container that asks for too much",
        "the migration takes eight cores for a minute",
        edit(
            DEPLOYMENT,
            "mlflow-deployment",
            put(f"{POD}.initContainers[1].resources", {"requests": {"cpu": "8", "memory": "2Gi"}}),
        ),
        NO_NODE,
    ),
    Mistake(
        "a unit lost",
        "500 cores for 500m",
        edit(DEPLOYMENT, "egress-deployment", requests(0, cpu="500", memory="128Mi")),
        NO_NODE,
    ),
    Mistake(
        "more GPUs than a node has",
        "sixteen GPUs in one pod of an eight-GPU machine",
        edit(JOB, "smoke-train-on-demand-job", requests(0, **{"nvidia.com/gpu": "16", "cpu": "68", "memory": "208Gi"})),
        NO_NODE,
    ),
    Mistake(
        "two GPUs on a node of one",
        "the dev pool's machine has a single L4",
        edit(JOB, "smoke-dev-on-demand-job", requests(0, **{"nvidia.com/gpu": "2", "cpu": "6", "memory": "22Gi"})),
        NO_NODE,
    ),
    Mistake(
        "adapters that are not there",
        "a pool without EFA is asked for one",
        edit(JOB, "smoke-tune-on-demand-job", requests(0, **{"nvidia.com/gpu": "4", "vpc.amazonaws.com/efa": "1"})),
        NO_NODE,
    ),
    Mistake(
        "a resource misspelt",
        "`nvidia.com/gpus`",
        edit(JOB, "smoke-dev-on-demand-job", requests(0, **{"nvidia.com/gpus": "1", "cpu": "4", "memory": "8Gi"})),
        NO_NODE,
    ),
    Mistake(
        "huge pages of a machine that has none",
        "copied from the job of the fabric",
        edit(DEPLOYMENT, "egress-deployment", requests(0, **{"cpu": "1", "memory": "1Gi", "hugepages-2Mi": "1Gi"})),
        NO_NODE,
    ),
    Mistake(
        "scratch space larger than the disk",
        "60Gi on a root volume of 50",
        edit(
            DEPLOYMENT, "mlflow-deployment", requests(0, **{"cpu": "1", "memory": "2Gi", "ephemeral-storage": "60Gi"})
        ),
        NO_NODE,
    ),
    Mistake(
        "a capacity that a pool does not have",
        "the dev pool is on demand only",
        edit(JOB, "smoke-dev-on-demand-job", put(f"{AFFINITY}[0].matchExpressions[1].values", ["spot"])),
        NO_NODE,
    ),
    Mistake(
        "a flavor without the toleration of spot",
        "jobs on spot nodes got it from the flavor",
        edit(FLAVOR, "kueue-flavor-train-spot", put("spec.tolerations[1]", DROP)),
        NO_NODE,
    ),
    Mistake(
        "an architecture that no node has",
        "somebody tries Arm",
        edit(DEPLOYMENT, "egress-deployment", put(f"{POD}.nodeSelector.kubernetes~io/arch", "arm64")),
        NO_NODE,
    ),
    Mistake(
        "nodes of Arm under everything",
        "the system nodes became m7g, the pods ask for amd64",
        both(
            edit(
                GROUP, "cluster-system", put("instanceTypes", ["m7g.xlarge"]), put("amiType", "AL2023_ARM_64_STANDARD")
            ),
            edit(DEPLOYMENT, "mlflow-deployment", put(f"{POD}.nodeSelector.kubernetes~io/arch", "amd64")),
        ),
        NO_NODE,
    ),
    Mistake(
        "smaller machines",
        "the system nodes became large to save money, the server no longer fits",
        both(
            edit(GROUP, "cluster-system", put("instanceTypes", ["m7i.large"])),
            edit(DEPLOYMENT, "mlflow-deployment", requests(0, cpu="2", memory="6Gi")),
        ),
        NO_NODE,
    ),
    Mistake(
        "an instance type that the group does not start",
        "pinned to a type, then the group moved on",
        edit(
            DEPLOYMENT, "mlflow-deployment", put(f"{POD}.nodeSelector.node~kubernetes~io/instance-type", "m5.2xlarge")
        ),
        NO_NODE,
    ),
    Mistake(
        "a zone without nodes",
        "pinned to a fourth zone",
        edit(DEPLOYMENT, "mlflow-deployment", put(f"{POD}.nodeSelector.topology~kubernetes~io/zone", "us-east-1d")),
        NO_NODE,
    ),
    Mistake(
        "a chart for nodes that are not there",
        "the queue manager's node selector has a letter too much",
        edit(HELM_RELEASE, "kueue-release", put("values.controllerManager.nodeSelector.ml~platform/pool", "systemm")),
        NO_NODE,
    ),
    Mistake(
        "a chart without its tolerations",
        "values of the JobSet controller rewritten",
        edit(HELM_RELEASE, "runtimes-jobset", put("values.controller.tolerations", DROP)),
        NO_NODE,
    ),
    Mistake(
        "DNS without a node",
        "the add-on's selector names the wrong pool",
        edit(
            ADD_ON,
            "cluster-coredns",
            in_json("configurationValues", lambda held: held["nodeSelector"].update({"ml.platform/pool": "core"})),
        ),
        NO_NODE,
    ),
    Mistake(
        "a runtime for a pool that is gone",
        "runs without GPUs name the pool `general`",
        edit(RUNTIME, "runtimes-torch-cpu", put(f"{RUNTIME_POD}.nodeSelector.ml~platform/pool", "general")),
        NO_NODE,
    ),
    Mistake(
        "the device plugin kept off spot nodes",
        "the toleration of spot is missing in its values",
        edit(HELM_RELEASE, "gpu-nvidia-device-plugin", put("values.tolerations[1]", DROP)),
        "placement-device-plugin",
    ),
    Mistake(
        "the device plugin on a pool too few",
        "its affinity lists the pools, one is missing",
        edit(
            HELM_RELEASE,
            "gpu-nvidia-device-plugin",
            put(
                "values.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
                ".nodeSelectorTerms[0].matchExpressions[0].values",
                ["dev", "train"],
            ),
        ),
        "placement-device-plugin",
    ),
    Mistake(
        "adapters of a type that the plugin does not list",
        "instance labels of its values were left from another pool",
        edit(
            HELM_RELEASE, "gpu-aws-efa-k8s-device-plugin", put("values.supportedInstanceLabels.values", ["p5.48xlarge"])
        ),
        "placement-device-plugin",
    ),
    Mistake(
        "GPU metrics from nowhere",
        "the exporter's affinity asks for a pool that is called otherwise",
        edit(
            HELM_RELEASE,
            "gpu-dcgm-exporter",
            put(
                "values.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
                ".nodeSelectorTerms[0].matchExpressions[0].values",
                ["gpu"],
            ),
        ),
        "placement-daemon-nowhere",
    ),
    Mistake(
        "a driver that GPU nodes keep off",
        "without tolerations of its own no file system is mounted on them",
        edit(HELM_RELEASE, "drivers-fsx", put("values.node.tolerations", [])),
        "placement-driver",
        stack="demo-whole",
    ),
    Mistake(
        "more replicas than nodes",
        "eight servers that keep off each other, six nodes",
        deployment("search", replicas=8, affinity=apart("search")),
        "placement-spread",
    ),
    Mistake(
        "more replicas than zones",
        "one a zone, and four of them in three zones",
        deployment("search", replicas=4, affinity=apart("search", "topology.kubernetes.io/zone")),
        "placement-spread",
    ),
    Mistake(
        "spread over racks",
        "nodes here have no such label",
        deployment(
            "search",
            topologySpreadConstraints=[
                {
                    "maxSkew": 1,
                    "topologyKey": "example.com/rack",
                    "whenUnsatisfiable": "DoNotSchedule",
                    "labelSelector": {"matchLabels": {"app": "search"}},
                }
            ],
        ),
        "placement-spread",
    ),
    Mistake(
        "one port of the node for all",
        "seven replicas with a hostPort on six nodes",
        deployment("edge", replicas=7, containers=[{"name": "edge", "ports": [{"containerPort": 80, "hostPort": 80}]}]),
        "placement-host-port",
    ),
    Mistake(
        "a port that another daemon has",
        "two exporters on the host's 9100",
        both(
            *(
                added(
                    "apps/v1:DaemonSet",
                    name,
                    {
                        "spec": {
                            "selector": {"matchLabels": {"app": name}},
                            "template": {
                                "metadata": {"labels": {"app": name}},
                                "spec": {
                                    "hostNetwork": True,
                                    "tolerations": [{"operator": "Exists"}],
                                    "containers": [{"name": "e", "ports": [{"containerPort": 9100}]}],
                                },
                            },
                        }
                    },
                    "kube-system",
                )
                for name in ("node-exporter", "other-exporter")
            )
        ),
        "placement-host-port",
    ),
    Mistake(
        "ranks for which there are no nodes",
        "sixteen nodes of a pool of two, all at once",
        edit(JOB, "smoke-train-spot-job", put("spec.parallelism", 16), put("spec.completions", 16)),
        "placement-capacity",
    ),
    Mistake(
        "a system pool that is too small",
        "at most one node, to save money",
        edit(GROUP, "cluster-system", put("scalingConfig", {"minSize": 1, "maxSize": 1, "desiredSize": 1})),
        "placement-shared-room",
    ),
    Mistake(
        "twenty servers",
        "replicas raised, nodes not",
        edit(DEPLOYMENT, "mlflow-deployment", put("spec.replicas", 30)),
        "placement-capacity",
    ),
    Mistake(
        "a budget that keeps all",
        "minAvailable is as many as there are",
        edit(
            DISRUPTION_BUDGET, "egress-disruption-budget", put("spec.maxUnavailable", DROP), put("spec.minAvailable", 2)
        ),
        "placement-drain",
    ),
    Mistake(
        "a budget of all in percent",
        "100 % available at all times",
        edit(
            DISRUPTION_BUDGET,
            "mlflow-disruption-budget",
            put("spec", {"minAvailable": "100%", "selector": {"matchLabels": {"app.kubernetes.io/name": "mlflow"}}}),
        ),
        "placement-drain",
    ),
    Mistake(
        "what mounts a bucket requests more than its node has left",
        "a pod is placed, and the pods that mount its volumes wait for room without end",
        edit(
            VOLUME,
            "volumes-vision-data-volume",
            put("spec.csi.volumeAttributes.mountpointContainerResourcesRequestsCpu", "200"),
        ),
        "placement-no-node",
    ),
    Mistake(
        "a volume in a zone without nodes",
        "the disk is where no GPU node of the pool may start",
        edit(
            VOLUME,
            "volumes-vision-data-volume",
            put(
                "spec.nodeAffinity.required.nodeSelectorTerms",
                [
                    {
                        "matchExpressions": [
                            {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["us-east-1c"]}
                        ]
                    }
                ],
            ),
        ),
        NO_NODE,
    ),
    Mistake(
        "a pool that is parked",
        "maxSize 0, and its jobs are still sent",
        edit(GROUP, "gpu-nodes-dev-on-demand", put("scalingConfig", {"minSize": 0, "maxSize": 0, "desiredSize": 0})),
        "placement-no-node-yet",
    ),
    Mistake(
        "an autoscaler that nothing wakes",
        "the system nodes start from zero too",
        edit(GROUP, "cluster-system", put("scalingConfig", {"minSize": 0, "maxSize": 6, "desiredSize": 0})),
        "placement-autoscaler",
    ),
    Mistake(
        "an autoscaler of another cluster",
        "values copied from the staging cluster",
        edit(HELM_RELEASE, "autoscaler-release", put("values.autoDiscovery.clusterName", "acme-staging")),
        "placement-autoscaler",
    ),
    Mistake(
        "an autoscaler in another region",
        "values copied from Europe",
        edit(HELM_RELEASE, "autoscaler-release", put("values.awsRegion", "eu-west-1")),
        "placement-autoscaler",
    ),
    Mistake(
        "an image of the wrong architecture",
        "the pool moved to Graviton machines, the smoke job's image did not",
        both(
            edit(GROUP, "gpu-nodes-dev-on-demand", put("instanceTypes", ["g5g.2xlarge"])),
            edit(JOB, "smoke-dev-on-demand-job", requests(0, cpu="1", memory="1Gi")),
        ),
        NO_NODE,
    ),
    Mistake(
        "no plugin at all",
        "the release of the device plugin is gone",
        drop(HELM_RELEASE, "gpu-nvidia-device-plugin"),
        None,
        why="NVIDIA's plugin may be installed by something that this stack does not say of, such as the GPU operator",
    ),
    Mistake(
        "a server that uses more than it requests",
        "requests of 100m and a load of three cores",
        edit(DEPLOYMENT, "mlflow-deployment", requests(0, cpu="100m", memory="64Mi")),
        None,
        why="what a program really uses stands in no manifest",
    ),
]
