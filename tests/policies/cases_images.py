"""Truth table of where teams' images come from."""

import copy

from tests.policies.truth import OK, UNDECIDED, VIOLATED, made, table, unknown
from trainyard.components.k8s.image_guard import expression, spec
from trainyard.conventions import TEAM_LABEL
from trainyard.recorded.types import ADMISSION_BINDING, ADMISSION_POLICY, NAMESPACE

TEAM = made(NAMESPACE, "vision", {"metadata": {"name": "team-vision", "labels": {TEAM_LABEL: "vision"}}})
PLATFORM = made(NAMESPACE, "mlflow", {"metadata": {"name": "mlflow"}})
SHOP = made(NAMESPACE, "shop", {"metadata": {"name": "shop", "labels": {"app": "shop"}}})


def _camel(value):
    """As a recording spells it."""
    if isinstance(value, dict):
        words = {key: key.split("_") for key in value}
        return {first + "".join(map(str.title, rest)): _camel(value[key]) for key, (first, *rest) in words.items()}
    return [_camel(one) for one in value] if isinstance(value, list) else value


def guard(*path, value=None, holds=None, kind="pods"):
    body = copy.deepcopy(_camel(spec(kind, holds or expression(kind, ["public.ecr.aws"]), "no")))
    if path:
        target = body
        for part in path[:-1]:
            target = target[part]
        target[path[-1]] = value
    return made(ADMISSION_POLICY, f"{kind}-images", {"metadata": {"name": f"{kind}-images"}, "spec": body})


def bound(actions=("Deny",), kind="pods", **where):
    selector = {"namespaceSelector": {"matchExpressions": [{"key": TEAM_LABEL, "operator": "Exists"}]}}
    body = {"policyName": f"{kind}-images", "validationActions": list(actions), "matchResources": {**selector, **where}}
    return made(ADMISSION_BINDING, f"{kind}-images", {"metadata": {"name": f"{kind}-images"}, "spec": body})


JOBS = ("jobs", "jobsets", "trainjobs")
OF_JOBS = tuple(one for kind in JOBS for one in (guard(kind=kind), bound(kind=kind)))


EVERYWHERE = made(
    ADMISSION_BINDING, "images", {"spec": {"policyName": "pods-images", "validationActions": ["Deny", "Audit"]}}
)
ONE_TEAM = {"namespaceSelector": {"matchLabels": {TEAM_LABEL: "vision"}}}
NOT_ONE = {"namespaceSelector": {"matchExpressions": [{"key": TEAM_LABEL, "operator": "NotIn", "values": ["vision"]}]}}
RULE = ("matchConstraints", "resourceRules", 0)
OTHER = made(
    ADMISSION_POLICY,
    "other",
    {"metadata": {"name": "other"}, "spec": {"validations": [{"expression": "object.spec.replicas > 1"}]}},
)

SECOND = made(NAMESPACE, "language", {"metadata": {"name": "team-language", "labels": {TEAM_LABEL: "language"}}})
PODS_HOLD = expression("pods", ["public.ecr.aws"])
IMAGES = (
    "(object.spec.containers + (has(object.spec.initContainers) ? object.spec.initContainers : []) + "
    "(has(object.spec.ephemeralContainers) ? object.spec.ephemeralContainers : []))"
    ".filter(c, has(c.image)).all(c, {})"
)
OPEN_END = PODS_HOLD.replace("aws/", "aws")
LIKE = IMAGES.format("c.image.startsWith('docker.io/pytorch')")
PATTERN = IMAGES.format("c.image.matches('^public[.]ecr[.]aws/.*@sha256:[0-9a-f]{64}$')")
LISTED = IMAGES.format("['docker.io/pytorch', 'public.ecr.aws'].exists(r, c.image.startsWith(r + '/'))")
HUB = ["public.ecr.aws", "docker.io"]
HUB_WITHOUT_END = expression("pods", HUB).replace("startsWith('docker.io/')", "startsWith('docker.io')")
SHORT = IMAGES.format("!c.image.matches('^[^/]*[.:][^/]*/') || c.image.startsWith('public.ecr.aws/')")
_OWN = "!has(c.image) || c.image.startsWith('public.ecr.aws/')"
HUB_INIT = (
    f"object.spec.containers.all(c, {_OWN}) && (!has(object.spec.initContainers) || "
    f"object.spec.initContainers.all(c, {_OWN} || c.image.startsWith('docker.io/')))"
)
CONTAINED = IMAGES.format("c.image.contains('public.ecr.aws/')")


def by(kind, registries):
    return guard(holds=expression(kind, registries), kind=kind), bound(kind=kind)


OF_HUB = tuple(one for kind in JOBS for one in by(kind, HUB))


def conditioned(text):
    return guard("matchConditions", value=[{"name": "a", "expression": text}])


def binding_of_other():
    return made(ADMISSION_BINDING, "other", {"spec": {"policyName": "other", "validationActions": ["Deny"]}})


CASES = [
    *table(
        "team-images-from-anywhere",
        ("the guard", OK, (TEAM, PLATFORM, *OF_JOBS, guard(), bound())),
        ("bound to every namespace", OK, (TEAM, *OF_JOBS, guard(), EVERYWHERE)),
        ("another policy beside it", OK, (TEAM, *OF_JOBS, guard(), bound(), OTHER)),
        ("a cluster without teams", OK, PLATFORM),
        ("no guard", VIOLATED, TEAM),
        ("another policy alone", VIOLATED, (TEAM, *OF_JOBS, OTHER)),
        ("no binding", VIOLATED, (TEAM, *OF_JOBS, guard())),
        ("a binding of another policy", VIOLATED, (TEAM, *OF_JOBS, guard(), binding_of_other())),
        ("it only warns", VIOLATED, (TEAM, *OF_JOBS, guard(), bound(("Warn", "Audit")))),
        ("for one team", VIOLATED, (TEAM, SECOND, *OF_JOBS, guard(), bound(**ONE_TEAM))),
        ("for the one team that there is", OK, (TEAM, *OF_JOBS, guard(), bound(**ONE_TEAM))),
        ("not for one team", VIOLATED, (TEAM, *OF_JOBS, guard(), bound(**NOT_ONE))),
        (
            "pods that ask for it",
            VIOLATED,
            (TEAM, *OF_JOBS, guard(), bound(objectSelector={"matchLabels": {"a": ""}})),
        ),
        ("where it fails, all passes", VIOLATED, (TEAM, *OF_JOBS, guard("failurePolicy", value="Ignore"), bound())),
        ("not at changes", VIOLATED, (TEAM, *OF_JOBS, guard(*RULE, "operations", value=["CREATE"]), bound())),
        ("not at a debugger", VIOLATED, (TEAM, *OF_JOBS, guard(*RULE, "resources", value=["pods"]), bound())),
        ("at everything", OK, (TEAM, *OF_JOBS, guard(*RULE, "resources", value=["*/*"]), bound())),
        (
            "a condition before it",
            VIOLATED,
            (TEAM, *OF_JOBS, conditioned("!object.metadata.name.startsWith('a')"), bound()),
        ),
        ("a condition on who asks", OK, (TEAM, *OF_JOBS, conditioned("request.userInfo.username != 'root'"), bound())),
        (
            "init containers pass",
            VIOLATED,
            (TEAM, *OF_JOBS, guard(holds=PODS_HOLD.replace("initContainers", "containers")), bound()),
        ),
        ("it holds always", VIOLATED, (TEAM, *OF_JOBS, guard(holds="true"), bound())),
        ("it holds whatever it asks", VIOLATED, (TEAM, *OF_JOBS, guard(holds=f"true || {PODS_HOLD}"), bound())),
        (
            "a name that begins like it",
            VIOLATED,
            (TEAM, *OF_JOBS, guard(holds=OPEN_END), bound()),
        ),
        ("an organisation that begins like it", VIOLATED, (TEAM, *OF_JOBS, guard(holds=LIKE), bound())),
        ("the whole of Docker Hub", OK, (TEAM, *OF_HUB, *by("pods", HUB))),
        ("Docker Hub in pods alone", OK, (TEAM, *OF_JOBS, *by("pods", HUB))),
        ("Docker Hub in jobs alone", VIOLATED, (TEAM, *OF_HUB, guard(), bound())),
        ("one organisation of Docker Hub", OK, (TEAM, *OF_JOBS, *by("pods", ["docker.io/pytorch"]))),
        ("Docker Hub without an end", VIOLATED, (TEAM, *OF_HUB, guard(holds=HUB_WITHOUT_END), bound())),
        ("Docker Hub, by short names only", VIOLATED, (TEAM, *OF_JOBS, guard(holds=SHORT), bound())),
        ("Docker Hub in init containers", VIOLATED, (TEAM, *OF_JOBS, guard(holds=HUB_INIT), bound())),
        ("a registry anywhere in the name", VIOLATED, (TEAM, *OF_JOBS, guard(holds=CONTAINED), bound())),
        ("by a pattern", OK, (TEAM, *OF_JOBS, guard(holds=PATTERN), bound())),
        ("a list of whole names", OK, (TEAM, *OF_JOBS, guard(holds=LISTED), bound())),
        *(
            (
                f"{left_out} not asked",
                VIOLATED,
                (
                    TEAM,
                    guard(),
                    bound(),
                    *(one for kind in JOBS if kind != left_out for one in (guard(kind=kind), bound(kind=kind))),
                ),
            )
            for left_out in JOBS
        ),
        (
            "jobs asked in vain",
            VIOLATED,
            (
                TEAM,
                guard(),
                bound(),
                *(one for one in OF_JOBS if one.name != "jobs-images"),
                guard(holds="true", kind="jobs"),
                bound(kind="jobs"),
            ),
        ),
        ("binding unknown", UNDECIDED, (TEAM, *OF_JOBS, guard(), unknown(bound(), "spec", "validationActions"))),
        ("no namespace of a team's", OK, SHOP),
    ),
]
