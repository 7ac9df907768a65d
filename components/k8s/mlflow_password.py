"""How the MLflow pod gets the password of its database: from a program of the database's ground, or from a Secret,
somebody's or the server's own.

Either way it is in no specification, command line or log. libpq reads a program's file at every new connection, so that
a rotated password is in use without a restart; a Secret's is read when a container starts.
"""

from collections.abc import Sequence

import pulumi
import pulumi_kubernetes.core.v1 as core

from trainyard.components.k8s import mlflow_pod as pod
from trainyard.components.k8s import pod_parts as parts
from trainyard.components.k8s.mlflow_args import MlflowDatabaseArgs, PasswordProgramArgs

PGPASS_PROGRAM = "pgpass.py"
PGPASS_DIR = "/run/pgpass"
PGPASS_FILE = f"{PGPASS_DIR}/pgpass"
SOURCES = ("password_program", "password_secret", "password")
"""Arguments of a database of which one is given."""

OWN_KEY = "database-password"
"""Key of the password in the server's own Secret."""

SECRET_DIR = "/etc/mlflow/database"  # noqa: S105 - a folder

_PASSFILE: core.VolumeMountArgsDict = {"name": "pgpass", "mount_path": PGPASS_DIR}
_SIZE: core.ResourceRequirementsArgsDict = {
    # The client of a cloud's secrets alone takes about 70 MiB.
    "requests": {"cpu": "20m", "memory": "160Mi"},
    "limits": {"cpu": "200m", "memory": "160Mi"},
}


def password_source(database: MlflowDatabaseArgs, own_secret: pulumi.Input[str]) -> pod.PasswordSource:
    """What the pod needs for the password; `own_secret` is the name of the server's Secret.

    Raises ValueError unless there is exactly one source of it.
    """
    given = [name for name in SOURCES if name in database]
    if len(given) != 1:
        found = " and ".join(given) or "none"
        raise ValueError(f"the password of the database comes from one of {', '.join(SOURCES)}; got {found}")
    if "password_program" in database:
        return _of_program(database["password_program"], database)
    if "password_secret" in database:
        return _of_secret(database["password_secret"]["name"], database["password_secret"]["key"])
    return _of_secret(own_secret, OWN_KEY)


def _of_secret(name: pulumi.Input[str], key: str) -> pod.PasswordSource:
    """The Secret as a file, which `serve.py` hands to the process: a variable of the specification would be another
    place to read it (CKV_K8S_35)."""
    return pod.PasswordSource(
        mount={"name": "database", "mount_path": SECRET_DIR, "read_only": True},
        volume=parts.secret_volume("database", name, (key,)),
        from_files=(f"PGPASSWORD={SECRET_DIR}/{key}",),
    )


def _of_program(program: PasswordProgramArgs, database: MlflowDatabaseArgs) -> pod.PasswordSource:
    arguments: list[pulumi.Input[str]] = [
        program["secret"],
        database["address"],
        port_text(database),
        database["name"],
        database["username"],
        PGPASS_FILE,
        f"--interval={program['interval_seconds']}",
    ]
    return pod.PasswordSource(
        mount=parts.read_only(_PASSFILE),
        volume={"name": "pgpass", "empty_dir": {"medium": "Memory", "size_limit": "1Mi"}},
        variables={"PGPASSFILE": PGPASS_FILE},
        programs={PGPASS_PROGRAM: program["source"]},
        sidecar=lambda image, environment: _sidecar(image, environment, arguments),
    )


def port_text(database: MlflowDatabaseArgs) -> pulumi.Output[str]:
    """The database's port as text: a number may come as a float from another language."""
    return pulumi.Output.from_input(database["port"]).apply(lambda port: str(int(port)))


def _sidecar(
    image: pulumi.Input[str], environment: Sequence[core.EnvVarArgsDict], arguments: Sequence[pulumi.Input[str]]
) -> core.ContainerArgsDict:
    def alive(seconds: int, *, period: int, failures: int) -> core.ProbeArgsDict:
        command = ("python", f"{pod.PROGRAMS_DIR}/{PGPASS_PROGRAM}", "alive", PGPASS_FILE, str(seconds))
        return parts.exec_probe(*command, period=period, failures=failures)

    return {
        **parts.restricted_container("pgpass", image, _SIZE),
        "restart_policy": "Always",  # a native sidecar: the next container starts when its probe passes
        "command": ["python", f"{pod.PROGRAMS_DIR}/{PGPASS_PROGRAM}", "run", *arguments],
        "env": environment,
        "volume_mounts": [pod.PROGRAMS, pod.TMP, _PASSFILE],
        "startup_probe": alive(120, period=3, failures=60),
        "readiness_probe": alive(300, period=30, failures=3),
        "liveness_probe": alive(300, period=60, failures=3),
    }
