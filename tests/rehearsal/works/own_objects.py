"""Objects of somebody else's programs, sound as they are: a deployment with its service, a set, an entrance, hooks."""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from tests.rehearsal.works.mistakes import Change, Recorded, added, put
from tests.rehearsal.works.mistakes_k8s_first import FIRST
from trainyard.recorded.model import RecordedResource

TOOLS = "tools"
"""The namespace of somebody else's programs."""
Into = Callable[[dict[str, Any]], Any]


@dataclass(frozen=True)
class Own:
    """Objects that somebody else's program makes; what spoils them is a change of the first."""

    objects: tuple[tuple[str, str, dict[str, Any], str], ...]
    spoil: tuple[Into, ...] = ()

    def __call__(self, resources: Recorded) -> list[RecordedResource]:
        """Adds them, spoiled."""
        found = list(resources)
        for place, (kind, name, body, namespace) in enumerate(self.objects):
            made = copy.deepcopy(body)
            for into in () if place else self.spoil:
                into(made)
            found = added(kind, name, made, namespace)(found)
            if kind.startswith("helm.sh/"):  # a release is no object
                found[-1] = replace(found[-1], inputs=made)
        return found

    @property
    def sound(self) -> Change:
        """The same, and nothing wrong with it."""
        return Own(self.objects)


LABELS = {"app": "board"}
HARDENED = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, "readOnlyRootFilesystem": True}
PLACE: tuple[str, str, dict[str, Any], str] = ("core/v1:Namespace", TOOLS, {}, "")


def pod(**more: Any) -> dict[str, Any]:
    """The template of a program's pods."""
    first = {
        "name": "board",
        "image": "python:3.13",
        "command": ["python", "-m", "http.server", "8000"],
        "ports": [{"name": "http", "containerPort": 8000}],
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "256Mi"}},
        "securityContext": HARDENED,
    }
    context = {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}}
    spec = {"containers": [first], "securityContext": context, "automountServiceAccountToken": False, **more}
    return {"metadata": {"labels": LABELS}, "spec": spec}


PROGRAM = (
    "apps/v1:Deployment",
    "board",
    {"spec": {"replicas": 2, "selector": {"matchLabels": LABELS}, "template": pod()}},
    TOOLS,
)
SERVICE = (
    "core/v1:Service",
    "board",
    {"spec": {"selector": LABELS, "ports": [{"name": "http", "port": 80, "targetPort": "http"}]}},
    TOOLS,
)
HEADLESS = (
    "core/v1:Service",
    "store",
    {"spec": {"clusterIP": "None", "selector": LABELS, "ports": [{"name": "http", "port": 8000}]}},
    TOOLS,
)
STATEFUL = (
    "apps/v1:StatefulSet",
    "store",
    {
        "spec": {
            "serviceName": "store",
            "replicas": 2,
            "selector": {"matchLabels": LABELS},
            "template": pod(),
            "volumeClaimTemplates": [
                {
                    "metadata": {"name": "data"},
                    "spec": {
                        "accessModes": ["ReadWriteOnce"],
                        "storageClassName": "trainyard-gp3",
                        "resources": {"requests": {"storage": "20Gi"}},
                    },
                }
            ],
        }
    },
    TOOLS,
)
put(f"{FIRST}.volumeMounts", [{"name": "data", "mountPath": "/data"}])(STATEFUL[2])
SCALER = (
    "autoscaling/v2:HorizontalPodAutoscaler",
    "board",
    {
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "board"},
            "minReplicas": 2,
            "maxReplicas": 6,
            "metrics": [
                {
                    "type": "Resource",
                    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}},
                }
            ],
        }
    },
    TOOLS,
)
CLAIM = (
    "core/v1:PersistentVolumeClaim",
    "board",
    {
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "trainyard-gp3",
            "resources": {"requests": {"storage": "20Gi"}},
        }
    },
    TOOLS,
)
HOOK = (
    "admissionregistration.k8s.io/v1:ValidatingWebhookConfiguration",
    "board",
    {
        "webhooks": [
            {
                "name": "pods.board.example.com",
                "admissionReviewVersions": ["v1"],
                "sideEffects": "None",
                "failurePolicy": "Ignore",
                "timeoutSeconds": 5,
                "namespaceSelector": {"matchLabels": {"board": "yes"}},
                "clientConfig": {
                    "service": {"name": "board", "namespace": TOOLS, "port": 80, "path": "/check"},
                    "caBundle": base64.b64encode(b"-----BEGIN CERTIFICATE-----").decode(),
                },
                "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
            }
        ]
    },
    "",
)
CHECK = (
    "batch/v1:CronJob",
    "board-backup",
    {
        "spec": {
            "schedule": "17 3 * * *",
            "concurrencyPolicy": "Forbid",
            "jobTemplate": {"spec": {"backoffLimit": 2, "template": pod(restartPolicy="Never")}},
        }
    },
    TOOLS,
)
put(
    "spec.jobTemplate.spec.template.spec.containers[0].command",
    ["python", "-c", "print('saved')"],
)(CHECK[2])
DEFINITION = (
    "apiextensions.k8s.io/v1:CustomResourceDefinition",
    "boards.example.com",
    {
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"kind": "Board", "plural": "boards", "singular": "board", "listKind": "BoardList"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "properties": {
                                "spec": {
                                    "type": "object",
                                    "properties": {"team": {"type": "string"}, "panels": {"type": "integer"}},
                                }
                            },
                        }
                    },
                }
            ],
        }
    },
    "",
)
BOARD = ("example.com/v1:Board", "vision", {"spec": {"team": "vision", "panels": 4}}, TOOLS)
INGRESS = (
    "networking.k8s.io/v1:Ingress",
    "board",
    {
        "spec": {
            "ingressClassName": "nginx",
            "rules": [
                {
                    "host": "board.example.com",
                    "http": {
                        "paths": [
                            {
                                "path": "/",
                                "pathType": "Prefix",
                                "backend": {"service": {"name": "board", "port": {"number": 80}}},
                            }
                        ]
                    },
                }
            ],
        }
    },
    TOOLS,
)
CONTROLLER = (
    "helm.sh/v3:Release",
    "ingress-nginx",
    {
        "chart": "ingress-nginx",
        "name": "ingress-nginx",
        "namespace": "ingress",
        "version": "4.13.0",
        "repositoryOpts": {"repo": "https://kubernetes.github.io/ingress-nginx"},
        "values": {},
    },
    "",
)
GUARD = (
    "admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy",
    "owners",
    {
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "resourceRules": [
                    {
                        "apiGroups": ["apps"],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE", "UPDATE"],
                        "resources": ["deployments"],
                    }
                ]
            },
            "validations": [
                {
                    "expression": "has(object.metadata.labels) && 'owner' in object.metadata.labels",
                    "message": "Say whose it is.",
                }
            ],
        }
    },
    "",
)
BOUND = (
    "admissionregistration.k8s.io/v1:ValidatingAdmissionPolicyBinding",
    "owners",
    {
        "spec": {
            "policyName": "owners",
            "validationActions": ["Deny"],
            "matchResources": {"namespaceSelector": {"matchLabels": {"ml.platform/team": "vision"}}},
        }
    },
    "",
)
PROXY = """worker_processes 2;
pid /tmp/nginx.pid;
events { worker_connections 512; }
http {
  upstream tracking { server mlflow.mlflow.svc.cluster.local:5000; }
  server {
    listen 8000;
    client_max_body_size 0;
    location / {
      proxy_pass https://tracking;
      proxy_set_header Host $host;
    }
  }
}
"""
NGINX = ("core/v1:ConfigMap", "board", {"data": {"nginx.conf": PROXY}}, TOOLS)
FRONT = (
    "apps/v1:Deployment",
    "board",
    {
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": LABELS},
            "template": pod(
                volumes=[
                    {"name": "configuration", "configMap": {"name": "board"}},
                    {"name": "tmp", "emptyDir": {}},
                    {"name": "cache", "emptyDir": {}},
                ]
            ),
        }
    },
    TOOLS,
)
put(f"{FIRST}.image", "nginxinc/nginx-unprivileged:1.29")(FRONT[2])
put(f"{FIRST}.command", ["nginx", "-c", "/etc/front/nginx.conf", "-g", "daemon off;"])(FRONT[2])
put(
    f"{FIRST}.volumeMounts",
    [
        {"name": "configuration", "mountPath": "/etc/front"},
        {"name": "tmp", "mountPath": "/tmp"},
        {"name": "cache", "mountPath": "/var/cache/nginx"},
    ],
)(FRONT[2])


def program(*spoil: Into) -> Own:
    """Spoils a program."""
    return Own((PROGRAM, SERVICE, PLACE), spoil)


def dashboard(into: Callable[[dict[str, Any]], Any]) -> Into:
    """Changes a dashboard of the pools."""

    def change(inputs: dict[str, Any]) -> None:
        key = next(iter(inputs["data"]))
        held = json.loads(inputs["data"][key])
        into(held)
        inputs["data"][key] = json.dumps(held)

    return change


def ruled(**rule: Any) -> Change:
    """Adds an alert or a recording of somebody else's."""
    body = {"spec": {"groups": [{"name": "own", "rules": [rule]}]}}
    return added("monitoring.coreos.com/v1:PrometheusRule", "own", body, "monitoring")


def variable(name: str, value: str) -> dict[str, str]:
    """A variable of a container."""
    return {"name": name, "value": value}
