"""What the driver, the kernel and the fabric's adapters say of their hardware: faults, counters, clocks.

`nvidia-smi -q -x` tells all that a driver knows of a GPU in one call; an element that it does not have, because it is
old or the GPU has no such part, is told as unreadable and never taken for fine. A GPU of which nothing can be read is a
fault: that is how one looks that has fallen off the bus.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

INFINIBAND = Path("/sys/class/infiniband")
"""InfiniBand and RoCE cards, and EFA."""

GKE_FOLDER = "/usr/local/nvidia/bin"
"""Where pods of GKE find the driver's programs (GKE documentation, "Run GPUs", read 2026-11)."""

NO_SMI = "everything the driver knows: there is no nvidia-smi here"
"""What is unreadable where nobody can be asked."""

QUESTION_S = 30.0
"""How long the driver may take for an answer. One that is stuck is told before the others have waited for as long as a
collective may take (`collective_timeout_s`)."""

UNANSWERED = 124
"""Code of a question that had no answer in time."""

HARDWARE_XIDS = frozenset({48, 64, 74, 79, 95, 119, 120, 140})
"""Xid events of a device that has to be reset or replaced, by NVIDIA's Xid catalogue: double-bit error, row remapping
failed, NVLink error, fallen off the bus, uncontained error, GSP time-out and error, unrecovered ECC error. The others
may be a program's own fault."""

_YES = {  # path below <gpu>: what it means, where it says so
    "remapped_rows/remapped_row_pending": "a row remap is pending: the GPU has to be reset",
    "remapped_rows/remapped_row_failure": "row remapping failed: the GPU has to be replaced",
    "retired_pages/pending_retirement": "a memory page waits for its retirement: the GPU has to be reset",
    "clocks_event_reasons/clocks_event_reason_hw_slowdown": "slowed down by its hardware",
    "clocks_event_reasons/clocks_event_reason_hw_thermal_slowdown": "slowed down because it is hot",
    "clocks_event_reasons/clocks_event_reason_hw_power_brake_slowdown": "slowed down by the power brake: look at the "
    "power supplies of its host",
}
_NONE = {"", "n/a", "none", "[n/a]", "not supported", "unknown error"}
_NO = {"no", "not active", "inactive", "0"}
_LINK = re.compile(r"Link (\d+): (.+)")
_XID = re.compile(r"NVRM: Xid \(PCI:([0-9A-Fa-f:.]+)\): (\d+)")


@dataclass(frozen=True, slots=True)
class Reading:
    """One look at a GPU."""

    driver: str = ""
    faults: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()  # what could not be read
    counters: Mapping[str, int] = field(default_factory=dict)  # errors since the driver was loaded
    now: Mapping[str, float] = field(default_factory=dict)  # sm_mhz, watts, celsius
    links: int = 0  # NVLinks that are up
    lanes: tuple[int, int] = (0, 0)  # of its PCIe slot, in use and at most; 0: unknown
    pcie_gb_s: float = 0.0  # line rate of the lanes in use, one way; 0: unknown
    mode: str = ""  # compute mode, as the driver calls it: Default, Exclusive_Process


def read(uuid: str) -> Reading:
    """What the driver says of a GPU, by its UUID with or without `GPU-`."""
    if _smi() is None:
        return Reading(unreadable=(NO_SMI,))
    name = f"GPU-{uuid.removeprefix('GPU-').removeprefix('MIG-')}"
    code, text = _ask(_smi() or "nvidia-smi", "-q", "-x", "-i", name)
    gpu, driver = _parsed(text, name)
    stuck = code == UNANSWERED
    # A part of a GPU has a name of its own, and the driver answers for the whole.
    if gpu is None and not stuck and (whole := _whole(name.replace("GPU-", "MIG-", 1))):
        name = whole
        code, text = _ask(_smi() or "nvidia-smi", "-q", "-x", "-i", name)
        gpu, driver = _parsed(text, name)
    if gpu is None:
        said = " ".join(text.split())[:200] or "nothing"
        return Reading(driver=driver, faults=(f"the driver does not answer for it (code {code}, said: {said})",))
    reading = _of(gpu, driver)
    return _with_links(_with_xids(reading, gpu.findtext("pci/pci_bus_id", "")), name)


def unanswered() -> list[str]:
    """What `nvidia-smi -L` says of GPUs that it cannot list: that one is lost, by its place on the bus."""
    if _smi() is None:
        return []
    _, text = _ask(_smi() or "nvidia-smi", "-L")
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not re.match(r"(GPU \d+:|MIG )", line)]


def _whole(part: str) -> str:
    """The UUID of the GPU that an instance of MIG is a part of, as `nvidia-smi -L` lists it; empty where it is none."""
    _, text = _ask(_smi() or "nvidia-smi", "-L")
    whole = ""
    for line in text.splitlines():
        if found := re.match(r"GPU \d+:.*\(UUID: (GPU-[^)]+)\)", line.strip()):
            whole = found[1]
        elif f"(UUID: {part})" in line:
            return whole
    return ""


def _smi() -> str | None:
    """nvidia-smi, also where GKE's device plugin mounts it and the image does not look."""
    return shutil.which("nvidia-smi") or shutil.which("nvidia-smi", path=GKE_FOLDER)


def _ask(*command: str) -> tuple[int, str]:
    try:
        ran = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=QUESTION_S, check=False
        )
    except subprocess.TimeoutExpired:
        return UNANSWERED, f"no answer in {QUESTION_S:.0f} s"
    except OSError as error:
        return 126, str(error)
    return ran.returncode, ran.stdout


def _parsed(text: str, name: str) -> tuple[ElementTree.Element | None, str]:
    """The element of a GPU, and the driver's version."""
    start, end = text.find("<nvidia_smi_log"), text.rfind("</nvidia_smi_log>")
    if start < 0 or end < 0:
        return None, ""
    try:
        log = ElementTree.fromstring(text[start : end + len("</nvidia_smi_log>")])  # noqa: S314 - the driver's own words
    except ElementTree.ParseError:
        return None, ""
    driver = (log.findtext("driver_version") or "").strip()
    found = next((gpu for gpu in log.iter("gpu") if (gpu.findtext("uuid") or "").strip() == name), None)
    return found, driver


def _text(gpu: ElementTree.Element, path: str) -> str:
    """The text of an element; empty where it says that there is nothing. Drivers before 535 say `throttle`."""
    for spelt in (path, path.replace("clocks_event_reason", "clocks_throttle_reason")):
        text = (gpu.findtext(spelt) or "").strip()
        if text.lower().strip("[]") not in _NONE:
            return text
    return ""


def _number(text: str) -> float | None:
    match = re.match(r"-?[\d.]+", text)
    return float(match[0]) if match else None


def _of(gpu: ElementTree.Element, driver: str) -> Reading:
    faults, unreadable = [], []
    remaps = gpu.find("remapped_rows") is not None and bool(_text(gpu, "remapped_rows/remapped_row_pending"))
    for path, meaning in _YES.items():
        value = _text(gpu, path)
        if value.lower() in ("yes", "active", "1"):
            faults.append(f"{meaning} ({path.rsplit('/', 1)[-1]}: {value})")
        elif "requires reset" in value.lower():
            faults.append(f"the GPU has to be reset ({path.rsplit('/', 1)[-1]}: {value})")
        # A GPU has the one or the other; and what is no clear answer (`Insufficient Permissions`) is none.
        elif value.lower() not in _NO and not (path.startswith("retired_pages") and remaps):
            unreadable.append(path.rsplit("/", 1)[-1])
    action = (gpu.findtext("gpu_recovery_action") or "").strip()
    if not action or action == "N/A":
        unreadable.append("gpu_recovery_action")
    elif action.lower() != "none":
        faults.append(f"the driver asks for a recovery (gpu_recovery_action: {action})")
    counters = _counters(gpu)
    if "ecc_uncorrected" not in counters:
        mode = (gpu.findtext("ecc_mode/current_ecc") or "").strip()
        unreadable.append("ECC errors" + (f" (ECC is {mode.lower()})" if mode and mode != "Enabled" else ""))
    elif counters["ecc_uncorrected"]:
        faults.append(f"uncorrected memory errors since the driver was loaded ({counters['ecc_uncorrected']})")
    if "pcie_replays" not in counters:
        unreadable.append("replay_counter")
    widths = [
        _number(_text(gpu, f"pci/pci_gpu_link_info/link_widths/{which}_link_width")) for which in ("current", "max")
    ]
    if None in widths:
        unreadable.append("link_widths")
    lanes = (int(widths[0] or 0), int(widths[1] or 0))
    mode = _text(gpu, "compute_mode")
    return Reading(driver, tuple(faults), tuple(unreadable), counters, _now(gpu), 0, lanes, _slot(gpu, widths[0]), mode)


def _counters(gpu: ElementTree.Element) -> dict[str, int]:
    found: dict[str, int] = {}
    volatile = gpu.find("ecc_errors/volatile")
    for element in volatile.iter() if volatile is not None else ():
        number = _number((element.text or "").strip())
        if number is not None and element.tag.endswith(
            ("uncorrectable", "uncorrectable_parity", "uncorrectable_secded")
        ):
            found["ecc_uncorrected"] = found.get("ecc_uncorrected", 0) + int(number)
        elif number is not None and element.tag.endswith("correctable"):
            found["ecc_corrected"] = found.get("ecc_corrected", 0) + int(number)
    for name, path in {
        "ecc_uncorrected": "ecc_errors/volatile/double_bit/total",  # GPUs before Turing
        "rows_remapped_corrected": "remapped_rows/remapped_row_corr",
        "rows_remapped_uncorrected": "remapped_rows/remapped_row_unc",
        "pcie_replays": "pci/replay_counter",
    }.items():
        number = _number(_text(gpu, path))
        if number is not None:
            found.setdefault(name, int(number))
    return found


def _now(gpu: ElementTree.Element) -> dict[str, float]:
    found = {}
    for name, paths in {
        "sm_mhz": ("clocks/sm_clock",),
        "celsius": ("temperature/gpu_temp",),
        "watts": (
            "gpu_power_readings/instant_power_draw",
            "gpu_power_readings/power_draw",
            "power_readings/power_draw",
        ),
    }.items():
        number = next((n for path in paths if (n := _number(_text(gpu, path))) is not None), None)
        if number is not None:
            found[name] = number
    return found


def _slot(gpu: ElementTree.Element, width: float | None) -> float:
    """GB/s one way of the slot: 2.5 and 5 GT/s with 8b/10b for generations 1 and 2, then 8 GT/s, doubling."""
    generation = _number(_text(gpu, "pci/pci_gpu_link_info/pcie_gen/max_link_gen"))
    if generation is None or width is None:
        return 0.0
    lane = {1: 0.25, 2: 0.5}.get(int(generation), 8 * 2 ** (generation - 3) * 128 / 130 / 8)
    return lane * width


def _with_links(reading: Reading, name: str) -> Reading:
    """With the state and the error counters of its NVLinks, where it has any."""
    _, state = _ask(_smi() or "nvidia-smi", "nvlink", "-s", "-i", name)
    states = [said for _, said in _LINK.findall(state)]
    if not states:
        return reading
    counters = dict(reading.counters)
    _, errors = _ask(_smi() or "nvidia-smi", "nvlink", "-e", "-i", name)
    for _, said in _LINK.findall(errors):
        kind, _, count = said.partition(":")
        if count.strip().isdigit():
            key = "nvlink_" + kind.strip().lower().replace(" errors", "").replace(" ", "_")
            counters[key] = counters.get(key, 0) + int(count)
    unreadable = reading.unreadable
    if not any(key.startswith("nvlink_") for key in counters):
        unreadable = (*unreadable, "NVLink error counters")
    up = sum("inactive" not in said.lower() for said in states)
    return _replaced(reading, counters=counters, unreadable=unreadable, links=up)


def _with_xids(reading: Reading, bus: str) -> Reading:
    """With the Xid events that the kernel's log holds of it."""
    code, log = _ask("dmesg")
    if code:
        return _replaced(reading, unreadable=(*reading.unreadable, "Xid events (the kernel's log is not ours to read)"))
    place = bus.lower().split(":", 1)[-1].rsplit(".", 1)[0]  # 00000000:3B:00.0 is 0000:3b:00 there
    mine = [int(number) for where, number in _XID.findall(log) if place and place in where.lower()]
    hard = [number for number in mine if number in HARDWARE_XIDS]
    faults = (f"Xid {', '.join(map(str, sorted(set(hard))))} since the host was started",) if hard else ()
    counters = dict(reading.counters) | {"xid_events": len(mine), "xid_hardware_events": len(hard)}
    return _replaced(reading, counters=counters, faults=(*reading.faults, *faults))


def _replaced(reading: Reading, **changes: object) -> Reading:
    values = {name: getattr(reading, name) for name in Reading.__dataclass_fields__}
    return Reading(**(values | changes))


def adapters(root: Path = INFINIBAND) -> dict[str, dict[str, int]]:
    """Every counter of every RDMA adapter of this host, its ports' together; empty where there is none."""
    found: dict[str, dict[str, int]] = {}
    for device in sorted(root.iterdir()) if root.is_dir() else ():
        counters = found.setdefault(device.name, {})
        for file in (*device.glob("ports/*/counters/*"), *device.glob("ports/*/hw_counters/*")):
            try:
                number = int(file.read_text())
            except (OSError, ValueError):  # some cards list counters that they do not have
                continue
            counters[file.name] = counters.get(file.name, 0) + number
    return found


def moved(counters: Mapping[str, int]) -> int:
    """Bytes that an adapter has sent and received. EFA counts bytes, InfiniBand and RoCE words of four.

    EFA has counters of remote reads and writes besides: whether those of all bytes hold them is documented nowhere, so
    the larger sum counts.
    """
    if "tx_bytes" in counters:
        remote = sum(value for name, value in counters.items() if name.startswith("rdma_") and name.endswith("_bytes"))
        return max(counters["tx_bytes"] + counters.get("rx_bytes", 0), remote)
    return 4 * (counters.get("port_xmit_data", 0) + counters.get("port_rcv_data", 0))
