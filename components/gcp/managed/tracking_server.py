"""MLflow on Cloud Run behind IAP: the tracking server of managed training, with a database on Cloud SQL.

Who comes in is asked of IAP, which stands in front of the server's own address: people by their sign-on, programs by a
token that the client account signs. The server asks nobody anything else: whoever comes in sees every run of the
environment, which is one team's. It has no password: Cloud SQL takes a token of its account.

Files of runs go to the bucket past the server: Cloud Run takes no request above 32 MiB, and a model is larger.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Final, TypedDict
from urllib.parse import quote

import pulumi
import pulumi_gcp.cloudrunv2 as cloudrunv2
import pulumi_gcp.iap as iap
import pulumi_gcp.projects as projects
import pulumi_gcp.secretmanager as secretmanager
import pulumi_gcp.serviceaccount as serviceaccount
import pulumi_gcp.sql as sql
import pulumi_gcp.storage as storage

from trainyard.components.gcp.database import DATABASE, USER
from trainyard.components.gcp.identity import READ
from trainyard.components.gcp.managed import tracking_programs as programs
from trainyard.components.outputs import register
from trainyard.components.prerequisites import prerequisites
from trainyard.conventions import MLFLOW_POOL_OVERFLOW, MLFLOW_POOL_SIZE

HOME: Final = "/tmp/trainyard"  # noqa: S108 - the instance's own
PORT: Final = 8080
LOGIN_ROLE: Final = "roles/cloudsql.instanceUser"
"""What a login by a token takes; who goes by the private address needs no role of a connector (Cloud SQL, "IAM database
authentication", as generally known)."""
PRIVATE: Final = "PRIVATE_RANGES_ONLY"
"""Private addresses are reached by the network, everything else by Google's own way."""
SIGNED_IN: Final = "roles/iap.httpsResourceAccessor"
INVOKER: Final = "roles/run.invoker"
SIGNING: Final = ("iam.serviceAccounts.signJwt",)
"""What a program signs its token with, in the name of the client account."""
MIGRATION_SECONDS: Final = 1800
"""How long an attempt at a migration may take: up to ten minutes of it, it waits for its rights and its network."""
MIGRATION_ATTEMPTS: Final = 2
_MIGRATED: Final = f"{MIGRATION_SECONDS * MIGRATION_ATTEMPTS // 60 + 5}m"
"""How long the provider waits for all of them: by itself it gives up after 20 minutes, while the job goes on."""

_OF_MLFLOW: Final[Mapping[str, str]] = {
    "HOME": "/tmp",  # noqa: S108 - the user has no home in the image
    "PYTHONUNBUFFERED": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    # Pools in every process: keep the sum of all instances below what the database takes.
    "MLFLOW_SQLALCHEMYSTORE_POOL_SIZE": str(MLFLOW_POOL_SIZE),
    "MLFLOW_SQLALCHEMYSTORE_MAX_OVERFLOW": str(MLFLOW_POOL_OVERFLOW),
    "MLFLOW_SQLALCHEMYSTORE_POOL_RECYCLE": "1800",
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",  # LLM evaluation jobs: not on this server
    "MLFLOW_GATEWAY_ALLOWED_PROVIDERS": "none",  # no calls to language models with keys of the server
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "GIT_PYTHON_REFRESH": "quiet",  # the image has no git
}


class TrackingDatabaseArgs(TypedDict):
    """The database of a `TrackingServer`."""

    instance: pulumi.Input[str]
    """Name of the instance."""
    address: pulumi.Input[str]
    """Its private address."""
    server_ca: pulumi.Input[str]
    """Certificates of its own authority, PEM."""
    secret_id: pulumi.Input[str]
    """Secret with the password of the tables' owner: projects/PROJECT/locations/REGION/secrets/NAME."""
    secret_name: pulumi.Input[str]
    """Its name alone."""


class TrackingServerArgs(TypedDict):
    """What `TrackingServer` needs."""

    project: pulumi.Input[str]
    """Id of the project."""
    region: pulumi.Input[str]
    """Region of the server and its database."""
    service: str
    """Name of the service, at most 49 characters."""
    host: str
    """Host name that Cloud Run gives it: SERVICE-PROJECTNUMBER.REGION.run.app."""
    accounts: Mapping[str, str]
    """Ids of its accounts by what they are: `server`, `migration`, `client`. With the project's id each is a login of
    PostgreSQL, ID@PROJECT.iam, of at most 63 characters."""
    role_id: str
    """Id of the custom role of who signs tokens: letters, digits and `_`."""
    image: pulumi.Input[str]
    """Image with MLflow 3.14 or later, psycopg2 and google-cloud-storage, of Artifact Registry or Docker Hub."""
    cpu: str
    """CPUs of an instance, whole ones."""
    memory: str
    """Memory of an instance, a quantity, "2Gi". What is written to its disk is in it."""
    workers: int
    """Server processes of an instance."""
    least_instances: int
    """Instances that wait for requests. 0: the first request waits for one to start."""
    most_instances: int
    """Instances at most."""
    concurrency: int
    """Requests at once, of an instance."""
    database: TrackingDatabaseArgs
    """The database that it keeps runs in."""
    artifacts_uri: pulumi.Input[str]
    """Where clients keep files of runs, `gs://bucket/folder`."""
    artifacts_bucket: pulumi.Input[str]
    """Name of that bucket, which the server reads."""
    network_id: pulumi.Input[str]
    """Network from which the database is reached."""
    subnetwork_id: pulumi.Input[str]
    """Subnet of it, in the region, that instances have addresses of."""
    key_id: pulumi.Input[str]
    """Key of what Cloud Run keeps of the image, in the region."""
    iap_agent_email: pulumi.Input[str]
    """Address of IAP's own account, which calls the server for who was let in."""
    people: Sequence[str]
    """Who comes in by the browser and signs tokens for programs, as IAM members. May be empty: owners of the
    project."""
    job_account: pulumi.Input[str]
    """Address of the account that jobs run as."""
    labels: Mapping[str, str]
    """Labels on the bill."""


class TrackingServer(pulumi.ComponentResource):
    """The service, the job that migrates before it, their accounts, and who comes in.

    `depends_on` is what it waits for: services, the agents' rights on the key, the whole database. `ready` lists what a
    client waits for.
    """

    client_account: pulumi.Output[str]
    """Address of the account in whose name programs come in."""

    def __init__(self, name: str, args: TrackingServerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Raises ValueError for a name that Cloud Run cuts, and for fewer instances at most than at least."""
        super().__init__("trainyard:index:TrackingServer", name, None, opts)
        if len(args["service"]) > 49:
            raise ValueError(f"service: got {args['service']!r}; at most 49 characters, or its address is cut")
        if not 0 <= args["least_instances"] <= args["most_instances"] or args["most_instances"] < 1:
            raise ValueError(f"instances: got {args['least_instances']} to {args['most_instances']}; 0 to 1, or more")
        self._name, self._args = name, args
        self._child = pulumi.ResourceOptions(parent=self)
        self._first = pulumi.ResourceOptions(parent=self, depends_on=prerequisites(opts))
        accounts = {kind: self._account(kind) for kind in ("server", "migration", "client")}
        self.client_account = accounts["client"].email
        login = accounts["server"].email.apply(lambda email: email.removesuffix(".gserviceaccount.com"))
        user = sql.User(
            f"{name}-login",
            project=args["project"],
            instance=args["database"]["instance"],
            name=login,
            type="CLOUD_IAM_SERVICE_ACCOUNT",
            opts=self._first,
        )
        rights = self._rights(accounts)
        migrated = self._migration(accounts["migration"].email, login, [user, *rights])
        service = self._service(accounts["server"].email, login, [user, *rights, migrated])
        self.ready: list[pulumi.Resource] = [service, *self._doors(service, accounts["client"])]
        register(self)

    def _account(self, kind: str) -> serviceaccount.Account:
        said = {
            "server": "Tracking server",
            "migration": "Migrations of the tracking server",
            "client": "Programs that track runs",
        }
        return serviceaccount.Account(
            f"{self._name}-{kind}-account",
            project=self._args["project"],
            account_id=self._args["accounts"][kind],
            display_name=f"{said[kind]} ({self._args['service']})",
            opts=self._first,
        )

    def _rights(self, accounts: Mapping[str, serviceaccount.Account]) -> list[pulumi.Resource]:
        """The server logs in and reads files of runs; the migration reads the owner's password."""
        args, server = self._args, _member(accounts["server"].email)
        return [
            projects.IAMMember(
                f"{self._name}-logs-in", project=args["project"], role=LOGIN_ROLE, member=server, opts=self._child
            ),
            storage.BucketIAMMember(
                f"{self._name}-artifacts", bucket=args["artifacts_bucket"], role=READ, member=server, opts=self._child
            ),
            secretmanager.RegionalSecretIamMember(
                f"{self._name}-password",
                project=args["project"],
                location=args["region"],
                secret_id=args["database"]["secret_name"],
                role="roles/secretmanager.secretAccessor",
                member=_member(accounts["migration"].email),
                opts=self._child,
            ),
        ]

    def _migration(
        self, account: pulumi.Output[str], login: pulumi.Output[str], after: Sequence[pulumi.Resource]
    ) -> pulumi.Resource:
        """The job, and its run: it is made anew with another image or program, and is there when the run has ended."""
        args = self._args
        secret = pulumi.Output.concat(
            "https://secretmanager.",
            args["region"],
            ".rep.googleapis.com/v1/",
            args["database"]["secret_id"],
            "/versions/latest:access",
        )
        command: list[pulumi.Input[str]] = [
            "python",
            f"{HOME}/{programs.MIGRATION}",
            self._database(USER),
            login,
            secret,
        ]
        sent = pulumi.Output.all(
            args["image"], args["database"]["instance"], login, programs.source(programs.MIGRATION)
        )
        job: pulumi.Resource = cloudrunv2.Job(
            f"{self._name}-migration",
            project=args["project"],
            location=args["region"],
            name=f"{args['service']}-up",
            deletion_protection=False,
            labels=dict(args["labels"]),
            run_execution_token=sent.apply(lambda known: hashlib.sha256(json.dumps(known).encode()).hexdigest()[:8]),
            template={
                "task_count": 1,
                "template": {
                    "service_account": account,
                    "encryption_key": args["key_id"],
                    "execution_environment": "EXECUTION_ENVIRONMENT_GEN2",
                    "max_retries": MIGRATION_ATTEMPTS - 1,
                    "timeout": f"{MIGRATION_SECONDS}s",
                    "vpc_access": {
                        "egress": PRIVATE,
                        "network_interfaces": [{"network": args["network_id"], "subnetwork": args["subnetwork_id"]}],
                    },
                    "containers": [
                        {
                            "image": args["image"],
                            "commands": ["python", "-c", programs.BEGIN],
                            "args": command,
                            "envs": [
                                {"name": key, "value": value} for key, value in self._variables(programs.MIGRATION)
                            ],
                            "resources": {"limits": {"cpu": args["cpu"], "memory": args["memory"]}},
                        }
                    ],
                },
            },
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=[*after],
                custom_timeouts=pulumi.CustomTimeouts(create=_MIGRATED, update=_MIGRATED),
            ),
        )
        return job

    def _service(
        self, account: pulumi.Output[str], login: pulumi.Output[str], after: Sequence[pulumi.Resource]
    ) -> cloudrunv2.Service:
        args = self._args
        return cloudrunv2.Service(
            f"{self._name}-service",
            project=args["project"],
            location=args["region"],
            name=args["service"],
            description="MLflow: runs of managed training",
            ingress="INGRESS_TRAFFIC_ALL",  # jobs of Vertex AI come from a network of Google's
            iap_enabled=True,
            invoker_iam_disabled=False,
            deletion_protection=False,  # it holds nothing
            labels=dict(args["labels"]),
            template={
                "service_account": account,
                "encryption_key": args["key_id"],
                "execution_environment": "EXECUTION_ENVIRONMENT_GEN2",
                "timeout": "300s",
                "max_instance_request_concurrency": args["concurrency"],
                "scaling": {
                    "min_instance_count": args["least_instances"],
                    "max_instance_count": args["most_instances"],
                },
                "labels": dict(args["labels"]),
                "vpc_access": {
                    "egress": PRIVATE,
                    "network_interfaces": [{"network": args["network_id"], "subnetwork": args["subnetwork_id"]}],
                },
                "containers": [
                    {
                        "image": args["image"],
                        "commands": ["python", "-c", programs.BEGIN],
                        "args": server_command(
                            args["host"], args["workers"], self._database(login), args["artifacts_uri"]
                        ),
                        "envs": [{"name": key, "value": value} for key, value in self._variables(programs.SERVER)],
                        "ports": {"container_port": PORT},
                        "resources": {
                            "limits": {"cpu": args["cpu"], "memory": args["memory"]},
                            "cpu_idle": True,
                            "startup_cpu_boost": True,
                        },
                        "startup_probe": {
                            "http_get": {"path": "/health", "port": PORT},
                            "period_seconds": 5,
                            "timeout_seconds": 4,
                            "failure_threshold": 48,
                        },
                        "liveness_probe": {
                            "http_get": {"path": "/health", "port": PORT},
                            "period_seconds": 30,
                            "timeout_seconds": 10,
                            "failure_threshold": 4,
                        },
                    }
                ],
            },
            opts=pulumi.ResourceOptions(parent=self, depends_on=[*after]),
        )

    def _doors(self, service: cloudrunv2.Service, client: serviceaccount.Account) -> list[pulumi.Resource]:
        """IAP calls the service and nobody else does; it lets people and the client account in. Who signs in its name:
        people, and the jobs."""
        args, made = self._args, list[pulumi.Resource]()
        made.append(
            cloudrunv2.ServiceIamMember(
                f"{self._name}-iap",
                project=args["project"],
                location=args["region"],
                name=service.name,
                role=INVOKER,
                member=_member(args["iap_agent_email"]),
                opts=self._child,
            )
        )
        come_in: dict[str, pulumi.Input[str]] = {who.partition(":")[2]: who for who in args["people"]}
        for who, member in {**come_in, "programs": _member(client.email)}.items():
            made.append(
                iap.WebCloudRunServiceIamMember(
                    f"{self._name}-{who}",
                    project=args["project"],
                    location=args["region"],
                    cloud_run_service_name=service.name,
                    role=SIGNED_IN,
                    member=member,
                    opts=self._child,
                )
            )
        role = projects.IAMCustomRole(
            f"{self._name}-signing",
            project=args["project"],
            role_id=args["role_id"],
            title=f"Signs for programs that track runs ({args['service']})",
            description="Tokens in the name of the tracking server's client account, which opens nothing else",
            permissions=list(SIGNING),
            opts=self._first,
        )
        for who, member in {**come_in, "jobs": _member(args["job_account"])}.items():
            made.append(
                serviceaccount.IAMMember(
                    f"{self._name}-signs-{who}",
                    service_account_id=client.name,
                    role=role.name,
                    member=member,
                    opts=self._child,
                )
            )
        return made

    def _database(self, user: pulumi.Input[str]) -> pulumi.Output[str]:
        """The address of the database as a user has it, without a password: the server's certificate is of an authority
        of its own, and names the instance and not its address."""
        return pulumi.Output.all(user, self._args["database"]["address"]).apply(
            lambda known: (
                f"postgresql+psycopg2://{quote(str(known[0]), safe='')}@{known[1]}:5432/{DATABASE}"
                f"?sslmode=verify-ca&sslrootcert={HOME}/ca.pem"
            )
        )

    def _variables(self, program: str) -> list[tuple[str, pulumi.Input[str]]]:
        files = pulumi.Output.from_input(self._args["database"]["server_ca"]).apply(
            lambda ca: json.dumps({program: programs.source(program), "ca.pem": ca}, sort_keys=True)
        )
        return [*sorted(_OF_MLFLOW.items()), ("TRAINYARD_HOME", HOME), ("TRAINYARD_FILES", files)]


def server_command(
    host: str, workers: int, database_uri: pulumi.Input[str], artifacts_uri: pulumi.Input[str]
) -> list[pulumi.Input[str]]:
    """The command line of the server. Probes are let by whatever host they name; every other request names this one."""
    return [
        "python",
        "-m",
        "mlflow",
        "server",
        "--host=0.0.0.0",
        f"--port={PORT}",
        f"--workers={workers}",
        pulumi.Output.concat("--backend-store-uri=", database_uri),
        "--no-serve-artifacts",
        pulumi.Output.concat("--default-artifact-root=", artifacts_uri),
        f"--allowed-hosts={host}",
        f"--cors-allowed-origins=https://{host}",
    ]


def _member(email: pulumi.Input[str]) -> pulumi.Output[str]:
    return pulumi.Output.concat("serviceAccount:", email)
