"""The MLflow tracking server: database backend, artifacts through the server, accounts, reachable from inside only.

What it manages: a namespace with its default-deny network policies, the Deployment with its Service, account,
configuration and disruption budget, one MLflow account a team, and in each team's namespace the Secret
`mlflow-credentials` with what a client needs (`MLFLOW_TRACKING_URI`, `_USERNAME`, `_PASSWORD`).

What it leaves to the caller: the database, the object store of the artifacts, and what the service account `mlflow`
may do with them, which has to be granted before the pods start: name it in `depends_on`. Network policies hold only
where the cluster's network plugin enforces them.

The password of the database is in no specification, command line or log: a sidecar with a program of the database's
ground writes it into a file in memory, or it is a Secret that is mounted (`mlflow_password`).

Why no Helm chart: the community chart takes the password as a value, and a release hides its objects from the
rehearsal and from the policies.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

import pulumi
import pulumi_kubernetes.apps.v1 as apps
import pulumi_kubernetes.core.v1 as core
import pulumi_kubernetes.policy.v1 as policy
import pulumi_random as random

from trainyard.components.k8s import mlflow_pod as pod
from trainyard.components.k8s import mlflow_runtime
from trainyard.components.k8s.mlflow_args import MlflowServerArgs
from trainyard.components.k8s.mlflow_network import network_policies
from trainyard.components.k8s.mlflow_password import OWN_KEY, password_source, port_text
from trainyard.components.k8s.objects import add_on_namespace, named, prerequisites, service_account
from trainyard.components.outputs import register
from trainyard.conventions import MLFLOW_CREDENTIALS_SECRET, RUNTIME_CHECKSUM_ANNOTATION, SYSTEM_NODES

SERVICE = "mlflow"
SERVICE_ACCOUNT = "mlflow"
LABELS: Mapping[str, str] = {"app.kubernetes.io/name": "mlflow", "app.kubernetes.io/component": "tracking-server"}
PERMISSIONS = ("READ", "USE", "EDIT", "MANAGE", "NO_PERMISSIONS")
"""The values that `default_permission` may have, as MLflow 3.17.2 spells them."""


class MlflowServer(pulumi.ComponentResource):
    """An MLflow tracking server for the teams of one environment.

    Needs the providers `kubernetes` and `random`. Passwords are made once (`RandomPassword`) and are in the stack's
    state, encrypted. The one of the administrator is read from the database once it is there: a new one in the state
    does not change it, and pods with it never become ready.
    """

    tracking_uri: pulumi.Output[str]
    """Address of the server for clients in the cluster: the value of `MLFLOW_TRACKING_URI`."""
    namespace: pulumi.Output[str]
    """Namespace that the server runs in."""
    service_name: str
    """Name of the server's Service."""
    service_account_name: str
    """Name of the server's service account."""
    credential_secrets: dict[str, pulumi.Output[str]]
    """Name of the Secret with each team's account, in that team's namespace; by team."""

    def __init__(self, name: str, args: MlflowServerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError for less than one replica or worker, and for an unknown permission."""
        super().__init__("trainyard:index:MlflowServer", name, {}, opts)
        for key in ("replicas", "workers"):
            if args[key] < 1:
                raise ValueError(f"{name}: {key} has to be at least 1, got {args[key]}")
        self._permission = args.get("default_permission", "READ")
        if self._permission not in PERMISSIONS:
            raise ValueError(
                f"{name}: default_permission has to be one of {', '.join(PERMISSIONS)}, got {self._permission!r}"
            )
        self._name = name
        self._args = args
        self._after = prerequisites(opts)
        self.service_name = SERVICE
        self.service_account_name = SERVICE_ACCOUNT

        self._namespace = add_on_namespace(f"{name}-namespace", args["namespace"], self, depends_on=self._after)
        self.namespace = named(self._namespace, args["namespace"])
        network_policies(
            name,
            namespace=self.namespace,
            labels=LABELS,
            database_cidrs=args["database"]["cidrs"],
            database_port=args["database"]["port"],
            addresses=args.get("addresses"),
            monitoring_namespace=args.get("monitoring_namespace", "monitoring"),
            opts=self._child(),
        )
        service = self._service()
        self.tracking_uri = named(service, f"http://{SERVICE}.{args['namespace']}.svc.cluster.local:{pod.PORT}")
        passwords = {team: self._password(f"user-{team}") for team in sorted(args["team_namespaces"])}
        self._deployment(passwords)
        self.credential_secrets = {team: self._credentials(team, password) for team, password in passwords.items()}
        register(self)

    def _child(self) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(parent=self, depends_on=self._after)

    def _password(self, suffix: str) -> pulumi.Output[str]:
        """32 letters and digits: more than 190 bits, and nothing to escape in an ini file, in JSON or in a URL."""
        made = random.RandomPassword(f"{self._name}-{suffix}", length=32, special=False, opts=self._child())
        return pulumi.Output.secret(made.result)

    def _database_uri(self) -> pulumi.Output[str]:
        """The database's address as SQLAlchemy takes it, without a password: libpq takes that from a file or a
        variable of the process. The driver is named because SQLAlchemy 2.1 changed its default to one that the image
        lacks."""
        database = self._args["database"]
        tls = f"sslmode=verify-full&sslrootcert={pod.CA_FILE}" if database.get("ca_certificates") else "sslmode=require"

        def compose(parts: Sequence[str]) -> str:
            user, address, port, name = parts
            return f"postgresql+psycopg2://{quote(user, safe='')}@{address}:{port}/{quote(name, safe='')}?{tls}"

        return pulumi.Output.all(
            database["username"],
            database["address"],
            port_text(database),
            database["name"],
        ).apply(compose)

    def _secret(self, passwords: Mapping[str, pulumi.Output[str]]) -> core.Secret:
        """Everything that the pod has to keep to itself. Named by Pulumi: changed content makes a new Secret beside the
        old one and a new pod template with its name, so no pod ever starts with half a change."""
        admin, database = self._password("admin"), self._args["database"]
        ini = pulumi.Output.all(self._database_uri(), admin).apply(
            lambda parts: auth_configuration(
                database_uri=parts[0],
                admin_password=parts[1],
                default_permission=self._permission,
            )
        )
        users = pulumi.Output.all(**passwords).apply(lambda known: json.dumps(known, sort_keys=True))
        return core.Secret(
            f"{self._name}-server",
            metadata={"namespace": self.namespace, "labels": LABELS},
            string_data={
                "basic_auth.ini": ini,
                "flask-secret-key": self._password("flask-key"),
                "admin-password": admin,
                "users.json": users,
                **({OWN_KEY: pulumi.Output.secret(database["password"])} if "password" in database else {}),
            },
            opts=self._child(),
        )

    def _deployment(self, passwords: Mapping[str, pulumi.Output[str]]) -> None:
        args, database = self._args, self._args["database"]
        secret = self._secret(passwords)
        password = password_source(database, _given_name(secret))
        programs = {**password.programs, **mlflow_runtime.sources()}
        ca = database.get("ca_certificates")
        if ca:
            programs[Path(pod.CA_FILE).name] = ca
        checksum = hashlib.sha256(json.dumps(programs, sort_keys=True).encode()).hexdigest()
        runtime = core.ConfigMap(
            f"{self._name}-runtime",
            metadata={"namespace": self.namespace, "labels": LABELS},
            data=programs,
            opts=self._child(),
        )
        account = service_account(
            f"{self._name}-service-account",
            SERVICE_ACCOUNT,
            self.namespace,
            labels=LABELS,
            annotations=args.get("service_account_annotations", {}),
            opts=self._child(),
        )
        uri = self._database_uri()
        spec = pod.ServerPod(
            image=args["image"],
            service_account=named(account, SERVICE_ACCOUNT),
            labels=LABELS,
            runtime_config_map=_given_name(runtime),
            secret=_given_name(secret),
            password=password,
            database_uri=uri,
            server_command=pod.server_command(
                hosts=pod.allowed_hosts(SERVICE, args["namespace"]),
                workers=args["workers"],
                database_uri=uri,
                artifacts_uri=args["artifacts_uri"],
                from_files=password.from_files,
            ),
            environment=args.get("environment", {}),
            node_selector=args.get("node_selector", SYSTEM_NODES),
            cpu=args["cpu"],
            memory=args["memory"],
        ).spec()
        apps.Deployment(
            f"{self._name}-deployment",
            metadata={"name": SERVICE, "namespace": self.namespace, "labels": LABELS},
            spec={
                "replicas": args["replicas"],
                "revision_history_limit": 3,
                "progress_deadline_seconds": 900,
                "selector": {"match_labels": LABELS},
                # The old pods serve until the new ones do.
                "strategy": {"type": "RollingUpdate", "rolling_update": {"max_surge": 1, "max_unavailable": 0}},
                "template": {
                    "metadata": {
                        "labels": LABELS,
                        "annotations": {
                            RUNTIME_CHECKSUM_ANNOTATION: checksum,
                            "prometheus.io/scrape": "true",
                            "prometheus.io/port": str(pod.METRICS_PORT),
                            "prometheus.io/path": "/metrics",
                        },
                    },
                    "spec": spec,
                },
            },
            opts=self._child(),
        )
        policy.PodDisruptionBudget(
            f"{self._name}-disruption-budget",
            metadata={"name": SERVICE, "namespace": self.namespace, "labels": LABELS},
            # Not minAvailable: 1, with which a single replica could never leave its node.
            spec={
                "max_unavailable": 1,
                "unhealthy_pod_eviction_policy": "AlwaysAllow",
                "selector": {"match_labels": LABELS},
            },
            opts=self._child(),
        )

    def _service(self) -> core.Service:
        return core.Service(
            f"{self._name}-service",
            metadata={
                "name": SERVICE,
                "namespace": self.namespace,
                "labels": LABELS,
                # The pods are made after the Service, which would otherwise be waited for in vain.
                "annotations": {"pulumi.com/skipAwait": "true"},
            },
            spec={
                "type": "ClusterIP",
                "selector": LABELS,
                "ports": [{"name": "http", "port": pod.PORT, "target_port": "http", "protocol": "TCP"}],
            },
            opts=self._child(),
        )

    def _credentials(self, team: str, password: pulumi.Output[str]) -> pulumi.Output[str]:
        """The team's Secret. Its name is fixed because jobs name it; pods that run keep what they have mounted."""
        secret = core.Secret(
            f"{self._name}-credentials-{team}",
            metadata={
                "name": MLFLOW_CREDENTIALS_SECRET,
                "namespace": self._args["team_namespaces"][team],
                "labels": LABELS,
            },
            string_data={
                "MLFLOW_TRACKING_URI": self.tracking_uri,
                "MLFLOW_TRACKING_USERNAME": team,
                "MLFLOW_TRACKING_PASSWORD": password,
            },
            opts=self._child(),
        )
        return named(secret, MLFLOW_CREDENTIALS_SECRET)


def _given_name(resource: core.ConfigMap | core.Secret) -> pulumi.Output[str]:
    """The name that Pulumi gave an object; its id is `namespace/name`."""
    return resource.id.apply(lambda identity: identity.rsplit("/", 1)[-1])


def auth_configuration(*, database_uri: str, admin_password: str, default_permission: str) -> str:
    """The file that `MLFLOW_AUTH_CONFIG_PATH` names.

    Accounts are in the same database as the runs: their tables keep their version apart, in `alembic_version_auth`
    (read in MLflow 3.17.2). A successful login is remembered for a minute in each process, which spares a password
    hash at every request and lets an old password work that much longer.
    """
    entries = {
        "default_permission": default_permission,
        "database_uri": database_uri,
        "admin_username": pod.ADMIN,
        "admin_password": admin_password,
        "authorization_function": "mlflow.server.auth:authenticate_request_basic_auth",
        "auth_cache_ttl_seconds": "60",
    }
    # `%` starts an interpolation in an ini file.
    lines = [f"{key} = {value.replace('%', '%%')}" for key, value in entries.items()]
    return "\n".join(["[mlflow]", *lines, ""])
