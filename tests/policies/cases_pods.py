"""Truth tables of pods: root, tokens, limits, secrets in the clear; and of what Kueue's manager is told."""

from tests.policies.truth import OK, UNDECIDED, UNKNOWN, VIOLATED, kubernetes, made, table

NOBODY = {"runAsNonRoot": True, "runAsUser": 1000}
AKIA = "AKIA" + "IOSFODNN7EXAMPLE"
JWT = ".".join(("eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0NTY3ODkwIn0", "abc"))
REFERENCE = {"valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}
RANDOM = "wJalrXUtnFEMI/K7MDENG/bPx" + "RfiCY9zQ4hT2Lm"


HOMES = made("gcp:filestore/instance:Instance", "homes", {})
MORE_HOMES = made("gcp:filestore/instance:Instance", "more-homes", {})


def backed_up(schedule, days):
    """Home directories, with a plan of Backup and DR that is theirs."""
    rule = {"ruleId": "r", "backupRetentionDays": days, "standardSchedule": schedule}
    daily = made("gcp:backupdisasterrecovery/backupPlan:BackupPlan", "daily", {"backupRules": [rule]})
    theirs = made(
        "gcp:backupdisasterrecovery/backupPlanAssociation:BackupPlanAssociation",
        "theirs",
        {},
        uses={"resource": [HOMES], "backupPlan": [daily]},
    )
    return [HOMES, daily, theirs]


def spec(*containers, **more):
    return {"containers": [{"name": "c", **one} for one in containers or ({},)], **more}


def pod(*containers, namespace="team-a", **more):
    return kubernetes("core/v1:Pod", "p", namespace, spec=spec(*containers, **more))


def deployment(*containers, kind="Deployment", **more):
    return kubernetes(f"apps/v1:{kind}", "d", "team-a", spec={"template": {"spec": spec(*containers, **more)}})


def cron_job(*containers, **more):
    template = {"template": {"spec": spec(*containers, **more)}}
    return kubernetes("batch/v1:CronJob", "j", "team-a", spec={"jobTemplate": {"spec": template}})


def job_set(*containers, **more):
    job = {"name": "w", "template": {"spec": {"template": {"spec": spec(*containers, **more)}}}}
    return kubernetes("jobset.x-k8s.io/v1alpha2:JobSet", "s", "team-a", spec={"replicatedJobs": [job]})


def runtime(*containers, **more):
    job = {"name": "node", "template": {"spec": {"template": {"spec": spec(*containers, **more)}}}}
    type_ = "trainer.kubeflow.org/v1alpha1:ClusterTrainingRuntime"
    return kubernetes(type_, "r", spec={"template": {"spec": {"replicatedJobs": [job]}}})


def train_job(**trainer):
    return kubernetes("trainer.kubeflow.org/v1alpha1:TrainJob", "t", "team-a", spec={"trainer": trainer})


def patched_train_job(*containers, **more):
    """A TrainJob whose patch of its runtime says this of the pod."""
    job = {"name": "node", "template": {"spec": {"template": {"spec": spec(*containers, **more)}}}}
    patch = {"manager": "example.com/a", "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [job]}}}}
    type_ = "trainer.kubeflow.org/v1alpha1:TrainJob"
    return kubernetes(type_, "t", "team-a", spec={"runtimePatches": [{"manager": "kueue"}, patch]})


def env(name, value=None, **more):
    return {"env": [{"name": name, **({} if value is None else {"value": value}), **more}]}


def service_account(token, name="trainer"):
    more = {} if token is None else {"automountServiceAccountToken": token}
    return kubernetes("core/v1:ServiceAccount", name, "team-a", **more)


def binding(name="trainer"):
    subjects = [{"kind": "ServiceAccount", "name": name, "namespace": "team-a"}]
    return kubernetes("rbac.authorization.k8s.io/v1:RoleBinding", "b", "team-a", subjects=subjects)


def config_map(**data):
    return kubernetes("core/v1:ConfigMap", "c", "team-a", data=data)


def chart(**values):
    return kubernetes("helm.sh/v3:Release", "r", chart="some", values=values)


def kueue(text, chart="oci://registry.k8s.io/kueue/charts/kueue"):
    values = {"managerConfig": {"controllerManagerConfigYaml": text}} if text is not None else {}
    return kubernetes("helm.sh/v3:Release", "kueue", chart=chart, values=values)


LIMITED = {"resources": {"limits": {"memory": "1Gi"}}}
MANAGED = "manageJobsWithoutQueueName: true\n"
SET = "key-in-the-stack-file"

CASES = [
    *table(
        "pod-as-root",
        ("nobody", OK, pod(securityContext=NOBODY)),
        ("the container says so", OK, pod({"securityContext": NOBODY})),
        ("root", VIOLATED, pod(securityContext={"runAsUser": 0})),
        ("the container is root", VIOLATED, pod({"securityContext": {"runAsUser": 0}}, securityContext=NOBODY)),
        ("the image decides", VIOLATED, pod()),
        ("may be root", VIOLATED, pod(securityContext={"runAsNonRoot": False})),
        ("not root, the image says who", OK, pod(securityContext={"runAsNonRoot": True})),
        ("one of two", VIOLATED, pod({"securityContext": NOBODY}, {"name": "d"})),
        (
            "init container",
            VIOLATED,
            pod(securityContext=NOBODY, initContainers=[{"name": "i", "securityContext": {"runAsUser": 0}}]),
        ),
        ("stateful set", VIOLATED, deployment(kind="StatefulSet")),
        ("daemon set", VIOLATED, deployment(kind="DaemonSet")),
        ("cron job", VIOLATED, cron_job()),
        ("job set", VIOLATED, job_set()),
        ("training runtime", VIOLATED, runtime()),
        ("train job that leaves it to its runtime", OK, patched_train_job()),
        ("train job that makes it root", VIOLATED, patched_train_job(securityContext={"runAsUser": 0})),
        ("train job with a root container", VIOLATED, patched_train_job({"securityContext": {"runAsUser": 0}})),
        ("train job that may be root", VIOLATED, patched_train_job(securityContext={"runAsNonRoot": False})),
        ("job set of nobody", OK, job_set(securityContext=NOBODY)),
        ("named", OK, pod(), {}, {"systemWorkloads": ["team-a/*"]}),
        ("unknown", UNDECIDED, pod(securityContext={"runAsUser": UNKNOWN})),
    ),
    *table(
        "needless-api-token",
        ("no token", OK, pod(automountServiceAccountToken=False)),
        ("a token", VIOLATED, pod()),
        ("asked for", VIOLATED, pod(automountServiceAccountToken=True)),
        ("the account has none", OK, [pod(serviceAccountName="trainer"), service_account(False)]),
        (
            "the pod goes before its account",
            VIOLATED,
            [pod(serviceAccountName="trainer", automountServiceAccountToken=True), service_account(False)],
        ),
        ("the account says nothing", VIOLATED, [pod(serviceAccountName="trainer"), service_account(None)]),
        ("it has rights", OK, [pod(serviceAccountName="trainer"), service_account(None), binding()]),
        ("another has rights", VIOLATED, [pod(serviceAccountName="trainer"), service_account(None), binding("other")]),
        ("cron job", VIOLATED, cron_job()),
        ("job set", VIOLATED, job_set()),
        ("training runtime", VIOLATED, runtime()),
        ("unknown", UNDECIDED, pod(automountServiceAccountToken=UNKNOWN)),
    ),
    *table(
        "container-without-limits",
        ("limited", OK, pod(LIMITED)),
        ("none", VIOLATED, pod()),
        ("requests alone", VIOLATED, pod({"resources": {"requests": {"memory": "1Gi"}}})),
        ("CPU alone", VIOLATED, pod({"resources": {"limits": {"cpu": "1"}}})),
        ("no CPU", OK, pod({"resources": {"limits": {"memory": "1Gi"}, "requests": {"cpu": "1"}}})),
        ("one of two", VIOLATED, pod(LIMITED, {"name": "d"})),
        ("init container", VIOLATED, pod(LIMITED, initContainers=[{"name": "i"}])),
        ("the pod as a whole", OK, pod(resources={"limits": {"memory": "1Gi"}})),
        ("stateful set", VIOLATED, deployment(kind="StatefulSet")),
        ("cron job", VIOLATED, cron_job()),
        ("job set", VIOLATED, job_set()),
        ("training runtime", OK, runtime()),
        ("its job", VIOLATED, train_job()),
        ("its job, limited", OK, train_job(resourcesPerNode={"limits": {"memory": "8Gi"}})),
        ("given, not known", OK, pod({"resources": {"limits": {"memory": UNKNOWN}}})),
        ("unknown", UNDECIDED, pod({"resources": UNKNOWN}, containers=UNKNOWN)),
    ),
    *table(
        "secret-in-the-clear",
        ("plain", OK, pod(env("HOME", "/tmp"))),
        ("password", VIOLATED, pod(env("DB_PASSWORD", "hunter2"))),
        ("password of digits", VIOLATED, pod(env("DB_PASSWORD", "12345678"))),
        ("password, not known yet", VIOLATED, pod(env("DB_PASSWORD", UNKNOWN))),
        ("password of the client library", VIOLATED, pod(env("PGPASSWORD", "hunter2"))),
        ("in small letters", VIOLATED, pod(env("dbPassword", "hunter2"))),
        ("password by reference", OK, pod(env("DB_PASSWORD", **REFERENCE))),
        ("password by another variable", OK, pod(env("DB_PASSWORD", "$(OTHER)"))),
        ("no password", OK, pod(env("DB_PASSWORD", ""))),
        ("password in a file", OK, pod(env("DB_PASSWORD_FILE", "/run/secrets/db"))),
        ("credentials in a file", OK, pod(env("APP_CREDENTIALS", "/run/secrets/app"))),
        ("API key", VIOLATED, pod(env("WANDB_API_KEY", "0123456789abcdef0123456789abcdef01234567"))),
        ("token", VIOLATED, pod(env("HF_TOKEN", "abc"))),
        ("secret", VIOLATED, pod(env("CLIENT_SECRET", "abc"))),
        ("name of a secret", OK, pod(env("SECRET_NAME", "db"))),
        ("ARN of a secret", OK, pod(env("DB_SECRET", "arn:aws:secretsmanager:us-east-1:1:secret:db"))),
        ("tokenizers", OK, pod(env("TOKENIZERS_PARALLELISM", "false"))),
        ("tokens", OK, pod(env("MAX_TOKENS", "4096"))),
        ("a token of a vocabulary", OK, pod(env("PAD_TOKEN", "<pad>"))),
        ("a switch", OK, pod(env("USE_TOKEN", "true"))),
        ("working directory", OK, pod(env("PWD", "/work"))),
        ("AWS key by its shape", VIOLATED, pod(env("KEY", AKIA))),
        ("GitHub token", VIOLATED, pod(env("X", "ghp_" + "a1" * 18))),
        ("private key", VIOLATED, pod(env("X", "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIE"))),
        ("JWT", VIOLATED, pod(env("X", JWT))),
        ("random", VIOLATED, pod(env("X", RANDOM))),
        ("address with a password", VIOLATED, pod(env("DATABASE_URL", "postgres://app:hunter2@db:5432/x"))),
        (
            "address with a password by variable",
            OK,
            pod(env("DATABASE_URL", "postgres://app:$(DB_PASSWORD)@db:5432/x")),
        ),
        ("address", OK, pod(env("DATABASE_URL", "postgres://app@db:5432/x"))),
        ("digest", OK, pod(env("IMAGE", "app@sha256:" + "0123456789abcdef" * 4))),
        ("UUID", OK, pod(env("RUN", "123e4567-e89b-12d3-a456-426614174000"))),
        ("path", OK, pod(env("NCCL_TOPO_FILE", "/opt/aws-ofi-nccl/share/xml/p5.48xl-topo.xml"))),
        ("random, small letters", VIOLATED, pod(env("X", "x7f9k2m4q8r1t5v3" + "w6y0z2b4d8g1h3j5"))),
        ("digest alone", OK, pod(env("X", "0123456789abcdef" * 4))),
        ("a model's name", OK, pod(env("MODEL", "Qwen/Qwen2-5-72B-Instruct-GPTQ-Int4-Chat"))),
        ("a run's name", OK, pod(env("RUN", "TorchTrainer-v2-Run-20261122-AbcExperiment-Long"))),
        ("class name", OK, pod(env("LAUNCHER", "TorchElasticDistributedTrainingLauncherV2Factory"))),
        ("argument", VIOLATED, pod({"args": ["--key", AKIA]})),
        ("init container", VIOLATED, pod(initContainers=[{"name": "i", **env("DB_PASSWORD", "x")}])),
        ("cron job", VIOLATED, cron_job(env("DB_PASSWORD", "x"))),
        ("stateful set", VIOLATED, deployment(env("DB_PASSWORD", "x"), kind="StatefulSet")),
        ("daemon set", VIOLATED, deployment(env("DB_PASSWORD", "x"), kind="DaemonSet")),
        ("job set", VIOLATED, job_set(env("DB_PASSWORD", "x"))),
        ("training runtime", VIOLATED, runtime(env("DB_PASSWORD", "x"))),
        ("train job", VIOLATED, train_job(**env("WANDB_API_KEY", "x"))),
        ("train job's patch", VIOLATED, patched_train_job(env("WANDB_API_KEY", "x"))),
        ("train job's patch by reference", OK, patched_train_job(env("WANDB_API_KEY", **REFERENCE))),
        ("train job's arguments", VIOLATED, train_job(args=["--key", AKIA])),
        ("train job by reference", OK, train_job(**env("WANDB_API_KEY", **REFERENCE))),
        ("all of a secret", OK, pod({"envFrom": [{"secretRef": {"name": "s"}}]})),
        ("config map", VIOLATED, config_map(DB_PASSWORD="hunter2")),
        ("config map, in a file", VIOLATED, config_map(**{"app.ini": f"key = {AKIA}"})),
        ("config map of code", OK, config_map(**{"app.py": "password = read('/run/secrets/x')\n# token, secret"})),
        ("chart", VIOLATED, chart(server={"env": {"DB_PASSWORD": "x"}})),
        ("chart, as a list", VIOLATED, chart(extraEnv=[{"name": "API_TOKEN", "value": "x"}])),
        ("chart, by reference", OK, chart(extraEnv=[{"name": "API_TOKEN", **REFERENCE}])),
        ("chart, as a mapping by reference", OK, chart(extraEnv={"API_TOKEN": REFERENCE})),
        ("chart, as a mapping with a value", VIOLATED, chart(extraEnv={"API_TOKEN": {"value": "x"}})),
        ("chart, by shape", VIOLATED, chart(any={"where": AKIA})),
        ("chart, other values", OK, chart(resources={"limits": {"memory": "1Gi"}}, existingSecret="x")),
        ("name unknown", UNDECIDED, pod({"env": [{"name": UNKNOWN, "value": "x"}]})),
    ),
    *table(
        "jobs-outside-the-queue",
        ("managed", OK, kueue(MANAGED)),
        ("not", VIOLATED, kueue("manageJobsWithoutQueueName: false\n")),
        ("nothing said", VIOLATED, kueue("kind: Configuration\n")),
        ("the chart's own", VIOLATED, kueue(None)),
        ("no plain jobs", VIOLATED, kueue(MANAGED + "integrations: {frameworks: [pod]}\n")),
        ("jobs among others", OK, kueue(MANAGED + "integrations: {frameworks: [pod, batch/job]}\n")),
        ("another chart", OK, kueue(None, chart="jobset")),
        (
            "by manifests",
            VIOLATED,
            kubernetes(
                "core/v1:ConfigMap",
                "kueue-manager-config",
                data={"controller_manager_config.yaml": "manageJobsWithoutQueueName: false"},
            ),
        ),
        ("another config map", OK, config_map(a="b")),
        ("unknown", UNDECIDED, kueue(UNKNOWN)),
    ),
    *table(
        "file-system-without-backups",
        (
            "on",
            OK,
            [
                made("aws:efs/fileSystem:FileSystem", "fs", {}),
                made(
                    "aws:efs/backupPolicy:BackupPolicy",
                    "b",
                    {"backupPolicy": {"status": "ENABLED"}},
                    uses={"fileSystemId": [made("aws:efs/fileSystem:FileSystem", "fs", {})]},
                ),
            ],
        ),
        (
            "off",
            VIOLATED,
            [
                made("aws:efs/fileSystem:FileSystem", "fs", {}),
                made(
                    "aws:efs/backupPolicy:BackupPolicy",
                    "b",
                    {"backupPolicy": {"status": "DISABLED"}},
                    uses={"fileSystemId": [made("aws:efs/fileSystem:FileSystem", "fs", {})]},
                ),
            ],
        ),
        ("none", VIOLATED, made("aws:efs/fileSystem:FileSystem", "fs", {})),
        (
            "by a plan",
            OK,
            [
                made("aws:efs/fileSystem:FileSystem", "fs", {}),
                made(
                    "aws:backup/selection:Selection",
                    "s",
                    {},
                    uses={"resources": [made("aws:efs/fileSystem:FileSystem", "fs", {})]},
                ),
            ],
        ),
        (
            "FSx, none",
            VIOLATED,
            made("aws:fsx/openZfsFileSystem:OpenZfsFileSystem", "z", {"automaticBackupRetentionDays": 0}),
        ),
        (
            "FSx, a day",
            VIOLATED,
            made("aws:fsx/ontapFileSystem:OntapFileSystem", "o", {"automaticBackupRetentionDays": 1}),
        ),
        ("FSx, AWS decides", OK, made("aws:fsx/windowsFileSystem:WindowsFileSystem", "w", {})),
        (
            "FSx, a day is enough",
            OK,
            made("aws:fsx/ontapFileSystem:OntapFileSystem", "o", {"automaticBackupRetentionDays": 1}),
            {},
            {"minDays": 1},
        ),
        (
            "unknown",
            UNDECIDED,
            made("aws:fsx/openZfsFileSystem:OpenZfsFileSystem", "z", {"automaticBackupRetentionDays": UNKNOWN}),
        ),
        ("Filestore, none", VIOLATED, HOMES),
        ("Filestore, a day", OK, backed_up({"recurrenceType": "DAILY"}, 7)),
        ("Filestore, an hour", OK, backed_up({"recurrenceType": "HOURLY", "hourlyFrequency": 6}, 7)),
        ("Filestore, a week", VIOLATED, backed_up({"recurrenceType": "WEEKLY", "daysOfWeeks": ["SUNDAY"]}, 90)),
        ("Filestore, for three days", VIOLATED, backed_up({"recurrenceType": "DAILY"}, 3)),
        ("Filestore, three days are enough", OK, backed_up({"recurrenceType": "DAILY"}, 3), {}, {"minDays": 3}),
        ("Filestore, another one's plan", VIOLATED, [*backed_up({"recurrenceType": "DAILY"}, 7), MORE_HOMES]),
        ("Filestore, days unknown", UNDECIDED, backed_up({"recurrenceType": "DAILY"}, UNKNOWN)),
    ),
    *table(
        SET,
        ("nothing", OK, ()),
        ("a region", OK, (), {}, {}, {"aws:region": "us-east-1", "aws:skipCredentialsValidation": "true"}),
        ("a secret key", VIOLATED, (), {}, {}, {"aws:secretKey": "x" * 40}),
        ("an access key", VIOLATED, (), {}, {}, {"aws:accessKey": AKIA}),
        ("a token", VIOLATED, (), {}, {}, {"aws:token": "abc"}),
        ("a path", OK, (), {}, {}, {"gcp:credentials": "/home/me/key.json"}),
        (
            "a service account",
            VIOLATED,
            (),
            {},
            {},
            {"gcp:credentials": '{"type": "service_account", "private_key": "abc"}'},
        ),
        ("a client's secret", VIOLATED, (), {}, {}, {"azure-native:clientSecret": "abc"}),
        (
            "a kubeconfig with a token",
            VIOLATED,
            (),
            {},
            {},
            {"kubernetes:kubeconfig": "apiVersion: v1\nusers:\n- user:\n    token: abc\n"},
        ),
        (
            "a kubeconfig with a key",
            VIOLATED,
            (),
            {},
            {},
            {"kubernetes:kubeconfig": "apiVersion: v1\nusers:\n- user:\n    client-key-data: abc\n"},
        ),
        (
            "a kubeconfig that asks",
            OK,
            (),
            {},
            {},
            {"kubernetes:kubeconfig": "apiVersion: v1\nusers:\n- user:\n    exec: {command: aws}\n"},
        ),
        ("of another namespace", VIOLATED, (), {}, {}, {"ours:dbPassword": "hunter2"}),
    ),
]
