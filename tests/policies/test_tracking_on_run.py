"""MLflow on Cloud Run, which no example has: what policies say of a mistake in it, and what works and what does not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.policies.test_managed import Mutant, mutated, put
from tests.policies.test_mutants import judge
from tests.rehearsal.works.mistakes import DROP, Change, both, edit
from tests.rehearsal.works.mistakes import put as into
from tests.rehearsal.works.mistakes_managed import make
from tests.rehearsal.works.mistakes_managed_gcp import without
from tests.shared import ROOT
from tests.stacks.tracking_on_run import JOB, SERVICE, STACK, stack_file
from trainyard.recorded.model import UNKNOWN
from trainyard.recorded.types import CLOUD_SQL, GCP_DATABASE_USER, GCP_RUN_JOB, GCP_RUN_SERVICE
from trainyard.rehearsal.context import Stack, ValueContext
from trainyard.rehearsal.rehearse import Rehearsal, rehearse
from trainyard.rehearsal.works.managed.check import check
from trainyard.rehearsal.works.managed.gcp.servers import DOOR
from trainyard.rehearsal.works.rights.gcp.check import check as check_rights

DATABASE, SETTINGS = "hooli-research-mlflow", "settings"
CONTAINER = "template.containers[0]"
MEMBER = "gcp:projects/iAMMember:IAMMember"
IN_BUCKET = "gcp:storage/bucketIAMMember:BucketIAMMember"
CALLS = "gcp:cloudrunv2/serviceIamMember:ServiceIamMember"
ACTS = "gcp:serviceaccount/iAMMember:IAMMember"
READS = "gcp:secretmanager/regionalSecretIamMember:RegionalSecretIamMember"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Rehearsal:
    """People by name: whoever is in a group, nobody knows."""
    file = stack_file(tmp_path_factory.mktemp("served"))
    file.write_text(file.read_text().replace("group:research@hooli.example", "user:ann@hooli.example"))
    return rehearse(ROOT, file)


def _open(inputs: dict[str, Any]) -> None:
    inputs["invokerIamDisabled"], inputs["iapEnabled"] = True, False


def _told(key: str, value: str) -> Any:
    def change(inputs: dict[str, Any]) -> None:
        inputs["template"]["containers"][0]["envs"].append({"name": key, "value": value})

    return change


MUTANTS = [
    Mutant("service-without-sign-in", "anybody", STACK, SERVICE, _open, GCP_RUN_SERVICE),
    Mutant("resource-open-to-everybody", "anybody is invited", STACK, "tracking-server-iap",
           put("member", "allUsers"), CALLS),
    Mutant("secret-in-the-clear", "a password", STACK, SERVICE, _told("PGPASSWORD", "hunter2-hunter2"),
           GCP_RUN_SERVICE),
    Mutant("storage-without-environment-key", "under Google's key", STACK, SERVICE, put("template.encryptionKey", None),
           GCP_RUN_SERVICE, (("property_dependencies", {}),)),
    Mutant("public-database", "a public address", STACK, DATABASE, put("settings.ipConfiguration.ipv4Enabled", True),
           CLOUD_SQL),
    Mutant("database-accepts-plain-connections", "not encrypted", STACK, DATABASE,
           put("settings.ipConfiguration.sslMode", "ALLOW_UNENCRYPTED_AND_ENCRYPTED"), CLOUD_SQL),
    Mutant("database-without-backups", "no backups", STACK, DATABASE,
           put("settings.backupConfiguration.enabled", False), CLOUD_SQL),
    Mutant("stateful-resource-unprotected", "the runs", STACK, DATABASE, lambda _: None, CLOUD_SQL,
           (("protect", False),)),
]  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS, ids=[f"{each.policy}: {each.what}" for each in MUTANTS])
def test_a_mutant_is_caught_by_its_policy_and_by_no_other(served: Rehearsal, mutant: Mutant) -> None:
    told = judge(served, lambda run: mutated(mutant, run))
    assert {each.policy for each in told.violations} == {mutant.policy}, [str(each) for each in told.violations]


def server(path: str, value: Any) -> Change:
    return edit(GCP_RUN_SERVICE, SERVICE, into(path, value))


def word(beginning: str, instead: str | None) -> Change:
    """Another word in place of that of the server's command; None: none."""

    def change(inputs: dict[str, Any]) -> None:
        words = inputs["template"]["containers"][0]["args"]
        (at,) = (place for place, one in enumerate(words) if str(one).startswith(beginning))
        words[at : at + 1] = [] if instead is None else [instead]

    return edit(GCP_RUN_SERVICE, SERVICE, change)


def edit_resource(type_: str, name: str, **fields: Any) -> Change:
    """Other fields of a resource: that it is looked up, say."""

    def change(resources: Any) -> list[Any]:
        return [replace(each, **fields) if (each.type, each.name) == (type_, name) else each for each in resources]

    return change


def on_instance(name: str) -> dict[str, str]:
    named = f"resource.name == 'projects/hooli-research/instances/{name}'"
    return {"title": "one", "expression": f"{named} && resource.type == 'sqladmin.googleapis.com/Instance'"}


JOBS = "hooli-research-jobs@hooli-research"
STORE, OWN = "--backend-store-uri=", "postgresql+psycopg2://hooli-research-mlflow%40hooli-research.iam@"
IMAGE = "burakince/mlflow:{}"
PROXY = {
    "image": "gcr.io/cloud-sql-connectors/cloud-sql-proxy:2.18",
    "args": ["--port=5432", "acme:us-central1:mlflow"],
}


def behind_a_proxy(inputs: dict[str, Any]) -> None:
    """Another container first: which one is the server, its port says."""
    inputs["template"]["containers"].insert(0, dict(PROXY))


def later(path: str, value: Any) -> Change:
    """A change of the server where a proxy stands before it."""
    return edit(GCP_RUN_SERVICE, SERVICE, behind_a_proxy, into(path, value))


def words_apart(inputs: dict[str, Any]) -> None:
    """Each option and its value as two words."""
    words = inputs["template"]["containers"][0]["args"]
    words[:] = [part for one in words for part in (str(one).split("=", 1) if str(one).startswith("--") else [one])]


MISTAKES = {
    "probed where nobody listens": (server(f"{CONTAINER}.startupProbe.httpGet.port", 5000), "run-probe"),
    "probed at the page": (server(f"{CONTAINER}.livenessProbe.httpGet.path", "/"), "run-probe"),
    "sent where nobody listens": (server(f"{CONTAINER}.ports.containerPort", 5000), "run-port"),
    "under another's name": (word("--allowed-hosts", "--allowed-hosts=mlflow-1.us-central1.run.app"), "run-hosts"),
    "under no name": (word("--allowed-hosts", None), "run-hosts"),
    "under another's name, in two words": (both(
        word("--allowed-hosts", "--allowed-hosts=mlflow-1.us-central1.run.app"),
        edit(GCP_RUN_SERVICE, SERVICE, words_apart)), "run-hosts"),
    "under no name, behind a proxy": (both(
        word("--allowed-hosts", None), edit(GCP_RUN_SERVICE, SERVICE, behind_a_proxy)), "run-hosts"),
    "on another port, behind a proxy": (later("template.containers[1].ports.containerPort", 5000),
                                        "run-port"),
    "models through the server": (word("--no-serve-artifacts", "--serve-artifacts"), ""),
    "files on its own disk": (both(word("--no-serve-artifacts", "--serve-artifacts"),
                                   word("--default-artifact-root", None)), "run-artifacts"),
    "no way to the database": (server("template.vpcAccess", DROP), "run-network"),
    "in another network": (server("template.vpcAccess.networkInterfaces[0].network", "projects/p/global/networks/x"),
                           "run-network"),
    "IAP is off": (server("iapEnabled", False), "run-iap-off"),
    "IAP was forgotten": (server("iapEnabled", DROP), "run-iap-off"),
    "as somebody else": (server("template.serviceAccount", f"{JOBS}.iam.gserviceaccount.com"), "run-login rights-run"),
    "no login of that name": (edit(GCP_DATABASE_USER, "tracking-server-login", into("name", "mlflow@p.iam")),
                              "run-login"),
    "no tokens for the database": (edit(CLOUD_SQL, DATABASE, into("settings.databaseFlags", [])), "run-login"),
    "the migration has no way": (edit(GCP_RUN_JOB, JOB, into("template.template.vpcAccess", DROP)), "run-network"),
    "may not log in": (without(MEMBER, "tracking-server-logs-in"), "rights-run rights-delivery"),
    "may not read files": (without(IN_BUCKET, "tracking-server-artifacts"), "rights-run"),
    "IAP may not call it": (without(CALLS, "tracking-server-iap"), "rights-run"),
    "the migration reads no password": (without(READS, "tracking-server-password"), "rights-run"),
    "jobs may not sign": (without(ACTS, "tracking-server-signs-jobs"), "rights-run"),
    "programs are not let in": (without(DOOR, "tracking-server-programs"), "rights-run"),
    "the key is closed to it": (without("gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember", "hooli-research-tracking-run"),
                                "rights-key"),
}  # fmt: skip

NAME = "hooli-research-mlflow"
IAP_AGENT = "serviceAccount:service-210987654321@gcp-sa-iap.iam.gserviceaccount.com"
CLIENT = "serviceAccount:hooli-research-track@hooli-research.iam.gserviceaccount.com"
LETS_IN = "roles/iap.httpsResourceAccessor"
UNUSUAL = {
    "a domain of its own before it": word("--allowed-hosts", "--allowed-hosts=mlflow.hooli.example"),
    "under a pattern": word("--allowed-hosts", "--allowed-hosts=*.run.app"),
    "in two words": edit(GCP_RUN_SERVICE, SERVICE, words_apart),
    "whatever it is called": both(word("--allowed-hosts", None), word("--workers", "--disable-security-middleware")),
    "whatever it is called, by a variable": both(word("--allowed-hosts", None), server(f"{CONTAINER}.envs[0]", {
        "name": "MLFLOW_SERVER_DISABLE_SECURITY_MIDDLEWARE", "value": "true"})),
    "under no name, of a version that asks for none": both(
        word("--allowed-hosts", None), server(f"{CONTAINER}.image", IMAGE.format("v2.22.1"))),
    "under no name, of the last version that asks for none": both(
        word("--allowed-hosts", None), server(f"{CONTAINER}.image", IMAGE.format("3.4.0"))),
    "under no name, by an image of its own": both(
        word("--allowed-hosts", None), server(f"{CONTAINER}.image", "acme/mlflow:2026")),
    "probed on a port of its own, where it is no MLflow": make(GCP_RUN_SERVICE, "api", {
        "location": "us-central1", "name": "api", "template": {"containers": [{
            "image": "api", "args": ["--port=8080"], "startupProbe": {"httpGet": {"port": 9090}}}]}}),
    "on a port that is not known": server(f"{CONTAINER}.ports.containerPort", UNKNOWN),
    "behind a proxy": edit(GCP_RUN_SERVICE, SERVICE, behind_a_proxy),
    "told by a variable": both(word("--allowed-hosts", None), server(f"{CONTAINER}.envs[0]", {
        "name": "MLFLOW_SERVER_ALLOWED_HOSTS", "value": "mlflow.hooli.example"})),
    "with a password of its own": word(STORE, f"{STORE}postgresql://mlflow@10.9.9.9:5432/mlflow"),
    "on a port of Cloud Run's choice": both(
        server(f"{CONTAINER}.ports", DROP), server(f"{CONTAINER}.startupProbe", DROP)),
    "no probes": both(server(f"{CONTAINER}.startupProbe", DROP), server(f"{CONTAINER}.livenessProbe", DROP)),
    "another service beside it, without IAP": make(GCP_RUN_SERVICE, "api", {
        "location": "us-central1", "template": {"containers": [{"image": "api"}]}}),
    "IAM's check off, behind IAP": both(without(CALLS, "tracking-server-iap"), server("invokerIamDisabled", True)),
    "called by a grant of the first version": both(
        without(CALLS, "tracking-server-iap"), make("gcp:cloudrun/iamMember:IamMember", "calls", {
            "service": NAME, "location": "us-central1", "role": "roles/run.invoker", "member": IAP_AGENT})),
    "through all of the project's IAP": both(
        without(DOOR, "tracking-server-programs"), make("gcp:iap/webIamMember:WebIamMember", "all", {
            "project": "hooli-research", "role": LETS_IN, "member": CLIENT})),
    "people of the project's IAP by one list, programs by another": make(
        "gcp:iap/webIamBinding:WebIamBinding", "all", {
            "project": "hooli-research", "role": "roles/cloudsql.instanceUser", "members": ["user:ann@hooli.example"]}),
    "an instance that is looked up": edit_resource(CLOUD_SQL, DATABASE, read=True, inputs={}),
    "no login made here, for an instance that is looked up": both(
        edit_resource(CLOUD_SQL, DATABASE, read=True, inputs={}),
        edit(GCP_DATABASE_USER, "tracking-server-login", into("name", "of@another.iam"))),
    "a login that comes by a group": both(
        without(GCP_DATABASE_USER, "tracking-server-login"), make(GCP_DATABASE_USER, "group", {
            "instance": DATABASE, "name": "servers@hooli.example", "type": "CLOUD_IAM_GROUP"})),
    "nobody's login here, and one of another instance": both(
        without(GCP_DATABASE_USER, "tracking-server-login"), without(GCP_DATABASE_USER, "hooli-research-mlflow-mlflow"),
        make(CLOUD_SQL, "other", {"name": "other", "region": "us-central1"}),
        make(GCP_DATABASE_USER, "of-other", {"instance": "other", "name": "app", "type": "BUILT_IN"})),
    "let in to a service that is looked up": both(
        make(GCP_RUN_SERVICE, "elsewhere", {"name": "elsewhere"}),
        edit_resource(GCP_RUN_SERVICE, "added-elsewhere", read=True),
        make(DOOR, "elsewhere", {"cloudRunServiceName": "elsewhere", "role": LETS_IN, "member": CLIENT})),
    "another service behind IAP, for people": make(GCP_RUN_SERVICE, "hooli-research", {
        "location": "us-central1", "name": "hooli-research", "iapEnabled": True, "invokerIamDisabled": True,
        "template": {"containers": [{"image": "board"}]}}),
    "may log in to this instance alone": edit(
        MEMBER, "tracking-server-logs-in", into("condition", on_instance(DATABASE))),
    "may log in somewhere, by a condition on an instance that nobody recorded": both(
        word(STORE, f"{STORE}{OWN}10.9.9.9:5432/mlflow"), without(GCP_DATABASE_USER, "tracking-server-login"),
        edit(MEMBER, "tracking-server-logs-in", into("condition", on_instance("of-another")))),
    "by an address that is not known": edit(GCP_RUN_SERVICE, SERVICE, into("template", None)),
}  # fmt: skip


def findings(resources: Any) -> list[Any]:
    stack = Stack(resources, ValueContext("1.35", "us-central1"))
    check(stack)
    check_rights(stack, ())
    return stack.findings


@pytest.mark.parametrize("name", MISTAKES)
def test_what_does_not_work_is_told(served: Rehearsal, name: str) -> None:
    change, rule = MISTAKES[name]
    before = {(each.rule, each.urn) for each in findings(served.known.resources)}
    told = {each.rule for each in findings(change(served.known.resources)) if (each.rule, each.urn) not in before}
    assert told == set(rule.split())


@pytest.mark.parametrize("name", UNUSUAL)
def test_what_is_only_unusual_is_not_accused(served: Rehearsal, name: str) -> None:
    before = {(each.rule, each.urn) for each in findings(served.known.resources)}
    found = [each for each in findings(UNUSUAL[name](served.known.resources)) if (each.rule, each.urn) not in before]
    assert [each for each in found if each.rule.startswith(("run-", "rights-"))] == []
