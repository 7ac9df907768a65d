"""A keeper of `keepers/` as objects: its account, its text and the Deployment that runs it on the platform's nodes."""

from collections.abc import Mapping, Sequence

import pulumi
import pulumi_kubernetes.apps.v1 as apps
import pulumi_kubernetes.core.v1 as core
import pulumi_kubernetes.meta.v1 as meta
import pulumi_kubernetes.rbac.v1 as rbac

from trainyard.components.k8s.keepers import HEARTBEAT, checksum, sources
from trainyard.components.k8s.objects import named, service_account
from trainyard.components.k8s.pod_parts import restricted_container, system_toleration
from trainyard.conventions import RUNTIME_CHECKSUM_ANNOTATION, TRAINER_UID


def keeper_labels(keeper: str) -> dict[str, str]:
    """Labels of everything that a keeper is made of, and of its pods."""
    return {"app.kubernetes.io/name": keeper}


def keeper_account(
    name: str, keeper: str, namespace: pulumi.Input[str], opts: pulumi.ResourceOptions
) -> rbac.SubjectArgsDict:
    """Makes the service account of a keeper, and gives it as the subject of a binding."""
    account = service_account(
        f"{name}-account", keeper, namespace, labels=keeper_labels(keeper), annotations={}, opts=opts
    )
    return {"kind": "ServiceAccount", "name": named(account, keeper), "namespace": namespace}


def keeper_service(
    name: str, keeper: str, namespace: pulumi.Input[str], port: int, opts: pulumi.ResourceOptions
) -> core.Service:
    """Makes the Service of a keeper that is asked."""
    labels = keeper_labels(keeper)
    return core.Service(
        name,
        metadata={"name": keeper, "namespace": namespace, "labels": labels},
        spec={"selector": labels, "ports": [{"name": "http", "port": port, "target_port": port}]},
        opts=opts,
    )


def keeper_role(
    name: str,
    keeper: str,
    namespace: pulumi.Input[str],
    rules: Sequence[rbac.PolicyRuleArgsDict],
    subject: rbac.SubjectArgsDict,
    opts: pulumi.ResourceOptions,
) -> None:
    """Gives a keeper rights in a namespace; `{}` in the name is `role`, and `binding`."""
    metadata: meta.ObjectMetaArgsDict = {"name": keeper, "namespace": namespace, "labels": keeper_labels(keeper)}
    role = rbac.Role(name.format("role"), metadata=metadata, rules=list(rules), opts=opts)
    rbac.RoleBinding(
        name.format("binding"),
        metadata=metadata,
        role_ref={"api_group": "rbac.authorization.k8s.io", "kind": "Role", "name": named(role, keeper)},
        subjects=[subject],
        opts=opts,
    )


def keeper_cluster_role(
    name: str,
    keeper: str,
    rules: Sequence[rbac.PolicyRuleArgsDict],
    subject: rbac.SubjectArgsDict,
    opts: pulumi.ResourceOptions,
) -> None:
    """Gives a keeper rights over what is in no namespace; `{}` in the name is `role`, and `binding`."""
    metadata: meta.ObjectMetaArgsDict = {"name": keeper, "labels": keeper_labels(keeper)}
    role = rbac.ClusterRole(name.format("role"), metadata=metadata, rules=list(rules), opts=opts)
    rbac.ClusterRoleBinding(
        name.format("binding"),
        metadata=metadata,
        role_ref={"api_group": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": named(role, keeper)},
        subjects=[subject],
        opts=opts,
    )


def keeper_deployment(
    name: str,
    keeper: str,
    program: str,
    image: str,
    configuration: pulumi.Input[str],
    subject: rbac.SubjectArgsDict,
    node_selector: Mapping[str, str],
    opts: pulumi.ResourceOptions,
    port: int | None = None,
) -> apps.Deployment:
    """Makes what runs: `program` is its name in `keepers/`, `subject` what `keeper_account` gave.

    Whoever answers at a port asks nobody, and has no token.
    """
    labels = keeper_labels(keeper)
    programs = core.ConfigMap(
        f"{name}-programs",
        metadata={"name": keeper, "namespace": subject["namespace"], "labels": labels},
        data=dict(sources(program)),
        opts=opts,
    )
    return apps.Deployment(
        f"{name}-deployment",
        metadata={"name": keeper, "namespace": subject["namespace"], "labels": labels},
        spec={
            "replicas": 1,  # two would decide the same; what one misses, it finds at its next turn
            "revision_history_limit": 3,
            "strategy": {"type": "Recreate"},
            "selector": {"match_labels": labels},
            "template": {
                "metadata": {"labels": labels, "annotations": {RUNTIME_CHECKSUM_ANNOTATION: checksum(program)}},
                "spec": _pod(
                    program, image, configuration, subject["name"], named(programs, keeper), node_selector, port
                ),
            },
        },
        opts=opts,
    )


def _pod(
    program: str,
    image: str,
    configuration: pulumi.Input[str],
    account: pulumi.Input[str],
    programs: pulumi.Input[str],
    node_selector: Mapping[str, str],
    port: int | None,
) -> core.PodSpecArgsDict:
    container: core.ContainerArgsDict = {
        **restricted_container(
            "keeper",
            image,
            {"requests": {"cpu": "10m", "memory": "64Mi"}, "limits": {"cpu": "200m", "memory": "128Mi"}},
        ),
        "command": ["python", "-m", f"keepers.{program}"],
        "args": [configuration],
        "env": [
            {"name": "PYTHONDONTWRITEBYTECODE", "value": "1"},
            {"name": "PYTHONPATH", "value": "/programs"},
        ],
        "volume_mounts": [
            {"name": "programs", "mount_path": "/programs/keepers", "read_only": True},
            {"name": "tmp", "mount_path": "/tmp"},  # noqa: S108 - an emptyDir of the pod
        ],
    }
    if port is not None:
        container["ports"] = [{"name": "http", "container_port": port}]
        container["readiness_probe"] = {"http_get": {"path": "/", "port": port}}
        container["liveness_probe"] = {"http_get": {"path": "/", "port": port}, "period_seconds": 30}
    else:  # it answers nobody: a program beside it looks at when its last round was whole
        container["readiness_probe"] = {
            "exec_": {"command": ["python", "-m", f"keepers.{HEARTBEAT}"]},
            "period_seconds": 30,
            "timeout_seconds": 10,  # Python starts within a second, and a fifth of a core may be busy
            "failure_threshold": 2,
        }
    spec: core.PodSpecArgsDict = {
        "service_account_name": account,
        # It asks the API server, with the rights of its account.
        "automount_service_account_token": port is None,
        "enable_service_links": False,
        "security_context": {
            "run_as_non_root": True,
            "run_as_user": TRAINER_UID,
            "run_as_group": TRAINER_UID,
            "fs_group": TRAINER_UID,
            "seccomp_profile": {"type": "RuntimeDefault"},
        },
        "containers": [container],
        "volumes": [
            {"name": "programs", "config_map": {"name": programs, "default_mode": 0o444}},
            {"name": "tmp", "empty_dir": {"size_limit": "16Mi"}},
        ],
        "tolerations": [system_toleration()],
    }
    if node_selector:  # an API server keeps no empty one
        spec["node_selector"] = dict(node_selector)
    return spec
