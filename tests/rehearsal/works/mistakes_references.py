"""Mistakes in what names something, as they are made: each on a copy of the demo stack, one at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from tests.rehearsal.works.mistakes import DROP, Change, Mistake, Recorded, added, both, drop, edit, put
from tests.rehearsal.works.mistakes_chart_values import MISTAKES as CHART_VALUES
from tests.rehearsal.works.mistakes_times import MISTAKES as TIMES
from trainyard.recorded.types import (
    ADMISSION_BINDING,
    ADMISSION_POLICY,
    CONFIG_MAP,
    DEPLOYMENT,
    DISRUPTION_BUDGET,
    HELM_RELEASE,
    JOB,
    NETWORK_POLICY,
    RBAC_CLUSTER_ROLE,
    RBAC_CLUSTER_ROLE_BINDING,
    RBAC_ROLE,
    RBAC_ROLE_BINDING,
    SECRET,
    SERVICE,
    VOLUME,
    VOLUME_CLAIM,
)

JOB_NAME: Final = "batch.kubernetes.io/job-name"
RUNTIME: Final = "kubernetes:trainer.kubeflow.org/v1alpha1:ClusterTrainingRuntime"
FLAVOR: Final = "kubernetes:kueue.x-k8s.io/v1beta2:ResourceFlavor"
NAMESPACE: Final = "kubernetes:core/v1:Namespace"
ADD_ON: Final = "aws:eks/addon:Addon"
SERVER: Final = "spec.template.spec.containers[0]"
POD: Final = "spec.template.spec"
SET: Final = "spec.template.spec.replicatedJobs[0]"


def alone(type_: str, name: str) -> Change:
    """A resource that waits for nothing."""

    def change(resources: Recorded) -> list[Any]:
        return [
            replace(found, dependencies=()) if (found.type, found.name) == (type_, name) else found
            for found in resources
        ]

    return change


def swapped(type_: str, name: str, path: str, old: str, new: str) -> Change:
    """A word of a text that is another one."""

    def into(inputs: dict[str, Any]) -> None:
        target: Any = inputs
        for part in path.split("."):
            target = target[int(part) if part.isdigit() else part]
        text = next(iter(found for found in target if old in str(found)))
        key = target.index(text)
        target[key] = (
            {**text, "expression": text["expression"].replace(old, new)}
            if isinstance(text, dict)
            else text.replace(old, new)
        )

    return edit(type_, name, into)


def monitor(**spec: Any) -> Change:
    """A monitor of the tracking server's service."""
    body = {
        "spec": {"selector": {"matchLabels": {"app.kubernetes.io/name": "mlflow"}}, "endpoints": [{"port": "https"}]}
    }
    body["spec"] |= spec
    return added("monitoring.coreos.com/v1:ServiceMonitor", "mlflow", body, "mlflow")


def ingress(name: str = "mlflow", port: Any = None) -> Change:
    """A way in from outside to the tracking server."""
    backend = {"service": {"name": name, "port": port or {"number": 5000}}}
    rule = {"http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}}
    return added(
        "networking.k8s.io/v1:Ingress", "mlflow", {"spec": {"ingressClassName": "alb", "rules": [rule]}}, "mlflow"
    )


def scaler(target: str = "mlflow", resource: str = "cpu") -> Change:
    """An autoscaler of the tracking server."""
    metric = {
        "type": "Resource",
        "resource": {"name": resource, "target": {"type": "Utilization", "averageUtilization": 70}},
    }
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": target}
    spec = {"scaleTargetRef": reference, "minReplicas": 2, "maxReplicas": 4, "metrics": [metric]}
    return added("autoscaling/v2:HorizontalPodAutoscaler", "mlflow", {"spec": spec}, "mlflow")


def hook(service: str = "kueue-webhook-service", *, rule: dict[str, Any] | None = None) -> Change:
    """A webhook in front of pods, called at the tracking server's service."""
    about = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"], **(rule or {})}
    client = {"service": {"namespace": "mlflow", "name": service, "port": 5000}, "caBundle": "Zm9v"}
    one = {
        "name": "pods.trainyard.dev", "clientConfig": client, "rules": [about], "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }  # fmt: skip
    return added("admissionregistration.k8s.io/v1:ValidatingWebhookConfiguration", "pods", {"webhooks": [one]})


def train_job(
    runtime: str = "torch-distributed", patched: str = "node", kind: str = "ClusterTrainingRuntime"
) -> Change:
    """A job that a user submits, with a volume of its own."""
    patch = {
        "manager": "trainyard.dev/user",
        "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [{"name": patched}]}}},
    }
    spec = {"runtimeRef": {"name": runtime, "kind": kind}, "trainer": {"numNodes": 2}, "runtimePatches": [patch]}
    added_job = added("trainer.kubeflow.org/v1alpha1:TrainJob", "train", {"spec": spec}, "team-vision")

    def waiting(resources: Recorded) -> list[Any]:
        made = added_job(resources)
        urns = tuple(found.urn for found in resources if found.type in (HELM_RELEASE, NAMESPACE))
        return [replace(found, dependencies=urns) if found.name == "added-train" else found for found in made]

    return waiting


SELECTOR = {"app.kubernetes.io/component": "tracking-server", "app.kubernetes.io/name": "mlflow"}

MISTAKES: list[Mistake] = [
    Mistake(
        "job-in-the-network-of-its-node",
        "a job was given the node's network for its fabric, which the team's namespace does not allow",
        edit(JOB, "smoke-train-spot-job", put("spec.template.spec.hostNetwork", True)),
        "reference-pod-security",
    ),
    Mistake(
        "query-of-another-cluster",
        "the saved query asks for the logs of a cluster that has been renamed",
        edit(
            "aws:cloudwatch/queryDefinition:QueryDefinition",
            "cluster-refused-requests",
            put("logGroupNames[0]", "/aws/eks/acme/cluster"),
        ),
        "reference-log-group",
    ),
    Mistake(
        "limit-below-the-job",
        "somebody capped the containers of a team, and forgot its training jobs",
        edit("kubernetes:core/v1:LimitRange", "teams-vision-defaults", put("spec.limits[0].max", {"memory": "64Gi"})),
        "reference-limit-range",
    ),
    Mistake(
        "default-limit-below-a-request",
        "a range gives a limit that is lower than what a container asks for",
        both(
            edit("kubernetes:core/v1:LimitRange", "ingest-defaults", put("spec.limits[0].default", {"memory": "4Gi"})),
            added(
                "batch/v1:Job",
                "import",
                {
                    "spec": {
                        "template": {
                            "spec": {
                                "restartPolicy": "Never",
                                "containers": [
                                    {"name": "import", "image": "a", "resources": {"requests": {"memory": "8Gi"}}}
                                ],
                            }
                        }
                    }
                },
                "ingest",
            ),
        ),
        "reference-limit-range",
    ),
    Mistake(
        "quota-of-fewer-claims",
        "a team's quota lets two claims in, and it gets three",
        edit(
            "kubernetes:core/v1:ResourceQuota",
            "teams-vision-quota",
            lambda inputs: inputs["spec"]["hard"].update({"persistentvolumeclaims": "2"}),
        ),
        "reference-quota",
    ),
    Mistake(
        "quota-of-less-storage",
        "a team's quota was sized before the file system was",
        edit(
            "kubernetes:core/v1:ResourceQuota",
            "teams-tabular-quota",
            lambda inputs: inputs["spec"]["hard"].update({"requests.storage": "2Ti"}),
        ),
        "reference-quota",
    ),
    Mistake(
        "bucket-in-another-region",
        "the mount option of a volume was copied from another environment",
        edit(VOLUME, "volumes-vision-checkpoints-volume", put("spec.mountOptions[0]", "region us-west-2")),
        "reference-bucket-region",
    ),
    Mistake(
        "log-group-of-another-cluster",
        "the group for the control plane's logs has the environment's short name",
        edit("aws:cloudwatch/logGroup:LogGroup", "cluster-logs", put("name", "/aws/eks/demo/cluster")),
        "reference-log-group",
    ),
    Mistake(
        "service: another component",
        "the component's label was renamed on the pods and not in the service",
        edit(SERVICE, "mlflow-service", put("spec.selector.app~kubernetes~io/component", "server")),
        "reference-service-selects-nothing",
    ),
    Mistake(
        "service: old label key",
        "the service selects by `app` as in a tutorial",
        edit(SERVICE, "egress-service", put("spec.selector", {"app": "egress-proxy"})),
        "reference-service-selects-nothing",
    ),
    Mistake(
        "service: a letter",
        "the key in the selector of the ranks' service lacks a letter",
        edit(
            SERVICE,
            "smoke-train-spot-ranks",
            lambda inputs: _rename(inputs["spec"], "selector", JOB_NAME, JOB_NAME[:-1]),
        ),
        "reference-service-selects-nothing",
    ),
    Mistake(
        "service: port renamed",
        "the container's port is called `https` since TLS, the service says `http`",
        edit(SERVICE, "mlflow-service", put("spec.ports[0].targetPort", "http")),
        "reference-port",
    ),
    Mistake(
        "service: other number",
        "Squid's port is 3128, the service leads to 3129",
        edit(SERVICE, "egress-service", put("spec.ports[0].targetPort", 3129)),
        "reference-port",
    ),
    Mistake(
        "service: UDP",
        "the proxy's service is of UDP",
        edit(SERVICE, "egress-service", put("spec.ports[0].protocol", "UDP")),
        "reference-port",
    ),
    Mistake(
        "job: subdomain",
        "the pods' subdomain is not the service's name, so rank 0 is not found",
        edit(JOB, "smoke-train-spot-job", put(f"{POD}.subdomain", "smoke-train-spot")),
        "reference-subdomain",
    ),
    Mistake(
        "job: service with an address",
        "the ranks' service is no headless one",
        edit(SERVICE, "smoke-tune-spot-ranks", put("spec.clusterIP", DROP)),
        "reference-subdomain",
    ),
    Mistake(
        "probe: port's name",
        "the readiness probe asks `http`, the port is `https`",
        edit(DEPLOYMENT, "mlflow-deployment", put(f"{SERVER}.readinessProbe.httpGet.port", "http")),
        "reference-probe-port",
    ),
    Mistake(
        "probe: no TLS",
        "the liveness probe lost its scheme",
        edit(DEPLOYMENT, "mlflow-deployment", put(f"{SERVER}.livenessProbe.httpGet.scheme", DROP)),
        "reference-probe-scheme",
    ),
    Mistake(
        "probe: turned digits",
        "3128 became 3182",
        edit(DEPLOYMENT, "egress-deployment", put(f"{SERVER}.livenessProbe.tcpSocket.port", 3182)),
        "reference-probe-port",
    ),
    Mistake(
        "probe: URL for a path",
        "the probe's path is the whole address",
        edit(
            DEPLOYMENT,
            "mlflow-deployment",
            put(f"{SERVER}.readinessProbe.httpGet.path", "https://localhost:5000/health"),
        ),
        "reference-probe-path",
    ),
    Mistake(
        "budget: instance for name",
        "the disruption budget selects by the instance's label",
        edit(
            DISRUPTION_BUDGET,
            "mlflow-disruption-budget",
            put("spec.selector.matchLabels", {"app.kubernetes.io/instance": "mlflow"}),
        ),
        "reference-budget-selects-nothing",
    ),
    Mistake(
        "network policy: a letter",
        "the policy for the tracking server selects `mlfow`",
        edit(
            NETWORK_POLICY,
            "mlflow-server-ingress",
            put("spec.podSelector.matchLabels", {"app.kubernetes.io/name": "mlfow"}),
        ),
        "reference-policy-selects-nothing",
    ),
    Mistake(
        "network policy: DNS by another label",
        "CoreDNS is looked for as `k8s-app: kubedns`",
        edit(
            NETWORK_POLICY,
            "kube-system-allow-platform",
            put("spec.egress[1].to[0].podSelector.matchLabels", {"k8s-app": "kubedns"}),
        ),
        "reference-peer-selects-nothing",
    ),
    Mistake(
        "network policy: namespace",
        "the namespace of the peers is `kube-sytem`",
        edit(
            NETWORK_POLICY,
            "kube-system-allow-platform",
            put("spec.egress[1].to[0].namespaceSelector.matchLabels.kubernetes~io/metadata~name", "kube-sytem"),
        ),
        "reference-namespace-selects-nothing",
    ),
    Mistake(
        "binding of a guard: team label",
        "the guard is bound to namespaces with `ml.platform/teams`",
        edit(
            ADMISSION_BINDING,
            "kueue-gpu-guard-binding",
            put("spec.matchResources.namespaceSelector.matchExpressions[0].key", "ml.platform/teams"),
        ),
        "reference-namespace-selects-nothing",
    ),
    Mistake(
        "spreading: others",
        "the proxy's pods are spread by the tracking server's label",
        edit(
            DEPLOYMENT,
            "egress-deployment",
            put(
                f"{POD}.topologySpreadConstraints[0].labelSelector.matchLabels",
                {"app.kubernetes.io/name": "egress_proxy"},
            ),
        ),
        "reference-spread-selects-others",
    ),
    Mistake("ingress: service's name", "an ingress to `mlflow-service`", ingress("mlflow-server"), "reference-missing"),
    Mistake("ingress: port", "an ingress to port 80 of the service", ingress(port={"number": 80}), "reference-port"),
    Mistake("ingress: port's name", "an ingress to port `http`", ingress(port={"name": "http"}), "reference-port"),
    Mistake("autoscaler: target", "the autoscaler's target is `mlflow-server`", scaler("mlflows"), "reference-missing"),
    Mistake(
        "autoscaler: no request",
        "it scales by CPU, and a container requests none",
        both(
            edit(DEPLOYMENT, "mlflow-deployment", put(f"{SERVER}.resources", {"limits": {"memory": "2Gi"}})),
            scaler(),
        ),
        "reference-scaled-without-request",
    ),
    Mistake(
        "monitor: port", "the monitor asks port `metrics`", monitor(endpoints=[{"port": "http"}]), "reference-port"
    ),
    Mistake(
        "webhook: service", "the API server calls a service that is not there", hook("mlflows"), "reference-missing"
    ),
    Mistake(
        "webhook: group",
        "the hook is about `deployments` of the core group",
        hook("mlflow", rule={"resources": ["deployments"]}),
        "reference-admission-rule",
    ),
    Mistake(
        "volume: key",
        "the auth volume asks `flask_secret_key`",
        edit(DEPLOYMENT, "mlflow-deployment", put(f"{POD}.volumes[6].secret.items[1].key", "flask_secret_key")),
        "reference-key",
    ),
    Mistake(
        "secret: key renamed",
        "the secret's key `users.json` became `users`",
        edit(SECRET, "mlflow-server", lambda inputs: _rename(inputs, "stringData", "users.json", "users")),
        "reference-key",
    ),
    Mistake(
        "program: renamed",
        "`serve.py` was renamed in the config map and not in the command",
        edit(CONFIG_MAP, "mlflow-runtime", lambda inputs: _rename(inputs, "data", "serve.py", "server.py")),
        "reference-file",
    ),
    Mistake(
        "program: mounted elsewhere",
        "the smoke job's programs lie in /smoke/code",
        edit(JOB, "smoke-train-spot-job", put(f"{SERVER}.volumeMounts[0].mountPath", "/smoke/dpp")),
        "reference-file",
    ),
    Mistake(
        "environment: path of a file",
        "the configuration of the users is looked for as basic-auth.ini",
        edit(
            DEPLOYMENT,
            "mlflow-deployment",
            lambda inputs: _every_value(inputs, "/etc/mlflow/auth/basic_auth.ini", "/etc/mlflow/auth/basic-auth.ini"),
        ),
        "reference-file",
    ),
    Mistake(
        "subPath: key",
        "the proxy mounts `squid.cfg` of a config map that has `squid.conf`: an empty folder",
        edit(DEPLOYMENT, "egress-deployment", put(f"{SERVER}.volumeMounts[0].subPath", "squid.cfg")),
        "reference-sub-path",
    ),
    Mistake(
        "mode: decimal",
        "defaultMode 440, which is 0o670",
        edit(DEPLOYMENT, "mlflow-deployment", put(f"{POD}.volumes[6].secret.defaultMode", 440)),
        "reference-file-mode",
    ),
    Mistake(
        "mode: owner only, no group",
        "the secret's mode is 0o400 and the pod lost its fsGroup",
        edit(
            DEPLOYMENT,
            "mlflow-deployment",
            put(f"{POD}.volumes[6].secret.defaultMode", 0o400),
            put(f"{POD}.securityContext.fsGroup", DROP),
        ),
        "reference-unreadable-file",
    ),
    Mistake(
        "pull secret: none",
        "images are pulled with a secret that nobody makes",
        edit(DEPLOYMENT, "mlflow-deployment", put(f"{POD}.imagePullSecrets", [{"name": "registry"}])),
        "reference-missing",
    ),
    Mistake(
        "downward: field",
        "the node's name is asked as `spec.nodename`",
        edit(
            DEPLOYMENT,
            "mlflow-deployment",
            put(f"{SERVER}.env[0]", {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodename"}}}),
        ),
        "reference-field-path",
    ),
    Mistake(
        "downward: container",
        "the limit of a container that was renamed",
        edit(
            DEPLOYMENT,
            "mlflow-deployment",
            put(
                f"{SERVER}.env[0]",
                {
                    "name": "LIMIT",
                    "valueFrom": {"resourceFieldRef": {"containerName": "mlflow", "resource": "limits.memory"}},
                },
            ),
        ),
        "reference-container",
    ),
    Mistake(
        "role: jobs of the core group",
        "a team may make `jobs` in the API group of pods",
        edit(RBAC_ROLE, "teams-vision-member", put("rules[0].apiGroups", [""])),
        "reference-role-resource",
    ),
    Mistake(
        "role: singular",
        "`jobset` for `jobsets`",
        edit(RBAC_ROLE, "teams-vision-member", put("rules[1].resources", ["jobset"])),
        "reference-role-resource",
    ),
    Mistake(
        "role: subresource",
        "`pods/logs` for `pods/log`",
        edit(RBAC_ROLE, "teams-language-member", put("rules[6].resources", ["pods/logs"])),
        "reference-role-resource",
    ),
    Mistake(
        "role: group with its version",
        "`batch/v1` for `batch`",
        edit(RBAC_ROLE, "ingest-member", put("rules[0].apiGroups", ["batch/v1"])),
        "reference-role-group",
    ),
    Mistake(
        "role: verb",
        "`read` is no verb",
        edit(RBAC_CLUSTER_ROLE, "teams-reader", put("rules[0].verbs", ["read"])),
        "reference-role-verb",
    ),
    Mistake(
        "binding: cluster role",
        "the teams are bound to `team-queues-reader`",
        edit(RBAC_CLUSTER_ROLE_BINDING, "teams-readers", put("roleRef.name", "team-queues-reader")),
        "reference-role",
    ),
    Mistake(
        "binding: kind of the role",
        "a Role is referred to as a ClusterRole",
        edit(RBAC_ROLE_BINDING, "teams-language-members", put("roleRef.kind", "ClusterRole")),
        "reference-role",
    ),
    Mistake(
        "binding: group",
        "the group is `teams:language`, and people are in `team:language`",
        edit(RBAC_ROLE_BINDING, "teams-language-members", put("subjects[0].name", "teams:language")),
        None,
        "who is in which group stands with the client's own access entries, which demo has none of",
    ),
    Mistake(
        "claim: larger than the volume",
        "the claim asks a step more than the volume has",
        edit(VOLUME_CLAIM, "volumes-vision-data-claim", put("spec.resources.requests.storage", "6000Gi")),
        "reference-claim",
    ),
    Mistake(
        "claim: mode",
        "a volume to read is claimed to write",
        edit(VOLUME_CLAIM, "volumes-vision-data-claim", put("spec.accessModes", ["ReadWriteMany"])),
        "reference-claim",
    ),
    Mistake(
        "claim: default class",
        "the empty class was taken for nothing and left out",
        both(
            edit(VOLUME_CLAIM, "volumes-vision-scratch-claim", put("spec.storageClassName", DROP)),
            added(
                "storage.k8s.io/v1:StorageClass",
                "gp3",
                {
                    "provisioner": "ebs.csi.aws.com",
                    "metadata": {"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
                },
            ),
        ),
        "reference-claim",
    ),
    Mistake(
        "claim: volume's name",
        "the name is turned round",
        edit(VOLUME_CLAIM, "volumes-vision-scratch-claim", put("spec.volumeName", "vision-scratchs")),
        "reference-claim",
    ),
    Mistake(
        "volume: kept for another claim",
        "the volume is kept for the claim of another team",
        edit(VOLUME, "volumes-vision-scratch-volume", put("spec.claimRef.namespace", "team-language")),
        "reference-claim",
    ),
    Mistake(
        "volume: one handle twice",
        "scratch and data have one handle, and the smoke job mounts both",
        edit(VOLUME, "volumes-vision-scratch-volume", put("spec.csi.volumeHandle", "fs-2ad7ad28571ce703e-vision-data")),
        "reference-volume-handle",
    ),
    Mistake(
        "volume: driver's name",
        "`fsx.csi.amazon.com`",
        edit(VOLUME, "volumes-vision-scratch-volume", put("spec.csi.driver", "fsx.csi.amazon.com")),
        "reference-driver",
    ),
    Mistake(
        "volume: driver gone", "the driver's chart was taken out", drop(HELM_RELEASE, "drivers-s3"), "reference-driver"
    ),
    Mistake(
        "volume: mount name",
        "the mount name is that of another file system",
        edit(VOLUME, "volumes-vision-data-volume", put("spec.csi.volumeAttributes.mountname", "abcdef01/data")),
        "reference-file-system",
    ),
    Mistake(
        "volume: bucket",
        "the bucket is named without its last letter",
        edit(
            VOLUME,
            "volumes-vision-checkpoints-volume",
            put("spec.csi.volumeAttributes.bucketName", "acme-demo-checkpoint-e5013fb"),
        ),
        "reference-bucket",
    ),
    Mistake(
        "policy: unbound",
        "the binding of the guard was taken out",
        drop(ADMISSION_BINDING, "kueue-owner-guard-binding"),
        "reference-policy-unbound",
    ),
    Mistake(
        "policy: variable",
        "an expression reads `variables.usesGpu`",
        swapped(ADMISSION_POLICY, "kueue-gpu-guard", "spec.validations", "variables.usesGpus", "variables.usesGpu"),
        "reference-variable",
    ),
    Mistake(
        "policy: resource",
        "the policy for jobs is about the core group",
        edit(ADMISSION_POLICY, "teams-jobs-images", put("spec.matchConstraints.resourceRules[0].apiGroups", [""])),
        "reference-admission-rule",
    ),
    Mistake(
        "policy: parameters",
        "an expression reads params of a policy that takes none",
        swapped(ADMISSION_POLICY, "kueue-end-guard", "spec.validations", "<= 600", "<= params.data.seconds"),
        "reference-policy-params",
    ),
    Mistake(
        "custom resource: no chart",
        "the chart that brings the runtimes was taken out",
        drop(HELM_RELEASE, "runtimes-trainer"),
        "reference-kind",
    ),
    Mistake(
        "custom resource: old chart",
        "the chart is of a version before the API's",
        edit(HELM_RELEASE, "kueue-release", put("version", "0.13.4")),
        "reference-kind-version",
    ),
    Mistake(
        "custom resource: waits for nothing",
        "the dependency on the release was lost",
        alone(FLAVOR, "kueue-flavor-dev-on-demand"),
        "reference-kind-order",
    ),
    Mistake(
        "namespace: not waited for",
        "the namespace's name is a text now, and the dependency is gone",
        alone(SERVICE, "egress-service"),
        "reference-namespace-order",
    ),
    Mistake(
        "address: port",
        "a team's credentials name the tracking server's old port",
        edit(
            SECRET,
            "mlflow-credentials-vision",
            lambda inputs: _told(inputs, "https://mlflow.mlflow.svc.cluster.local:80"),
        ),
        "reference-address",
    ),
    Mistake(
        "address: service",
        "the proxy's service was renamed, and the clients' configuration was not",
        edit(SERVICE, "egress-service", put("metadata.name", "proxy")),
        "reference-address",
    ),
    Mistake(
        "address: namespace",
        "the credentials name the service in `ml-flow`",
        edit(SECRET, "mlflow-credentials-vision", lambda inputs: _told(inputs, "https://mlflow.ml-flow.svc:5000")),
        "reference-address",
    ),
    Mistake(
        "address: no such namespace",
        "a runtime's proxy is looked for in namespace `proxies`",
        edit(
            RUNTIME,
            "runtimes-torch",
            put(
                f"{SET}.template.spec.template.spec.containers[0].env[3].value",
                "http://egress-proxy.proxies.svc.cluster.local:3128",
            ),
        ),
        "reference-address",
    ),
    Mistake(
        "port: declared one, told another",
        "the server listens on 5000, its container declares 8080, and the probes ask that",
        edit(DEPLOYMENT, "mlflow-deployment", put(f"{SERVER}.ports[0].containerPort", 8080)),
        "reference-container-port",
    ),
    Mistake(
        "volume: not mounted",
        "the mount of the server's secret was lost",
        edit(DEPLOYMENT, "mlflow-deployment", put(f"{SERVER}.volumeMounts[2]", DROP)),
        "reference-file",
    ),
    Mistake(
        "claim: no volume", "the volume was taken out", drop(VOLUME, "volumes-vision-data-volume"), "reference-claim"
    ),
    Mistake(
        "binding of a policy: none",
        "the policy was taken out",
        drop(ADMISSION_POLICY, "kueue-end-guard"),
        "reference-policy",
    ),
    Mistake("train job: runtime", "`torch-distribute`", train_job("torch-distribute"), "reference-runtime"),
    Mistake("train job: patched job", "`nodes` for `node`", train_job(patched="nodes"), "reference-replicated-job"),
    Mistake(
        "runtime: container",
        "the container is called `trainer`, so its image and arguments come from nowhere",
        edit(RUNTIME, "runtimes-torch", put(f"{SET}.template.spec.template.spec.containers[0].name", "trainer")),
        "reference-container",
    ),
    Mistake(
        "runtime: step",
        "the job's label says `train`",
        edit(
            RUNTIME,
            "runtimes-torch",
            put(f"{SET}.template.metadata.labels.trainer~kubeflow~org/trainjob-ancestor-step", "train"),
        ),
        "reference-trainer-step",
    ),
    Mistake(
        "job: failure policy's container",
        "the container was renamed and the policy not",
        edit(JOB, "smoke-tune-spot-job", put(f"{SERVER}.name", "smoke-job")),
        "reference-container",
    ),
    *CHART_VALUES,
    *TIMES,
]


def _rename(inputs: dict[str, Any], part: str, old: str, new: str) -> None:
    held = dict(getattr(inputs[part], "value", inputs[part]))
    held[new] = held.pop(old)
    inputs[part] = held


def _told(inputs: dict[str, Any], address: str) -> None:
    held = getattr(inputs["stringData"], "value", inputs["stringData"])
    inputs["stringData"] = {**held, "MLFLOW_TRACKING_URI": address}


def _every_value(inputs: dict[str, Any], old: str, new: str) -> None:
    for container in inputs["spec"]["template"]["spec"]["initContainers"]:
        for entry in container.get("env", ()):
            if entry.get("value") == old:
                entry["value"] = new
