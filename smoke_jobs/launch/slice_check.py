"""Whether a TPU slice is whole: the program of the job that proves one, in the image of its pool.

It runs in a pod a machine, as `python3 -c`, with JAX for TPUs. Every machine has to see all of its own chips and all of
the slice's, and a sum over all chips has to come out on each: a chip that is missing, or a link that is down, ends it.
How fast the links are it does not say.

GKE tells a pod which machine of the slice it is, and where the others are (TPU_WORKER_ID, TPU_WORKER_HOSTNAMES).
"""

import importlib
import os
import sys
from pathlib import Path
from typing import Any

FAILED = 10
"""Exit code of a check that running again does not mend."""

TOLD = ("TPU_WORKER_ID", "TPU_WORKER_HOSTNAMES")
REASON = Path("/dev/termination-log")


def problems(jax: Any, machines: int, chips: int) -> list[str]:
    """What is wrong with the slice, as this machine sees it; `chips` are those of one machine."""
    found = []
    if jax.default_backend() != "tpu":
        found.append(f"JAX runs on {jax.default_backend()}: the image has no libtpu, or the pod no TPU")
    if jax.process_count() != machines:
        found.append(f"{jax.process_count()} of {machines} machines take part")
    if jax.local_device_count() != chips:
        found.append(f"this machine has {jax.local_device_count()} of {chips} chips")
    if jax.device_count() != machines * chips:
        found.append(f"the slice has {jax.device_count()} of {machines * chips} chips")
    return found or sums(jax, machines * chips)


def sums(jax: Any, chips: int) -> list[str]:
    """What is wrong with a sum over all chips, to which each adds its number, from 1."""
    first = jax.process_index() * jax.local_device_count()
    own = [float(first + index + 1) for index in range(jax.local_device_count())]
    got = jax.pmap(lambda value: jax.lax.psum(value, "slice"), axis_name="slice")(jax.numpy.array(own))
    wanted = chips * (chips + 1) / 2
    wrong = [float(value) for value in got if float(value) != wanted]
    return [f"a sum over {chips} chips gives {wrong[0]:g}, not {wanted:g}"] if wrong else []


def main() -> int:
    """Says what is wrong, to the log and as the container's reason."""
    machines, chips = int(sys.argv[1]), int(sys.argv[2])
    missing = [name for name in TOLD if machines > 1 and not os.environ.get(name)]
    if missing:
        found = [f"GKE did not say {' and '.join(missing)}: JAX would wait for ever"]
    else:
        jax = importlib.import_module("jax")  # the image's
        if machines > 1:
            jax.distributed.initialize()
        found = problems(jax, machines, chips)
    if not found:
        print(f"slice: {machines} machines, {machines * chips} chips, one sum over all of them", flush=True)
        return 0
    text = "the slice is not whole: " + "; ".join(found)
    print(text, flush=True)
    if REASON.exists():
        REASON.write_text(text)
    return FAILED


if __name__ == "__main__":
    sys.exit(main())
