"""What a container of the smoke job runs: credentials from files, the worker, then the whole result for the log.

It lies beside the worker's modules, uses the standard library only, and ends with the worker's exit code.

- Every file in `SMOKE_CREDENTIALS` (a mounted Secret) becomes an environment variable of its name, because the MLflow
  client takes its credentials from there and a Secret in the pod's specification would show in every description of it.
- With `SMOKE_TELL` it prints `SMOKE_DOCUMENT <result.json, gzipped, base64>` after the worker's own `SMOKE_RESULT`
  line: that line has no curves, and a pod that has ended cannot be copied from.
- `SMOKE_RESULT_COPY` is where the first node's result.json goes besides, such as a bucket's mount.
- SageMaker shows the first kilobyte of /opt/ml/output/failure as the reason of a failed job.
"""

import base64
import gzip
import json
import os
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

PREFIX = "SMOKE_DOCUMENT "
SAGEMAKER_OUTPUT = Path("/opt/ml/output")


def read_credentials(folder: str) -> None:
    """Puts the files of a mounted Secret into the environment; hidden entries are Kubernetes' own."""
    for path in sorted(Path(folder).iterdir()):
        if not path.name.startswith(".") and path.is_file():
            os.environ[path.name] = path.read_text().strip()


def encode(document: bytes) -> str:
    """The line that `smoke_jobs.launch.follow` reads back."""
    return PREFIX + base64.b64encode(gzip.compress(document, mtime=0)).decode()


def run_worker(arguments: Sequence[str]) -> int:
    """Runs `__main__.py` beside this file, in this process so that signals reach it; its exit code."""
    program = str(Path(__file__).absolute().with_name("__main__.py"))
    sys.argv = [program, *arguments]
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def first_node() -> bool:
    """Whether this is the first node of a Vertex AI job, or of no such job: all nodes see the same bucket."""
    task = json.loads(os.environ.get("CLUSTER_SPEC") or "{}").get("task", {})
    return task.get("type", "workerpool0") == "workerpool0" and int(task.get("index", 0)) == 0


def tell(folder: Path, code: int) -> None:
    """Takes the result to where it is wanted, and leaves SageMaker a reason."""
    result = folder / "result.json"
    if not result.exists():
        return
    data = result.read_bytes()
    if os.environ.get("SMOKE_TELL"):
        print(encode(data), flush=True)
    if os.environ.get("SMOKE_RESULT_COPY") and first_node():
        try:
            Path(os.environ["SMOKE_RESULT_COPY"]).write_bytes(data)
        except OSError as error:  # the verdict is in the log, and stays the exit code
            print(f"smoke: the result was not copied: {error}", flush=True)
    if code and SAGEMAKER_OUTPUT.is_dir():
        wrong = [check for check in json.loads(data)["checks"] if check["verdict"] in ("fail", "below")]
        checks = [f"{check['name']}: {check['reason']}" for check in wrong]
        (SAGEMAKER_OUTPUT / "failure").write_text(f"smoke job, exit {code}. {' | '.join(checks)}"[:1024])


def main() -> int:
    """Everything in order; the worker's exit code."""
    arguments = sys.argv[1:]
    if os.environ.get("SMOKE_CREDENTIALS"):
        read_credentials(os.environ["SMOKE_CREDENTIALS"])
        if "--tracking-uri" not in arguments and os.environ.get("MLFLOW_TRACKING_URI"):
            arguments += ["--tracking-uri", os.environ["MLFLOW_TRACKING_URI"]]
    code = run_worker(arguments)
    if os.getpid() != 1:  # PID 1 became an init; its child, which did the work, tells
        tell(Path(os.environ["SMOKE_RESULT_DIR"]), code)
    return code


if __name__ == "__main__":
    sys.exit(main())
