"""What a driver may answer, and what is made of it: programs of their names stand in for nvidia-smi and dmesg."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from trainyard.smoke_jobs.ddp import check_devices, hardware
from trainyard.smoke_jobs.ddp.options import Options

UUID = "GPU-5d0f-1"

HEALTHY = """<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">
<nvidia_smi_log><driver_version>570.86.15</driver_version>
<gpu id="00000000:3B:00.0"><product_name>NVIDIA H100 80GB HBM3</product_name><uuid>GPU-5d0f-1</uuid>
<gpu_recovery_action>None</gpu_recovery_action>
<pci><pci_bus_id>00000000:3B:00.0</pci_bus_id><pci_gpu_link_info>
<pcie_gen><max_link_gen>5</max_link_gen><current_link_gen>1</current_link_gen></pcie_gen>
<link_widths><max_link_width>16x</max_link_width><current_link_width>16x</current_link_width></link_widths>
</pci_gpu_link_info><replay_counter>2</replay_counter></pci>
<clocks_event_reasons>
<clocks_event_reason_gpu_idle>Active</clocks_event_reason_gpu_idle>
<clocks_event_reason_sw_power_cap>Active</clocks_event_reason_sw_power_cap>
<clocks_event_reason_hw_slowdown>Not Active</clocks_event_reason_hw_slowdown>
<clocks_event_reason_hw_thermal_slowdown>Not Active</clocks_event_reason_hw_thermal_slowdown>
<clocks_event_reason_hw_power_brake_slowdown>Not Active</clocks_event_reason_hw_power_brake_slowdown>
</clocks_event_reasons>
<ecc_mode><current_ecc>Enabled</current_ecc></ecc_mode>
<ecc_errors><volatile><sram_correctable>3</sram_correctable>
<sram_uncorrectable_parity>0</sram_uncorrectable_parity><sram_uncorrectable_secded>0</sram_uncorrectable_secded>
<dram_correctable>1</dram_correctable><dram_uncorrectable>0</dram_uncorrectable></volatile>
<aggregate><dram_uncorrectable>7</dram_uncorrectable></aggregate></ecc_errors>
<retired_pages><pending_retirement>N/A</pending_retirement></retired_pages>
<remapped_rows><remapped_row_corr>0</remapped_row_corr><remapped_row_unc>1</remapped_row_unc>
<remapped_row_pending>No</remapped_row_pending><remapped_row_failure>No</remapped_row_failure></remapped_rows>
<temperature><gpu_temp>41 C</gpu_temp></temperature>
<gpu_power_readings><instant_power_draw>71.50 W</instant_power_draw></gpu_power_readings>
<clocks><sm_clock>1980 MHz</sm_clock></clocks>
</gpu></nvidia_smi_log>
"""
OLD = """<nvidia_smi_log><driver_version>418.40</driver_version><gpu id="00000000:00:1E.0"><uuid>GPU-5d0f-1</uuid>
<pci><pci_bus_id>00000000:00:1E.0</pci_bus_id></pci><clocks_throttle_reasons>
<clocks_throttle_reason_hw_slowdown>Not Active</clocks_throttle_reason_hw_slowdown>
<clocks_throttle_reason_hw_thermal_slowdown>{hot}</clocks_throttle_reason_hw_thermal_slowdown>
</clocks_throttle_reasons><ecc_errors><volatile><double_bit><total>0</total></double_bit></volatile></ecc_errors>
<retired_pages><pending_retirement>No</pending_retirement></retired_pages></gpu></nvidia_smi_log>
"""
LOST = (
    "Unable to determine the device handle for GPU0000:3B:00.0: GPU is lost.  Reboot the system to recover this GPU\n"
)
XID = "[ 12.1] NVRM: Xid (PCI:0000:{bus}:00): {number}, pid=812, name=python\n"

Installed = Callable[..., None]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installed:
    """Puts programs in front of PATH that answer as told; None: there is no such program, and no other one."""

    def install(
        xml: str | None, log: str | None = "", links: str = "", errors: str = "", code: int = 0, listed: str = ""
    ) -> None:
        programs = {}
        if xml is not None:
            for name, text in {"xml": xml, "links": links, "errors": errors, "listed": listed}.items():
                (tmp_path / name).write_text(text)
            programs["nvidia-smi"] = (
                f'case "$*" in *"nvlink -s"*) /bin/cat {tmp_path}/links;; *"nvlink -e"*) /bin/cat {tmp_path}/errors;; '
                f"-L) /bin/cat {tmp_path}/listed;; "
                f"*) /bin/cat {tmp_path}/xml; exit {code};; esac"
            )
        if log is not None:
            (tmp_path / "log").write_text(log)
        programs["dmesg"] = f"/bin/cat {tmp_path}/log" if log is not None else "echo not permitted; exit 1"
        for name, body in programs.items():
            (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
            (tmp_path / name).chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))

    return install


def verdict(**options: Any) -> tuple[str, str]:
    """What check devices makes of the answers, with these options."""
    reading = hardware.read(UUID.removeprefix("GPU-"))
    device = {
        "name": "NVIDIA H100 80GB HBM3", "uuid": UUID, "memory_gib": 79.1, "driver": reading.driver,
        "errors": list(reading.faults), "unreadable": list(reading.unreadable), "links": reading.links,
        "lanes": list(reading.lanes), "mode": reading.mode,
    }  # fmt: skip
    versions = dict.fromkeys(("torch", "cuda", "nccl", "driver"), "1")
    inventory = {
        "rank": 0, "host": "a", "device": device, "versions": versions, "fabrics": [], "visible_devices": 1,
    }  # fmt: skip
    job: Any = SimpleNamespace(
        options=Options(**options), inventories=[inventory], broken=lambda _: False, gather=lambda value: [value],
        cuda=False, device="cpu", rank=0, host="a",
    )  # fmt: skip
    outcome = check_devices.run(job)
    return outcome.verdict, outcome.reason


def test_a_healthy_gpu_passes_and_all_was_read(installed: Installed) -> None:
    links = f"GPU 0: NVIDIA H100 (UUID: {UUID})\n" + "".join(f"\t Link {n}: 26.562 GB/s\n" for n in range(18))
    errors = "\t Link 0: Replay Errors: 0\n\t Link 0: Recovery Errors: 0\n\t Link 1: CRC Errors: 4\n"
    installed(HEALTHY, XID.format(bus="86", number=79), links, errors)
    reading = hardware.read(UUID)
    assert (reading.driver, reading.faults, reading.unreadable, reading.links) == ("570.86.15", (), (), 18)
    assert reading.counters == {
        "ecc_corrected": 4, "ecc_uncorrected": 0, "rows_remapped_corrected": 0, "rows_remapped_uncorrected": 1,
        "pcie_replays": 2, "nvlink_replay": 0, "nvlink_recovery": 0, "nvlink_crc": 4, "xid_events": 0,
        "xid_hardware_events": 0,
    }  # fmt: skip
    assert reading.now == {"sm_mhz": 1980, "watts": 71.5, "celsius": 41}
    assert reading.pcie_gb_s == pytest.approx(63, rel=0.01)
    assert verdict() == ("pass", "1 x NVIDIA H100 80GB HBM3")


@pytest.mark.parametrize(
    ("was", "becomes", "says"),
    [
        ("<remapped_row_pending>No", "<remapped_row_pending>Yes", "a row remap is pending: the GPU has to be reset"),
        ("<remapped_row_failure>No", "<remapped_row_failure>Yes", "the GPU has to be replaced"),
        ("hw_thermal_slowdown>Not Active", "hw_thermal_slowdown>Active", "slowed down because it is hot"),
        ("hw_power_brake_slowdown>Not Active", "hw_power_brake_slowdown>Active", "power brake"),
        ("hw_slowdown>Not Active", "hw_slowdown>Active", "slowed down by its hardware"),
        ("recovery_action>None", "recovery_action>Drain and Reset", "asks for a recovery"),
        ("<dram_uncorrectable>0", "<dram_uncorrectable>2", "uncorrected memory errors since the driver was loaded (2)"),
        ("<current_link_width>16x", "<current_link_width>4x", "runs 4 lanes wide, it can have 16"),
        ("<remapped_row_pending>No", "<remapped_row_pending>GPU requires reset", "the GPU has to be reset"),
    ],
)
def test_each_fault_that_the_driver_tells_fails(installed: Installed, was: str, becomes: str, says: str) -> None:
    assert HEALTHY.count(was) == 1
    installed(HEALTHY.replace(was, becomes))
    result, reason = verdict()
    assert result == "fail" and says in reason and "drain the node" in reason


def test_half_of_the_lanes_is_how_some_machines_are_wired(installed: Installed) -> None:
    """The L4 of AWS's g6 has 8 of 16 (aws-parallelcluster-cookbook#2803): healthy, and told."""
    installed(HEALTHY.replace("<current_link_width>16x", "<current_link_width>8x"))
    result, reason = verdict()
    assert result == "pass" and "PCIe slots run 8 of 16 lanes" in reason
    assert hardware.read(UUID).pcie_gb_s == pytest.approx(31.5, rel=0.01), "copies are held to the lanes in use"


def test_a_slot_with_fewer_lanes_than_the_others_is_named() -> None:
    def inventory(rank: int, lanes: int, name: str = "NVIDIA L4") -> dict[str, Any]:
        return {"rank": rank, "host": "a", "device": {"name": name, "uuid": f"u{rank}", "lanes": [lanes, 16]}}

    (text,) = check_devices.narrow_slots([inventory(0, 16), inventory(1, 8), inventory(2, 16)])
    assert text.startswith("rank 1 on a, device u1: its PCIe slot runs 8 lanes wide, others here have 16; drain")
    assert not check_devices.narrow_slots([inventory(rank, 8) for rank in range(4)])
    assert not check_devices.narrow_slots([inventory(0, 16), inventory(1, 8, "NVIDIA T4")]), "another model"
    unknown = [{**inventory(0, 0), "device": {"name": "NVIDIA L4", "uuid": "u", "lanes": [0, 0]}}]
    assert not check_devices.narrow_slots(unknown)


def test_what_is_no_clear_answer_is_told_as_unreadable(installed: Installed) -> None:
    installed(HEALTHY.replace("<remapped_row_pending>No", "<remapped_row_pending>Insufficient Permissions"))
    result, reason = verdict()
    assert result == "pass" and reason.endswith("not readable: remapped_row_pending")


def test_of_a_part_of_a_gpu_the_whole_is_asked(installed: Installed) -> None:
    listed = f"GPU 0: NVIDIA H100 80GB HBM3 (UUID: {UUID})\n  MIG 3g.40gb     Device  0: (UUID: MIG-77-a)\n"
    installed(HEALTHY, listed=listed)
    for name in ("77-a", "MIG-77-a"):
        reading = hardware.read(name)
        assert (reading.driver, reading.faults) == ("570.86.15", ())
    assert "does not answer" in hardware.read("88-b").faults[0], "nobody's part"
    installed(HEALTHY.replace("<remapped_row_pending>No", "<remapped_row_pending>Yes"), listed=listed)
    assert "a row remap is pending" in hardware.read("MIG-77-a").faults[0]


def test_a_driver_that_is_stuck_is_given_up_before_a_collective_is(
    installed: Installed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(HEALTHY)
    (tmp_path / "nvidia-smi").write_text("#!/bin/sh\necho x >> $(/usr/bin/dirname $0)/asked\nexec /bin/sleep 60\n")
    monkeypatch.setattr(hardware, "QUESTION_S", 0.5)
    assert "code 124, said: no answer" in hardware.read(UUID).faults[0]
    assert (tmp_path / "asked").read_text().split() == ["x"], "once: it would not answer anything else"


def test_the_compute_mode_is_read(installed: Installed) -> None:
    installed(
        HEALTHY.replace("<gpu_recovery_action>", "<compute_mode>Exclusive_Process</compute_mode><gpu_recovery_action>")
    )
    assert hardware.read(UUID).mode == "Exclusive_Process"


def test_a_gpu_that_has_fallen_off_the_bus_fails(installed: Installed) -> None:
    installed(LOST, code=15)
    result, reason = verdict()
    assert result == "fail" and "the driver does not answer for it (code 15" in reason and "GPU is lost" in reason
    installed(HEALTHY.replace(UUID, "GPU-another"))
    assert verdict()[0] == "fail"


@pytest.mark.parametrize(("number", "result"), [(79, "fail"), (48, "fail"), (13, "pass"), (43, "pass")])
def test_an_event_of_broken_hardware_fails_and_a_programs_own_does_not(
    installed: Installed, number: int, result: str
) -> None:
    installed(HEALTHY, XID.format(bus="3b", number=number))
    assert verdict()[0] == result


def test_what_an_old_driver_does_not_tell_is_said(installed: Installed) -> None:
    installed(OLD.format(hot="Not Active"), log=None)
    result, reason = verdict()
    assert result == "pass" and "not readable: " in reason
    for name in ("gpu_recovery_action", "remapped_row_pending", "link_widths", "replay_counter", "Xid events"):
        assert name in reason
    assert "ECC" not in reason and "retirement" not in reason
    installed(OLD.format(hot="Active"))
    assert verdict()[0] == "fail"


def test_without_nvidia_smi_nothing_is_called_healthy(installed: Installed) -> None:
    installed(None)
    result, reason = verdict()
    assert result == "pass" and "not readable: everything the driver knows: there is no nvidia-smi here" in reason


def test_acceptance_fails_where_the_driver_cannot_be_asked(installed: Installed) -> None:
    installed(None)
    for options in ({"level": "standard"}, {"level": "full"}, {"expect_links": 18}):
        result, reason = verdict(**options)
        assert result == "fail" and "NVIDIA_DRIVER_CAPABILITIES=compute,utility" in reason
    assert verdict(expect_driver="580")[0] == "fail"


def test_the_program_is_found_where_gke_mounts_it(
    installed: Installed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(HEALTHY)
    monkeypatch.setenv("PATH", "/nowhere")
    assert hardware.read(UUID).unreadable == (hardware.NO_SMI,)
    monkeypatch.setattr(hardware, "GKE_FOLDER", str(tmp_path))
    assert hardware.read(UUID).driver == "570.86.15"


@pytest.mark.parametrize(("asked", "result"), [("", "pass"), ("570", "pass"), ("570.86", "pass"), ("580", "fail")])
def test_an_older_driver_than_the_plans_fails(installed: Installed, asked: str, result: str) -> None:
    installed(HEALTHY)
    assert verdict(expect_driver=asked)[0] == result


def test_links_that_every_gpu_lacks_are_missed_by_the_plans_number(installed: Installed) -> None:
    all_up = "".join(f"\t Link {n}: 26.562 GB/s\n" for n in range(18))
    installed(HEALTHY, links=all_up)
    assert verdict(expect_links=18)[0] == "pass"
    installed(HEALTHY, links=all_up.replace("Link 3: 26.562 GB/s", "Link 3: <inactive>"))
    result, reason = verdict(expect_links=18)
    assert result == "fail" and "17 NVLinks are up, the plan says 18; look at the fabric manager" in reason
    assert verdict()[0] == "pass", "nobody says how many there have to be"
    installed(HEALTHY, links="Unable to retrieve NVLink information as all links are inActive\n")
    assert "0 NVLinks are up, the plan says 18" in verdict(expect_links=18)[1]


def test_fewer_links_than_the_neighbours_have() -> None:
    def inventory(rank: int, links: int, host: str = "a") -> dict[str, Any]:
        return {"rank": rank, "host": host, "device": {"name": "H100", "uuid": f"u{rank}", "links": links}}

    one_less = [inventory(rank, 18 - 2 * (rank == 2)) for rank in range(4)]
    (text,) = check_devices.links_down(one_less)
    assert "rank 2 on a, device u2: 16 NVLinks are up, its neighbours have 18" in text
    assert not check_devices.links_down([inventory(rank, 0) for rank in range(4)])
    assert not check_devices.links_down([inventory(0, 18), inventory(1, 12, "b")]), "another node is another matter"


def test_counters_of_an_adapter(tmp_path: Path) -> None:
    ports = tmp_path / "rdmap0" / "ports" / "1"
    for folder, name, value in (("hw_counters", "tx_bytes", "40"), ("hw_counters", "rx_bytes", "2"),
                                ("counters", "link_downed", "1"), ("hw_counters", "odd", "N/A")):  # fmt: skip
        (ports / folder).mkdir(parents=True, exist_ok=True)
        (ports / folder / name).write_text(f"{value}\n")
    found = hardware.adapters(tmp_path)
    assert found == {"rdmap0": {"tx_bytes": 40, "rx_bytes": 2, "link_downed": 1}}
    assert hardware.moved(found["rdmap0"]) == 42
    assert hardware.moved({"port_xmit_data": 10, "port_rcv_data": 5}) == 60
    assert hardware.moved({"tx_bytes": 3, "rx_bytes": 2, "rdma_write_bytes": 40, "rdma_read_bytes": 1}) == 41
    assert hardware.adapters(tmp_path / "none") == {}
