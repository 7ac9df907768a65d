"""What `MlflowServer` registers."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pulumi
import pulumi_random as random
import pytest

from tests.components.k8s.addresses import STORE, addresses
from tests.components.k8s.checkers import KUBERNETES_VERSION, check_plain_objects, depends_on, whole_numbers
from tests.components.k8s.mlflow_support import DATABASE, IMAGE, SECRET_ARN, arguments, recorded
from tests.pulumi_harness import Recorded, Recording, plain, record
from trainyard.components.k8s import mlflow_pod as pod
from trainyard.components.k8s.mlflow import MlflowServer
from trainyard.components.k8s.mlflow_password import PGPASS_FILE
from trainyard.conventions import MLFLOW_CREDENTIALS_PATH

DEPLOYMENT = "kubernetes:apps/v1:Deployment"
SECRET = "kubernetes:core/v1:Secret"
POLICY = "kubernetes:networking.k8s.io/v1:NetworkPolicy"
PASSWORD = "random:index/randomPassword:RandomPassword"


@pytest.fixture(scope="module")
def recording() -> Recording:
    return recorded()


def _inputs(recording: Recording, type_: str, name: str | None = None) -> dict[str, Any]:
    found: dict[str, Any] = whole_numbers(plain(recording.one(type_, name).inputs))
    return found


def _pod(recording: Recording) -> dict[str, Any]:
    found: dict[str, Any] = _inputs(recording, DEPLOYMENT)["spec"]["template"]["spec"]
    return found


def _containers(recording: Recording) -> dict[str, dict[str, Any]]:
    spec = _pod(recording)
    return {container["name"]: container for container in (*spec["initContainers"], *spec["containers"])}


def test_every_object_fits_the_schema_of_its_kubernetes_version(recording: Recording) -> None:
    assert KUBERNETES_VERSION == "1.35"
    for each in (recording, recorded(database={**DATABASE, "ca_certificates": "-----BEGIN"})):
        as_plain = dataclasses.replace(each, resources=[_as_plain(resource) for resource in each.resources])
        assert check_plain_objects(as_plain) == 12


def _as_plain(resource: Recorded) -> Recorded:
    return dataclasses.replace(resource, inputs=plain(resource.inputs))


def test_both_runs_register_the_same_resources(recording: Recording) -> None:
    unknown = recorded(preview=True)
    assert {r.urn for r in unknown.resources} == {r.urn for r in recording.resources}
    assert len({r.urn for r in recording.resources}) == len(recording.resources)


def test_the_password_of_the_database_is_nowhere(recording: Recording) -> None:
    text = json.dumps(_pod(recording))
    assert "postgresql+psycopg2://mlflow@database.example.internal:5432/mlflow?sslmode=require" in text
    assert "secretKeyRef" not in text
    assert "rehearsed-" not in text  # how every generated password of a recording begins
    assert _containers(recording)["pgpass"]["command"][3:8] == [
        SECRET_ARN,
        "database.example.internal",
        "5432",
        "mlflow",
        "mlflow",
    ]


SOMEBODYS = {"password_secret": {"name": "database", "key": "pw"}}
OWN = {"password": "rehearsed-database-password"}


def _with(source: dict[str, Any], *, preview: bool = False) -> Recording:
    others = {key: value for key, value in DATABASE.items() if not key.startswith("password")}
    return recorded(database={**others, **source}, preview=preview)


@pytest.mark.parametrize("source", [SOMEBODYS, OWN], ids=["somebody's secret", "the server's secret"])
def test_a_password_in_a_secret_needs_no_program(source: dict[str, Any]) -> None:
    recording = _with(source)
    containers = _containers(recording)
    assert set(containers) == {"migrate", "server", "users", "metrics"}
    assert "pgpass.py" not in _inputs(recording, "kubernetes:core/v1:ConfigMap")["data"]
    text = json.dumps(_pod(recording))
    assert "PGPASSFILE" not in text
    assert "rehearsed-" not in text
    (volume,) = [volume["secret"] for volume in _pod(recording)["volumes"] if volume["name"] == "database"]
    (item,) = volume["items"]
    file = f"/etc/mlflow/database/{item['path']}"
    for name in ("migrate", "server"):
        command = containers[name]["command"]
        assert command[:2] == ["python", "/opt/trainyard/serve.py"], name
        assert f"PGPASSWORD={file}" in command[: command.index("--")], name
        assert "PGPASSWORD" not in {entry["name"] for entry in containers[name]["env"]}, "only in the process"
        assert {"name": "database", "mountPath": "/etc/mlflow/database", "readOnly": True} in containers[name][
            "volumeMounts"
        ]
    assert all("database" not in json.dumps(containers[name]["volumeMounts"]) for name in ("users", "metrics"))
    as_plain = dataclasses.replace(recording, resources=[_as_plain(resource) for resource in recording.resources])
    check_plain_objects(as_plain)


def test_somebodys_secret_is_named_and_the_servers_own_holds_what_it_was_given() -> None:
    somebodys, own = _with(SOMEBODYS), _with(OWN)
    (volume,) = [volume["secret"] for volume in _pod(somebodys)["volumes"] if volume["name"] == "database"]
    assert (volume["secretName"], volume["items"]) == ("database", [{"key": "pw", "path": "pw"}])
    assert "database-password" not in plain(somebodys.one(SECRET, "mlflow-server").inputs)["stringData"]
    server = own.one(SECRET, "mlflow-server").inputs
    assert plain(server)["stringData"]["database-password"] == OWN["password"]
    assert plain(server) != server, "a secret in the state"
    volumes = {volume["name"]: volume["secret"] for volume in _pod(own)["volumes"] if "secret" in volume}
    assert volumes["database"]["secretName"] == volumes["auth"]["secretName"]
    assert {r.urn for r in _with(OWN, preview=True).resources} == {r.urn for r in own.resources}


@pytest.mark.parametrize(
    ("source", "got"),
    [({}, "none"), ({**SOMEBODYS, **OWN}, "password_secret and password")],
    ids=["no source", "two sources"],
)
def test_a_password_has_one_source(source: dict[str, Any], got: str) -> None:
    with pytest.raises(ValueError, match=f"password_program, password_secret, password; got {got}$"):
        _with(source)


def test_a_given_authority_is_verified() -> None:
    recording = recorded(database={**DATABASE, "ca_certificates": "-----BEGIN CERTIFICATE-----"})
    assert f"sslmode=verify-full&sslrootcert={pod.CA_FILE}" in json.dumps(_pod(recording))
    assert _inputs(recording, "kubernetes:core/v1:ConfigMap")["data"]["ca.pem"] == "-----BEGIN CERTIFICATE-----"


def test_an_authority_that_is_known_later_is_verified_too() -> None:
    """Of a server whose certificate names no address, and whose authority the cloud makes with it."""

    def given(text: str) -> Recording:
        own = {"ca_certificates": pulumi.Output.from_input(text), "ssl_mode": "verify-ca"}
        return recorded(database={**DATABASE, **own})  # type: ignore[typeddict-item]

    one, another = given("-----BEGIN CERTIFICATE-----"), given("-----BEGIN CERTIFICATE----- another")
    assert f"sslmode=verify-ca&sslrootcert={pod.CA_FILE}" in json.dumps(_pod(one))
    assert _inputs(one, "kubernetes:core/v1:ConfigMap")["data"]["ca.pem"] == "-----BEGIN CERTIFICATE-----"
    first, second = (
        _inputs(found, DEPLOYMENT)["spec"]["template"]["metadata"]["annotations"] for found in (one, another)
    )
    assert first != second, "a rotation starts new pods"
    with pytest.raises(ValueError, match="verify-full or verify-ca"):
        recorded(database={**DATABASE, "ca_certificates": "-----BEGIN", "ssl_mode": "require"})


def test_the_server_starts_after_the_password_file_and_the_migration(recording: Recording) -> None:
    pgpass, migrate = _pod(recording)["initContainers"]
    assert (pgpass["name"], pgpass["restartPolicy"]) == ("pgpass", "Always")
    assert pgpass["startupProbe"]["exec"]["command"][1:] == [
        "/opt/trainyard/pgpass.py",
        "alive",
        PGPASS_FILE,
        "120",
    ]
    assert migrate["name"] == "migrate"
    assert "restartPolicy" not in migrate


def test_every_container_is_restricted_limited_and_pinned(recording: Recording) -> None:
    spec = _pod(recording)
    assert spec["securityContext"]["runAsUser"] >= 10_000
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert spec["automountServiceAccountToken"] is False
    assert spec["nodeSelector"] == {"ml.platform/pool": "system"}
    for name, container in _containers(recording).items():
        context = container["securityContext"]
        assert context["allowPrivilegeEscalation"] is False, name
        assert context["readOnlyRootFilesystem"] is True, name
        assert context["capabilities"] == {"drop": ["ALL"]}, name
        assert {"cpu", "memory"} <= set(container["resources"]["requests"]) & set(container["resources"]["limits"]), (
            name
        )
        assert container["image"] == IMAGE
        if name != "migrate":
            assert {"startupProbe", "readinessProbe", "livenessProbe"} <= set(container), name


def test_each_container_sees_only_the_secrets_it_needs(recording: Recording) -> None:
    keys = {
        volume["name"]: {item["key"] for item in volume["secret"]["items"]}
        for volume in _pod(recording)["volumes"]
        if "secret" in volume
    }
    seen = {
        name: set().union(*(keys.get(mount["name"], set()) for mount in container["volumeMounts"]))
        for name, container in _containers(recording).items()
    }
    assert seen == {
        "pgpass": set(),
        "migrate": {"basic_auth.ini"},
        "server": {"basic_auth.ini", "flask-secret-key", "kek-passphrase", "tls.crt", "tls.key"},
        "users": {"admin-password", "admin-password-before", "users.json"},
        "metrics": set(),
    }
    for volume in _pod(recording)["volumes"]:
        if "secret" in volume:
            assert volume["secret"]["defaultMode"] == 0o440


def test_the_password_file_is_in_memory_and_only_its_writer_may_write(recording: Recording) -> None:
    (volume,) = [volume for volume in _pod(recording)["volumes"] if volume["name"] == "pgpass"]
    assert volume["emptyDir"]["medium"] == "Memory"
    for name, container in _containers(recording).items():
        for mount in container["volumeMounts"]:
            if mount["name"] == "pgpass":
                assert mount.get("readOnly", False) is (name != "pgpass"), name


def test_generated_secrets_are_secret_in_the_state(recording: Recording) -> None:
    server = recording.one(SECRET, "mlflow-server").inputs
    assert plain(server) != server
    assert "rehearsed-" in json.dumps(plain(server))
    assert {r.name for r in recording.of_type(PASSWORD)} == {
        "mlflow-admin",
        "mlflow-flask-key",
        "mlflow-kek",
        "mlflow-user-language",
        "mlflow-user-vision",
    }
    for password in recording.of_type(PASSWORD):
        assert password.inputs["length"] == 32
        assert "keepers" not in password.inputs


def test_each_team_gets_its_credentials_in_its_own_namespace(recording: Recording) -> None:
    for team in ("vision", "language"):
        secret = _inputs(recording, SECRET, f"mlflow-credentials-{team}")
        assert secret["metadata"]["name"] == "mlflow-credentials"
        assert secret["metadata"]["namespace"] == f"team-{team}"
        assert secret["stringData"]["MLFLOW_TRACKING_USERNAME"] == team
        assert secret["stringData"]["MLFLOW_TRACKING_URI"] == "https://mlflow.mlflow.svc.cluster.local:5000"
        assert set(secret["stringData"]) == {
            "MLFLOW_TRACKING_URI",
            "MLFLOW_TRACKING_USERNAME",
            "MLFLOW_TRACKING_PASSWORD",
            "MLFLOW_TRACKING_SERVER_CERT_PATH",
            "ca.crt",
        }
        assert secret["stringData"]["MLFLOW_TRACKING_SERVER_CERT_PATH"] == f"{MLFLOW_CREDENTIALS_PATH}/ca.crt"
    users = json.loads(_inputs(recording, SECRET, "mlflow-server")["stringData"]["users.json"])
    assert sorted(users) == ["language", "vision"]


def test_clients_hosts_are_allowed_with_and_without_port(recording: Recording) -> None:
    (option,) = [part for part in _containers(recording)["server"]["command"] if part.startswith("--allowed-hosts=")]
    hosts = option.removeprefix("--allowed-hosts=").split(",")
    uri = _inputs(recording, SECRET, "mlflow-credentials-vision")["stringData"]["MLFLOW_TRACKING_URI"]
    assert uri.removeprefix("https://") in hosts
    assert "mlflow.mlflow.svc.cluster.local" in hosts
    assert not any("*" in host for host in hosts)


def test_changed_content_makes_new_objects_beside_the_old(recording: Recording) -> None:
    """Content of a ConfigMap or Secret replaces it; with a fixed name that deletes the old one first."""
    assert "name" not in recording.one("kubernetes:core/v1:ConfigMap").inputs["metadata"]
    assert "name" not in recording.one(SECRET, "mlflow-server").inputs["metadata"]
    volumes = json.dumps(_pod(recording)["volumes"])
    assert "mlflow-runtime-" in volumes
    assert "mlflow-server-" in volumes


def test_changed_programs_roll_the_deployment(monkeypatch: pytest.MonkeyPatch, recording: Recording) -> None:
    def checksum(each: Recording) -> str:
        found = _inputs(each, DEPLOYMENT)["spec"]["template"]["metadata"]["annotations"]["ml.platform/runtime-checksum"]
        return str(found)

    assert checksum(recorded()) == checksum(recording)
    monkeypatch.setattr("trainyard.components.k8s.mlflow_runtime.sources", lambda: {"serve.py": "changed"})
    assert checksum(recorded()) != checksum(recording)


def test_it_is_reachable_from_teams_and_monitoring_only(recording: Recording) -> None:
    assert _inputs(recording, "kubernetes:core/v1:Service")["spec"]["type"] == "ClusterIP"
    assert _inputs(recording, POLICY, "mlflow-default-deny")["spec"] == {
        "podSelector": {},
        "policyTypes": ["Ingress", "Egress"],
    }
    teams, monitoring = _inputs(recording, POLICY, "mlflow-server-ingress")["spec"]["ingress"]
    assert teams == {
        "from": [{"namespaceSelector": {"matchExpressions": [{"key": "ml.platform/team", "operator": "Exists"}]}}],
        "ports": [{"protocol": "TCP", "port": 5000}],
    }
    assert monitoring["from"][0]["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": "monitoring"}
    assert monitoring["from"][0]["podSelector"]["matchLabels"] == {"app.kubernetes.io/name": "prometheus"}
    assert monitoring["ports"] == [{"protocol": "TCP", "port": pod.METRICS_PORT}]


def test_it_reaches_names_the_database_and_aws_only(recording: Recording) -> None:
    egress = _inputs(recording, POLICY, "mlflow-server-egress")["spec"]["egress"]
    blocks = [
        (peer["ipBlock"]["cidr"], port["port"])
        for rule in egress
        for peer in rule["to"]
        if "ipBlock" in peer
        for port in rule["ports"]
    ]
    assert blocks == [
        ("10.0.96.0/22", 5432),
        ("10.0.100.0/22", 5432),
        *((cidr, 443) for cidr in STORE),
        ("10.0.208.0/23", 443),
        ("169.254.170.23/32", 80),
    ]
    assert {port["port"] for rule in egress for port in rule["ports"]} == {53, 5432, 443, 80}


def test_its_ground_says_how_it_gets_an_identity() -> None:
    role = {"identity.example.com/role": "mlflow"}
    other = recorded(
        service_account_annotations=role,
        addresses=addresses(identity=[{"cidr": "169.254.169.252/32", "port": 988}]),
        environment={"PROJECT": "training"},
    )
    account = _inputs(other, "kubernetes:core/v1:ServiceAccount")["metadata"]
    assert account["annotations"] == role
    egress = _inputs(other, POLICY, "mlflow-server-egress")["spec"]["egress"]
    assert egress[-1] == {
        "to": [{"ipBlock": {"cidr": "169.254.169.252/32"}}],
        "ports": [{"protocol": "TCP", "port": 988}],
    }
    talking = {"pgpass", "migrate", "server"}
    for name, container in _containers(other).items():
        assert ({"name": "PROJECT", "value": "training"} in container["env"]) is (name in talking), name
        assert "AWS_REGION" not in {entry["name"] for entry in container["env"]}
    bare = recorded(addresses=addresses(identity=[]))
    assert "annotations" not in _inputs(bare, "kubernetes:core/v1:ServiceAccount")["metadata"]
    ports = {
        port["port"]
        for rule in _inputs(bare, POLICY, "mlflow-server-egress")["spec"]["egress"]
        for port in rule["ports"]
    }
    assert ports == {53, 5432, 443}


def test_the_namespace_enforces_the_restricted_level(recording: Recording) -> None:
    labels = _inputs(recording, "kubernetes:core/v1:Namespace")["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"


def test_a_rollout_and_a_drain_leave_replicas_serving(recording: Recording) -> None:
    spec = _inputs(recording, DEPLOYMENT)["spec"]
    assert spec["replicas"] == 2
    assert spec["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}
    budget = _inputs(recording, "kubernetes:policy/v1:PodDisruptionBudget")["spec"]
    assert budget["maxUnavailable"] == 1
    selector = spec["selector"]["matchLabels"]
    assert budget["selector"]["matchLabels"] == selector
    assert _inputs(recording, "kubernetes:core/v1:Service")["spec"]["selector"] == selector
    assert spec["template"]["metadata"]["labels"].items() >= selector.items()
    keys = {spread["topologyKey"] for spread in _pod(recording)["topologySpreadConstraints"]}
    assert keys == {"kubernetes.io/hostname", "topology.kubernetes.io/zone"}


def test_every_child_waits_for_what_the_caller_names() -> None:
    def program() -> None:
        first = pulumi.ComponentResource("trainyard:index:Nodes", "nodes")
        role = random.RandomPassword("role", length=20, opts=pulumi.ResourceOptions(parent=first))
        MlflowServer("mlflow", arguments(), pulumi.ResourceOptions(depends_on=[role]))

    recording = record(program)
    for resource in recording.resources:
        if resource.custom and resource.name != "role":
            assert "role" in depends_on(recording, resource), resource.name


@pytest.mark.parametrize("key", ["replicas", "workers"])
def test_a_server_of_nothing_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match=f"mlflow: {key} has to be at least 1, got 0"):
        recorded(**{key: 0})


def test_an_unknown_permission_is_refused() -> None:
    with pytest.raises(ValueError, match=r"default_permission has to be one of READ, .*got 'WRITE'"):
        recorded(default_permission="WRITE")
    ini = _inputs(recorded(default_permission="NO_PERMISSIONS"), SECRET, "mlflow-server")["stringData"][
        "basic_auth.ini"
    ]
    assert "default_permission = NO_PERMISSIONS" in ini.splitlines()


def test_a_server_user_of_the_database_keeps_the_owners_password_from_the_server() -> None:
    others = {key: value for key, value in DATABASE.items() if not key.startswith("password")}
    recording = recorded(database={**others, **OWN, "server_user": "mlflow_server"}, password_version=2)
    containers = _containers(recording)
    assert containers["migrate"]["command"][-3:] == ["mlflow_server", "2", pod.SERVER_PASSWORD_FILE]
    assert any("//mlflow@" in part for part in containers["migrate"]["command"])
    server = json.dumps(containers["server"])
    assert "//mlflow_server_v2@" in server
    assert "//mlflow@" not in server
    assert f"PGPASSWORD={pod.SERVER_PASSWORD_FILE}" in server
    assert "/etc/mlflow/database" not in server
    ini = _inputs(recording, SECRET, "mlflow-server")["stringData"]["basic_auth.ini"]
    assert "//mlflow_server_v2@" in ini


@pytest.mark.parametrize(
    ("version", "login", "known"),
    [
        (1, "vision", {"vision"}),
        (2, "vision+2", {"vision", "vision+2"}),
        (3, "vision+3", {"vision", "vision+2", "vision+3"}),
    ],
)
def test_a_rotation_leaves_the_login_before_it(version: int, login: str, known: set[str]) -> None:
    recording = recorded(password_version=version, people={"vision": ["ada"]})
    secret = _inputs(recording, SECRET, "mlflow-credentials-vision")["stringData"]
    users = json.loads(_inputs(recording, SECRET, "mlflow-server")["stringData"]["users.json"])
    assert secret["MLFLOW_TRACKING_USERNAME"] == login
    assert users[login] == secret["MLFLOW_TRACKING_PASSWORD"]
    assert {name for name in users if name.startswith("vision")} == {*known, "vision+ada"}
    assert (users["vision"] is None) is (version > 2)
    people = _inputs(recording, SECRET, "mlflow-people")
    assert people["metadata"]["namespace"] == "mlflow"
    assert people["stringData"] == {"vision.ada": users["vision+ada"]}


def test_only_known_versions_rotate() -> None:
    with pytest.raises(ValueError, match="password_version has to be at least 1, got 0"):
        recorded(password_version=0)


def test_the_certificate_is_for_every_name_of_the_service(recording: Recording) -> None:
    request = _inputs(recording, "tls:index/certRequest:CertRequest")
    assert request["dnsNames"] == pod.names_of("mlflow", "mlflow")
    assert request["ipAddresses"] == ["127.0.0.1"]
    authority = _inputs(recording, "tls:index/selfSignedCert:SelfSignedCert")
    assert authority["isCaCertificate"] is True
    signed = _inputs(recording, "tls:index/locallySignedCert:LocallySignedCert")
    assert not signed.get("isCaCertificate", False)
    assert signed["validityPeriodHours"] > signed["earlyRenewalHours"] > 0
    for container in _containers(recording).values():
        for kind in ("startupProbe", "readinessProbe", "livenessProbe"):
            if container["name"] == "server":
                assert container[kind]["httpGet"]["scheme"] == "HTTPS"
