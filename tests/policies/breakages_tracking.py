"""Breakages of the tracking server, the proxy and their pods, in the recorded stack of `demo`."""

from __future__ import annotations

from tests.policies.breaking import CONFIG, argument, pod_of
from tests.policies.mutants import Change, edit, put

TRACKING_WALLS: dict[str, Change] = {
    "the tracking server without sign-on": argument("--app-name=basic-auth", "--gunicorn-opts=--log-level=info"),
    "the tracking server without TLS": argument(
        "--uvicorn-opts=--ssl-certfile=/etc/mlflow/auth/tls.crt --ssl-keyfile=/etc/mlflow/auth/tls.key",
        "--uvicorn-opts=--log-level=info",
    ),
    "the tracking server for whatever host": argument(
        "--allowed-hosts=mlflow.mlflow.svc.cluster.local", "--allowed-hosts=*"
    ),
    "the tracking server for whatever origin": argument(
        "--cors-allowed-origins=https://mlflow.mlflow.svc.cluster.local", "--cors-allowed-origins=*"
    ),
    "the tracking server's database by whatever certificate": argument("sslmode=verify-full", "sslmode=require"),
    "the tracking server as the database's owner": argument("mlflow_server_v1@", "mlflow@"),
    "an older tracking server": argument("burakince/mlflow:3.17.2", "burakince/mlflow:3.14.0"),
    "a tracking server that opens where sign-on fails": argument(
        '"MLFLOW_BASIC_AUTH_FAIL_CLOSED", "value": "true"', '"MLFLOW_BASIC_AUTH_FAIL_CLOSED", "value": "false"'
    ),
    "a gateway to whatever provider": argument(
        '"MLFLOW_GATEWAY_ALLOWED_PROVIDERS", "value": "none"', '"MLFLOW_GATEWAY_ALLOWED_PROVIDERS", "value": "openai"'
    ),
    "jobs in the tracking server": argument(
        '"MLFLOW_SERVER_ENABLE_JOB_EXECUTION", "value": "false"',
        '"MLFLOW_SERVER_ENABLE_JOB_EXECUTION", "value": "true"',
    ),
    "a password of the administrator": pod_of(
        "mlflow-deployment",
        lambda pod: pod["containers"][0]["env"].append({"name": "MLFLOW_TRACKING_PASSWORD", "value": "password1234"}),
    ),
    "the tracking server's function is gone": edit(
        CONFIG, "mlflow-runtime", lambda inputs: inputs["data"].pop("tracking_guard.py")
    ),
    "the tracking server's function says yes": edit(
        CONFIG,
        "mlflow-runtime",
        put("data", "tracking_guard.py", value="def authenticate():\n    return True\n"),
    ),
    "the proxy to inside": edit(
        CONFIG,
        "egress-configuration",
        lambda inputs: inputs["data"].update(
            {"squid.conf": inputs["data"]["squid.conf"].replace("http_access deny inside\n", "")}
        ),
    ),
    "the proxy to a whole domain of others": edit(
        CONFIG,
        "egress-configuration",
        lambda inputs: inputs["data"].update(
            {"squid.conf": inputs["data"]["squid.conf"].replace("dstdomain -n .hf.co", "dstdomain -n .com")}
        ),
    ),
    "the proxy without tunnels": edit(
        CONFIG,
        "egress-configuration",
        lambda inputs: inputs["data"].update(
            {"squid.conf": inputs["data"]["squid.conf"].replace("http_access deny !secure\n", "")}
        ),
    ),
    "a tracking pod of the node": pod_of("mlflow-deployment", lambda pod: pod.update(hostNetwork=True)),
    "a tracking pod with a token": pod_of(
        "mlflow-deployment", lambda pod: pod.update(automountServiceAccountToken=True)
    ),
    "a tracking pod with the node's disk": pod_of(
        "mlflow-deployment", lambda pod: pod["volumes"].append({"name": "h", "hostPath": {"path": "/"}})
    ),
    "a proxy pod with rights": pod_of(
        "egress-deployment",
        lambda pod: pod["containers"][0]["securityContext"].update(
            allowPrivilegeEscalation=True, capabilities={"add": ["NET_ADMIN"]}
        ),
    ),
}
