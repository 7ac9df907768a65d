"""The MLflow tracking server: database backend, artifacts through the server, accounts, reachable from inside only.

What it manages: a namespace with its default-deny network policies, the Deployment with its Service, certificate,
account, configuration and disruption budget, one MLflow account a team, and in each team's namespace the Secret
`mlflow-credentials` with what a client needs: `MLFLOW_TRACKING_URI`, `_USERNAME`, `_PASSWORD`, and the authority of
the server's certificate, which `MLFLOW_TRACKING_SERVER_CERT_PATH` finds where the Secret is mounted at
`MLFLOW_CREDENTIALS_PATH`. People's own logins are in the Secret `mlflow-people` of the server's namespace: whoever runs
the platform hands them out.

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

from trainyard.capture import derived
from trainyard.components.k8s import mlflow_pod as pod
from trainyard.components.k8s import mlflow_runtime
from trainyard.components.k8s.mlflow_args import MlflowServerArgs
from trainyard.components.k8s.mlflow_certificate import server_certificate
from trainyard.components.k8s.mlflow_logins import Logins, as_json, auth_configuration
from trainyard.components.k8s.mlflow_network import network_policies
from trainyard.components.k8s.mlflow_password import OWN_KEY, password_source, port_text
from trainyard.components.k8s.mlflow_sign_on import check_sign_on, sign_on_file
from trainyard.components.k8s.objects import (
    add_on_namespace,
    disruption_budget,
    named,
    service,
    service_account,
)
from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites
from trainyard.conventions import (
    MLFLOW_CREDENTIALS_PATH,
    MLFLOW_CREDENTIALS_SECRET,
    MLFLOW_PEOPLE_SECRET,
    MLFLOW_PERMISSIONS,
    MLFLOW_SERVICE,
    MLFLOW_SIGN_ON,
    RUNTIME_CHECKSUM_ANNOTATION,
    SYSTEM_NODES,
)

SERVICE_ACCOUNT = "mlflow"
CA_KEY = "ca.crt"
"""Key of the authority in a team's Secret."""
LABELS: Mapping[str, str] = {"app.kubernetes.io/name": "mlflow", "app.kubernetes.io/component": "tracking-server"}


class MlflowServer(pulumi.ComponentResource):
    """An MLflow tracking server for the teams of one environment.

    Needs the providers `kubernetes`, `random` and `tls`. Passwords and keys are made once and are in the stack's state,
    encrypted; `password_version` replaces the passwords (`mlflow_logins`).
    """

    tracking_uri: pulumi.Output[str]
    """Address of the server for clients in the cluster: the value of `MLFLOW_TRACKING_URI`."""
    certificate_ends: pulumi.Output[str]
    """When its certificate is valid no more, RFC 3339."""
    namespace: pulumi.Output[str]
    """Namespace that the server runs in."""
    service_name: str
    """Name of the server's Service."""
    service_account_name: str
    """Name of the server's service account."""
    credential_secrets: dict[str, pulumi.Output[str]]
    """Name of the Secret with each team's account, in that team's namespace; by team."""

    def __init__(self, name: str, args: MlflowServerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError for less than one replica or worker, an unknown permission, and a single sign-on that would
        let in whom it is not for."""
        super().__init__("trainyard:index:MlflowServer", name, {}, opts)
        for key in ("replicas", "workers"):
            if args[key] < 1:
                raise ValueError(f"{name}: {key} has to be at least 1, got {args[key]}")
        self._permission = args.get("default_permission", "NO_PERMISSIONS")
        if self._permission not in MLFLOW_PERMISSIONS:
            raise ValueError(
                f"{name}: default_permission has to be one of {', '.join(MLFLOW_PERMISSIONS)}, got {self._permission!r}"
            )
        if "sign_on" in args:
            check_sign_on(name, args["sign_on"], args["team_namespaces"])
        self._name = name
        self._args = args
        self._after = prerequisites(opts)
        self._logins = Logins(name, args.get("password_version", 1), self._child())
        self.service_name = MLFLOW_SERVICE
        self.service_account_name = SERVICE_ACCOUNT

        self._namespace = add_on_namespace(f"{name}-namespace", args["namespace"], self, depends_on=self._after)
        self.namespace = named(self._namespace, args["namespace"])
        # A strict network lets nothing by before them: migrations that find no database use up the deadline.
        self._walls = network_policies(
            name,
            namespace=self.namespace,
            labels=LABELS,
            database_cidrs=args["database"]["cidrs"],
            database_port=args["database"]["port"],
            addresses=args.get("addresses"),
            monitoring_namespace=args.get("monitoring_namespace", "monitoring"),
            sign_on=args.get("sign_on"),
            opts=self._child(),
        )
        service = self._service()
        self.tracking_uri = named(service, f"https://{MLFLOW_SERVICE}.{args['namespace']}.svc.cluster.local:{pod.PORT}")
        self._certificate = server_certificate(name, pod.names_of(MLFLOW_SERVICE, args["namespace"]), self._child())
        self.certificate_ends = self._certificate.ends
        self._users: dict[str, pulumi.Output[str] | None] = {}
        self.credential_secrets = {team: self._team(team) for team in sorted(args["team_namespaces"])}
        self._people()
        self._deployment()
        register(self)

    def _child(self) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(parent=self, depends_on=self._after)

    def _database_uri(self, user: pulumi.Input[str]) -> pulumi.Output[str]:
        """The database's address as SQLAlchemy takes it, without a password: libpq takes that from a file or a
        variable of the process. The driver is named because SQLAlchemy 2.1 changed its default to one that the image
        lacks."""
        database = self._args["database"]
        mode = database.get("ssl_mode", "verify-full")
        if mode not in ("verify-full", "verify-ca"):
            raise ValueError(f"database: ssl_mode {mode!r}; verify-full or verify-ca")
        tls = f"sslmode={mode}&sslrootcert={pod.CA_FILE}" if database.get("ca_certificates") else "sslmode=require"

        def compose(parts: Sequence[str]) -> str:
            user, address, port, name = parts
            return f"postgresql+psycopg2://{quote(user, safe='')}@{address}:{port}/{quote(name, safe='')}?{tls}"

        return pulumi.Output.all(
            user,
            database["address"],
            port_text(database),
            database["name"],
        ).apply(compose)

    def _server_user(self) -> pulumi.Input[str]:
        database = self._args["database"]
        return (
            pod.server_user(database["server_user"], self._logins.version)
            if "server_user" in database
            else (database["username"])
        )

    def _secret(self) -> core.Secret:
        """Everything that the pod has to keep to itself. Named by Pulumi: changed content makes a new Secret beside the
        old one and a new pod template with its name, so no pod ever starts with half a change."""
        database, logins = self._args["database"], self._logins
        admin, admin_before = logins.latest("admin")
        ini = pulumi.Output.all(self._database_uri(self._server_user()), admin).apply(
            lambda parts: auth_configuration(
                database_uri=parts[0],
                admin_password=parts[1],
                default_permission=self._permission,
            )
        )
        return core.Secret(
            f"{self._name}-server",
            metadata={"namespace": self.namespace, "labels": LABELS},
            string_data={
                "basic_auth.ini": ini,
                "flask-secret-key": logins.password("flask-key"),
                # What encrypts the keys of language models; left out, it is one that everybody can read in MLflow.
                "kek-passphrase": logins.password("kek"),
                "tls.crt": self._certificate.certificate,
                "tls.key": self._certificate.key,
                "admin-password": admin,
                # Empty where there was none before: a volume's keys do not come and go.
                "admin-password-before": admin_before or "",
                "users.json": as_json(self._users),
                **(
                    {pod.SERVER_PASSWORD: logins.password("database", logins.version)}
                    if "server_user" in database
                    else {}
                ),
                **({OWN_KEY: pulumi.Output.secret(database["password"])} if "password" in database else {}),
            },
            opts=self._child(),
        )

    def _deployment(self) -> None:
        args, database = self._args, self._args["database"]
        secret = self._secret()
        password = password_source(database, _given_name(secret))
        programs: dict[str, pulumi.Input[str]] = {**password.programs, **mlflow_runtime.sources()}
        ca = database.get("ca_certificates")
        if ca:
            programs[Path(pod.CA_FILE).name] = ca
        if "sign_on" in args:
            programs[MLFLOW_SIGN_ON] = sign_on_file(args["sign_on"])
        checksum = pulumi.Output.all(**programs).apply(lambda known: _checksum(json.dumps(known, sort_keys=True)))
        runtime = core.ConfigMap(
            f"{self._name}-runtime",
            metadata={"namespace": self.namespace, "labels": LABELS},
            data={**programs, Path(pod.AUTHORITY_FILE).name: self._certificate.authority},
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
        own = "server_user" in database
        uri = self._database_uri(self._server_user())
        spec = pod.ServerPod(
            image=args["image"],
            service_account=named(account, SERVICE_ACCOUNT),
            labels=LABELS,
            runtime_config_map=_given_name(runtime),
            secret=_given_name(secret),
            password=password,
            owner_uri=self._database_uri(database["username"]),
            server_user=(database["server_user"], self._logins.version) if "server_user" in database else None,
            server_command=pod.server_command(
                hosts=pod.allowed_hosts(MLFLOW_SERVICE, args["namespace"]),
                workers=args["workers"],
                database_uri=uri,
                artifacts_uri=args["artifacts_uri"],
                from_files=(f"PGPASSWORD={pod.SERVER_PASSWORD_FILE}",) if own else password.from_files,
            ),
            environment=args.get("environment", {}),
            node_selector=args.get("node_selector", SYSTEM_NODES),
            cpu=args["cpu"],
            memory=args["memory"],
        ).spec()
        apps.Deployment(
            f"{self._name}-deployment",
            metadata={"name": MLFLOW_SERVICE, "namespace": self.namespace, "labels": LABELS},
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
            opts=pulumi.ResourceOptions(parent=self, depends_on=[*self._after, *self._walls]),
        )
        disruption_budget(f"{self._name}-disruption-budget", MLFLOW_SERVICE, self.namespace, LABELS, self._child())

    def _service(self) -> core.Service:
        return service(
            f"{self._name}-service",
            MLFLOW_SERVICE,
            self.namespace,
            LABELS,
            {"name": "https", "port": pod.PORT, "target_port": "https"},
            self._child(),
        )

    def _team(self, team: str) -> pulumi.Output[str]:
        """The team's logins, and its Secret. Its name is fixed because jobs name it; pods that run keep what they have
        mounted."""
        own, logins = self._logins.of_team(team)
        self._users |= logins
        password = logins[own]
        assert password is not None, "the login of this version has a password"
        secret = core.Secret(
            f"{self._name}-credentials-{team}",
            metadata={
                "name": MLFLOW_CREDENTIALS_SECRET,
                "namespace": self._args["team_namespaces"][team],
                "labels": LABELS,
            },
            string_data={
                "MLFLOW_TRACKING_URI": self.tracking_uri,
                "MLFLOW_TRACKING_USERNAME": own,
                "MLFLOW_TRACKING_PASSWORD": password,
                "MLFLOW_TRACKING_SERVER_CERT_PATH": f"{MLFLOW_CREDENTIALS_PATH}/{CA_KEY}",
                CA_KEY: self._certificate.authority,
            },
            opts=self._child(),
        )
        return named(secret, MLFLOW_CREDENTIALS_SECRET)

    def _people(self) -> None:
        """The logins of people, and the Secret that whoever runs the platform reads them from. Not in the team's
        namespace: what a team may read there, all of it reads. Its keys spell `team+who` as `team.who`."""
        found: dict[str, pulumi.Output[str]] = {}
        for team, people in sorted(self._args.get("people", {}).items()):
            found |= self._logins.of_people(team, people)
        self._users |= found
        if found:
            core.Secret(
                f"{self._name}-people",
                metadata={"name": MLFLOW_PEOPLE_SECRET, "namespace": self.namespace, "labels": LABELS},
                string_data={name.replace("+", "."): password for name, password in found.items()},
                opts=self._child(),
            )


def _checksum(text: str) -> str:
    """The checksum of what its pods run: with another text they are begun anew."""
    return derived(hashlib.sha256(text.encode()).hexdigest(), text)


def _given_name(resource: core.ConfigMap | core.Secret) -> pulumi.Output[str]:
    """The name that Pulumi gave an object; its id is `namespace/name`."""
    return resource.id.apply(lambda identity: identity.rsplit("/", 1)[-1])
