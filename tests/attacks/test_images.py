"""A team that would run anybody's image through the cache in the account's registry, which it may run images of.

A pull makes a repository where the node may make one. Nodes may not: what has a repository there comes through the
cache, and nothing else.
"""

from __future__ import annotations

from trainyard.recorded.resources import Resources
from trainyard.recorded.types import HELM_RELEASE, ROLE, ROLE_POLICY, ROLE_POLICY_ATTACHMENT

RULE = "aws:ecr/pullThroughCacheRule:PullThroughCacheRule"
REPOSITORY = "aws:ecr/repository:Repository"
TEMPLATE = "aws:ecr/repositoryCreationTemplate:RepositoryCreationTemplate"
STACK = "large-aws"


def test_no_node_may_make_a_repository_in_the_cache(rehearsed):
    resources = Resources(rehearsed(STACK).resources)
    assert list(resources.of(RULE))
    nodes = [role for role in resources.of(ROLE) if "ec2.amazonaws.com" in str(role.inputs["assumeRolePolicy"])]
    for node in nodes:
        policies = {
            str(one.inputs["policyArn"]).rpartition("/")[2]
            for one in resources.referring(node, "role", ROLE_POLICY_ATTACHMENT)
        }
        # The latter lets a node have ECR fetch what has a repository, and make none.
        assert policies == {"AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly"}
        assert not list(resources.referring(node, "role", ROLE_POLICY))
    assert nodes and not list(resources.of(TEMPLATE))


def test_what_the_platform_runs_has_its_repository(rehearsed):
    resources = Resources(rehearsed(STACK).resources)
    made = {one.inputs["name"] for one in resources.of(REPOSITORY)}
    text = str([release.inputs.get("values") for release in resources.of(HELM_RELEASE)])
    for name in ("k8s/kueue/kueue", "k8s/jobset/jobset", "k8s/autoscaling/cluster-autoscaler"):
        assert f"globex-production/{name}" in made and f"/globex-production/{name}" in text
    assert "registry.k8s.io" not in text and "public.ecr.aws" not in text
