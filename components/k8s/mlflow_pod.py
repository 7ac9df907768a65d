"""The pod of the MLflow server: containers, mounts and probes, without any resource.

pgpass   (native sidecar)  keeps the password file of the database up to date, where it comes from a program
migrate  (init container)  database schema, once the password is there
server                     MLflow, started by serve.py
users                      the teams' accounts and their people's
metrics                    the server's metrics on a port of their own
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import pulumi
import pulumi_kubernetes.core.v1 as core

from trainyard.components.k8s import pod_parts as parts
from trainyard.conventions import MLFLOW_ADMIN, MLFLOW_POOL_OVERFLOW, MLFLOW_POOL_SIZE, MLFLOW_PORT, ZONE_LABEL

PORT = MLFLOW_PORT
METRICS_PORT = 9102
USER_ID = 10001  # scanners ask for at least 10000, so that it cannot be a user of the host
SCRATCH_GIB = 20  # an artifact on its way through the server lies here as a whole

PROGRAMS_DIR = "/opt/trainyard"
CA_FILE = f"{PROGRAMS_DIR}/ca.pem"  # of the database
AUTHORITY_FILE = f"{PROGRAMS_DIR}/tracking-ca.pem"  # of the server's own certificate
AUTH_DIR = "/etc/mlflow/auth"
AUTH_FILE = f"{AUTH_DIR}/basic_auth.ini"
FLASK_KEY_FILE = f"{AUTH_DIR}/flask-secret-key"
KEK_FILE = f"{AUTH_DIR}/kek-passphrase"
SERVER_PASSWORD = "server-password"  # noqa: S105 - a key
SERVER_PASSWORD_FILE = f"{AUTH_DIR}/{SERVER_PASSWORD}"
USERS_DIR = "/etc/mlflow/users"
USERS_STATE_DIR = "/run/users"
USERS_STATE = f"{USERS_STATE_DIR}/state"
METRICS_DIR = "/run/metrics"
AUTH_KEYS = ("basic_auth.ini", "flask-secret-key", "kek-passphrase", "tls.crt", "tls.key")
USERS_KEYS = ("admin-password", "admin-password-before", "users.json")

PROGRAMS: core.VolumeMountArgsDict = {"name": "programs", "mount_path": PROGRAMS_DIR, "read_only": True}
TMP: core.VolumeMountArgsDict = {"name": "tmp", "mount_path": "/tmp"}  # noqa: S108 — the pod's own volume
_AUTH: core.VolumeMountArgsDict = {"name": "auth", "mount_path": AUTH_DIR, "read_only": True}
_METRICS: core.VolumeMountArgsDict = {"name": "metrics", "mount_path": METRICS_DIR}

_COMMON: Mapping[str, str] = {
    "HOME": "/tmp",  # noqa: S108 — the user has no home in the image
    "PYTHONUNBUFFERED": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}
_OF_MLFLOW: Mapping[str, str] = {
    "PYTHONPATH": PROGRAMS_DIR,  # where `MLFLOW_AUTHORIZATION` is
    "MLFLOW_AUTH_CONFIG_PATH": AUTH_FILE,
    "MLFLOW_BASIC_AUTH_FAIL_CLOSED": "true",  # a route that nobody judges is closed
    # No calls to language models with keys of the server, and none to addresses that a team chooses.
    "MLFLOW_GATEWAY_ALLOWED_PROVIDERS": "none",
    # Connections end before they are older than a password.
    "MLFLOW_SQLALCHEMYSTORE_POOL_SIZE": str(MLFLOW_POOL_SIZE),
    "MLFLOW_SQLALCHEMYSTORE_MAX_OVERFLOW": str(MLFLOW_POOL_OVERFLOW),
    "MLFLOW_SQLALCHEMYSTORE_POOL_RECYCLE": "1800",
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",  # LLM evaluation jobs: not on this server
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "GIT_PYTHON_REFRESH": "quiet",  # the image has no git
}

Resources = core.ResourceRequirementsArgsDict

_SMALL: dict[str, Resources] = {
    name: {
        "requests": {"cpu": cpu, "memory": memory},
        "limits": {"cpu": cpu_limit, "memory": memory},
    }
    for name, cpu, cpu_limit, memory in (
        ("users", "10m", "100m", "64Mi"),
        ("metrics", "10m", "100m", "96Mi"),
    )
}


def names_of(service: str, namespace: str) -> list[str]:
    """Every name that the Service is called by, the longest first, and the pod's own."""
    names = [
        f"{service}.{namespace}.svc.cluster.local",
        f"{service}.{namespace}.svc",
        f"{service}.{namespace}",
        service,
    ]
    return [*names, "localhost"]


def allowed_hosts(service: str, namespace: str) -> list[str]:
    """The names that a request may be for, each with and without its port.

    MLflow compares the whole Host header, and clients put the port into it when it is not that of the scheme.
    """
    return [host for name in (*names_of(service, namespace), "127.0.0.1") for host in (name, f"{name}:{PORT}")]


def server_user(group: str, version: int) -> str:
    """The user of the database that a version of the passwords has, as `mlflow_runtime/migrate.py` makes it."""
    return f"{group}_v{version}"


@dataclass(frozen=True, kw_only=True)
class PasswordSource:
    """What containers that talk to the database need for its password (`mlflow_password` makes it)."""

    mount: core.VolumeMountArgsDict
    """Where they find it."""
    volume: core.VolumeArgsDict
    """The volume of the mount."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Variables that lead libpq to it."""
    from_files: Sequence[str] = ()
    """NAME=FILE: variables that `serve.py` sets from mounted files."""
    programs: Mapping[str, str] = field(default_factory=dict)
    """Further programs that lie beside those of the server: file name to source."""
    sidecar: Callable[[pulumi.Input[str], Sequence[core.EnvVarArgsDict]], core.ContainerArgsDict] | None = None
    """Makes the container that keeps it up to date, of the image and the variables; None where there is none."""


def server_command(
    *,
    hosts: Sequence[str],
    workers: int,
    database_uri: pulumi.Output[str],
    artifacts_uri: pulumi.Input[str],
    from_files: Sequence[str],
) -> list[pulumi.Input[str]]:
    """The command line of the server container. `database_uri` holds no password.

    uvicorn, MLflow's default, is the one server that checks hosts. Its metrics go through files below
    METRICS_DIR (checked on 3.17.2: they work with several workers).
    """
    return [
        "python",
        f"{PROGRAMS_DIR}/serve.py",
        f"MLFLOW_FLASK_SERVER_SECRET_KEY={FLASK_KEY_FILE}",
        f"MLFLOW_CRYPTO_KEK_PASSPHRASE={KEK_FILE}",
        *from_files,
        "--metrics",
        METRICS_DIR,
        "--",
        "python",
        "-m",
        "mlflow",
        "server",
        "--host=0.0.0.0",
        f"--port={PORT}",
        f"--uvicorn-opts=--ssl-certfile={AUTH_DIR}/tls.crt --ssl-keyfile={AUTH_DIR}/tls.key",
        f"--workers={workers}",
        "--app-name=basic-auth",
        pulumi.Output.concat("--backend-store-uri=", database_uri),
        "--serve-artifacts",
        pulumi.Output.concat("--artifacts-destination=", artifacts_uri),
        f"--expose-prometheus={METRICS_DIR}",
        f"--allowed-hosts={','.join(hosts)}",
        f"--cors-allowed-origins={','.join(f'https://{host}' for host in hosts)}",
    ]


@dataclass(frozen=True, kw_only=True)
class ServerPod:
    """What differs between two servers' pods; `spec()` is the pod."""

    image: pulumi.Input[str]
    service_account: pulumi.Input[str]
    labels: Mapping[str, str]
    runtime_config_map: pulumi.Input[str]
    secret: pulumi.Input[str]
    """Name of the Secret with the keys that `MlflowServer` writes."""
    password: PasswordSource
    """Where the database's password comes from."""
    owner_uri: pulumi.Output[str]
    """Address of the database as the owner of the tables has it."""
    server_user: tuple[str, int] | None
    """Name and version of the server's own user of the database; None where it is the owner."""
    server_command: Sequence[pulumi.Input[str]]
    environment: Mapping[str, pulumi.Input[str]]
    """Further variables of the containers that talk to the ground."""
    node_selector: Mapping[str, str]
    """Labels of the nodes that it runs on; empty: any."""
    cpu: pulumi.Input[str]
    memory: pulumi.Input[str]

    def spec(self) -> core.PodSpecArgsDict:
        """The pod's specification (PodSpec)."""
        spec: core.PodSpecArgsDict = {
            "service_account_name": self.service_account,
            "automount_service_account_token": False,
            "enable_service_links": False,
            "termination_grace_period_seconds": 60,
            "security_context": {
                "run_as_non_root": True,
                "run_as_user": USER_ID,
                "run_as_group": USER_ID,
                "fs_group": USER_ID,
                "seccomp_profile": {"type": "RuntimeDefault"},
            },
            "topology_spread_constraints": [
                self._spread("kubernetes.io/hostname", "DoNotSchedule"),
                self._spread(ZONE_LABEL, "ScheduleAnyway"),
            ],
            "init_containers": [*self._sidecars(), self._migrate()],
            "containers": [self._server(), self._users(), self._metrics()],
            "volumes": self._volumes(),
        }
        spec["tolerations"] = [parts.system_toleration()]
        if self.node_selector:  # an API server keeps no empty one: it would be a change at every preview
            spec["node_selector"] = dict(self.node_selector)
        return spec

    def _spread(self, key: str, unsatisfiable: str) -> core.TopologySpreadConstraintArgsDict:
        return {
            "max_skew": 1,
            "topology_key": key,
            "when_unsatisfiable": unsatisfiable,
            "label_selector": {"match_labels": self.labels},
            "match_label_keys": ["pod-template-hash"],  # the replicas of a rollout, not those they replace
        }

    def _sidecars(self) -> list[core.ContainerArgsDict]:
        if self.password.sidecar is None:
            return []
        return [self.password.sidecar(self.image, parts.variables(_COMMON, self.environment))]

    def _migrate(self) -> core.ContainerArgsDict:
        files = self.password.from_files
        first = ["python", f"{PROGRAMS_DIR}/serve.py", *files, "--"] if files else []
        own = [self.server_user[0], str(self.server_user[1]), SERVER_PASSWORD_FILE] if self.server_user else []
        return {
            **parts.restricted_container("migrate", self.image, self._size()),
            "command": [*first, "python", f"{PROGRAMS_DIR}/migrate.py", self.owner_uri, *own],
            "env": parts.variables(_COMMON, self.environment, self.password.variables, _OF_MLFLOW),
            "volume_mounts": [PROGRAMS, TMP, self.password.mount, {**_AUTH, "name": "migration"}],
        }

    def _server(self) -> core.ContainerArgsDict:
        # With a user of its own it sees nothing of the owner's password.
        owner = ([], {}) if self.server_user else ([self.password.mount], self.password.variables)
        mounts, variables = owner
        return {
            **parts.restricted_container("server", self.image, self._size()),
            "command": self.server_command,
            "env": parts.variables(_COMMON, self.environment, variables, _OF_MLFLOW),
            "ports": [{"name": "https", "container_port": PORT}],
            "volume_mounts": [PROGRAMS, TMP, *mounts, _AUTH, _METRICS],
            # Time for the endpoint to leave every node's rules before the server stops listening.
            "lifecycle": {"pre_stop": {"sleep": {"seconds": 10}}},
            "startup_probe": _health_probe(period=5, failures=60),
            "readiness_probe": _health_probe(period=10, failures=3),
            "liveness_probe": _health_probe(period=20, failures=6),
        }

    def _users(self) -> core.ContainerArgsDict:
        def alive(*arguments: str, period: int, failures: int) -> core.ProbeArgsDict:
            command = ("python", f"{PROGRAMS_DIR}/users.py", "alive", USERS_STATE, *arguments)
            return parts.exec_probe(*command, period=period, failures=failures)

        return {
            **parts.restricted_container("users", self.image, _SMALL["users"]),
            "command": ["python", f"{PROGRAMS_DIR}/users.py", "run"],
            "args": [f"https://127.0.0.1:{PORT}", AUTHORITY_FILE, MLFLOW_ADMIN, USERS_DIR, USERS_STATE],
            "env": parts.variables(_COMMON),
            "volume_mounts": [
                PROGRAMS,
                {"name": "users", "mount_path": USERS_DIR, "read_only": True},
                {"name": "users-state", "mount_path": USERS_STATE_DIR},
            ],
            # Its first round can end only when the server answers, which the server's own start allows 5 minutes.
            "startup_probe": alive("60", period=5, failures=24),
            "readiness_probe": alive("900", "--done", period=10, failures=3),
            "liveness_probe": alive("900", period=60, failures=3),
        }

    def _metrics(self) -> core.ContainerArgsDict:
        return {
            **parts.restricted_container("metrics", self.image, _SMALL["metrics"]),
            "command": ["python", f"{PROGRAMS_DIR}/metrics.py", str(METRICS_PORT), METRICS_DIR],
            "env": parts.variables(_COMMON),
            "ports": [{"name": "metrics", "container_port": METRICS_PORT}],
            "volume_mounts": [PROGRAMS, parts.read_only(_METRICS)],
            "startup_probe": _metrics_probe(period=5, failures=24),
            "readiness_probe": _metrics_probe(period=30, failures=3),
            "liveness_probe": _metrics_probe(period=60, failures=3),
        }

    def _size(self) -> Resources:
        return {
            "requests": {"cpu": self.cpu, "memory": self.memory, "ephemeral-storage": "1Gi"},
            "limits": {"cpu": self.cpu, "memory": self.memory, "ephemeral-storage": f"{SCRATCH_GIB + 2}Gi"},
        }

    def _volumes(self) -> list[core.VolumeArgsDict]:
        own = (SERVER_PASSWORD,) if self.server_user else ()
        return [
            {"name": "programs", "config_map": {"name": self.runtime_config_map, "default_mode": 0o444}},
            {"name": "tmp", "empty_dir": {"size_limit": f"{SCRATCH_GIB}Gi"}},
            self.password.volume,
            {"name": "metrics", "empty_dir": {"medium": "Memory", "size_limit": "64Mi"}},
            {"name": "users-state", "empty_dir": {"medium": "Memory", "size_limit": "1Mi"}},
            parts.secret_volume("migration", self.secret, ("basic_auth.ini", *own)),
            parts.secret_volume("auth", self.secret, (*AUTH_KEYS, *own)),
            parts.secret_volume("users", self.secret, USERS_KEYS),
        ]


def _health_probe(*, period: int, failures: int) -> core.ProbeArgsDict:
    # The kubelet would send the pod's address as host, which the server does not know.
    host: core.HTTPHeaderArgsDict = {"name": "Host", "value": f"localhost:{PORT}"}
    return parts.http_probe(
        {"path": "/health", "port": "https", "scheme": "HTTPS", "http_headers": [host]},
        period=period,
        failures=failures,
    )


def _metrics_probe(*, period: int, failures: int) -> core.ProbeArgsDict:
    return parts.http_probe({"path": "/metrics", "port": "metrics"}, period=period, failures=failures)
