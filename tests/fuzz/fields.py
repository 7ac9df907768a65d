"""A random value for every field of the settings, derived from the models: a new setting is drawn without being named.

What a field's type says (a choice, bounds, a name, a network) is enough for most. A text or number whose type says less
than what it means has a line in `MEANT`; a test names the fields that have neither.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt, MaxLen, MinLen
from pydantic import AfterValidator, BaseModel
from pydantic.fields import FieldInfo

from trainyard import catalog
from trainyard.catalog import gcp
from trainyard.partitions import partition_of
from trainyard.plan.aws.logs import LOG_RETENTION_DAYS
from trainyard.plan.aws.market import usable
from trainyard.plan.aws.parts import LUSTRE_FIRST_STEPS, LUSTRE_STEP, LUSTRE_THROUGHPUTS
from trainyard.policies.pack import POLICIES
from trainyard.settings import api_access, audit, aws, existing_network, operations, shared_network, types
from trainyard.settings.common import Settings
from trainyard.settings.mistakes import fields_of

POOLS = ("train", "tune", "dev")
TEAMS = ("vision", "language", "speech", "tabular", "robotics", "search")


SELLING = tuple(name for name in catalog.regions() if any(usable(item, name) for item in catalog.instances()))
"""The regions that sell a GPU."""
SELLING_ON_GCP = tuple(
    name for name in gcp.regions() if any(gcp.offered_zones(item.type, name) for item in gcp.instances())
)
"""Those of Google Cloud."""


@dataclass(frozen=True, slots=True)
class World:
    """What the values of one file have in common: without it no zone would fit its region."""

    cloud: str
    region: str
    zones: tuple[str, ...]
    sold: tuple[str, ...]  # GPU instances of the region
    cpu: tuple[str, ...]  # instances without GPU
    density: float  # how many of the optional fields are there, 0 to 1


def world(rng: Random) -> World:
    """A region with what it sells, and how much its author wrote."""
    if rng.random() < 0.3:
        # One region in three sells no GPU: some files ask for one of them, most do not.
        region = rng.choice(SELLING_ON_GCP if rng.random() < 0.9 else gcp.regions())
        machines = [item.type for item in gcp.instances() if gcp.offered_zones(item.type, region)]
        return World(
            cloud="gcp",
            region=region,
            zones=gcp.zones(region),
            sold=tuple(machines) or ("g2-standard-8",),
            cpu=tuple(item.type for item in gcp.cpu_instances()),
            density=rng.choice((0.03, 0.1, 0.2, 0.35, 0.6)),
        )
    # Two regions have no GPU to sell: some files ask for one of them, most do not.
    region = rng.choice(SELLING if rng.random() < 0.95 else catalog.regions())
    return World(
        cloud="aws",
        region=region,
        zones=catalog.zones(region),
        sold=tuple(item.type for item in catalog.instances() if usable(item, region)) or ("p4d.24xlarge",),
        cpu=tuple(item.type for item in catalog.cpu_instances() if catalog.offered(item.type, region)),
        density=rng.choice((0.03, 0.1, 0.2, 0.35, 0.6, 0.8)),
    )


Draw = Callable[[Random, World], Any]


def _name(rng: Random, _: World) -> str:
    letters = string.ascii_lowercase + string.digits
    first = rng.choice(string.ascii_lowercase)
    return first + "".join(rng.choice(letters) for _ in range(rng.choice((0, 1, 3, 6, 9, 12, 19))))


def _network(rng: Random, _: World) -> str:
    prefix = rng.choice((16, 16, 17, 18, 19, 20, 24))
    base = rng.choice((f"10.{rng.randrange(256)}", f"172.{rng.randrange(16, 32)}", "192.168", "100.64"))
    return f"{base}.0.0/{prefix}"


def _public_network(rng: Random, _: World) -> str:
    return rng.choice((f"52.1.2.{rng.randrange(256)}/32", "93.184.216.0/24", f"8.{rng.randrange(256)}.0.0/16"))


def _arn(rng: Random, place: World, who: str) -> str:
    """Of the region's partition, but now and then of another, as in a file that was copied."""
    partition = partition_of(place.region) if rng.random() < 0.98 else rng.choice(("aws-cn", "aws-us-gov"))
    return f"arn:{partition}:iam::{rng.choice((10**11, rng.randrange(10**11, 10**12)))}:{who}"


def _who(rng: Random, place: World) -> str:
    """Somebody who signs in, as the cloud names them."""
    if place.cloud == "gcp":
        return rng.choice(("user:ann@acme.example", "serviceAccount:ci@acme-ml.iam.gserviceaccount.com"))
    return _principal(rng, place)


def _principal(rng: Random, place: World) -> str:
    return _arn(rng, place, rng.choice(("role/ml", "user/ann", "role/path/to/it", "user/" + "x" * 64)))


def _user(rng: Random, place: World) -> str:
    return _arn(rng, place, rng.choice(("user/ann", "user/on-call/a.b@c", "user/" + "x" * 64)))


def _domain(rng: Random, _: World) -> str:
    """A name, or with a dot in front it and all below; the longest label and the longest name among them."""
    label = rng.choice(("pypi", "hf", "a", "x" * 63, "xn--bcher-kva", "s3.us-east-1", f"h{rng.randrange(999)}"))
    below = rng.choice(("org", "co", "amazonaws.com", "acme.example", ".".join(["y" * 60] * 3) + ".io"))
    return f"{rng.choice(('', '', '.'))}{label}.{below}"


def _bucket(rng: Random, _: World) -> str:
    return rng.choice(("commoncrawl", "noaa-goes16", "a.b.c", "1000genomes", "x" * 63, f"set-{rng.randrange(999)}"))


def _cache_secret(rng: Random, place: World) -> str:
    account, name = rng.randrange(10**11, 10**12), rng.choice(("hub", "a/b", "login"))
    partition = partition_of(place.region)
    return f"arn:{partition}:secretsmanager:{place.region}:{account}:secret:ecr-pullthroughcache/{name}-a1b2c3"


def _registry(rng: Random, _: World) -> str:
    host = rng.choice(("nvcr.io", "quay.io", "docker.io", "ghcr.io", "registry.acme.example:5000", "public.ecr.aws"))
    return host + rng.choice(("", "/nvidia", "/pytorch/pytorch", "/a-b/c_d/e.f", "/" + "x" * 100))


def _id(of: str) -> Draw:
    return lambda rng, _: f"{of}-{rng.randrange(16**17):017x}"


def existing_zones(rng: Random, place: World, *, every: bool = False) -> dict[str, Any]:
    """Subnets of a network that is there, of blocks that lie apart in 10.20.0.0/16; of some of the region's zones."""
    found = {}
    for number, zone in enumerate(place.zones[: 6 if every else rng.choice((1, 2, 3, 3, 6))]):
        nodes = number * 32
        blocks = (f"10.20.{nodes}.0/20", f"10.20.{nodes + 16}.0/28", f"10.20.{nodes + 17}.0/26")
        kinds = zip(("nodes", "controlPlane", "services"), blocks, strict=True)
        found[zone] = {kind: {"id": _id("subnet")(rng, place), "cidr": block} for kind, block in kinds}
    return found


KINDS: Mapping[object, Draw] = {
    types.Name: _name,
    types.Email: lambda rng, _: rng.choice(("ml@acme.example", "ops+gpu@acme.example", "a@b.co")),
    types.Label: lambda rng, _: rng.choice(("research", "cc-1200", "team ml", "a/b:c=d+e@f", "x" * 100, "ünï")),
    types.Cidr: _network,
    types.PublicCidr: _public_network,
    api_access.SecurityGroup: _id("sg"),
    shared_network.ComputeName: lambda rng, _: rng.choice(("ml", "prod-vpc", "pods-1", "a" * 63)),
    existing_network.VpcId: _id("vpc"),
    existing_network.SubnetId: _id("subnet"),
    existing_network.RouteTableId: _id("rtb"),
    existing_network.EndpointService: lambda rng, _: rng.choice(("s3", "ec2", "sts", "ecr.api", "ssm")),
    types.Image: lambda rng, _: f"registry.example/{rng.choice('ab')}:1@sha256:{rng.randrange(16**64):064x}",
    types.Cores: lambda rng, _: rng.choice(("500m", "1", "1.5", "2", "4")),
    types.Memory: lambda rng, _: rng.choice(("1Gi", "2Gi", "512Mi", "3G", "4096Mi")),
    types.DomainName: _domain,
    types.TimeOfDay: lambda rng, _: f"{rng.randrange(24):02d}:{rng.choice((0, 30, 59)):02d}",
    types.TimeZone: lambda rng, _: rng.choice(("Europe/Berlin", "UTC", "Asia/Kolkata", "America/St_Johns")),
    types.StateBackend: lambda rng, place: rng.choice(
        (f"s3://state?region={place.region}", "gs://state", "https://api.pulumi.com")
    ),
    audit.UserWithMfa: _user,
    operations.ImageSource: _registry,
    operations.RegistryName: lambda rng, _: rng.choice(("nvcr.io", "docker.io", "registry.acme.example:5000")),
    operations.ChartMirror: lambda rng, _: rng.choice(("oci://r.acme.example/charts", "https://charts.acme.example")),
    operations.CacheSecret: _cache_secret,
    aws.Principal: _principal,
}
"""By the settings' own kinds of text, which several fields share."""


def _instant(rng: Random) -> str:
    return f"20{rng.randint(26, 28)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}T11:30:00Z"


def _some(rng: Random, of: tuple[str, ...], most: int) -> list[str]:
    return rng.sample(of, rng.randint(min(1, len(of)), min(most, len(of))))


def machine(type_: str, place: World) -> Any:
    """The catalogue's row of a machine with GPUs, of the file's cloud."""
    return catalog.instance(type_) if place.cloud == "aws" else gcp.instance(type_)


MEANT: Mapping[str, Draw] = {
    "cloud": lambda _, place: place.cloud,
    "region": lambda _, place: place.region,
    "stateRegion": lambda _, place: place.region,
    "gcp.project": lambda rng, _: rng.choice(("acme-ml", "acme-ml-2026", "a" * 30)),
    "gcp.tpuPools.*.purpose": lambda rng, _: rng.choice(("pre-training", "batch inference of the search team")),
    "gcp.tpuPools.*.instanceType": lambda rng, _: rng.choice(gcp.tpus()).type,
    "gcp.tpuPools.*.topology": lambda rng, _: rng.choice(("1x1", "2x2", "2x4", "4x4", "2x2x1", "2x2x2")),
    "gcp.tpuPools.*.reserved.reservationId": lambda rng, _: rng.choice(("held", "projects/acme-ml/reservations/held")),
    "gcp.tpuPools.*.zone": lambda rng, place: rng.choice(place.zones),
    "gcp.networkProject": lambda rng, _: rng.choice(("acme-network", "shared-vpc-host-2026")),
    "gcp.projectNumber": lambda rng, _: f"{rng.randrange(10**11, 10**12)}",
    "gcp.billingAccount": lambda rng, _: f"0{rng.randrange(10**5):05}-6789AB-CDEF01",
    "gcp.billingCurrency": lambda rng, _: rng.choice(("USD", "EUR", "JPY")),
    "gcp.organisationDomain": lambda rng, _: rng.choice(("acme.example", "ml.a-b.co")),
    "gcp.databaseTier": lambda rng, _: rng.choice(("db-custom-1-3840", "db-custom-2-7680", "db-custom-4-15360")),
    "managed.trainingTypes[]": lambda rng, _: rng.choice(("ml.g5.xlarge", "ml.g6.2xlarge", "ml.p4d.24xlarge")),
    "managed.editorTypes[]": lambda rng, _: rng.choice(("ml.t3.medium", "ml.m5.xlarge", "ml.g5.xlarge")),
    "gpuPools.*.sharing.mig": lambda rng, _: rng.choice(("1g.10gb", "2g.20gb", "3g.40gb", "1g.5gb", "7g.80gb")),
    "monitoring.runbooks": lambda rng, _: rng.choice(("https://docs.acme.example/runbooks", "https://a.b.co")),
    "kubernetesVersion": lambda rng, _: rng.choice(tuple(catalog.kubernetes_versions())),
    "logRetentionDays": lambda rng, _: rng.choice(LOG_RETENTION_DAYS[:-1]),  # the last is more than Google keeps
    "aws.accountId": lambda rng, _: f"{rng.randrange(10**11, 10**12)}",
    "aws.organizationId": lambda rng, _: (
        f"o-{''.join(rng.choices(string.ascii_lowercase, k=rng.choice((10, 12, 32))))}"
    ),
    "aws.publicBuckets[]": _bucket,
    "aws.assumeRole": lambda rng, place: _arn(rng, place, rng.choice(("role/ml", "role/path/to/it"))),
    "aws.profile": lambda rng, _: rng.choice(("acme", "acme-prod", "sso.deploy@acme")),
    "aws.permissionsBoundary": lambda rng, place: (
        f"arn:{partition_of(place.region)}:iam::123456789012:policy/{rng.choice(('boundary', 'teams/boundary'))}"
    ),
    "aws.rolePath": lambda rng, _: rng.choice(("/", "/ml/", "/teams/ml/")),
    "aws.existingNetwork.zones": existing_zones,
    "aws.endpointZones": lambda rng, _: rng.randint(1, 4),
    "aws.flowLogRetentionDays": lambda rng, _: rng.choice(LOG_RETENTION_DAYS),
    "aws.nodeRelease": lambda rng, _: catalog.node_release(rng.choice(tuple(catalog.kubernetes_versions())))[0],
    "aws.databaseInstanceClass": lambda rng, _: rng.choice(
        [price.key.removeprefix("rds.postgres.") for price in catalog.service_prices("rds.postgres.")]
    ),
    "teams[].principals[]": _principal,
    "network.zones": lambda rng, place: _some(rng, place.zones, 4),
    "gpuPools.*.purpose": lambda rng, _: rng.choice(("a run", "x" * 200, "日本語", "with: colon", "'quoted'")),
    "gpuPools.*.gpu": lambda rng, place: machine(rng.choice(place.sold), place).gpu,
    "gpuPools.*.instanceType": lambda rng, place: rng.choice(place.sold),
    "gpuPools.*.zone": lambda rng, place: rng.choice(place.zones),
    "gpuPools.*.reserved.reservationId": lambda rng, place: (
        f"cr-{rng.randrange(16**17):017x}" if place.cloud == "aws" else f"held-{rng.randrange(999)}"
    ),
    "gpuPools.*.reserved.availabilityZone": lambda rng, place: rng.choice(place.zones),
    "gpuPools.*.reserved.start": lambda rng, _: _instant(rng),
    "gpuPools.*.reserved.end": lambda rng, _: _instant(rng),
    "gpuPools.*.spot.instanceTypes": lambda rng, place: _some(rng, place.sold, 3),
    "cpuPool.instanceTypes": lambda rng, place: _some(rng, place.cpu, 3),
    "systemNodes.instanceTypes": lambda rng, place: _some(rng, place.cpu, 3),
    "storage.ingestPrincipals[]": _who,
    "storage.lustre.capacityGib": lambda rng, _: rng.choice((*LUSTRE_FIRST_STEPS, LUSTRE_STEP * rng.randint(1, 40))),
    "storage.lustre.throughputMbpsPerTib": lambda rng, _: rng.choice(LUSTRE_THROUGHPUTS),
    "storage.lustre.zone": lambda rng, place: rng.choice(place.zones),
    "mlflow.cpu": lambda rng, _: rng.choice(("500m", "1", "1.5")),
    "mlflow.database.restoreFrom": lambda rng, place: rng.choice(
        ("before-the-move", f"arn:{partition_of(place.region)}:rds:{place.region}:123456789012:snapshot:kept-1")
    ),
    "mlflow.image": lambda rng, _: f"registry.example/mlflow:3.17.2@sha256:{rng.getrandbits(256):064x}",
    "mlflow.memory": lambda rng, _: rng.choice(("2Gi", "3Gi", "4096Mi")),
    "mlflow.signOn.issuer": lambda rng, _: rng.choice(("https://login.acme.example", "https://a.b.co:8443/r/x/")),
    "mlflow.signOn.audience": lambda rng, _: rng.choice(("6f1d3c0e", "api://tracking", "x" * 200)),
    "mlflow.signOn.keysUrl": lambda rng, _: rng.choice(("https://login.acme.example/keys", "https://a.b.co/k?p=b2c_1")),
    "mlflow.signOn.claim": lambda rng, _: rng.choice(("groups", "https://acme.example/roles")),
    "mlflow.signOn.personClaim": lambda rng, _: rng.choice(("email", "preferred_username")),
    "mlflow.signOn.teams.*": lambda rng, _: rng.choice(("ml", "acme:ML people", "x" * 200, str(rng.randrange(10**9)))),
    "notebooks.address": lambda rng, _: rng.choice(("https://notebooks.acme.example", "https://a.b.co")),
    "notebooks.signOn.clientId": lambda rng, _: rng.choice(("0oa1b2c3d4e5F6g7h8i9", "trainyard-notebooks")),
    "notebooks.signOn.groups[]": lambda rng, _: rng.choice(("acme:ml", "acme", "ML people")),
    "notebooks.signOn.authorizeUrl": lambda rng, _: rng.choice(("https://login.acme.example/authorize",)),
    "notebooks.signOn.tokenUrl": lambda rng, _: rng.choice(("https://login.acme.example/token",)),
    "notebooks.signOn.userdataUrl": lambda rng, _: rng.choice(("https://login.acme.example/userinfo",)),
    "notebooks.signOn.personClaim": lambda rng, _: rng.choice(("email", "preferred_username")),
    "notebooks.signOn.claim": lambda rng, _: rng.choice(("groups", "roles")),
    "notebooks.signOn.scopes[]": lambda rng, _: rng.choice(("openid", "profile", "email", "groups")),
    "smoke.team": lambda rng, _: rng.choice((*TEAMS, "everyone")),
    "audit.trail.reason": lambda rng, _: rng.choice(("the landing zone has one", "x" * 500)),
    "audit.threatDetection.reason": lambda rng, _: rng.choice(("the security account has one", "x" * 500)),
    "audit.containerLogs.retentionDays": lambda rng, _: rng.choice(LOG_RETENTION_DAYS),
    "policyExceptions[].policy": lambda rng, _: rng.choice(POLICIES).name,
    "policyExceptions[].resource": lambda rng, _: rng.choice(("*", "cluster/*", "gpu-nodes-*")),
    "policyExceptions[].reason": lambda rng, _: rng.choice(("accepted for a while", "x" * 500)),
    "policyExceptions[].expires": lambda rng, _: f"20{rng.randint(26, 40)}-{rng.randint(1, 12):02d}-28",
}
"""By the path of a field, where its type is only "text" or "a number"."""

NAMES_OF: Mapping[str, tuple[str, ...]] = {
    "gpuPools": (*POOLS, "extra", "pretrain"),
    "gpuPools.*.owners": TEAMS,
    "mlflow.signOn.teams": TEAMS,
    "images.mirrors": ("nvcr.io", "docker.io", "ghcr.io", "quay.io"),
    "scheduler.priorities": ("production", "standard", "development", "urgent"),
    "teams[].name": TEAMS,
}
"""Names that mean something where they stand; any name is drawn there now and then."""


class NoGeneratorError(LookupError):
    """A field's type says too little to draw a value of it, and `MEANT` has no line for it."""


def draw_model(model: type[BaseModel], rng: Random, place: World, path: str = "") -> dict[str, Any]:
    """A mapping of a stack file: what is required, and some of the rest."""
    found = {}
    for key, field in fields_of(model).items():
        if field.is_required() or rng.random() < place.density:
            found[key] = _draw_field(field, rng, place, f"{path}.{key}" if path else key)
    return found


def without_generator(model: type[BaseModel] = Settings) -> Iterator[str]:
    """The paths of the fields that no value can be drawn for."""
    yield from _without(model, "")


def _without(model: type[BaseModel], path: str) -> Iterator[str]:
    rng = Random(0)
    place = replace(world(rng), density=1.0)
    for key, field in fields_of(model).items():
        here = f"{path}.{key}" if path else key
        try:
            for _ in range(20):
                _draw_field(field, rng, place, here)
        except NoGeneratorError as error:
            yield str(error)


def _draw_field(field: FieldInfo, rng: Random, place: World, path: str) -> Any:
    return _draw(field.annotation, tuple(field.metadata), rng, place, path)


def _draw(annotation: Any, metadata: tuple[Any, ...], rng: Random, place: World, path: str) -> Any:
    """A value of an annotation: a meant one, then of a kind, then of what the type itself says."""
    if path in MEANT:
        return MEANT[path](rng, place)
    if get_origin(annotation) is Annotated:
        inner, *more = get_args(annotation)
        return _draw(inner, (*metadata, *more), rng, place, path)
    if path in NAMES_OF and annotation is str and rng.random() < 0.9:
        return rng.choice(NAMES_OF[path])
    for kind, draw in KINDS.items():
        if _validator(kind) in metadata:
            return draw(rng, place)
    if get_origin(annotation) in (Union, UnionType):
        (inner,) = (part for part in get_args(annotation) if part is not NoneType)
        return _draw(inner, metadata, rng, place, path)
    return _of_type(annotation, metadata, rng, place, path)


def _validator(kind: object) -> object:
    """What makes a kind of text itself: the check in its annotation."""
    return next(part for part in get_args(kind) if isinstance(part, AfterValidator))


def _of_type(annotation: Any, metadata: tuple[Any, ...], rng: Random, place: World, path: str) -> Any:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return rng.choice(arguments)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return draw_model(annotation, rng, place, path)
    if origin is list:
        least, most = _bound(metadata, MinLen, 0), min(4, _bound(metadata, MaxLen, 4))
        return [_draw(arguments[0], (), rng, place, f"{path}[]") for _ in range(rng.randint(least, most))]
    if origin is dict:
        known = NAMES_OF.get(path, ())
        names = rng.sample(known, rng.randint(0, min(3, len(known)))) if known else []
        names += [_name(rng, place)] if rng.random() < 0.15 or not known else []
        return {name: _draw(arguments[1], (), rng, place, f"{path}.*") for name in names}
    if annotation is bool:
        return rng.random() < 0.5
    if annotation in (int, float):
        return _number(annotation, metadata, rng, path)
    raise NoGeneratorError(path)


def _number(annotation: type, metadata: tuple[Any, ...], rng: Random, path: str) -> float:
    """Mostly small, at times at a bound: that is where people are."""
    least = next((bound for kind in (Ge, Gt) if (bound := _bound(metadata, kind, None)) is not None), None)
    most = next((bound for kind in (Le, Lt) if (bound := _bound(metadata, kind, None)) is not None), None)
    if least is None:
        raise NoGeneratorError(path)
    top = most if most is not None else 10**6
    drawn = rng.choice((least, least + 1, least + rng.randrange(4), rng.uniform(least, min(top, least + 60)),
                        rng.uniform(least, top), top))  # fmt: skip
    return min(top, round(drawn) if annotation is int else max(0.5, round(drawn, 1)))


def _bound(metadata: tuple[Any, ...], kind: type, default: Any) -> Any:
    """The bound of a kind in what pydantic keeps beside a type, or inside of a field that stands there."""
    for entry in metadata:
        if isinstance(entry, kind):
            return getattr(entry, _BOUNDS[kind])
        if isinstance(entry, FieldInfo) and (found := _bound(tuple(entry.metadata), kind, None)) is not None:
            return found
    return default


_BOUNDS = {Ge: "ge", Gt: "gt", Le: "le", Lt: "lt", MinLen: "min_length", MaxLen: "max_length"}
