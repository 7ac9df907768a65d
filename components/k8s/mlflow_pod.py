"""The pod of the MLflow server: containers, mounts and probes, without any resource.

pgpass   (native sidecar)  keeps the password file of the database in step with its rotating secret
migrate  (init container)  database schema, once the password file is there
server                     MLflow, started by serve.py
users                      the teams' accounts
metrics                    the server's metrics on a port of their own
"""

from collections.abc import Mapping, Sequence

import pulumi
import pulumi_kubernetes.core.v1 as core

from trainyard.conventions import SYSTEM_NODES

PORT = 5000
METRICS_PORT = 9102
ADMIN = "admin"
USER_ID = 10001  # scanners ask for at least 10000, so that it cannot be a user of the host
SCRATCH_GIB = 20  # an artifact on its way through the server lies here as a whole

PROGRAMS_DIR = "/opt/trainyard"
PGPASS_FILE = "/run/pgpass/pgpass"
CA_FILE = f"{PROGRAMS_DIR}/ca.pem"
AUTH_FILE = "/etc/mlflow/auth/basic_auth.ini"
FLASK_KEY_FILE = "/etc/mlflow/auth/flask-secret-key"
USERS_DIR = "/etc/mlflow/users"
USERS_STATE = "/run/users/state"
METRICS_DIR = "/run/metrics"

Resources = core.ResourceRequirementsArgsDict

_SMALL: dict[str, Resources] = {
    name: {
        "requests": {"cpu": cpu, "memory": memory},
        "limits": {"cpu": cpu_limit, "memory": memory},
    }
    for name, cpu, cpu_limit, memory in (
        ("pgpass", "20m", "200m", "160Mi"),  # boto3 alone takes about 70 MiB
        ("users", "10m", "100m", "64Mi"),
        ("metrics", "10m", "100m", "96Mi"),
    )
}


def allowed_hosts(service: str, namespace: str) -> list[str]:
    """Every name that the Service is called by, each with and without its port, and the pod's own.

    MLflow compares the whole Host header, and clients put the port into it when it is not 80.
    """
    names = [
        service,
        f"{service}.{namespace}",
        f"{service}.{namespace}.svc",
        f"{service}.{namespace}.svc.cluster.local",
    ]
    return [host for name in (*names, "localhost", "127.0.0.1") for host in (name, f"{name}:{PORT}")]


def server_command(
    *, hosts: Sequence[str], workers: int, database_uri: pulumi.Output[str], artifacts: pulumi.Output[str]
) -> list[pulumi.Input[str]]:
    """The command line of the server container. `database_uri` holds no password.

    uvicorn, MLflow's default, is the one server that checks hosts. Its metrics go through files below
    METRICS_DIR (checked on 3.17.2: they work with several workers).
    """
    return [
        "python",
        f"{PROGRAMS_DIR}/serve.py",
        f"MLFLOW_FLASK_SERVER_SECRET_KEY={FLASK_KEY_FILE}",
        "--metrics",
        METRICS_DIR,
        "--",
        "python",
        "-m",
        "mlflow",
        "server",
        "--host=0.0.0.0",
        f"--port={PORT}",
        f"--workers={workers}",
        "--app-name=basic-auth",
        pulumi.Output.concat("--backend-store-uri=", database_uri),
        "--serve-artifacts",
        pulumi.Output.concat("--artifacts-destination=", artifacts),
        f"--expose-prometheus={METRICS_DIR}",
        f"--allowed-hosts={','.join(hosts)}",
        f"--cors-allowed-origins={','.join(f'http://{host}' for host in hosts)}",
    ]


def pod_spec(
    *,
    image: pulumi.Input[str],
    service_account: pulumi.Input[str],
    labels: Mapping[str, str],
    runtime_config_map: pulumi.Input[str],
    secret: pulumi.Input[str],
    pgpass_arguments: Sequence[pulumi.Input[str]],
    database_uri: pulumi.Output[str],
    server_command: Sequence[pulumi.Input[str]],
    region: pulumi.Input[str],
    cpu: pulumi.Input[str],
    memory: pulumi.Input[str],
) -> core.PodSpecArgsDict:
    """The specification. `secret` has the keys that `MlflowServer` writes; `pgpass_arguments` are those of `run`."""
    programs: core.VolumeMountArgsDict = {"name": "programs", "mount_path": PROGRAMS_DIR, "read_only": True}
    tmp: core.VolumeMountArgsDict = {"name": "tmp", "mount_path": "/tmp"}  # noqa: S108 — the pod's own volume
    passfile: core.VolumeMountArgsDict = {"name": "pgpass", "mount_path": "/run/pgpass", "read_only": True}
    auth: core.VolumeMountArgsDict = {"name": "auth", "mount_path": "/etc/mlflow/auth", "read_only": True}
    metrics: core.VolumeMountArgsDict = {"name": "metrics", "mount_path": METRICS_DIR}
    common: list[core.EnvVarArgsDict] = [
        {"name": "HOME", "value": "/tmp"},  # noqa: S108 — the user has no home in the image
        {"name": "PYTHONUNBUFFERED", "value": "1"},
        {"name": "PYTHONDONTWRITEBYTECODE", "value": "1"},
    ]
    # boto3 reads the second name only, the other SDKs the first.
    aws: list[core.EnvVarArgsDict] = [
        *common,
        {"name": "AWS_REGION", "value": region},
        {"name": "AWS_DEFAULT_REGION", "value": region},
    ]
    mlflow: list[core.EnvVarArgsDict] = [
        *aws,
        {"name": "PGPASSFILE", "value": PGPASS_FILE},
        {"name": "MLFLOW_AUTH_CONFIG_PATH", "value": AUTH_FILE},
        # Tracking, registry and accounts have a pool each in every worker: keep their sum below what the
        # database takes, and let connections end before they are older than a password.
        {"name": "MLFLOW_SQLALCHEMYSTORE_POOL_SIZE", "value": "4"},
        {"name": "MLFLOW_SQLALCHEMYSTORE_MAX_OVERFLOW", "value": "4"},
        {"name": "MLFLOW_SQLALCHEMYSTORE_POOL_RECYCLE", "value": "1800"},
        {"name": "MLFLOW_SERVER_ENABLE_JOB_EXECUTION", "value": "false"},  # LLM evaluation jobs: not on this server
        {"name": "MLFLOW_DISABLE_TELEMETRY", "value": "true"},
        {"name": "GIT_PYTHON_REFRESH", "value": "quiet"},  # the image has no git
    ]
    sized: Resources = {
        "requests": {"cpu": cpu, "memory": memory, "ephemeral-storage": "1Gi"},
        "limits": {"cpu": cpu, "memory": memory, "ephemeral-storage": f"{SCRATCH_GIB + 2}Gi"},
    }
    return {
        "service_account_name": service_account,
        "automount_service_account_token": False,
        "enable_service_links": False,
        "termination_grace_period_seconds": 60,
        "node_selector": dict(SYSTEM_NODES),
        "security_context": {
            "run_as_non_root": True,
            "run_as_user": USER_ID,
            "run_as_group": USER_ID,
            "fs_group": USER_ID,
            "seccomp_profile": {"type": "RuntimeDefault"},
        },
        "topology_spread_constraints": [
            {
                "max_skew": 1,
                "topology_key": key,
                "when_unsatisfiable": unsatisfiable,
                "label_selector": {"match_labels": labels},
                "match_label_keys": ["pod-template-hash"],  # the replicas of a rollout, not those they replace
            }
            for key, unsatisfiable in (
                ("kubernetes.io/hostname", "DoNotSchedule"),
                ("topology.kubernetes.io/zone", "ScheduleAnyway"),
            )
        ],
        "init_containers": [
            {
                **_container("pgpass", image, _SMALL["pgpass"]),
                "restart_policy": "Always",  # a native sidecar: the next container starts when its probe passes
                "command": ["python", f"{PROGRAMS_DIR}/pgpass.py", "run", *pgpass_arguments],
                "env": aws,
                "volume_mounts": [programs, tmp, {"name": "pgpass", "mount_path": "/run/pgpass"}],
                **_probes(
                    startup=_program_probe("pgpass.py", "alive", PGPASS_FILE, "120", period=3, failures=60),
                    readiness=_program_probe("pgpass.py", "alive", PGPASS_FILE, "300", period=30, failures=3),
                    liveness=_program_probe("pgpass.py", "alive", PGPASS_FILE, "300", period=60, failures=3),
                ),
            },
            {
                **_container("migrate", image, sized),
                "command": ["python", f"{PROGRAMS_DIR}/migrate.py", database_uri],
                "env": mlflow,
                "volume_mounts": [programs, tmp, passfile, auth],
            },
        ],
        "containers": [
            {
                **_container("server", image, sized),
                "command": server_command,
                "env": mlflow,
                "ports": [{"name": "http", "container_port": PORT}],
                "volume_mounts": [programs, tmp, passfile, auth, metrics],
                # Time for the endpoint to leave every node's rules before the server stops listening.
                "lifecycle": {"pre_stop": {"sleep": {"seconds": 10}}},
                **_probes(
                    startup=_health_probe(period=5, failures=60),
                    readiness=_health_probe(period=10, failures=3),
                    liveness=_health_probe(period=20, failures=6),
                ),
            },
            {
                **_container("users", image, _SMALL["users"]),
                "command": ["python", f"{PROGRAMS_DIR}/users.py", "run"],
                "args": [f"http://127.0.0.1:{PORT}", ADMIN, USERS_DIR, USERS_STATE],
                "env": common,
                "volume_mounts": [
                    programs,
                    {"name": "users", "mount_path": USERS_DIR, "read_only": True},
                    {"name": "users-state", "mount_path": "/run/users"},
                ],
                # Its first round can end only when the server answers, which the server's own start allows 5 minutes.
                **_probes(
                    startup=_program_probe("users.py", "alive", USERS_STATE, "60", period=5, failures=24),
                    readiness=_program_probe("users.py", "alive", USERS_STATE, "900", "--done", period=10, failures=3),
                    liveness=_program_probe("users.py", "alive", USERS_STATE, "900", period=60, failures=3),
                ),
            },
            {
                **_container("metrics", image, _SMALL["metrics"]),
                "command": ["python", f"{PROGRAMS_DIR}/metrics.py", str(METRICS_PORT), METRICS_DIR],
                "env": common,
                "ports": [{"name": "metrics", "container_port": METRICS_PORT}],
                "volume_mounts": [programs, {**metrics, "read_only": True}],
                **_probes(
                    startup=_metrics_probe(period=5, failures=24),
                    readiness=_metrics_probe(period=30, failures=3),
                    liveness=_metrics_probe(period=60, failures=3),
                ),
            },
        ],
        "volumes": [
            {"name": "programs", "config_map": {"name": runtime_config_map, "default_mode": 0o444}},
            {"name": "tmp", "empty_dir": {"size_limit": f"{SCRATCH_GIB}Gi"}},
            {"name": "pgpass", "empty_dir": {"medium": "Memory", "size_limit": "1Mi"}},
            {"name": "metrics", "empty_dir": {"medium": "Memory", "size_limit": "64Mi"}},
            {"name": "users-state", "empty_dir": {"medium": "Memory", "size_limit": "1Mi"}},
            _secret_volume("auth", secret, ("basic_auth.ini", "flask-secret-key")),
            _secret_volume("users", secret, ("admin-password", "users.json")),
        ],
    }


def _container(name: str, image: pulumi.Input[str], resources: Resources) -> core.ContainerArgsDict:
    return {
        "name": name,
        "image": image,
        "image_pull_policy": "IfNotPresent",
        "working_dir": "/tmp",  # noqa: S108 — the image's own belongs to its user
        "resources": resources,
        "security_context": {
            "allow_privilege_escalation": False,
            "read_only_root_filesystem": True,
            "run_as_non_root": True,
            "capabilities": {"drop": ["ALL"]},
        },
    }


def _probes(
    *, startup: core.ProbeArgsDict, readiness: core.ProbeArgsDict, liveness: core.ProbeArgsDict
) -> core.ContainerArgsDict:
    return {"startup_probe": startup, "readiness_probe": readiness, "liveness_probe": liveness}  # type: ignore[typeddict-item]


def _program_probe(program: str, *arguments: str, period: int, failures: int) -> core.ProbeArgsDict:
    return {
        "exec_": {"command": ["python", f"{PROGRAMS_DIR}/{program}", *arguments]},
        "period_seconds": period,
        "timeout_seconds": 10,
        "failure_threshold": failures,
    }


def _health_probe(*, period: int, failures: int) -> core.ProbeArgsDict:
    return {
        # The kubelet would send the pod's address as host, which the server does not know.
        "http_get": {
            "path": "/health",
            "port": "http",
            "http_headers": [{"name": "Host", "value": f"localhost:{PORT}"}],
        },
        "period_seconds": period,
        "timeout_seconds": 10,
        "failure_threshold": failures,
    }


def _metrics_probe(*, period: int, failures: int) -> core.ProbeArgsDict:
    return {
        "http_get": {"path": "/metrics", "port": "metrics"},
        "period_seconds": period,
        "timeout_seconds": 10,
        "failure_threshold": failures,
    }


def _secret_volume(name: str, secret: pulumi.Input[str], keys: Sequence[str]) -> core.VolumeArgsDict:
    # Each container sees its own part of the secret only; 0440 with the pod's group.
    return {
        "name": name,
        "secret": {
            "secret_name": secret,
            "default_mode": 0o440,
            "items": [{"key": key, "path": key} for key in keys],
        },
    }
