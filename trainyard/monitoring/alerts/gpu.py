"""Alerts on GPUs: not used, broken, held back."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.monitoring import names as n
from trainyard.monitoring.model import Alert, Runbook, Severity
from trainyard.monitoring.thresholds import Thresholds
from trainyard.problems import count

SCRAPE_SECONDS = 30
"""How often figures are read."""
BUSY_FROM = 0.02
"""Share of the time above which a GPU counts as used: monitoring itself takes less."""

_GPU = "Hostname, hostname, gpu, UUID, modelName, namespace, pod"
"""What names a GPU and who has it; the host's label has two spellings in two versions of the exporter."""
_WHERE = "GPU {{ $labels.gpu }} of {{ $labels.Hostname }}{{ $labels.hostname }}"
_WHO = "`kubectl get pods -A -o wide --field-selector spec.nodeName=NODE` says whose work runs there."
_DRAIN = (
    "Take the node out of use: `kubectl cordon NODE`. The job on it is restarted elsewhere from its last checkpoint by "
    "`kubectl drain NODE --ignore-daemonsets --delete-emptydir-data`."
)
_REPLACE = (
    "End the instance; its node group starts another one. A reserved node comes back on the same capacity, not on the "
    "same machine."
)


@dataclass(frozen=True, slots=True)
class XidKind:
    """Errors of the driver that mean the same thing."""

    alert: str
    title: str
    severity: Severity
    xids: tuple[int, ...]
    means: str
    act: tuple[str, ...]


XID_KINDS: tuple[XidKind, ...] = (
    XidKind(
        "GpuMemoryError",
        "memory error of a GPU",
        "critical",
        (48, 63, 64, 92, 94, 95, 140),
        "The GPU found an error in its memory that it could not correct, or took a row of it out of use. What was "
        "computed meanwhile may be wrong. 64 and 95 mean that the GPU cannot go on without a reset.",
        (_DRAIN, "Reset the GPU or reboot the node: a row that was taken out of use is replaced then.", _REPLACE),
    ),
    XidKind(
        "GpuNvlinkError",
        "NVLink error",
        "critical",
        (74, 137, 149),
        "The link between the GPUs of a node, or to its switch, reported an error. Collectives over it hang or are "
        "slow.",
        (
            _DRAIN,
            "Run `trainyard smoke STACK --pool POOL` on the node when it is back: it measures the links.",
            _REPLACE,
        ),
    ),
    XidKind(
        "GpuLost",
        "a GPU is gone",
        "critical",
        (79, 109, 110, 136),
        "The driver cannot reach the GPU any more; it has fallen off the bus. Every job on the node hangs.",
        (_DRAIN, _REPLACE),
    ),
    XidKind(
        "GpuFirmwareError",
        "firmware or driver error of a GPU",
        "critical",
        (16, 32, 38, 61, 62, 69, 119, 120, 121, 143),
        "The GPU's own controller or the driver gave up on something. It mostly needs a reset.",
        (_DRAIN, "Reboot the node. If it comes back with the same error, replace it.", _REPLACE),
    ),
    XidKind(
        "GpuProgramError",
        "a program's error on a GPU",
        "info",
        (13, 31, 43, 45, 68),
        "A program read or wrote what is not its own, or was stopped while it computed. The hardware is sound.",
        (
            "Tell the team whose pod it is: the log of the job names the operation that failed.",
            "If the same node reports it under several teams' jobs, treat it as broken hardware and drain the node.",
        ),
    ),
)
"""NVIDIA's XID catalogue by what somebody has to do (NVIDIA XID Errors, deployment guide; general knowledge of the
kinds, 2026-11)."""
OTHER_XID = "GpuUnknownError"


def _xid(kind: XidKind) -> Alert:
    return Alert(
        kind.alert,
        kind.title,
        _xids(f'xid=~"{"|".join(map(str, kind.xids))}"'),
        kind.severity,
        f"{kind.title}: XID {{{{ $labels.xid }}}} on {_WHERE}",
        Runbook(kind.means, (_WHO, "`dmesg | grep -i xid` on the node says what the driver wrote."), kind.act),
    )


def _xids(selector: str) -> str:
    return f"max by (xid, {_GPU}) (max_over_time({n.XIDS}{{{selector}}}[10m])) > 0"


def _other_xid() -> Alert:
    known = "|".join(str(xid) for kind in XID_KINDS for xid in kind.xids)
    return Alert(
        OTHER_XID,
        "an error of a GPU of no known kind",
        _xids(f'xid!~"0|{known}"'),
        "warning",
        f"XID {{{{ $labels.xid }}}} on {_WHERE}, which none of the kinds names",
        Runbook(
            "The driver reported an error that the table of kinds does not hold.",
            (_WHO, "NVIDIA's XID catalogue says what the number stands for."),
            ("If jobs on the node fail or hang, treat it as broken hardware.", _DRAIN, _REPLACE),
        ),
    )


def _underused(at: Thresholds) -> Alert:
    busy = f'{n.BUSY}{{pod!=""}}'
    return Alert(
        "GpuUnderused",
        "GPUs are used too little",
        f"avg by (namespace, pod) (avg_over_time({busy}[2h])) * 100 < {at.gpu_utilisation_percent}"
        f" and on (namespace, pod) count by (namespace, pod) ({busy} offset 2h)",
        "warning",
        "{{ $labels.namespace }}/{{ $labels.pod }} used its GPUs {{ $value | humanize }} % of the last two hours",
        Runbook(
            "A pod holds GPUs and computes on them for less than half of the time: mostly it waits for data.",
            (
                "The dashboard of the team shows its pods; the one of the hardware, memory and power of each GPU.",
                "`trainyard smoke STACK --pool POOL --level standard` says what the data tier gives to a node.",
            ),
            (
                "Have the team look at its input: more workers in the data loader, prefetching, files that are larger.",
                "A job that fits fewer GPUs should ask for fewer; `trainyard recommend` says what a model needs.",
                "Work by hand belongs on the pool for development.",
            ),
        ),
        "30m",
        "gpu_utilisation_percent",
    )


def _idle(at: Thresholds) -> Alert:
    window = f"{at.idle_gpu_minutes}m"
    busy = f'{n.BUSY}{{pod!=""}}[{window}]'
    samples = at.idle_gpu_minutes * 60 // SCRAPE_SECONDS * 8 // 10
    return Alert(
        "GpuIdle",
        "GPUs are held and idle",
        f"max by (namespace, pod) (max_over_time({busy})) < {BUSY_FROM}"
        f" and on (namespace, pod) min by (namespace, pod) (count_over_time({busy})) >= {samples}",
        "warning",
        f"{{{{ $labels.namespace }}}}/{{{{ $labels.pod }}}} has done nothing on its GPUs for "
        f"{count(at.idle_gpu_minutes, 'minute')}",
        Runbook(
            "A pod holds GPUs and has not computed on any of them. Where figures are missing nothing is said.",
            (
                "`kubectl -n NAMESPACE logs POD` says what it waits for.",
                "`kubectl -n NAMESPACE get workloads` names its job.",
                "TPU chips have no figures in the cluster. An alert of Google Cloud's own says *TPU chips idle*, with "
                "the pod: no chip of it used its TensorCores for as long. Metrics Explorer shows them, as "
                "`kubernetes.io/container/accelerator/tensorcore_utilization` by pod. What to do is the same.",
            ),
            (
                "Ask its owner. A job of several nodes whose ranks wait for one another is stuck: stop it, it goes on "
                "from its last checkpoint when it is handed in again.",
                "Without an owner: `kubectl -n NAMESPACE patch workload NAME --type merge -p "
                '\'{"spec":{"active":false}}\'` '
                "gives the GPUs or chips back and keeps the job; `true` resumes it.",
            ),
        ),
        "5m",
        "idle_gpu_minutes",
    )


def _rows() -> tuple[Alert, Alert]:
    see = (_WHO, "`nvidia-smi -q -d ROW_REMAPPER` on the node lists the rows.")
    return (
        Alert(
            "GpuRowRemapped",
            "a GPU replaced a row of its memory",
            f"max by ({_GPU}) (increase(DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS[1h])) > 0",
            "warning",
            f"{_WHERE} took a row of its memory out of use",
            Runbook(
                "An error that could not be corrected made the GPU replace a row of its memory by a spare one, "
                "of which "
                "it has few. The job that met the error has failed.",
                see,
                (
                    "Reboot the node once it is empty, so that the spare row is in use.",
                    "If it happens again, replace it.",
                    _REPLACE,
                ),
            ),
        ),
        Alert(
            "GpuRowRemapFailed",
            "a GPU has no spare rows left",
            f"max by ({_GPU}) (DCGM_FI_DEV_ROW_REMAP_FAILURE) > 0",
            "critical",
            f"{_WHERE} cannot replace broken rows of its memory any more",
            Runbook(
                "The GPU has used up the spare rows of a bank: the next error stays. It is broken.",
                see,
                (_DRAIN, _REPLACE),
            ),
        ),
    )


def _links() -> Alert:
    return Alert(
        "GpuNvlinkUnstable",
        "an NVLink loses data",
        f"max by ({_GPU}) (increase(DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL[15m])) > 0"
        f" or max by ({_GPU}) (increase(DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL[15m])) > 0",
        "warning",
        f"NVLinks of {_WHERE} send again what was lost",
        Runbook(
            "A link between GPUs loses data and sends it again, or starts anew. Collectives get slow before they hang.",
            (_WHO, "`nvidia-smi nvlink -e` on the node counts the errors of each link."),
            ("If it goes on, drain the node.", _DRAIN, _REPLACE),
        ),
    )


THROTTLE_BITS = {
    8: "power or heat, by hardware",
    32: "heat, by the driver",
    64: "heat, by hardware",
    128: "power supply",
}
"""Bits of the clock's reasons that are a fault; being idle, a power limit and a fixed clock are none (NVML)."""


def _throttled(at: Thresholds) -> Alert:
    bits = " + ".join(f"floor({n.CLOCK_EVENTS} / {bit}) % 2" for bit in THROTTLE_BITS)
    return Alert(
        "GpuThrottled",
        "a GPU is held back by heat or power",
        f"max by ({_GPU}) ({bits}) > 0",
        "warning",
        f"{_WHERE} has run below its clock for {count(at.throttled_minutes, 'minute')}: heat or power",
        Runbook(
            "The GPU lowers its clock to protect itself. The slowest GPU sets the pace of a whole job.",
            (_WHO, "`nvidia-smi -q -d PERFORMANCE,TEMPERATURE` on the node says why, and how hot it is."),
            ("In a cloud the machine cannot be cooled from here: replace it.", _DRAIN, _REPLACE),
        ),
        f"{at.throttled_minutes}m",
        "throttled_minutes",
    )


def _unhealthy() -> Alert:
    return Alert(
        "GpuNodeUnhealthy",
        "a node reports broken hardware",
        'max by (node, condition) (kube_node_status_condition{condition="AcceleratedHardwareReady", status="false"})'
        " == 1",
        "critical",
        "node {{ $labels.node }} says that its GPUs or its fabric are not well",
        Runbook(
            "The cloud's agent on the node found an error of a GPU, a link or the fabric and set a condition.",
            ("`kubectl describe node NODE` shows the condition with its reason.",),
            (_DRAIN, _REPLACE),
        ),
        "5m",
    )


def gpu_alerts(at: Thresholds) -> tuple[Alert, ...]:
    """Every alert on GPUs."""
    return (
        _underused(at),
        _idle(at),
        *(_xid(kind) for kind in XID_KINDS),
        _other_xid(),
        *_rows(),
        _links(),
        _throttled(at),
        _unhealthy(),
    )
