"""A correct stack of somebody else's has no finding, and a large one is placed as a small one is."""

from tests.rehearsal.refusals.builders import obj, resource
from tests.rehearsal.works.effort import calls
from tests.rehearsal.works.placement.test_scheduler import CLUSTER, GPUS, asking, group, plugin, pods, told
from trainyard.recorded.types import ADD_ON, HELM_RELEASE

FOREIGN = [
    CLUSTER,
    group(
        "core",
        types=("m6i.xlarge", "m5.xlarge"),
        labels={"role": "core"},
        scalingConfig={"minSize": 2, "maxSize": 4, "desiredSize": 2},
    ),
    group("arm", types=("c7g.2xlarge",), amiType="AL2023_ARM_64_STANDARD", labels={"role": "batch"}, most=10),
    group("gpu", **GPUS, taints=[{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}]),
    resource(ADD_ON, "dns", {"addonName": "coredns"}),
    resource(ADD_ON, "cni", {"addonName": "vpc-cni"}),
    resource(ADD_ON, "proxy", {"addonName": "kube-proxy"}),
    resource(ADD_ON, "metrics", {"addonName": "metrics-server", "configurationValues": "replicas: 3"}),  # YAML
    resource(HELM_RELEASE, "ingress", {"chart": "ingress-nginx", "name": "ingress"}),
    resource(HELM_RELEASE, "as", {"chart": "cluster-autoscaler", "values": {"autoDiscovery": {"clusterName": "c"}}}),
    plugin(),
    pods(name="web", replicas=3, nodeSelector={"role": "core"}, container=asking(cpu="250m", memory="512Mi")),
    pods(
        name="spread",
        replicas=3,
        topologySpreadConstraints=[
            {
                "maxSkew": 1,
                "topologyKey": "topology.kubernetes.io/zone",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": "spread"}},
            }
        ],
    ),
    pods(name="serve", replicas=2, container=asking(**{"nvidia.com_gpu": "1"}), tolerations=[{"operator": "Exists"}]),
    pods("DaemonSet", name="exporter", hostNetwork=True, container={"ports": [{"containerPort": 9100}]}),
    pods("DaemonSet", name="logs", tolerations=[{"operator": "Exists"}], container={"ports": [{"hostPort": 24224}]}),
    obj(
        "policy/v1",
        "PodDisruptionBudget",
        "web",
        "web",
        spec={"minAvailable": 2, "selector": {"matchLabels": {"app": "web"}}},
    ),
    obj(
        "policy/v1",
        "PodDisruptionBudget",
        "x",
        "web",
        spec={"maxUnavailable": "25%", "selector": {"matchLabels": {"app": "spread"}}},
    ),
    obj(
        "batch/v1",
        "CronJob",
        "night",
        "web",
        spec={"jobTemplate": {"spec": {"template": {"spec": {"containers": [asking(cpu="7")]}}}}},
    ),
    obj(
        "batch/v1",
        "Job",
        "queued",
        "elsewhere",
        metadata={"labels": {"kueue.x-k8s.io/queue-name": "made-elsewhere"}},
        spec={"template": {"spec": {"containers": [asking(**{"nvidia.com_gpu": "8"})]}}},
    ),
    obj(
        "apps/v1", "Deployment", "off", "web", spec={"replicas": 0, "template": {"spec": {"nodeSelector": {"a": "b"}}}}
    ),
]


def test_a_correct_stack_of_somebody_else_s_has_no_finding():
    assert told(*FOREIGN) == []


def test_many_teams_take_no_longer_than_their_number():
    """Twenty groups of nodes, and ten times the teams: linear in what is recorded."""

    def placed(count):
        jobs = [pods(name=f"team-{number}", container=asking(cpu="1m", memory="1Mi")) for number in range(count)]
        groups = [group(f"g{number}", labels={"pool": str(number)}, most=100) for number in range(20)]
        return calls(lambda: told(CLUSTER, *groups, *jobs))

    few, many = placed(40), placed(400)
    assert many < 15 * few, (few, many)
