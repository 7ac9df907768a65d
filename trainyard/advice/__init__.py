"""From a model, its data and a deadline to instances, parallelism, hours and cost; and whether to own the hardware.

Pure: no cloud, no clock (the caller says what today is), no randomness. Units are in the names: hours, USD, GiB
(2**30 bytes) for memory, GB (10**9 bytes) for data and checkpoints, TFLOPS (10**12 a second) for rates.

    memory.py       what training holds on a GPU        throughput.py  how much of the peak is reached
    fit.py          a training, the ways that are allowed, a way that fits
    parallelism.py  which strategy fits, and at what speed; model_parallel.py for cut models
    spot.py         interruptions and checkpoint interval
    hours.py        the work at that speed, and what stretches it
    data_need.py    what the data and checkpoint tiers must deliver
    caveats.py      what to beware of
    options.py      all of it for every instance type and node count, ranked
    estimation.py   the same on hardware that is given
    onprem.py       managed training (managed.py), a cluster, owned hardware; assumed.py has what that assumes
"""

from trainyard.advice.estimation import Estimate, estimate
from trainyard.advice.fit import Ways
from trainyard.advice.hardware import Machine
from trainyard.advice.onprem import Comparison, compare
from trainyard.advice.options import Option, Recommendation, recommend
from trainyard.advice.request import Request

__all__ = [
    "Comparison",
    "Estimate",
    "Machine",
    "Option",
    "Recommendation",
    "Request",
    "Ways",
    "compare",
    "estimate",
    "recommend",
]
