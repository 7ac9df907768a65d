"""Whether nodes get images of Amazon ECR through the endpoints of their network.

Source: Amazon ECR User Guide, "Amazon ECR interface VPC endpoints (AWS PrivateLink)", read 2026-11: both interface
endpoints are asked, and layers come from a bucket of AWS's through the endpoint of S3. EKS keeps what every node runs
in its own account's repositories.
"""

from __future__ import annotations

from trainyard.recorded.read import UnreadableInput, is_set
from trainyard.recorded.types import VPC, VPC_ENDPOINT
from trainyard.rehearsal.context import View
from trainyard.rehearsal.works.rights.aws.callers import ANONYMOUS, Caller
from trainyard.rehearsal.works.rights.aws.conditions import UnknownOperator
from trainyard.rehearsal.works.rights.aws.documents import Request, read_document
from trainyard.rehearsal.works.rights.aws.evaluate import Asked
from trainyard.rehearsal.works.rights.aws.needs.controllers import nodes
from trainyard.rehearsal.works.rights.aws.needs.places import EKS_IMAGES, EKS_IMAGES_REGIONS, Places
from trainyard.rehearsal.works.rights.aws.unfilled import unfilled


def check(places: Places) -> None:
    """Notes endpoints that keep nodes from their images."""
    callers = nodes(places)
    if not callers or not places.region or len(places.stack.of_type(VPC)) > 1:
        return  # nobody knows which network the nodes are in
    layers = f"arn:{places.partition}:s3:::prod-{places.region}-starport-layer-bucket/layer"
    image = f"arn:{places.partition}:ecr:{places.region}:{EKS_IMAGES}:repository/eks/pause"
    asked = (
        (".s3", "s3:GetObject", layers, ANONYMOUS),
        (".ecr.dkr", "ecr:BatchGetImage", image, callers[0]),
        (".ecr.api", "ecr:GetAuthorizationToken", "*", callers[0]),
    )
    for view in places.stack.of_type(VPC_ENDPOINT):
        for suffix, action, resource, caller in asked:
            if resource == image and places.region not in EKS_IMAGES_REGIONS:
                continue
            name = view.text("serviceName") or ""
            if (
                name.endswith(suffix)
                and name.startswith("com.amazonaws.")
                and _stops(places, view, caller, action, resource)
            ):
                view.error(
                    "rights-images",
                    "policy",
                    f"nodes get no image of Amazon ECR: the policy of endpoint {view.name} does not let {action} on "
                    f"{resource} through",
                    allowed=f"a statement that allows {action} there",
                )


def _stops(places: Places, view: View, caller: Caller, action: str, resource: str) -> bool:
    if not is_set(view.resource.inputs, "policy") or view.resource.read:
        return False
    context = {
        "aws:resourceaccount": (EKS_IMAGES,),
        "aws:securetransport": ("true",),
        "aws:requestedregion": (places.region,),
    }
    if caller.account:
        context |= {"aws:principalaccount": (caller.account,), "aws:principalarn": (caller.arn,)}
    request = Request(caller, action, resource, context)
    try:
        policy = read_document(view.resource.inputs, "policy", what=view.name, urn=view.resource.urn)
        let_by = policy.allowing(request, principals=True) and not policy.denying(request, principals=True)
        return not let_by and not unfilled(request, Asked(endpoint=policy))
    except (UnreadableInput, UnknownOperator):
        return False
