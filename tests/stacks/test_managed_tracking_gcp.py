"""MLflow on Cloud Run, as small-gcp has it with `managed.trackedBy: mlflow`: sound, priced, grown out of; and the very
containers, with a real PostgreSQL and a real MLflow behind a stand-in for IAP."""

from __future__ import annotations

import json
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from tests.components.k8s.mlflow_support import Process, free_port, wait_for
from tests.components.k8s.postgres_support import FIRST_PASSWORD, MASTER_PASSWORD, Postgres, postgres
from tests.rehearsal.change.changing import between, told
from tests.shared import ROOT
from tests.stacks.test_growth import grown
from tests.stacks.tracking_on_run import ACCESS_TOKEN, JOB, SERVICE, STACK, Google, Iap, serving, stack_file
from trainyard.conventions import gcp as conventions
from trainyard.plan.gcp.parts import GcpPlan
from trainyard.plan.gcp.training import training_smoke
from trainyard.plan.parts import Plan
from trainyard.plan.resolve import resolve_stack
from trainyard.problems import SettingsError
from trainyard.recorded.types import CLOUD_SQL, DEPLOYMENT, GCP_BUCKET, GCP_CRYPTO_KEY
from trainyard.rehearsal.change.model import Operation
from trainyard.rehearsal.rehearse import Rehearsal, rehearse
from trainyard.review.review import Review, review
from trainyard.smoke_jobs.ddp import google_cloud, iap, tracking_client
from trainyard.smoke_jobs.ddp.iap import IAP_ACCOUNT, IAP_AUDIENCE

TEAMS = [{"name": "research", "members": 6, "principals": ["group:research@hooli.example"]}]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Rehearsal:
    return rehearse(ROOT, stack_file(tmp_path_factory.mktemp("served")))


def inputs(found: Rehearsal, name: str) -> dict[str, Any]:
    (resource,) = (each for each in found.known.resources if each.name == name)
    return dict(resource.inputs)


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Review:
    return review(ROOT, stack_file(tmp_path_factory.mktemp("judged")))


def test_it_is_sound_and_priced(judged: Review) -> None:
    assert judged.rehearsal.findings == ()
    assert judged.policies is not None
    assert judged.policies.violations == ()
    assert judged.outside is not None
    floor = resolve_stack(ROOT, judged.outside).plan.core.idle_floor
    assert 55 < floor.monthly_usd < 65
    assert not floor.unpriced
    assert [item.monthly_usd for item in floor.items if item.what == "tracking server on Cloud Run"] == [0]


def test_the_outputs_say_how_a_client_comes_in(served: Rehearsal) -> None:
    host = "hooli-research-mlflow-210987654321.us-central1.run.app"
    assert served.outputs["mlflowTrackingUri"] == f"https://{host}"
    assert served.outputs["mlflowAudience"] == f"https://{host}/*"
    assert str(served.outputs["mlflowClientAccount"]).startswith("hooli-research-track@")
    assert "tensorboard" not in served.outputs
    assert f"--allowed-hosts={host}" in inputs(served, SERVICE)["template"]["containers"][0]["args"]


def test_the_proof_tracks_its_run_there(tmp_path: Path) -> None:
    spec = training_smoke(cast("Plan[GcpPlan]", resolve_stack(ROOT, stack_file(tmp_path)).plan))
    assert spec is not None
    assert spec.tracking_uri == "https://hooli-research-mlflow-210987654321.us-central1.run.app"
    assert dict(spec.environment) == {
        IAP_AUDIENCE: f"{spec.tracking_uri}/*",
        IAP_ACCOUNT: "hooli-research-track@hooli-research.iam.gserviceaccount.com",
    }
    assert (IAP_AUDIENCE, IAP_ACCOUNT) == (conventions.IAP_AUDIENCE, conventions.IAP_ACCOUNT)
    plain = training_smoke(cast("Plan[GcpPlan]", resolve_stack(ROOT, STACK).plan))
    assert plain is not None
    assert (plain.tracking_uri, plain.environment) == ("none", ())


REFUSED = [
    ("{ trackedBy: mlflow }", 'trainyard:mlflow: { enabled: false }', "managed.trackedBy", "only where mlflow.enabled"),
    ("{ trackedBy: mlflow }", 'trainyard:mlflow: { cpu: 500m }', "mlflow.cpu", "must be 1, 2, 4 or 8 on Cloud Run"),
    ("{ trackedBy: mlflow }", 'trainyard:mlflow: { memory: 8Gi }', "mlflow.memory", "512Mi to 4Gi on Cloud Run"),
    ("{ trackedBy: mlflow }", 'trainyard:mlflow: { replicas: 2 }', "mlflow.replicas", "is of a cluster"),
    ("{ trackedBy: mlflow }", f'trainyard:mlflow: {{ image: "quay.io/a/mlflow:3@sha256:{"0" * 64}" }}', "mlflow.image",
     "pulls from Artifact Registry"),
    ("{ trackedBy: experiments }", "trainyard:mlflow: { memory: 4Gi }", "mlflow.memory", "is of a cluster"),
    ("{ trackedBy: wandb }", "", "managed.trackedBy", "experiments"),
]  # fmt: skip


@pytest.mark.parametrize(("managed", "more", "key", "said"), REFUSED, ids=[f"{row[2]} {row[1]}" for row in REFUSED])
def test_what_it_does_not_take_is_said(tmp_path: Path, managed: str, more: str, key: str, said: str) -> None:
    with pytest.raises(SettingsError) as told:
        resolve_stack(ROOT, stack_file(tmp_path, managed, *[more] if more else []))
    assert [problem for problem in told.value.problems if problem.key == key and said in str(problem)], told.value


@pytest.mark.parametrize(
    ("stack", "value", "said"),
    [
        ("small-aws", "experiments", "is of Google Cloud: on AWS an MLflow App"),
        ("demo-gcp", "mlflow", "has a cluster instead"),
        ("demo", "mlflow", "has a cluster instead"),
    ],
)
def test_it_is_of_managed_training(tmp_path: Path, stack: str, value: str, said: str) -> None:
    file = tmp_path / f"Pulumi.{stack}.yaml"
    text = (ROOT / "stacks" / file.name).read_text()
    file.write_text(text + f"  trainyard:managed: {{ trackedBy: {value} }}\n")
    with pytest.raises(SettingsError, match=said):
        resolve_stack(ROOT, file)


def test_a_team_that_grows_takes_its_history_along(served: Rehearsal, tmp_path: Path) -> None:
    """The cluster's server has the same database and bucket; what stood before both goes, and holds nothing."""
    beside = grown(tmp_path, STACK, teams=TEAMS, managed={"beside": True, "trackedBy": "mlflow"})
    assert beside.findings == ()
    change = between(served.known.resources, beside.known.resources)
    steps = {(step.type, step.resource.name): step.operation for step in change.steps}
    holds = {CLOUD_SQL, GCP_BUCKET, GCP_CRYPTO_KEY, "gcp:sql/database:Database"}
    held = [each for each in served.known.resources if each.type in holds or each.protect]
    assert {each.type for each in held} >= holds
    assert {steps[each.type, each.name] for each in held} <= {Operation.SAME, Operation.UPDATE}
    assert not [step for step in change.steps if step.operation is Operation.CREATE and step.type in holds]
    assert steps["gcp:cloudrunv2/service:Service", SERVICE] is Operation.DELETE
    assert set(told(change).values()) <= {"warning", "info"}
    assert "tensorboard" not in beside.outputs
    root = "--default-artifact-root="
    (uri,) = (word for word in inputs(served, SERVICE)["template"]["containers"][0]["args"] if word.startswith(root))
    deployments = [json.dumps(dict(each.inputs)) for each in beside.known.resources if each.type == DEPLOYMENT]
    assert [text for text in deployments if f"--artifacts-destination={uri.removeprefix(root)}" in text]


@dataclass
class Run:
    """The service on this machine: its containers, with addresses of the test."""

    google: Google
    door: Iap
    server: Process
    migration: Process


class Containers:
    """The two containers of the recording, started here as Cloud Run starts them."""

    def __init__(self, found: Rehearsal, database: Postgres, google: Google, home: Path) -> None:
        self.found, self.home, self.port = found, home, free_port()
        self.replaced = {
            "/tmp/trainyard": str(home),
            "--port=8080": f"--port={self.port}",
            "--host=0.0.0.0": "--host=127.0.0.1",
            "https://secretmanager.us-central1.rep.googleapis.com": f"http://{google.host}",
        }
        self.variables = {"GCE_METADATA_HOST": google.host, "HOME": str(home.parent)}
        self.database = database

    def start(self, container: dict[str, Any]) -> Process:
        command = [self._here(str(word)) for word in (*container["commands"], *container["args"])]
        named = {each["name"]: self._here(str(each["value"])) for each in container["envs"]}
        files = json.loads(named["TRAINYARD_FILES"])
        files["ca.pem"] = self.database.authority
        named["TRAINYARD_FILES"] = json.dumps(files)
        python = str(Path(sys.executable).parent)
        environment = {**named, **self.variables, "PATH": f"{python}:/usr/bin:/bin"}
        return Process.start(command, environment, self.home.parent, mlflow=True)

    def _here(self, text: str) -> str:
        for what, instead in self.replaced.items():
            text = text.replace(what, instead)
        head, at, rest = text.partition("@10.")
        if "postgresql+psycopg2://" in head and at:
            return f"{head}@127.0.0.1:{self.database.port}/{rest.partition('/')[2]}"
        return text


@pytest.fixture(scope="module")
def run(served: Rehearsal, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    root = tmp_path_factory.mktemp("run")
    (root / "trainyard").mkdir()
    service, job = inputs(served, SERVICE)["template"], inputs(served, JOB)["template"]["template"]
    host = str(served.outputs["mlflowTrackingUri"]).removeprefix("https://")
    client = str(served.outputs["mlflowClientAccount"])
    google = Google(MASTER_PASSWORD)
    with postgres(root) as database, serving(google):
        login = str(inputs(served, "tracking-server-login")["name"])
        database.sql(
            f"""CREATE ROLE "{login}" LOGIN PASSWORD '{ACCESS_TOKEN}'""", user="postgres", password=FIRST_PASSWORD
        )
        here = Containers(served, database, google, root / "trainyard")
        migration = here.start(job["containers"][0])
        wait_for(lambda: migration.popen.poll() is not None, lambda: f"the migration: {migration.log}")
        assert migration.stop() == 0, migration.log
        server = here.start(service["containers"][0])
        behind = f"http://127.0.0.1:{here.port}"
        door = Iap(behind, host, client)
        try:
            with serving(door):
                yield Run(google, door, server, migration)
        finally:
            server.stop()


@pytest.fixture
def client(run: Run, served: Rehearsal, monkeypatch: pytest.MonkeyPatch) -> tracking_client.Client:
    """The smoke job's own client, as a job of the stack has it."""
    monkeypatch.setenv(google_cloud.METADATA, run.google.host)
    monkeypatch.setenv(IAP_AUDIENCE, str(served.outputs["mlflowAudience"]))
    monkeypatch.setenv(IAP_ACCOUNT, str(served.outputs["mlflowClientAccount"]))
    monkeypatch.setattr(google_cloud, "STORAGE", f"http://{run.google.host}")
    monkeypatch.setattr(iap, "CREDENTIALS", f"http://{run.google.host}/v1/projects/-/serviceAccounts")
    return tracking_client.open_client(f"http://127.0.0.1:{run.door.server_port}", "auto")


def test_a_job_waits_for_the_server_writes_and_reads_back(run: Run, client: tracking_client.Client) -> None:
    run_id = client.start("vision", "first", {"lr": "0.1"}, {"team": "research"})
    client.log(run_id, [tracking_client.Point("loss", 0.5, 1, 1), tracking_client.Point("loss", 0.25, 2, 2)])
    client.upload(run_id, "model/weights.pt", b"weights")
    client.finish(run_id)
    found = client.read(run_id)
    assert (found.status, found.params, found.metrics) == ("FINISHED", {"lr": "0.1"}, {"loss": 0.25})
    assert [point.value for point in client.history(run_id, "loss")] == [0.5, 0.25]
    assert client.download(run_id, "model/weights.pt") == b"weights"
    (kept,) = (uri for uri in run.google.objects if uri.endswith(f"/{run_id}/artifacts/model/weights.pt"))
    assert kept.startswith("gs://hooli-research-artifacts-")
    assert "/mlflow/" in kept


def test_one_token_serves_many_requests(run: Run, client: tracking_client.Client) -> None:
    before = len(run.google.signed)
    for _ in range(5):
        client.start("vision", "again", {}, {})
    assert len(run.google.signed) <= before + 1


def test_who_may_not_sign_is_told_so(run: Run, client: tracking_client.Client) -> None:
    assert isinstance(client, tracking_client.RestClient)
    fresh, run.google.may_sign = client.tokens, False
    assert fresh is not None
    client.tokens = iap.Tokens(fresh.audience, fresh.account)
    try:
        with pytest.raises(tracking_client.TrackingError, match=r"behind IAP.*iam\.serviceAccounts\.signJwt"):
            client.start("vision", "unsigned", {}, {})
    finally:
        run.google.may_sign = True


def test_nobody_comes_in_without_a_token(run: Run, client: tracking_client.Client) -> None:
    del client
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"http://127.0.0.1:{run.door.server_port}/health")
    assert refused.value.code == 401
    refused.value.close()


def test_another_host_and_another_origin_are_refused(run: Run, client: tracking_client.Client) -> None:
    del client
    url = f"{run.door.behind}/api/2.0/mlflow/experiments/search?max_results=1"
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(url)
    assert refused.value.code == 403
    refused.value.close()
    with urllib.request.urlopen(f"{run.door.behind}/health") as probe:  # what Cloud Run asks, by whatever name
        assert probe.status == 200


def test_the_server_writes_rows_and_nothing_else(run: Run, served: Rehearsal, client: tracking_client.Client) -> None:
    """No password is in its environment, and its login may change no table."""
    import psycopg2

    del client
    said = run.server.everything_readable()
    assert MASTER_PASSWORD not in said
    assert MASTER_PASSWORD not in run.migration.log + run.server.log
    assert ACCESS_TOKEN not in said + run.server.log
    login = str(inputs(served, "tracking-server-login")["name"])
    uri = next(word for word in said.replace("\0", "\n").splitlines() if word.startswith("--backend-store-uri="))
    assert f"{login.replace('@', '%40')}@" in uri
    port = int(uri.rpartition(":")[2].partition("/")[0])
    connection = psycopg2.connect(
        host="127.0.0.1", port=port, dbname="mlflow", user=login, password=ACCESS_TOKEN, sslmode="require"
    )
    try:
        with connection.cursor() as cursor, pytest.raises(psycopg2.errors.InsufficientPrivilege):
            cursor.execute("DROP TABLE runs")
    finally:
        connection.close()
