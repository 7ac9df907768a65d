"""From a model, its data and a deadline to instances, parallelism, hours and cost; and whether to own the hardware.

Pure: no cloud, no clock (the caller says what today is), no randomness. Units are in the names: hours, USD, GiB
(2**30 bytes) for memory, GB (10**9 bytes) for data and checkpoints, TFLOPS (10**12 a second) for rates.

    memory.py       what training holds on a GPU        throughput.py  how much of the peak is reached
    parallelism.py  which strategy fits, and at what speed
    spot.py         interruptions and checkpoint interval
    hours.py        the work at that speed, and what stretches it
    data_need.py    what the data and checkpoint tiers must deliver
    options.py      all of it for every instance type and node count, ranked
    onprem.py       managed training, a cluster, owned hardware
"""

from stacks.sizing.recommend.onprem import Comparison, compare
from stacks.sizing.recommend.options import Option, Recommendation, recommend
from stacks.sizing.recommend.request import Request

__all__ = ["Comparison", "Option", "Recommendation", "Request", "compare", "recommend"]
