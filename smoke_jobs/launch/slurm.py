"""The smoke job as an sbatch script that carries its worker: one task a node, torchrun inside it.

The script unpacks the worker below the folder that it is submitted from, which the nodes have to share; the result
lies there too. Its exit code is the worker's. Slurm announces the end of a time limit or a preemption with SIGUSR1 to
the batch shell, 120 s ahead; the script passes it to the ranks, and puts the job back into the queue when they answer
"preempted" (75), at most `MAX_REQUEUES` times.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

from trainyard.smoke_jobs.ddp.result import EXIT
from trainyard.smoke_jobs.launch import payload
from trainyard.smoke_jobs.launch.follow import Ended, Follower, View
from trainyard.smoke_jobs.launch.job import BASELINE, LaunchError, SmokeSpec, check, document, worker_options

NOTICE_SECONDS = 120
MAX_REQUEUES = 3
INTERVAL_S = 1.0
PATIENCE_S = 180.0
"""How long the controller may keep silent; a job is cancelled where nobody follows it any more."""

TEMPLATE = r"""#!/bin/bash
{directives}
# Trainyard's smoke job: checks of distributed training. Exit codes: 0 pass, 10 a check failed,
# 20 below a threshold, 75 preempted, 124 out of time, 1 broken, 2 wrong options.
set -u

export SMOKE_HOME="${{SMOKE_HOME:-$SLURM_SUBMIT_DIR}}/smoke-$SLURM_JOB_ID"
mkdir -p "$SMOKE_HOME" || {{
  echo "smoke: $SMOKE_HOME cannot be written; set SMOKE_HOME to a folder that the nodes share" >&2
  exit 2
}}
base64 -d <<'WORKER' | tar -xz -C "$SMOKE_HOME"
{archive}
WORKER
cat > "$SMOKE_HOME/options.json" <<'OPTIONS'
{options}
OPTIONS

export SMOKE_OPTIONS="$SMOKE_HOME/options.json"
export SMOKE_RESULT_DIR="$SMOKE_HOME/result"
export SMOKE_ATTEMPT="${{SLURM_RESTART_COUNT:-0}}"
export PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
{environment}
head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)

# What sbatch was told of cores does not hold for a step: where the site binds, it would get one.
srun --kill-on-bad-exit=0 --ntasks-per-node=1 --cpus-per-task={cpus}{container} \
  {python} "$SMOKE_HOME/ddp/start.py" --head "$head" --result-dir "$SMOKE_RESULT_DIR"{paths} &
step=$!
signalled=1
noticed=0
code=255
trap 'signalled=1; noticed=1; kill -USR1 $step 2>/dev/null' USR1
trap 'signalled=1; kill -TERM $step 2>/dev/null' TERM
while [ "$signalled" -eq 1 ] && [ "$code" -gt 128 ]; do  # a trapped signal ends `wait` early, with 128 and more
  signalled=0
  wait "$step"
  code=$?
done

# Not after scancel, which is a SIGTERM: the ranks answer the same.
if [ "$code" -eq {preempted} ] && [ "$noticed" -eq 1 ] && [ "$SMOKE_ATTEMPT" -lt {requeues} ]; then
  echo "smoke: preempted, back into the queue" >&2
  scontrol requeue "$SLURM_JOB_ID" && sleep {notice}  # Slurm ends this script meanwhile
fi
exit "$code"
"""


@dataclass(frozen=True, slots=True)
class SlurmSettings:
    """What only Slurm has to be told. An empty field leaves it to the cluster's default."""

    account: str = ""
    python: str = "python3"  # interpreter with torch on the nodes
    container: bool = False  # run in the spec's image with Pyxis


def render(spec: SmokeSpec, settings: SlurmSettings | None = None) -> str:
    """The batch script that sbatch is given. Raises LaunchError for a job that Slurm could not run."""
    settings = settings or SlurmSettings()
    check(spec, "slurm", {"image": "image:tag, --image"} if settings.container else {})
    # The folder's name holds the job's number, so paths below it are flags and not options.
    options = replace(worker_options(spec, "slurm"), baseline="")
    directives = {
        "job-name": spec.name,
        "partition": spec.queue,
        "qos": spec.priority,
        "account": settings.account,
        "nodes": str(spec.nodes),
        "nodelist": ",".join(spec.hosts),
        "ntasks-per-node": "1",
        "cpus-per-task": str(spec.cpu),
        "mem": f"{spec.memory_gib}G",
        "gpus-per-node": str(spec.gpus_per_node) if spec.gpus_per_node else "",
        "time": str(-(-(spec.run_timeout_s + NOTICE_SECONDS) // 60)),  # minutes, rounded up
        "signal": f"B:USR1@{NOTICE_SECONDS}",
        "output": "smoke-%j.log",
        "open-mode": "append",  # a requeued job goes on in the same file
    }
    lines = [f"#SBATCH --{name}={value}" for name, value in directives.items() if value]
    lines += ["#SBATCH --requeue", *(["#SBATCH --exclusive"] if spec.gpus_per_node else [])]
    return TEMPLATE.format(
        directives="\n".join(lines),
        archive=payload.archive_text(payload.files(spec.files)),
        options=document(options),
        environment="".join(f"export {name}={shlex.quote(value)}\n" for name, value in spec.environment),
        cpus=spec.cpu,
        container=_container(spec) if settings.container else "",
        python=shlex.quote(settings.python),
        paths=_paths(spec),
        preempted=EXIT["preempted"],
        requeues=MAX_REQUEUES,
        notice=NOTICE_SECONDS,
    )


def _paths(spec: SmokeSpec) -> str:
    """Flags with paths below the job's folder, whose name holds the job's number.

    Several nodes, which share that folder, have their checkpoint tier there where no other is given.
    """
    flags = f' --baseline "$SMOKE_HOME/{payload.FOLDER}/{BASELINE}"' if BASELINE in spec.files else ""
    return flags + (' --checkpoint-uri "$SMOKE_HOME/checkpoints"' if spec.nodes > 1 and not spec.checkpoint_uri else "")


def _container(spec: SmokeSpec) -> str:
    """Pyxis' flags: an image, and the folders that a container does not see by itself."""
    mounts = ["$SMOKE_HOME:$SMOKE_HOME"]
    mounts += [f"{path}:{path}" for path in (spec.checkpoint_uri, spec.data_path) if path.startswith("/")]
    return f' --container-image={_pyxis(spec.image)} --container-mounts="{",".join(mounts)}"'


def _pyxis(image: str) -> str:
    # Pyxis before 0.20 wants the scheme; enroot writes registry#path.
    registry, slash, path = image.partition("/")
    return shlex.quote(f"docker://{registry}#{path}" if slash and "." in registry else f"docker://{image}")


_UP = ("allocated", "completing", "idle", "mixed", "planned", "reserved")
"""States of nodes that take jobs now. sinfo adds a sign where a node does not answer (*) or is powered off (~, %)."""


def nodes(partition: str) -> list[str]:
    """Names of the nodes of a partition, or of all, that take jobs. Raises LaunchError."""
    _needs("sinfo")
    command = ["sinfo", "--noheader", "--Node", "--format=%N %T", *([f"--partition={partition}"] if partition else [])]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise LaunchError(f"Slurm does not list its nodes: {answer.stderr.strip()}")
    states = (line.split() for line in answer.stdout.splitlines())
    return sorted({name for name, state in states if state in _UP})


def _needs(command: str) -> None:
    if shutil.which(command) is None:
        raise LaunchError(f"{command} is not here: run this on a login node of the Slurm cluster, or use --render")


def run(spec: SmokeSpec, view: View, settings: SlurmSettings | None = None, folder: Path | None = None) -> Ended:
    """Submits the script from `folder` (shared by the nodes; default: here) and follows it; Ctrl-C cancels the job.

    Raises LaunchError without Slurm's commands or where it refuses the job.
    """
    _needs("sbatch")
    folder = (folder or Path.cwd()).absolute()
    with tempfile.NamedTemporaryFile("w", suffix=".sbatch") as script:
        script.write(render(spec, settings))
        script.flush()
        answer = subprocess.run(
            ["sbatch", "--parsable", script.name], cwd=folder, capture_output=True, text=True, check=False
        )
    if answer.returncode != 0:
        raise LaunchError(f"Slurm refused the job: {answer.stderr.strip()}")
    job = answer.stdout.strip().partition(";")[0]
    try:
        return _follow(job, folder, view)
    except BaseException:
        subprocess.run(["scancel", job], check=False, capture_output=True)
        raise


def _follow(job: str, folder: Path, view: View) -> Ended:
    follower = Follower(view)
    log, position = folder / f"smoke-{job}.log", 0
    while True:
        view.still_wanted()
        state = _state(job)
        if log.exists():
            with log.open(errors="replace") as stream:
                stream.seek(position)
                for line in iter(stream.readline, ""):
                    if not line.endswith("\n") and state["JobState"] in _ALIVE:
                        break
                    position += len(line.encode())
                    follower.line(line)
        if state["JobState"] not in _ALIVE:
            break
        if state["JobState"] != "RUNNING":
            view.status(f"job {job} is {state['JobState'].lower()}: {_REASONS.get(state['Reason'], state['Reason'])}")
        time.sleep(INTERVAL_S)
    result = folder / f"smoke-{job}" / "result" / "result.json"
    if result.exists():
        follower.document = json.loads(result.read_text())
    code = EXIT["timeout"] if state["JobState"] == "TIMEOUT" else int(state["ExitCode"].partition(":")[0])
    return follower.end(code, "" if result.exists() else f"Slurm job {job} ended {state['JobState']}; see {log}")


_ALIVE = ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "REQUEUED", "REQUEUE_HOLD", "SUSPENDED", "STOPPED")

_REASONS = {
    "Resources": "waits for free nodes",
    "Priority": "others go first",
    "QOSMaxJobsPerUserLimit": "the QOS allows no more jobs of yours",
    "AssocGrpGRES": "the account has used its GPUs",
    "ReqNodeNotAvail": "nodes that it needs are down or reserved",
    "BeginTime": "waits before it starts again",
    "None": "about to start",
}


def _state(job: str) -> dict[str, str]:
    """JobState, Reason and ExitCode, from `scontrol show job`.

    A busy controller does not answer at times (`Socket timed out`): it is asked again for `PATIENCE_S`.
    """
    deadline = time.monotonic() + PATIENCE_S
    while True:
        answer = subprocess.run(["scontrol", "show", "job", job, "-o"], capture_output=True, text=True, check=False)
        if answer.returncode == 0:
            break
        if "Invalid job id" in answer.stderr or time.monotonic() > deadline:
            raise LaunchError(f"Slurm does not tell of job {job} any more: {answer.stderr.strip()}")
        time.sleep(INTERVAL_S)
    words = [word.partition("=") for word in answer.stdout.split()]
    return {key: value for key, _, value in words if key in ("JobState", "Reason", "ExitCode")}
