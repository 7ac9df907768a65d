"""Twenty-five more mistakes in managed training on Google Cloud, with MLflow on Cloud Run, written before any rule was
read."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.rehearsal.works.mistakes import DROP, Change, Mistake, edit, put
from tests.rehearsal.works.mistakes_gcp_sixty import no_longer_waits, said
from tests.rehearsal.works.mistakes_managed_gcp import BUDGET, TEMPLATE
from tests.stacks.tracking_on_run import JOB as UP
from tests.stacks.tracking_on_run import SERVICE as SERVER

STACK = "tracked by MLflow"  # `small-gcp` with MLflow on Cloud Run: `tests/stacks/tracking_on_run.py`
RUN, JOB = "gcp:cloudrunv2/service:Service", "gcp:cloudrunv2/job:Job"
SQL, LOGIN = "gcp:sql/databaseInstance:DatabaseInstance", "gcp:sql/user:User"
IMAGES = "gcp:artifactregistry/repository:Repository"
ALERT = "gcp:monitoring/alertPolicy:AlertPolicy"
BOX = "template.containers[0]"
DATABASE = "hooli-research-mlflow"


def run(path: str, value: Any) -> Change:
    return edit(RUN, SERVER, put(path, value))


def word(type_: str, name: str, at: str, old: str, new: str) -> Change:
    """A part of a word of what a container is told."""

    def into(inputs: dict[str, Any]) -> None:
        held = inputs["template"]["template"] if at == "job" else inputs["template"]
        args = held["containers"][0]["args"]
        assert any(old in str(one) for one in args), args
        held["containers"][0]["args"] = [str(one).replace(old, new) for one in args]

    return edit(type_, name, into)


def served(old: str, new: str) -> Change:
    return word(RUN, SERVER, "", old, new)


def variable(name: str, value: str) -> Callable[[dict[str, Any]], None]:
    """One variable of the server's container, set."""

    def into(inputs: dict[str, Any]) -> None:
        envs = inputs["template"]["containers"][0]["envs"]
        envs[:] = [one for one in envs if one["name"] != name] + [{"name": name, "value": value}]

    return into


def flag(name: str, value: str) -> Change:
    return edit(
        SQL, DATABASE, lambda inputs: inputs["settings"]["databaseFlags"].append({"name": name, "value": value})
    )


def percent(inputs: dict[str, Any]) -> None:
    for rule in inputs["thresholdRules"]:
        rule["thresholdPercent"] *= 100


def sent(change: Callable[[dict[str, Any]], Any]) -> Change:
    """The request of the proof's job, changed."""

    def into(inputs: dict[str, Any]) -> None:
        held = json.loads(inputs["triggers"][0])
        change(held)
        inputs["triggers"][0] = json.dumps(held)

    return edit("command:local:Command", "smoke-training", into)


def elsewhere(held: dict[str, Any]) -> None:
    box = held["jobSpec"]["workerPoolSpecs"][0]["containerSpec"]
    box["command"] = [word.replace("artifacts-4dea8393", "data-b6758f72") for word in box["command"]]


REFUSED = [
    Mistake(
        "memory-above-its-processors",
        "8 GiB beside one processor",
        run(f"{BOX}.resources.limits.memory", "8Gi"),
        "gcp-run",
    ),
    Mistake(
        "half-a-processor",
        "half a processor for forty requests at a time",
        run(f"{BOX}.resources.limits.cpu", "500m"),
        "gcp-run",
    ),
    Mistake("a-request-of-two-hours", "a request may last two hours", run("template.timeout", "7200s"), "gcp-run"),
    Mistake(
        "a-reserved-variable",
        "the container is told its port by a variable of its own",
        edit(RUN, SERVER, variable("PORT", "8080")),
        "gcp-run",
    ),
    Mistake(
        "probed-longer-than-its-period",
        "a probe may last a minute and is made every half",
        run(f"{BOX}.livenessProbe.timeoutSeconds", 60),
        "gcp-run",
    ),
    Mistake(
        "three-processors",
        "a database of three processors",
        edit(SQL, DATABASE, put("settings.tier", "db-custom-3-11520")),
        "gcp-sql-tier",
    ),
    Mistake(
        "a-login-by-its-whole-name",
        "the login is named by the account's whole address",
        edit(
            LOGIN, "tracking-server-login", put("name", "hooli-research-mlflow@hooli-research.iam.gserviceaccount.com")
        ),
        "gcp-sql-user",
    ),
    Mistake(
        "images-by-a-key-of-others",
        "images are encrypted by the key of data, which the registry may not use",
        said(IMAGES, "hooli-research-images", "kmsKeyName", "hooli-research-platform", "hooli-research-data"),
        "rights-key",
    ),
]

SILENT = [
    Mistake(
        "fifty-times-the-budget",
        "the budget's thresholds are percentages, where shares are meant",
        edit(BUDGET, "budget-budget", percent),
        "gcp-budget",
    ),
    Mistake(
        "a-page-that-no-browser-reaches",
        "only what is inside the network reaches the server",
        run("ingress", "INGRESS_TRAFFIC_INTERNAL_ONLY"),
        "run-ingress",
    ),
    Mistake(
        "more-servers-than-connections",
        "fifty servers, whose pools ask for more connections than the database has",
        run("template.scaling.maxInstanceCount", 50),
        "run-connections",
    ),
    Mistake(
        "a-database-of-twenty-connections",
        "the database takes twenty connections; the servers' pools ask for 32",
        flag("max_connections", "20"),
        "run-connections",
    ),
    Mistake(
        "files-where-it-may-not-read",
        "runs keep their files in the bucket of checkpoints, which the server may not read",
        served("gs://hooli-research-artifacts-4dea8393", "gs://hooli-research-checkpoints-96edf73e"),
        None,
        "the group that may read the bucket may have the server's account in it",
    ),
    Mistake(
        "a-database-of-no-name",
        "the server asks for a database that nobody made",
        served(":5432/mlflow?", ":5432/tracking?"),
        "programs-database",
    ),
    Mistake(
        "an-address-of-nobody",
        "the server asks for an address that is not the database's",
        served("@10.", "@172."),
        "programs-database",
    ),
    Mistake(
        "a-name-in-the-certificate",
        "the server verifies the name in a certificate that names no address",
        served("sslmode=verify-ca", "sslmode=verify-full"),
        "programs-database",
    ),
    Mistake(
        "a-secret-of-another-region",
        "the migration asks another region for its password",
        word(JOB, UP, "job", "us-central1", "us-east1"),
        "run-secret",
    ),
    Mistake(
        "a-migration-that-never-runs",
        "the migration is made and nothing starts it",
        edit(JOB, UP, put("runExecutionToken", DROP)),
        "run-never-started",
    ),
    Mistake(
        "a-server-before-its-tables",
        "the server does not wait for the migration",
        no_longer_waits(RUN, SERVER, JOB),
        "run-before-migration",
    ),
    Mistake(
        "a-database-that-is-stopped",
        "the database is never started",
        edit(SQL, DATABASE, put("settings.activationPolicy", "NEVER")),
        "programs-switched-off",
    ),
    Mistake(
        "a-server-without-time-to-start",
        "the server is given five seconds to start",
        run(f"{BOX}.startupProbe.failureThreshold", 1),
        "run-probe",
    ),
    Mistake(
        "failures-of-another-service",
        "failures are looked for under the name of the resource",
        said(
            ALERT,
            "managed-jobs-tracking",
            "conditions[0].conditionMatchedLog.filter",
            '"hooli-research-mlflow"',
            '"tracking-server"',
        ),
        "programs-filter",
    ),
    Mistake(
        "browsers-of-plain-http",
        "the server answers pages of plain HTTP alone",
        served("--cors-allowed-origins=https://", "--cors-allowed-origins=http://"),
        "run-origins",
    ),
    Mistake(
        "a-program-where-there-is-none",
        "the proof's program is looked for in another bucket than it is put in",
        sent(elsewhere),
        "managed-job-told-otherwise",
    ),
    Mistake(
        "editors-of-another-region",
        "an editor's subnetwork is of another region",
        said(TEMPLATE, "editors-e2-standard-4", "networkSpec.subnetwork", "us-central1", "us-east1"),
        "gcp-region",
    ),
]
MISTAKES = [*REFUSED, *SILENT]
