"""The image cache: which images come through it, how they are called then, and what is refused."""

import pytest

from tests.plan.stack_files import keys, plan_of
from trainyard.catalog import pins
from trainyard.plan.aws.image_cache import cached

ACCOUNT = "123456789012"
REGISTRY = f"{ACCOUNT}.dkr.ecr.us-east-1.amazonaws.com"
SECRET = f"arn:aws:secretsmanager:us-east-1:{ACCOUNT}:secret:ecr-pullthroughcache/hub-a1b2c3"
HERE = {"aws": keys(account_id=ACCOUNT)}


def with_cache(logins=None, **changes):
    return plan_of(**{**HERE, "images": keys(cache=True, cache_logins=logins), **changes})


def test_without_the_setting_every_image_comes_from_where_it_is_published():
    plan = plan_of(**HERE)
    assert plan.ground.image_cache is None
    assert plan.core.pins == pins()


def test_registries_that_ask_for_no_login_are_cached_and_digests_stay():
    plan = with_cache()
    cache = plan.ground.image_cache
    assert [(each.name, each.prefix) for each in cache.upstreams] == [
        ("public.ecr.aws", "acme-production/ecr"),
        ("registry.k8s.io", "acme-production/k8s"),
        ("quay.io", "acme-production/quay"),
    ]
    published = pins().image("smoke").removeprefix("public.ecr.aws/")
    assert plan.core.pins.image("smoke") == f"{REGISTRY}/acme-production/ecr/{published}"
    assert plan.clusters[0].smoke.image == plan.core.pins.image("smoke")
    assert plan.core.pins.image("pytorch") == pins().image("pytorch")
    assert dict(plan.core.pins.chart("kueue").values) == {
        "controllerManager.manager.image.repository": f"{REGISTRY}/acme-production/k8s/kueue/kueue"
    }
    assert plan.core.pins.chart("kubeflow-trainer").values == ()
    assert plan.core.pins.chart("nvidia-device-plugin").values == ()


def test_with_a_login_a_registry_is_cached_too():
    hub = with_cache({"dockerHub": SECRET})
    assert hub.core.pins.image("pytorch").startswith(f"{REGISTRY}/acme-production/hub/pytorch/pytorch:")
    assert hub.core.pins.image("mlflow") == f"{REGISTRY}/acme-production/hub/{pins().image('mlflow')}"
    (rule,) = [each for each in hub.ground.image_cache.upstreams if each.credential_arn]
    assert (rule.name, rule.upstream, rule.credential_arn) == ("docker.io", "registry-1.docker.io", SECRET)
    github = with_cache({"github": SECRET})
    # The chart joins its registry to its own path.
    assert dict(github.core.pins.chart("kubeflow-trainer").values) == {
        "image.registry": f"{REGISTRY}/acme-production/github"
    }


def test_what_is_in_no_repository_of_the_cache_stays_where_it_is():
    cache = with_cache({"dockerHub": SECRET}, smoke=keys(image=f"python:3@sha256:{'0' * 64}")).ground.image_cache
    assert cached(f"python:3@sha256:{'0' * 64}", cache).startswith(f"{REGISTRY}/acme-production/hub/library/python:3@")
    for image in ("evil/image:1", "nvcr.io/nvidia/pytorch:1", "public.ecr.aws/evil/image:1", "localhost:5000/a:1"):
        assert cached(image, cache) == image


def test_every_image_of_the_cache_has_its_repository():
    cache = with_cache({"dockerHub": SECRET, "github": SECRET}).ground.image_cache
    known = [image for _, chart in pins().charts for _, image in chart.images]
    known += pins().images_on("aws")
    elsewhere = {image for image in known if not cached(image, cache).startswith(f"{REGISTRY}/")}
    assert elsewhere == {image for image in known if image.startswith("nvcr.io/")}, "ECR caches no registry of NVIDIA's"


def test_prefixes_of_long_names_fit_and_differ():
    one, other = (
        with_cache(client="a-client-of-length", environment=f"production-{which}") for which in ("one", "two")
    )
    prefixes = [each.prefix for plan in (one, other) for each in plan.ground.image_cache.upstreams]
    assert len(set(prefixes)) == len(prefixes)
    assert max(map(len, prefixes)) <= 30


def test_teams_may_run_the_images_as_they_are_called_then():
    with_login = with_cache({"dockerHub": SECRET})
    assert f"{REGISTRY}/acme-production/hub/pytorch/pytorch" in with_login.core.allowed_images
    assert "docker.io/pytorch/pytorch" not in with_login.core.allowed_images


@pytest.mark.parametrize(
    ("changes", "key", "text"),
    [
        ({"images": keys(cache=True)}, "aws.accountId", "images.cache names images by its registry"),
        (
            {**HERE, "images": keys(cache_logins={"dockerHub": SECRET})},
            "images.cacheLogins.dockerHub",
            "nothing without",
        ),
        (
            {**HERE, "images": keys(cache=True, cache_logins={"dockerHub": SECRET.replace("us-east-1", "eu-west-1")})},
            "images.cacheLogins.dockerHub",
            "must be a secret of us-east-1",
        ),
        (
            {**HERE, "images": keys(cache=True, cache_logins={"dockerHub": SECRET.replace(ACCOUNT, "9" * 12)})},
            "images.cacheLogins.dockerHub",
            "and the account",
        ),
        (
            {**HERE, "images": keys(cache=True, cache_logins={"dockerHub": SECRET.replace("ecr-pull", "pull")})},
            "images.cacheLogins.dockerHub",
            "begins with ecr-pullthroughcache/",
        ),
    ],
)
def test_what_cannot_work_is_refused(problems, changes, key, text):
    assert text in str(problems(**changes)[key])
