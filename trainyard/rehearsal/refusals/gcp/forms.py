"""Inputs whose name says what they are, of any type of resource: places, keys, ranges of addresses, accounts, labels,
projects, scopes.

Source: Google's documentation of locations, Cloud KMS, VPC, IAM and labels as generally known; regions and zones,
`trainyard/catalog/gcp_regions.csv`.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from trainyard.catalog import gcp as catalog
from trainyard.problems import nearest
from trainyard.recorded.types import (
    GCP_BUCKET,
    GCP_BUDGET,
    GCP_EDITOR_TEMPLATE,
    GCP_IMAGE_REPOSITORY,
    GCP_KEY_RING,
    GCP_LOG_METRIC,
    GCP_NOTIFICATION_CHANNEL,
)
from trainyard.rehearsal.context import View, show
from trainyard.rehearsal.refusals.rules import EVERY_TYPE, Rules

REGION: Final = re.compile(r"[a-z]+-[a-z]+\d+")
ZONE: Final = re.compile(r"([a-z]+-[a-z]+\d+)-([a-z]|ai\d+[a-z])")
LIKE_A_ZONE: Final = re.compile(r"[a-z]+-[a-z]+\d+-[a-z0-9]+")
"""What is of a zone's form names one, or none that there is."""
WIDER: Final = (
    "global", "us", "eu", "asia", "europe", "nam4", "nam6", "nam7", "nam8", "nam9", "nam10", "nam11", "nam12", "nam13",
    "eur3", "eur4", "eur5", "eur6", "eur7", "eur8", "asia1", "asia2", "in", "ca", "ja", "au", "uk", "de", "it", "kr",
    "nam-eur-asia1", "nam-eur-asia3", "nam3", "nam5", "nam14", "nam15", "nam16", "jp", "sa",
)  # fmt: skip
"""Locations of several regions: of GCS, KMS, Artifact Registry, BigQuery, logs."""
KEY: Final = re.compile(
    r"(?:https://\S+/|//cloudkms\.googleapis\.com/)?projects/[^/]+/locations/(?P<location>[^/]+)/keyRings/[^/]+"
    r"/cryptoKeys/[^/]+(/cryptoKeyVersions/\d+)?"
)

_KEY_INPUTS: Final = re.compile(
    r"(kmsKeyName|kmsKey|bootDiskKmsKey|encryptionKeyName|defaultKmsKeyName|kmsKeySelfLink|kmsKeyVersionName"
    r"|etcdEncryptionKey|bootDiskKmsKeyName)"
)
_CIDR_INPUTS: Final = re.compile(
    r"(ipCidrRange|cidrBlock|cidrBlocks|ipv4CidrBlock|clusterIpv4CidrBlock|servicesIpv4CidrBlock|masterIpv4CidrBlock"
    r"|clusterIpv4Cidr|sourceRanges|destinationRanges|destRange|allowedIpCidrRanges|clusterIpv4CidrBlock"
    r"|podIpv4CidrBlock|nodeIpv4CidrBlock|masterIpv4CidrBlock|srcIpRanges|destIpRanges)"
)
_ACCOUNT_INPUTS: Final = ("serviceAccount", "serviceAccountEmail", "serviceAccountName")
_ZONES: Final = ("zone", "zones", "nodeLocations", "replicaZones", "availableZones")
_LABEL_INPUTS: Final = ("labels", "userLabels", "resourceLabels")
_FREE: Final = (
    "labels",
    "metadata",
    "annotations",
    "fleetLabels",
    "labelExtractors",
    "metricDescriptor",
    "spec",
    "env",
)
"""Maps whose keys are the user's own, or another's words: nothing in them is read by its name."""
_NO_LABELS: Final = (
    GCP_NOTIFICATION_CHANNEL,
    GCP_LOG_METRIC,
    GCP_BUDGET,
    "gcp:cloudidentity/group:Group",
)
"""Types whose `labels` are something else."""
_REGIONAL: Final = {
    "gcp:secretmanager/regionalSecret:RegionalSecret": "location",
    "gcp:cloudrunv2/service:Service": "location",
    "gcp:cloudrunv2/job:Job": "location",
    GCP_EDITOR_TEMPLATE: "location",
    "gcp:compute/subnetwork:Subnetwork": "region",
    "gcp:compute/router:Router": "region",
    "gcp:compute/routerNat:RouterNat": "region",
    "gcp:compute/address:Address": "region",
    "gcp:sql/databaseInstance:DatabaseInstance": "region",
}
"""Types of one region, with the input that names it."""
_ZONAL: Final = {
    "gcp:lustre/instance:Instance": "location",
    "gcp:workbench/instance:Instance": "location",
    "gcp:compute/reservation:Reservation": "zone",
    "gcp:compute/disk:Disk": "zone",
    "gcp:compute/instance:Instance": "zone",
    "gcp:storage/anywhereCache:AnywhereCache": "zone",
    "gcp:parallelstore/instance:Instance": "location",
}
"""Types of one zone, with the input that names it."""
_NO_ZONE: Final = (GCP_KEY_RING, GCP_IMAGE_REPOSITORY)
"""Types of a region or of several, never of a zone."""


def places(view: View) -> None:
    """Regions and zones that exist, of the kind that the type takes."""
    if not view.type.startswith("gcp:"):
        return
    for path, key, found in _leaves(view.inputs):
        text = found.rpartition("/")[2]
        if not found or _NO_PLACE.search(path):
            continue
        if key == "region":
            _region(view, path, text)
        elif key in _ZONES:
            _zone(view, path, text)
        elif key == "location" and "/" not in found:
            _location(view, path, text)


_NO_PLACE: Final = re.compile(r"(predicate|[eE]xpression|celExpression|\w*(?:[aA]mazon|[aA]ws|S3)\w*)\.")
"""Below which no `location` or `region` is a place of Google's: of an expression in its file, of another cloud."""


def _region(view: View, path: str, text: str) -> None:
    if text in _WIDER_OF_VERTEX and view.type.startswith("gcp:vertex/"):
        return
    if not REGION.fullmatch(text):
        view.error("gcp-location", path, show(text), allowed="a region, like europe-west4", hint=_near(text))
    elif text not in catalog.regions():
        view.warning("gcp-location", path, f"{show(text)} is no region that is known", hint=_near(text))


def _zone(view: View, path: str, text: str) -> None:
    match = ZONE.fullmatch(text)
    if match is None:
        view.error("gcp-location", path, show(text), allowed="a zone, like europe-west4-b")
    elif match[1] not in catalog.regions():
        view.warning("gcp-location", path, f"{show(text)} is of no region that is known", hint=_near(match[1]))
    elif len(match[2]) == 1 and text not in catalog.zones(match[1]):
        allowed = ", ".join(catalog.zones(match[1]))
        view.warning("gcp-location", path, f"{show(text)} is no zone that is known", allowed=allowed)


_WIDER_OF_VERTEX: Final = ("us", "eu", "global")
"""What Vertex AI takes as a `region`: it has endpoints of several regions too."""
_WIDER_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "gcp:storage/bucket:Bucket": (
        "us",
        "eu",
        "asia",
        *(each for each in WIDER if re.fullmatch(r"(nam|eur|asia)\d+", each)),
        "in",
    ),
    "gcp:kms/keyRing:KeyRing": tuple(each for each in WIDER if each != "eu"),
    "gcp:artifactregistry/repository:Repository": ("us", "europe", "asia"),
    "gcp:logging/projectBucketConfig:ProjectBucketConfig": ("global", "us", "eu"),
}
"""What a type takes of them, where it is not all."""
_ANY_CASE: Final = ("gcp:storage/bucket:", "gcp:bigquery", "gcp:biglake/", "gcp:container/registry:")
"""How types begin whose service writes US and EU."""


def _location(view: View, path: str, text: str) -> None:
    wider = _WIDER_OF.get(view.type, WIDER)
    if text != text.lower() and not view.type.startswith(_ANY_CASE):
        view.error("gcp-location", path, show(text), allowed=text.lower())
        return
    if _of_another_cloud(view, text):
        return
    own = _REGIONAL.get(view.type) == path, _ZONAL.get(view.type) == path
    if own[0] and not REGION.fullmatch(text):
        view.error("gcp-location", path, show(text), allowed="a region, like europe-west4", hint=_near(text))
    elif own[1] or ZONE.fullmatch(text):
        if view.type in _NO_ZONE:
            view.error("gcp-location", path, f"{show(text)} is a zone", allowed=text.rpartition("-")[0])
        else:
            _zone(view, path, text)
    elif REGION.fullmatch(text.lower()):
        _region(view, path, text.lower())
    elif text.lower() not in wider and text != "-":
        allowed = f"a region, or {', '.join(wider)}" if wider is not WIDER else "a region, a zone or a multi-region"
        view.error("gcp-location", path, show(text), allowed=allowed, hint=_near(text))


def _of_another_cloud(view: View, text: str) -> bool:
    """Whether it is a region of AWS or Azure, as BigQuery Omni has them: aws-us-east-1, azure-eastus2."""
    return view.type.startswith("gcp:bigquery/") and re.fullmatch(r"(aws|azure)-[a-z0-9-]+", text.lower()) is not None


def _near(text: str) -> str:
    return nearest(text.lower(), [*catalog.regions(), *WIDER])


def keys(view: View) -> None:
    """Keys by their whole name, in the place of what they encrypt."""
    if not view.type.startswith("gcp:"):
        return
    for path, key, found in _leaves(view.inputs):
        if not (_KEY_INPUTS.fullmatch(key) or path == "databaseEncryption.keyName"):
            continue
        match = KEY.fullmatch(found)
        if match is None:
            allowed = "projects/PROJECT/locations/LOCATION/keyRings/RING/cryptoKeys/KEY"
            view.error("gcp-key", path, show(found), allowed=allowed)
            continue
        place = _place_of(view, path)
        if place is not None and match["location"] != place:
            view.error("gcp-key-location", path, f"a key in {match['location']}", allowed=f"a key in {place}")


def _place_of(view: View, path: str) -> str | None:
    """Where a key has to be: where the replica is, or the resource; a zone's keys are its region's."""
    above = path
    while above:
        above = above.rpartition(".")[0]
        for key in ("location", "region", "zone"):
            text = view.text(f"{above}.{key}" if above else key)
            if text is not None:
                place = text.rpartition("/")[2].lower()
                return place.rpartition("-")[0] if ZONE.fullmatch(place) else place
    return None


def ranges(view: View) -> None:
    """Ranges of addresses that are ranges, from their first address on."""
    if not view.type.startswith("gcp:"):
        return
    for path, key, found in _leaves(view.inputs):
        authorised = key == "value" and "authorizedNetworks[" in path
        if not (authorised or _CIDR_INPUTS.fullmatch(key)) or found.startswith("/"):
            continue  # a length alone asks GKE to choose
        if found == "*" and key == "srcIpRanges":
            continue  # everybody, as the last rule of a policy of Cloud Armor has to say it
        try:
            network = ipaddress.ip_network(found, strict=False)
        except ValueError:
            view.error("gcp-range", path, show(found), allowed="a range of addresses, like 10.0.0.0/20")
            continue
        if "/" in found and str(network.network_address) != found.partition("/")[0] and network.version == 4:
            # Some services take it and mean the range, others refuse it.
            view.warning("gcp-range", path, f"{show(found)} has bits below its prefix", allowed=str(network))


def accounts(view: View) -> None:
    """Accounts of services by their address, projects by their id, scopes by their URL."""
    if not view.type.startswith("gcp:"):
        return
    for path, key, found in _leaves(view.inputs):
        if key in _ACCOUNT_INPUTS and not _ACCOUNT.fullmatch(found):
            view.error("gcp-account", path, show(found), allowed="NAME@PROJECT.iam.gserviceaccount.com")
        elif key == "project" and path == "project" and not _PROJECT.fullmatch(found):
            allowed = "6 to 30 of a-z, 0-9 and '-', a letter first, no '-' last"
            view.error("gcp-project", path, show(found), allowed=allowed)
        elif _SCOPES_OF.search(path) and not _SCOPE.fullmatch(found):
            allowed = "https://www.googleapis.com/auth/…, or its short name, like cloud-platform"
            view.error("gcp-scope", path, show(found), allowed=allowed, hint=nearest(found, _SCOPES))
        elif key == "deletionPolicy" and found:
            allowed_words = (*_DELETIONS, *_DELETED_OTHERWISE.get(view.type.split("/")[0].removeprefix("gcp:"), ()))
            if found not in allowed_words:
                allowed, hint = ", ".join(allowed_words), nearest(found, allowed_words)
                view.error("gcp-value", path, show(found), allowed=allowed, hint=hint)


_ACCOUNT: Final = re.compile(
    r"(projects/[^/]+/serviceAccounts/)?[^@\s/]+@[^@\s/]+\.gserviceaccount\.com|default|\d+|projects/-/serviceAccounts/\S+"
    r"|https://\S+"
)
_PROJECT: Final = re.compile(r"(projects/)?([a-z0-9.-]+\.[a-z]+:)?[a-z][-a-z0-9]{4,28}[a-z0-9]|(projects/)?\d+")
_SCOPES: Final = (
    "bigquery", "cloud-platform", "cloud-source-repos", "cloud-source-repos-ro", "compute-ro", "compute-rw",
    "datastore",
    "logging-write", "monitoring", "monitoring-read", "monitoring-write", "pubsub", "service-control",
    "service-management", "sql", "sql-admin", "storage-full", "storage-ro", "storage-rw", "taskqueue", "trace",
    "trace-append", "trace-ro", "userinfo-email", "useraccounts-ro", "useraccounts-rw",
)  # fmt: skip
"""Short names of scopes (gcloud's, which the provider takes too)."""
_SCOPE: Final = re.compile(rf"https://www\.googleapis\.com/auth/[\w.-]+|{'|'.join(_SCOPES)}")
_SCOPES_OF: Final = re.compile(r"(^|\.)(oauthScopes|serviceAccountScopes|serviceAccounts?(\[\d+\])?\.scopes)\[\d+\]$")
"""Scopes of machines; others of that name are of somebody else's OAuth."""
_DELETIONS: Final = ("DELETE", "ABANDON", "PREVENT", "FORCE", "DELETE_IGNORE_CONTENTS")
"""What a provider may be told to do with what is deleted: the first three of nearly every type."""
_DELETED_OTHERWISE: Final[Mapping[str, tuple[str, ...]]] = {
    "chronicle": ("DEFAULT",),
    "container": ("DELETE_IGNORE_ERRORS",),
    "firebase": ("DEFAULT",),
    "looker": ("DEFAULT",),
    "netapp": ("DEFAULT",),
    "secretmanager": ("DISABLE",),
}
"""What modules take besides, as the examples of the SDK's pages have it."""


def labels(view: View) -> None:
    """Labels are lower case: an address or a person's name is none."""
    if not view.type.startswith("gcp:") or view.type in _NO_LABELS:
        return
    for path in _label_maps(view):
        given = view.mapping(path)
        if len(given) > 64:
            view.error("gcp-label", path, f"{len(given)} labels", allowed="at most 64")
        for key, value in given.items():
            odd = view.type != GCP_BUCKET and re.match(r"[0-9_-]", str(key)) is not None
            if odd or not re.fullmatch(rf"{_LETTER}{{1,63}}", str(key)):
                allowed = "1 to 63 of a-z, 0-9, '_' and '-', a letter first"
                view.error("gcp-label", path, f"key {show(key)}", allowed=allowed)
            elif isinstance(value, str) and not re.fullmatch(rf"{_LETTER}{{0,63}}", value):
                allowed = "at most 63 of a-z, 0-9, '_' and '-'"
                view.error("gcp-label", f"{path}.{key}", show(value), allowed=allowed)


def _label_maps(view: View) -> Iterator[str]:
    for key in _LABEL_INPUTS:
        if view.mapping(key):
            yield key
    for above in ("nodeConfig", "settings", "template"):
        for key in ("resourceLabels", "userLabels"):
            if view.mapping(f"{above}.{key}"):
                yield f"{above}.{key}"


_LETTER: Final = r"(?:[a-z0-9_-]|[^\x00-\x7f])"
"""What labels are made of: letters of other alphabets may be in them."""


def _leaves(value: Any, path: str = "", key: str = "") -> Iterator[tuple[str, str, str]]:
    """Every text with its path and the key that it stands under, but for what lies in maps of the user's own."""
    if isinstance(value, str):
        yield path, key, value
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _leaves(item, f"{path}[{index}]", key)
    elif isinstance(value, Mapping):
        for each, item in value.items():
            if each not in _FREE:
                yield from _leaves(item, f"{path}.{each}" if path else str(each), str(each))


_HOST: Final = r"(https?://\S+?/|//\S+?/)?"
_PLAIN: Final = r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?"
_LINKS: Final[Mapping[str, tuple[str, str]]] = {
    "network": (rf"{_HOST}projects/[^/]+/global/networks/{_PLAIN}", "projects/PROJECT/global/networks/NETWORK"),
    "privateNetwork": (rf"{_HOST}projects/[^/]+/global/networks/{_PLAIN}", "projects/PROJECT/global/networks/NETWORK"),
    "subnetwork": (
        rf"{_HOST}projects/[^/]+/regions/[^/]+/subnetworks/{_PLAIN}",
        "projects/PROJECT/regions/REGION/subnetworks/SUBNET",
    ),
    "pubsubTopic": (r"projects/[^/]+/topics/[^/]+", "projects/PROJECT/topics/TOPIC"),
    "secret": (r"projects/[^/]+/(locations/[^/]+/)?secrets/[^/]+", "projects/PROJECT/secrets/SECRET"),
}
"""Inputs that name another resource, with what its whole name looks like."""
_WHOLE: Final = (
    ("gcp:secretmanager/secretVersion:SecretVersion", "secret"),
    ("gcp:secretmanager/regionalSecretVersion:RegionalSecretVersion", "secret"),
    ("gcp:sql/databaseInstance:DatabaseInstance", "privateNetwork"),
    ("gcp:lustre/instance:Instance", "network"),
    ("gcp:billing/budget:Budget", "pubsubTopic"),
)
"""Where the last part of the name alone is refused."""


_OF_ANOTHER_REGION: Final = ("asyncPrimaryDisk.",)
"""Inputs that name what stands in another region by intent."""
_IN_WORDS_OF_ITS_OWN: Final = ("purposeData.",)
"""Inputs that name another resource in no form of the API's: a tag's network is PROJECT/NETWORK (Resource Manager,
`tagKeys`, 2026-11)."""


def links(view: View) -> None:
    """Other resources by their whole name, in the region of what names them."""
    if not view.type.startswith("gcp:"):
        return
    place = view.text("region") or view.text("location") or view.text("zone") or ""
    region = place.rpartition("/")[2]
    region = region.rpartition("-")[0] if ZONE.fullmatch(region) else region
    for path, key, found in _leaves(view.inputs):
        like = None if path.startswith(_IN_WORDS_OF_ITS_OWN) else _LINKS.get(key)
        if like is not None and ("/" in found or (view.type, key) in _WHOLE) and not re.fullmatch(like[0], found):
            view.error("gcp-link", path, show(found), allowed=like[1])
        if path.startswith(_OF_ANOTHER_REGION):
            continue
        match = re.search(r"projects/[^/]+/regions/([^/]+)/", found)
        if match and REGION.fullmatch(region) and match[1] != region and "://" not in found:
            view.error("gcp-region", path, f"of {match[1]}; this is in {region}", allowed=f"one of {region}")


_ALL: Final[tuple[Callable[[View], None], ...]] = (places, keys, ranges, accounts, links, labels)

RULES: Rules = dict.fromkeys(_ALL, (EVERY_TYPE,))
