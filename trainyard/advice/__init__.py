"""From a model, its data and a deadline to instances, parallelism, hours and cost; and whether to own the hardware.

Pure: no cloud, no clock (the caller says what today is), no randomness. Units are in the names: hours, USD, GiB
(2**30 bytes) for memory, GB (10**9 bytes) for data and checkpoints, TFLOPS (10**12 a second) for rates.

    request.py, workload.py    what is asked for, and the work that it is
    hardware.py, prices.py     machines, and what they cost by way of paying
    memory.py, throughput.py   what training holds on a GPU; how much of the peak is reached
    fit.py, parallelism.py     a way that fits; which strategy does, and at what speed; model_parallel.py for cut models
    spot.py, hours.py          interruptions and checkpoint interval; the work at that speed, and what stretches it
    data_need.py, caveats.py   what the data and checkpoint tiers must deliver; what to beware of
    options.py                 all of it for machines of one type, paid for in one way
    recommendation.py          the options of every instance type and node count, ranked
    estimation.py              the same on hardware that is given
    onprem.py, managed.py      managed training, a cluster, owned hardware; assumed.py has what that assumes
    assessment.py, assessed.py what a client answered before anything was made, and what follows from it
    report/, units.py          all of it as text, JSON and page; quantities as people write them
"""

from trainyard.advice.estimation import Estimate, estimate
from trainyard.advice.fit import Ways
from trainyard.advice.hardware import Machine
from trainyard.advice.onprem import Comparison, compare
from trainyard.advice.options import Option
from trainyard.advice.recommendation import Recommendation, recommend
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
