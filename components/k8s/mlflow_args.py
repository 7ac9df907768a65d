"""Arguments of `MlflowServer`."""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

import pulumi

from trainyard.components.k8s.mlflow_sign_on import MlflowSignOnArgs
from trainyard.components.k8s.network_rules import AddressesArgs


class PasswordProgramArgs(TypedDict):
    """How a ground hands over the password of a database: a program that keeps it in a file and follows its rotation.

    It runs beside the server, in the server's image and with its identity and environment, as `python pgpass.py`:

    - `run SECRET HOST PORT DATABASE USER FILE --interval=SECONDS` writes FILE, a password file of libpq with mode 0600,
      looks for a new password every interval, and replaces the file as a whole.
    - `alive FILE SECONDS` ends with 0 when FILE is there and `run` has looked within SECONDS, else with 1.
    """

    source: str
    """Text of the program: Python, which imports nothing but what the image has."""
    secret: pulumi.Input[str]
    """SECRET: where the password is, in a form that the program understands. Not the password."""
    interval_seconds: int
    """How long new connections may fail after a rotation, seconds."""


class PasswordSecretArgs(TypedDict):
    """A Secret with the password of a database, in the server's namespace."""

    name: str
    """Name of the Secret. Pods wait until it is there."""
    key: str
    """Key of the password in it. Pods take a new one when they are restarted."""


class MlflowDatabaseArgs(TypedDict):
    """The PostgreSQL database that the server keeps its records in."""

    address: pulumi.Input[str]
    """DNS name of the database instance."""
    port: pulumi.Input[int]
    """TCP port of the database instance."""
    name: pulumi.Input[str]
    """Name of the database within the instance. Tracking, registry and accounts share it."""
    username: pulumi.Input[str]
    """Owner of the tables, who migrates them."""
    server_user: NotRequired[str]
    """Lower-case letters and `_`: the server connects as a user of this name and a version, which the owner makes with
    rights on rows only. Left out, the server connects as the owner."""
    password_program: NotRequired[PasswordProgramArgs]
    """A program that gets the user's password and follows its rotation. This, or one of the next two."""
    password_secret: NotRequired[PasswordSecretArgs]
    """A Secret, made by somebody else, that holds the password."""
    password: NotRequired[pulumi.Input[str]]
    """The password itself, kept in the server's own Secret; a new one starts new pods."""
    cidrs: Sequence[pulumi.Input[str]]
    """Subnets in which the database may be: the only ones that its port can be reached in."""
    ca_certificates: NotRequired[pulumi.Input[str]]
    """Certificates of the database's authority, PEM. Given, the connection is checked as `ssl_mode` says; left out, it
    is `sslmode=require`: encrypted, but whoever answers at the address is believed."""
    ssl_mode: NotRequired[str]
    """How far the certificate is checked, in libpq's words: whose it is and for which name, or whose alone. Default:
    verify-full. `verify-ca` where the authority signs for this one server and names no address."""


class MlflowServerArgs(TypedDict):
    """Arguments of `MlflowServer`."""

    namespace: str
    """Name of the namespace that the component makes for the server."""
    image: pulumi.Input[str]
    """Image with MLflow 3.14 or later, its `auth` extra, psycopg2, prometheus-flask-exporter and a client of the
    artifacts' object store, `repository:tag@sha256:…`."""
    replicas: int
    """Number of the server's pods. Two or more survive the loss of a node."""
    workers: int
    """Server processes in each pod; each takes about 300 MiB."""
    cpu: pulumi.Input[str]
    """CPU of the server container, requested and limit: a quantity, "1"."""
    memory: pulumi.Input[str]
    """Memory of the server container, requested and limit: a quantity, "2Gi"."""
    database: MlflowDatabaseArgs
    """The database of tracking, model registry and accounts."""
    artifacts_uri: pulumi.Input[str]
    """Where the artifacts are, as MLflow's `--artifacts-destination` takes it: scheme, bucket and prefix."""
    environment: NotRequired[Mapping[str, pulumi.Input[str]]]
    """Further variables of the containers that talk to the ground, not secret: its region. Default: none."""
    addresses: NotRequired[AddressesArgs]
    """Where the ground has what network policies name by address. Default: unknown; then the server reaches HTTPS
    everywhere."""
    service_account_annotations: NotRequired[Mapping[str, pulumi.Input[str]]]
    """What the ground wants on the service account for its pods to have a role in it. Default: none."""
    node_selector: NotRequired[Mapping[str, str]]
    """Labels of the nodes that the server's pods run on. Default: the system nodes', `ml.platform/pool: system`."""
    team_namespaces: Mapping[str, pulumi.Input[str]]
    """Team to its namespace. Each team gets one account of its own name and the Secret in that namespace."""
    default_permission: NotRequired[str]
    """What an account may do with what others made: READ, or NO_PERMISSIONS, the default, which hides it. Its owner may
    grant more of it."""
    password_version: NotRequired[int]
    """Raised by one, every password is a new one, and the one before works until the next. Default 1."""
    people: NotRequired[Mapping[str, Sequence[str]]]
    """Team to the people who have a login of their own, with the team's rights. Default: none."""
    sign_on: NotRequired[MlflowSignOnArgs]
    """An identity provider whose tokens are logins too, which needs joserfc in the image. Default: none."""
    monitoring_namespace: NotRequired[str]
    """The namespace whose Prometheus may reach the metrics port. Default "monitoring"."""
