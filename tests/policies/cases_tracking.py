"""Truth tables of the tracking server."""

from tests.policies.truth import OK, UNDECIDED, UNKNOWN, VIOLATED, kubernetes, table
from trainyard.catalog import pins

CACHE = "123456789012.dkr.ecr.us-east-1.amazonaws.com"
IMAGE = pins().image("mlflow").partition("@")[0]
TLS = "--uvicorn-opts=--ssl-certfile=/c --ssl-keyfile=/k"
SOUND = ("python", "-m", "mlflow", "server", "--app-name=basic-auth", TLS)


MOUNTS = [{"name": "auth", "mountPath": "/auth"}, {"name": "tmp", "mountPath": "/tmp"}]
VOLUMES = [{"name": "auth", "secret": {"secretName": "accounts"}}, {"name": "tmp", "emptyDir": {}}]


def server(*command, image=f"{IMAGE}@sha256:{'a' * 64}", **variables):
    variables = {"MLFLOW_AUTH_CONFIG_PATH": "/auth/basic_auth.ini", **variables}
    env = [{"name": name, "value": value} for name, value in variables.items() if value != "-"]
    container = {"name": "server", "image": image, "command": list(command), "env": env, "volumeMounts": MOUNTS}
    spec = {"template": {"spec": {"containers": [container], "volumes": VOLUMES}}}
    return kubernetes("apps/v1:Deployment", "tracking", "anywhere", spec=spec)


def accounts(*lines, section="[mlflow]"):
    text = "\n".join([section, *lines])
    return kubernetes("core/v1:Secret", "accounts", "mlflow", stringData={"basic_auth.ini": text})


OWN = "authorization_function = tracking_guard:authorize"

CASES = [
    *table(
        "tracking-without-authentication",
        ("accounts and TLS", OK, server(*SOUND)),
        (
            "in two words",
            OK,
            server("mlflow", "server", "--app-name", "basic-auth", "--uvicorn-opts", "--ssl-certfile=/c"),
        ),
        ("no accounts", VIOLATED, server("mlflow", "server", TLS)),
        ("another app", VIOLATED, server("mlflow", "server", "--app-name=mine", TLS)),
        ("no TLS", VIOLATED, server("mlflow", "server", "--app-name=basic-auth")),
        ("open where nobody judges", VIOLATED, server(*SOUND, MLFLOW_BASIC_AUTH_FAIL_CLOSED="False")),
        ("a client", OK, server("mlflow", "run", ".")),
        ("another server", OK, server("python", "serve.py")),
        ("unknown", UNDECIDED, server("mlflow", "server", UNKNOWN)),
    ),
    *table(
        "tracking-open-to-other-teams",
        ("hidden", OK, accounts("default_permission = NO_PERMISSIONS", OWN)),
        ("seen", OK, accounts("default_permission = READ", OWN)),
        ("changed by all", VIOLATED, accounts("default_permission = MANAGE", OWN)),
        ("used by all", VIOLATED, accounts("default_permission = USE", OWN)),
        ("nothing said", VIOLATED, accounts(OWN)),
        ("no guard", VIOLATED, accounts("default_permission = READ")),
        ("another guard", VIOLATED, accounts("default_permission = READ", "authorization_function = mine:f")),
        ("another administrator", VIOLATED, accounts("default_permission = READ", OWN, "admin_username = root")),
        ("a percent sign", OK, accounts("default_permission = READ", OWN, "admin_password = a%%b")),
        ("no section", VIOLATED, accounts("default_permission = READ", OWN, section="")),
        ("another Secret", OK, kubernetes("core/v1:Secret", "s", "mlflow", stringData={"key": "value"})),
        ("unknown", UNDECIDED, kubernetes("core/v1:Secret", "s", "m", stringData={"basic_auth.ini": UNKNOWN})),
    ),
    *table(
        "tracking-gateway-on",
        ("off", OK, server(*SOUND, MLFLOW_GATEWAY_ALLOWED_PROVIDERS="none")),
        ("on", VIOLATED, server(*SOUND, MLFLOW_GATEWAY_ALLOWED_PROVIDERS="openai,none")),
        ("nothing said", VIOLATED, server(*SOUND)),
        ("another server", OK, server("python", "serve.py")),
        ("unknown", UNDECIDED, server(*SOUND, MLFLOW_GATEWAY_ALLOWED_PROVIDERS=UNKNOWN)),
    ),
    *table(
        "tracking-version-untested",
        ("the tested one", OK, server(*SOUND)),
        ("of the project's registry", OK, server(*SOUND, image="ghcr.io:443/mlflow/mlflow:v3.17.2-full")),
        ("an older one", VIOLATED, server(*SOUND, image="burakince/mlflow:3.14.0")),
        ("the latest", VIOLATED, server(*SOUND, image="burakince/mlflow:latest")),
        ("by digest alone", VIOLATED, server(*SOUND, image=f"burakince/mlflow@sha256:{'a' * 64}")),
        ("a port is no tag", VIOLATED, server(*SOUND, image="registry:3.17.2/mlflow")),
        ("a client", OK, server("mlflow", "run", ".", image="mine:1")),
        ("unknown", UNDECIDED, server(*SOUND, image=UNKNOWN)),
    ),
    *table(
        "image-without-digest",
        ("pinned, its digest unread", OK, server(*SOUND, image=IMAGE)),
        ("like it", VIOLATED, server(*SOUND, image=IMAGE + "-slim")),
        ("through the account's cache", OK, server(*SOUND, image=f"{CACHE}/acme/hub/{IMAGE}")),
        ("through the cache of another registry", VIOLATED, server(*SOUND, image=f"{CACHE}/acme/github/{IMAGE}")),
        ("of somebody's registry", VIOLATED, server(*SOUND, image=f"registry.example/acme/hub/{IMAGE}")),
    ),
]
