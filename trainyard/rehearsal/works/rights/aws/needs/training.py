"""What managed training needs: jobs read what they are sent and keep what they make, MLflow keeps files of runs, and
people open the editors that their domain offers.

Sources: SageMaker AI Developer Guide, "How to use SageMaker AI execution roles" (CreateTrainingJob, images, logs,
interfaces in a VPC) and "Give access to Studio resources" (`sts:SetSourceIdentity`); Service Authorization Reference,
"Amazon SageMaker" (condition keys of CreateApp), 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainyard.recorded.types import SAGEMAKER_MODEL_GROUP
from trainyard.rehearsal.context import View
from trainyard.rehearsal.works.managed.aws.editors import DOMAIN
from trainyard.rehearsal.works.managed.aws.jobs import Job, jobs
from trainyard.rehearsal.works.managed.aws.tracking import APP
from trainyard.rehearsal.works.rights.aws.callers import service
from trainyard.rehearsal.works.rights.aws.needs.model import Deed, Need, refused
from trainyard.rehearsal.works.rights.aws.needs.objects import listing, reading, writing
from trainyard.rehearsal.works.rights.aws.needs.places import Places
from trainyard.rehearsal.works.rights.aws.recorded_policies import arn_of

_URI: Final = re.compile(r"s3://(?P<bucket>[^/]+)/?(?P<path>.*)")
_IMAGE: Final = re.compile(
    r"(?P<account>\d{12})\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(?:\.cn)?/(?P<name>[^:@]+)"
)
_SAGEMAKER: Final = "sagemaker.amazonaws.com"
_EDITORS: Final = {"jupyterLabAppSettings": "JupyterLab", "codeEditorAppSettings": "CodeEditor"}
_SETTINGS: Final = "defaultUserSettings"


def needs(places: Places) -> Iterator[Need]:
    """Needs of jobs, of MLflow and of people."""
    for job in jobs(places.stack):
        yield from _job(places, job)
    for app in places.stack.of_type(APP):
        yield from _tracking(places, app)
    for domain in places.stack.of_type(DOMAIN):
        _named_sessions(places, domain)
        yield from _editors(places, domain)


def _object(places: Places, uri: object) -> tuple[Any, str] | None:
    """The recorded bucket of an address, and the name of something below it."""
    found = _URI.fullmatch(uri) if isinstance(uri, str) else None
    bucket = places.place(found["bucket"]) if found else None
    if found is None or bucket is None or bucket.read:
        return None
    return bucket, f"{found['path'].strip('/')}/x".lstrip("/")


def _job(places: Places, job: Job) -> Iterator[Need]:
    named = job.at("roleArn")
    taken = places.role(named) if isinstance(named, str) else None
    if taken is None:
        return
    role, caller = taken
    by, path = f"the job, with role {role.name},", job.place or "roleArn"
    inside = not job.lacks("vpcConfig")

    def need(purpose: str, deeds: tuple[Deed, ...]) -> Need:
        return Need(job.view, path, "rights-role-lacks", (caller,), by, purpose, deeds, from_network=inside)

    for channel in job.at("inputDataConfig") or () if isinstance(job.at("inputDataConfig"), list) else ():
        source = channel.get("dataSource") if isinstance(channel, Mapping) else None
        source = source.get("s3DataSource") if isinstance(source, Mapping) else None
        place = _object(places, source.get("s3Uri")) if isinstance(source, Mapping) else None
        if place is not None:
            deeds = (*reading(places, *place), listing(place[0], place[1].rpartition("/")[0]))
            yield need(f"read its channel {channel.get('channelName')}", deeds)
    for at, purpose in (
        ("outputDataConfig.s3OutputPath", "keep its results"),
        ("checkpointConfig.s3Uri", "keep its checkpoints"),
    ):
        place = _object(places, job.at(at))
        if place is not None:
            yield need(purpose, writing(places, *place))
    image = _IMAGE.match(str(job.at("algorithmSpecification.trainingImage")))
    if image is not None:
        repository = f"arn:{places.partition}:ecr:{image['region']}:{image['account']}:repository/{image['name']}"
        layers = ("ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer", "ecr:BatchCheckLayerAvailability")
        yield need("pull its image", (Deed("ecr:GetAuthorizationToken"), *(Deed(one, repository) for one in layers)))
    lines = f"arn:{places.partition}:logs:{places.region}:{places.account.id}:log-group:/aws/sagemaker/TrainingJobs"
    stream = f"{lines}:log-stream:x/algo-1"
    deeds = tuple(
        Deed(one, lines, spellings=(stream, f"{lines}:*")) for one in ("logs:CreateLogStream", "logs:PutLogEvents")
    )
    yield need("write its log", deeds)
    if inside:
        own = f"arn:{places.partition}:ec2:{places.region}:{places.account.id}"
        yield need(
            "join its network",
            (
                Deed(
                    "ec2:CreateNetworkInterface",
                    f"{own}:network-interface/*",
                    spellings=(f"{own}:network-interface/eni-1",),
                ),
                Deed(
                    "ec2:CreateNetworkInterfacePermission",
                    f"{own}:network-interface/*",
                    spellings=(f"{own}:network-interface/eni-1",),
                ),
                *(Deed(one) for one in ("ec2:DescribeSubnets", "ec2:DescribeVpcs", "ec2:DescribeSecurityGroups")),
            ),
        )


def _tracking(places: Places, app: View) -> Iterator[Need]:
    taken = places.role(app.text("roleArn") or "")
    place = _object(places, app.text("artifactStoreUri"))
    if taken is None or place is None:
        return
    role, caller = taken
    by, name = f"MLflow, with role {role.name},", f"{place[1].removesuffix('x')}1/artifacts/x"
    deeds = (
        *writing(places, place[0], name),
        *reading(places, place[0], name),
        listing(place[0], name.rpartition("/")[0]),
    )
    yield Need(app, "artifactStoreUri", "rights-role-lacks", (caller,), by, "keep files of runs", deeds)
    groups = [arn_of(one) for one in places.stack.resources.of(SAGEMAKER_MODEL_GROUP)]
    if app.text("modelRegistrationMode") == "AutoModelRegistrationEnabled" and groups and groups[0]:
        deeds = tuple(
            Deed(f"sagemaker:{one}", groups[0]) for one in ("CreateModelPackageGroup", "DescribeModelPackageGroup")
        )
        models = groups[0].replace(":model-package-group/", ":model-package/")
        deeds += (Deed("sagemaker:CreateModelPackage", groups[0], spellings=(f"{models}/1",)),)
        yield Need(app, "modelRegistrationMode", "rights-role-lacks", (caller,), by, "register models by itself", deeds)


def _named_sessions(places: Places, domain: View) -> None:
    """Editors under the name of their profile set it as the source identity, which the role has to let them."""
    if domain.text("domainSettings.executionRoleIdentityConfig") != "USER_PROFILE_NAME":
        return
    path = f"{_SETTINGS}.executionRole"
    taken = places.role(domain.text(path) or "")
    said = {"aws:SourceAccount": places.account.id, "sts:SourceIdentity": "somebody"}
    deed = Deed("sts:SetSourceIdentity", arn_of(taken[0]), said) if taken is not None else None
    if taken is not None and deed is not None and refused(places.account, service(_SAGEMAKER), deed) is not None:
        message = (
            f"editors run under their profile's name, and role {taken[0].name} lets {_SAGEMAKER} set none: none starts"
        )
        domain.error("rights-role-untrusted", path, message, allowed="sts:SetSourceIdentity in its trust policy")


def _editors(places: Places, domain: View) -> Iterator[Need]:
    path = f"{_SETTINGS}.executionRole"
    taken = places.role(domain.text(path) or "")
    known = domain.resource.id
    if taken is None or not isinstance(known, str):
        return
    role, caller = taken
    own = f"arn:{places.partition}:sagemaker:{places.region}:{places.account.id}"
    for settings, kind in _EDITORS.items():
        machine = domain.text(f"{_SETTINGS}.{settings}.defaultResourceSpec.instanceType")
        if machine is None:
            continue
        said = {
            "sagemaker:InstanceTypes": [machine],
            "sagemaker:DomainId": known,
            "sagemaker:UserProfileName": "somebody",
            "sagemaker:OwnerUserProfileArn": f"{own}:user-profile/{known}/somebody",
            "sagemaker:SpaceSharingType": "Private",
        }
        deed = Deed("sagemaker:CreateApp", f"{own}:app/{known}/somebody/{kind}/default", said)
        yield Need(
            domain, f"{_SETTINGS}.{settings}.defaultResourceSpec.instanceType", "rights-role-lacks", (caller,),
            f"people, with role {role.name},", f"open {kind} on {machine}, which it is set to", (deed,),
        )  # fmt: skip
