"""Who reaches the cluster's API: the settings' choices, and the plan's."""

import pytest

from tests.plan.stack_files import keys, plan_of
from trainyard.plan.aws.parts import ApiAccessPlan

BASTION = ApiAccessPlan(bastion="t3.nano", networks=(), security_groups=())


def test_left_out_it_is_a_bastion_which_every_region_sells():
    assert plan_of().ground.control_planes[0].access == BASTION
    assert plan_of().clusters[0].public_access_cidrs == ()
    without_burstable = plan_of(region="me-central-1", network=keys(zones=["me-central-1a", "me-central-1b"]))
    assert without_burstable.ground.control_planes[0].access.bastion == "m7i.large"


def test_what_the_other_keys_ask_for_needs_no_mode():
    public = plan_of(apiAccess=keys(cidrs=["198.51.100.0/24"]))
    assert public.clusters[0].public_access_cidrs == ("198.51.100.0/24",)
    assert public.ground.control_planes[0].access.bastion is None
    private = plan_of(apiAccess=keys(networks=["10.8.0.0/16"])).ground.control_planes[0].access
    assert private == ApiAccessPlan(None, ("10.8.0.0/16",), ())


def test_it_is_priced_in_the_floor():
    assert [item.what for item in plan_of().core.idle_floor.items if "bastion" in item.what] == [
        "bastion (1 t3.nano)",
        "disk of the bastion",
    ]
    public = plan_of(apiAccess=keys(cidrs=["198.51.100.0/24"]))
    assert not [item for item in public.core.idle_floor.items if "bastion" in item.what]


@pytest.mark.parametrize(
    ("access", "key", "said"),
    [
        ({"mode": "private"}, "apiAccess.mode", "nobody reaches the API"),
        ({"mode": "public"}, "apiAccess.cidrs", "must name the public networks"),
        (
            {"mode": "bastion", "cidrs": ["198.51.100.0/24"]},
            "apiAccess.cidrs",
            "read only where apiAccess.mode is public",
        ),
        ({"networks": ["10.8.0.0/16", "10.8.4.0/24"]}, "apiAccess.networks[1]", "must not overlap 10.8.0.0/16"),
        ({"security_groups": ["sg-1"]}, "apiAccess.securityGroups[0]", "must be the id of a security group"),
        ({"security_groups": ["sg-0123456789abcdef0"] * 2}, "apiAccess.securityGroups[1]", "must not be there twice"),
    ],
)
def test_an_api_that_nobody_reaches_is_refused_with_the_choices(problems, access, key, said):
    problem = problems(apiAccess=keys(**access))[key]
    assert said in problem.allowed
    if "nobody reaches" in said:
        assert all(choice in problem.hint for choice in ("cidrs", "networks", "securityGroups", "bastion"))


def test_a_network_first():
    plan = plan_of(stage="account")
    assert plan.clusters == ()
    assert plan.core.idle_floor == plan_of().core.idle_floor, "the budget has to hold what comes next"


@pytest.mark.parametrize(
    ("aws", "key", "said"),
    [
        ({"role_path": "teams/ml"}, "aws.rolePath", "must begin and end with /"),
        ({"permissions_boundary": "boundary"}, "aws.permissionsBoundary", "must be the ARN of an IAM policy"),
        ({"assume_role": "arn:aws:iam::123456789012:user/ann"}, "aws.assumeRole", "must be the ARN of an IAM role"),
        ({"profile": "my profile"}, "aws.profile", "must be the name of a profile"),
        (
            {"budget_scope": "account", "anomaly_detection": True},
            "aws.anomalyDetection",
            "monitors the environment's tag",
        ),
    ],
)
def test_what_an_account_cannot_have_is_refused(problems, aws, key, said):
    assert said in problems(aws=keys(**aws))[key].allowed
