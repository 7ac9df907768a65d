"""What is right beside the rules about other people's programs on Google Cloud, and what each still tells."""

from __future__ import annotations

import pytest

from tests.rehearsal.works import mistakes_gcp_eighth as eighth
from tests.rehearsal.works import mistakes_gcp_seventh as seventh
from tests.rehearsal.works.mistakes import DROP, Change, both, drop, edit, put
from tests.rehearsal.works.mistakes_gcp_fifth import made
from tests.rehearsal.works.mistakes_gcp_sixty import said
from tests.rehearsal.works.test_foreign_programs import foreign_program
from tests.rehearsal.works.test_gcp_services import alert, found
from trainyard.recorded.model import UNKNOWN, Finding


def told(rule: str, *changes: Change) -> list[Finding]:
    """What a rule says of the program with changes."""
    rehearsal = foreign_program(seventh.FOREIGN)
    changed = both(*changes)(list(rehearsal.known.resources))
    return [each for each in found(changed, rehearsal) if each.rule == rule]


KEY = "projects/acme-ml/locations/europe-west4/keyRings/acme/cryptoKeys/data"


def may_use(domain: str) -> Change:
    """A service's own account may encrypt with the key."""
    return made(
        "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember",
        domain,
        cryptoKeyId=KEY,
        role="roles/cloudkms.cryptoKeyEncrypterDecrypter",
        member=f"serviceAccount:service-314159265358@{domain}.iam.gserviceaccount.com",
    )


def test_backups_of_a_cluster_are_encrypted_by_gkes_own_account() -> None:
    encrypted = edit(seventh.BACKUP, "daily", put("backupConfig.encryptionKey", {"gcpKmsEncryptionKey": KEY}))
    assert not told("rights-key", encrypted, may_use("container-engine-robot"))
    assert told("rights-key", encrypted)
    assert told("rights-key", encrypted, may_use("gcp-sa-gkebackup"))


ANYWHERE = edit("gcp:compute/firewall:Firewall", "health", put("sourceRanges", ["0.0.0.0/0"]))
UNNAMED = edit(seventh.GROUP, "serve", put("namedPorts", DROP))


@pytest.mark.parametrize("scheme", [DROP, "EXTERNAL", "INTERNAL", UNKNOWN])
def test_only_a_proxy_asks_for_a_port_by_its_name(scheme: object) -> None:
    of_scheme = edit(eighth.BACKEND, "serve", put("loadBalancingScheme", scheme), put("protocol", "TCP"))
    assert not told("path-balancer", of_scheme, UNNAMED, ANYWHERE)


@pytest.mark.parametrize("scheme", [{}, {"loadBalancingScheme": "EXTERNAL_MANAGED"}])
def test_a_balancer_of_all_regions_is_a_proxy(scheme: dict[str, str]) -> None:
    resources = foreign_program(seventh.FOREIGN).known.resources
    group = next(one.outputs["instanceGroup"] for one in resources if one.type == seventh.GROUP)
    kind = "gcp:compute/backendService:BackendService"
    backend = made(kind, "all", protocol="HTTP", backends=[{"group": group}], **scheme)
    assert not told("path-balancer", backend)
    assert {"all", "serve"} == {each.name for each in told("path-balancer", UNNAMED, backend)}


PASSED_ON = edit(eighth.BACKEND, "serve", put("loadBalancingScheme", "EXTERNAL"), put("protocol", "TCP"))


def probed(*changes: Change) -> dict[str, str]:
    """Whose probes do not come in, and from where they come."""
    return {each.type: each.message for each in told("path-balancer", *changes)}


def seen_from(*ranges: str) -> Change:
    return edit("gcp:compute/firewall:Firewall", "health", put("sourceRanges", list(ranges)))


def test_probes_of_packets_from_outside_come_from_other_addresses() -> None:
    outside = ("35.191.0.0/16", "209.85.152.0/22", "209.85.204.0/22")
    assert probed(PASSED_ON, seen_from(*outside, "130.211.0.0/22")) == {}
    assert "209.85.152.0/22" in probed(PASSED_ON)[eighth.BACKEND]
    # Who heals the machines looks from where it always does.
    assert set(probed(PASSED_ON, seen_from(*outside))) == {seventh.GROUP}


def test_nothing_is_said_of_probes_of_a_balancer_that_is_not_known() -> None:
    unknown = edit(eighth.BACKEND, "serve", put("loadBalancingScheme", UNKNOWN))
    assert set(probed(unknown, seen_from("10.0.0.0/8"))) == {seventh.GROUP}


@pytest.mark.parametrize(
    "allows",
    [
        {"protocol": "tcp", "ports": UNKNOWN},
        {"protocol": "tcp", "ports": ["80", UNKNOWN]},
        {"protocol": "tcp", "ports": ["80-http"]},
        {"protocol": UNKNOWN, "ports": ["8080"]},
    ],
)
def test_a_rule_whose_ports_are_not_known_may_let_probes_in(allows: dict[str, object]) -> None:
    assert not told("path-balancer", edit("gcp:compute/firewall:Firewall", "health", put("allows[0]", allows)))


def test_a_rule_with_other_ports_keeps_probes_out() -> None:
    others = edit("gcp:compute/firewall:Firewall", "health", put("allows[0].ports", ["80", "8000-8079"]))
    assert told("path-balancer", others)


def test_identities_of_aws_are_mapped_without_a_word() -> None:
    of_aws = edit(
        seventh.WIF,
        "github",
        put("oidc", DROP),
        put("attributeMapping", DROP),
        put("attributeCondition", DROP),
        put("aws", {"accountId": "123456789012"}),
    )
    role = "attribute.aws_role/arn:aws:sts::123456789012:assumed-role/ci"
    by_role = said(seventh.ACTS, "github", "member", "attribute.repository/acme/models", role)
    assert not told("rights-binding-no-account", of_aws, by_role)
    assert told("rights-binding-no-account", of_aws)
    by_its_own = edit(seventh.WIF, "github", put("attributeMapping", {"google.subject": "assertion.arn"}))
    assert told("rights-binding-no-account", of_aws, by_its_own, by_role)


def placed(*values: str, parent: str = "projects/acme-ml") -> Change:
    """A policy of where things may be made."""
    name = f"{parent}/policies/gcp.resourceLocations"
    rules = [{"values": {"allowedValues": list(values)}}]
    return made(seventh.ORG_POLICY, "places", name=name, parent=parent, spec={"rules": rules})


def test_a_policy_is_about_its_own_project() -> None:
    assert not told("programs-locations", placed("in:us-locations", parent="projects/acme-web"))
    assert told("programs-locations", placed("in:us-locations"))
    assert told("programs-locations", placed("in:us-locations", parent="organizations/123456789012"))


@pytest.mark.parametrize("place", ["EUR4", "NAM4", "europe", "eur5"])
def test_places_of_several_regions_have_names_of_their_own(place: str) -> None:
    kept = made(seventh.BUCKET, "kept", location=place)
    assert not told("programs-locations", placed("in:eu-locations"), kept)


def test_places_by_their_value() -> None:
    assert not told("programs-locations", placed("is:europe-west4"))
    assert told("programs-locations", placed("is:us-east4"))
    far = made(seventh.BUCKET, "far", location="US", project="acme-ml")
    assert told("programs-locations", placed("is:europe-west4"), far)


def serving(**scheduling: object) -> Change:
    """Machines of an old kind, as they are started."""
    return edit(seventh.TEMPLATE, "serve", put("machineType", "n1-standard-8"), put("scheduling", scheduling))


GPUS = edit(seventh.TEMPLATE, "serve", put("guestAccelerators", [{"type": "nvidia-tesla-t4", "count": 1}]))


def test_machines_without_gpus_move() -> None:
    none = edit(seventh.TEMPLATE, "serve", put("guestAccelerators", []))
    assert not told("gcp-gpu-maintenance", serving(onHostMaintenance="MIGRATE"), none)
    assert told("gcp-gpu-maintenance", serving(onHostMaintenance="MIGRATE"), GPUS)


@pytest.mark.parametrize("kind", [{"preemptible": True}, {"provisioningModel": "SPOT"}])
def test_machines_that_may_go_end_by_themselves(kind: dict[str, object]) -> None:
    assert not told("gcp-gpu-maintenance", serving(automaticRestart=False, **kind), GPUS)
    assert told("gcp-gpu-maintenance", serving(automaticRestart=True), GPUS)


GITHUB = "https://token.actions.githubusercontent.com"


def issued_by(issuer: str, **mapping: str) -> Change:
    keys = {"google.subject": "assertion.sub", **{f"attribute.{key}": text for key, text in mapping.items()}}
    return edit(seventh.WIF, "github", put("oidc.issuerUri", issuer), put("attributeMapping", keys))


def test_issuers_of_enterprises_and_gitlab_as_it_is_written() -> None:
    assert not told("gcp-issuer", issued_by(f"{GITHUB}/ab"))
    by_path = edit(seventh.WIF, "github", put("attributeCondition", "assertion.namespace_path == 'acme'"))
    assert not told("gcp-issuer", issued_by("https://gitlab.com/", path="assertion.project_path"), by_path)
    assert told("gcp-issuer", issued_by(f"{GITHUB}/"))
    (one,) = told("gcp-issuer", issued_by("https://token.action.githubusercontent.com"))
    assert one.allowed == GITHUB


def test_a_claim_that_nobody_knows_yet_may_be_made() -> None:
    assert not told("gcp-issuer", issued_by(GITHUB, repository="assertion.repo_property_team"))
    assert told("gcp-issuer", issued_by(GITHUB, repository="assertion.repositry"))
    assert told("gcp-issuer", issued_by(GITHUB, repository="assertion.repo"))


def test_the_word_that_was_meant_stands_alone() -> None:
    (slices,) = told("gcp-tpu", edit(eighth.TPU, "probe", put("acceleratorType", "v5litpod-8")))
    assert slices.hint == "v5litepod-8"
    (key,) = told("programs-metadata", edit(seventh.TEMPLATE, "serve", put("metadata", {"startup_script": "x"})))
    assert key.allowed == "startup-script"
    name = "run.googleapis.com/request_latencis"
    sought = f'metric.type="{name}" AND resource.type="cloud_run_revision"'
    (figure,) = told("programs-figure", alert(sought, 2000, {"perSeriesAligner": "ALIGN_PERCENTILE_99"}))
    assert figure.allowed == "run.googleapis.com/request_latencies"
    condition = {"title": "x", "expression": "resource.nam.startsWith('x')"}
    (attribute,) = told("gcp-condition", edit(seventh.MEMBER, "serve-cloudsql.client", put("condition", condition)))
    assert attribute.hint == "did you mean resource.name?"


def test_keys_of_old_are_read() -> None:
    assert not told("programs-metadata", edit(seventh.TEMPLATE, "serve", put("metadata", {"sshKeys": "ann:ssh-rsa x"})))


def test_an_annotation_is_told_by_its_whole_key() -> None:
    key = "cluster-autoscaler.kubernetes.io/{}"
    wrong = put("spec.template.metadata.annotations", {key.format("safe-to-evct"): "false"})
    rehearsal = foreign_program("gpu")
    changed = edit("kubernetes:apps/v1:Deployment", "serve", wrong)(list(rehearsal.known.resources))
    (one,) = [each for each in found(changed, rehearsal) if each.rule == "programs-annotation"]
    assert one.allowed == key.format("safe-to-evict")


@pytest.mark.parametrize(
    "text", ['attributes.message = "x"', "attributes:my-data", "attributes:body", 'hasPrefix(attributes.data, "a")']
)
def test_attributes_may_be_called_as_what_is_sent(text: str) -> None:
    assert not told("gcp-pubsub", edit(seventh.SUBSCRIPTION, "landed", put("filter", text)))


@pytest.mark.parametrize("text", ['data = "x"', 'message.kind = "x"', 'attributes:kind AND body = "x"'])
def test_a_filter_reads_attributes_alone(text: str) -> None:
    assert told("gcp-pubsub", edit(seventh.SUBSCRIPTION, "landed", put("filter", text)))


MEMORY = 'metric.type="run.googleapis.com/container/memory/utilizations" AND resource.type="{}"'
USED = 'metric.type="kubernetes.io/container/memory/used_bytes" AND resource.type="k8s_container"'
PERCENT = 'metric.type="agent.googleapis.com/cpu/utilization" AND resource.type="{}"'
UP = 'metric.type="kubernetes.io/container/uptime" AND resource.type="k8s_container"'
CALLS = 'metric.type="serviceruntime.googleapis.com/api/request_count" AND resource.type="{}"'
MEAN = {"perSeriesAligner": "ALIGN_MEAN"}


def test_a_share_of_two_figures_has_no_unit() -> None:
    beside = {"denominatorFilter": USED, "denominatorAggregations": [{"alignmentPeriod": "300s", **MEAN}]}
    assert not told("programs-alert", alert(USED, 0.9, MEAN, **beside))
    assert told("programs-alert", alert(USED, 0.9, MEAN))


def test_many_percentages_together_are_more_than_a_hundred() -> None:
    of = PERCENT.format("gce_instance")
    assert not told("programs-alert", alert(of, 300, {**MEAN, "crossSeriesReducer": "REDUCE_SUM"}))
    assert told("programs-alert", alert(of, 300, {**MEAN, "crossSeriesReducer": "REDUCE_MEAN"}))


def test_a_program_may_be_up_for_half_a_year() -> None:
    assert not told("programs-alert", alert(UP, 180 * 86_400, MEAN))


@pytest.mark.parametrize(
    ("sought", "kinds", "aligner"),
    [
        (CALLS, ("api", "produced_api", "consumed_api"), "ALIGN_RATE"),
        (PERCENT, ("aws_ec2_instance", "gce_instance"), "ALIGN_MEAN"),
        (MEMORY, ("cloud_run_worker_pool", "cloud_run_revision"), "ALIGN_PERCENTILE_99"),
    ],
)
def test_what_several_kinds_of_resources_have(sought: str, kinds: tuple[str, ...], aligner: str) -> None:
    for kind in kinds:
        assert not told("programs-figure", alert(sought.format(kind), 0.9, {"perSeriesAligner": aligner}))
    assert told("programs-figure", alert(sought.format("k8s_node"), 0.9, {"perSeriesAligner": aligner}))


EMAIL = "acme-machines@acme-ml.iam.gserviceaccount.com"


def test_a_disk_is_encrypted_by_the_account_that_it_names() -> None:
    own = {"kmsKeySelfLink": KEY, "kmsKeyServiceAccount": EMAIL}
    disk = made("gcp:compute/disk:Disk", "data", zone="europe-west4-a", diskEncryptionKey=own)
    may = made(
        "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember",
        "machines",
        cryptoKeyId=KEY,
        role="roles/cloudkms.cryptoKeyEncrypterDecrypter",
        member=f"serviceAccount:{EMAIL}",
    )
    assert not told("rights-key", disk, may)
    assert told("rights-key", disk)
    assert told("rights-key", disk, may_use("compute-system"))
    for account in (UNKNOWN, "disks@another.iam.gserviceaccount.com"):
        put_in = edit("gcp:compute/disk:Disk", "data", put("diskEncryptionKey.kmsKeyServiceAccount", account))
        assert not told("rights-key", disk, put_in)


def test_messages_are_kept_by_the_account_that_a_subscription_names() -> None:
    raw = next(one for one in foreign_program(seventh.FOREIGN).known.resources if one.type == seventh.BUCKET)
    kept = edit(
        seventh.SUBSCRIPTION, "errors", put("cloudStorageConfig", {"bucket": raw.outputs["name"], "maxDuration": "60s"})
    )
    account = "cloudStorageConfig.serviceAccountEmail"
    assert told("rights-delivery", kept)
    assert not told("rights-delivery", kept, edit(seventh.SUBSCRIPTION, "errors", put(account, UNKNOWN)))
    by_name = edit(seventh.SUBSCRIPTION, "errors", put(account, "acme-push@acme-ml.iam.gserviceaccount.com"))
    assert told("rights-delivery", kept, by_name)


def test_a_call_may_have_a_token_in_its_header() -> None:
    intake = next(
        one.outputs["uri"]
        for one in foreign_program(seventh.FOREIGN).known.resources
        if one.type == seventh.RUN and one.name == "intake"
    )
    target = {"uri": f"{intake}/x", "httpMethod": "POST"}
    call = made(seventh.SCHEDULE, "call", region="europe-west4", schedule="0 * * * *", httpTarget=target)
    assert told("rights-delivery", call)
    for headers in ({"authorization": "Bearer x"}, UNKNOWN):
        assert not told("rights-delivery", call, edit(seventh.SCHEDULE, "call", put("httpTarget.headers", headers)))
    other = edit(seventh.SCHEDULE, "call", put("httpTarget.headers", {"Content-Type": "text/plain"}))
    assert told("rights-delivery", call, other)


def test_a_key_in_the_address_is_enough() -> None:
    for uri in (
        "https://chat.googleapis.com/v1/spaces/AAA/messages?key=x&token=y",
        "https://translation.googleapis.com/language/translate/v2?q=x&key=y",
    ):
        target = {"uri": uri, "httpMethod": "POST"}
        assert not told(
            "programs-token", made(seventh.SCHEDULE, "chat", schedule="0 * * * *", region="x", httpTarget=target)
        )
    bare = {"uri": "https://run.googleapis.com/v2/projects/acme-ml/locations/x/jobs/y:run", "httpMethod": "POST"}
    assert told("programs-token", made(seventh.SCHEDULE, "bare", schedule="0 * * * *", region="x", httpTarget=bare))


@pytest.mark.parametrize(
    ("headers", "is_told"),
    [
        ({}, True), ({"Content-Type": "application/json"}, True), ({"Authorization": "Bearer x"}, False),
        ({"X-Goog-Api-Key": "x"}, False), (UNKNOWN, False),
    ],
)  # fmt: skip
def test_headers_without_a_token_call_as_nobody(headers, is_told) -> None:
    uri = "https://run.googleapis.com/v2/projects/acme-ml/locations/x/jobs/y:run"
    target = {"uri": uri, "httpMethod": "POST", "headers": headers}
    call = made(seventh.SCHEDULE, "bare", schedule="0 * * * *", region="x", httpTarget=target)
    assert bool(told("programs-token", call)) == is_told


def test_a_build_reads_a_topic() -> None:
    unread = drop(seventh.SUBSCRIPTION, "told")
    topic = "projects/acme-ml/topics/told"
    built = edit(seventh.BUILD, "images", put("repositoryEventConfig", DROP), put("pubsubConfig", {"topic": topic}))
    assert told("programs-unread", unread)
    assert not told("programs-unread", unread, built)


def test_a_private_address_is_a_whole_one() -> None:
    out = edit(seventh.RUN, "api", put("template.vpcAccess", DROP))
    host = "template.containers[0].envs[0].value"
    address = next(
        one.outputs["privateIpAddress"]
        for one in foreign_program(seventh.FOREIGN).known.resources
        if one.type == seventh.SQL
    )
    assert told("programs-database", out, edit(seventh.RUN, "api", put(host, f"postgres://x@{address}:5432/runs")))
    for other in (f"{address}5", f"1{address}", f"{address}.nip.io:80", f"{address}.5"):
        assert bool(told("programs-database", out, edit(seventh.RUN, "api", put(host, other)))) is ("nip" in other)


def test_roles_beside_narrow_scopes_may_be_for_others() -> None:
    (narrow, *_) = told(
        "rights-node-scopes", edit(seventh.TEMPLATE, "serve", put("serviceAccount.scopes", ["storage-ro"]))
    )
    assert narrow.level == "warning"
    writes = made(
        seventh.MEMBER, "writes", project="acme-ml", role="roles/bigquery.dataEditor", member=f"serviceAccount:{EMAIL}"
    )
    scopes = ["logging-write", "monitoring-write", "https://www.googleapis.com/auth/bigquery.insertdata"]
    enough = edit(seventh.TEMPLATE, "serve", put("serviceAccount.scopes", scopes))
    assert not told("rights-node-scopes", writes, enough)
    fewer = edit(seventh.TEMPLATE, "serve", put("serviceAccount.scopes", scopes[:2]))
    assert told("rights-node-scopes", writes, fewer)


@pytest.mark.parametrize("text", [r"^(?i)main$", r"^main\z", r"^\pL+$", r"^(?U)x", r"^v[0-9]+$", r"\Q(\E"])
def test_branches_by_re2(text: str) -> None:
    assert not told("gcp-build-branch", edit(seventh.BUILD, "images", put("repositoryEventConfig.push.branch", text)))


@pytest.mark.parametrize("text", ["*", "^(main$", "main)", "[a-z"])
def test_branches_that_nothing_reads(text: str) -> None:
    assert told("gcp-build-branch", edit(seventh.BUILD, "images", put("repositoryEventConfig.push.branch", text)))


@pytest.mark.parametrize("text", ["null", "3", '{"fields": null}', '[{"name": "at", "type": "TIMESTAMP"}, null]'])
def test_a_schema_may_be_nothing(text: str) -> None:
    plain = edit(eighth.TABLE, "events", put("schema", text), put("clusterings", DROP))
    assert not told("gcp-table", plain)


def test_a_family_of_tpus_that_nobody_knows_yet() -> None:
    for given in ("v8i-16", "tpu8t-4", "v7e-8", "v6p-4"):
        assert not told("gcp-tpu", edit(eighth.TPU, "probe", put("acceleratorType", given)))
    for given in ("v5e-8", "v5p", "V6E-8", "v6e-eight", "v5litpod-8"):
        assert told("gcp-tpu", edit(eighth.TPU, "probe", put("acceleratorType", given)))
