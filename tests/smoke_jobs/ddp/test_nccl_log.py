import pytest

from trainyard.smoke_jobs.ddp import nccl_log
from trainyard.smoke_jobs.ddp.check_transport import FALLBACK

EFA = """ip-10:77:90 [0] NCCL INFO NET/OFI Initializing aws-ofi-nccl 1.17.1
ip-10:77:90 [0] NCCL INFO NET/OFI Selected provider is efa, fabric is efa-direct (found 32 nics)
ip-10:77:90 [0] NCCL INFO Using network AWS Libfabric
ip-10:77:99 [0] NCCL INFO Channel 00/0 : 8[0] -> 0[0] [receive] via NET/AWS Libfabric/0/GDRDMA
"""
PXN = "n:1:2 [0] NCCL INFO Channel 00/0 : 8[0] -> 0[0] [receive] via NET/AWS Libfabric/0(3)/GDRDMA\n"
LIBFABRIC_TCP = EFA.replace("provider is efa, fabric is efa-direct", "Provider is tcp;ofi_rxm")
TCPXO = "n:1:2 [0] NCCL INFO Using network FasTrak\nn:1:2 [0] NCCL INFO Channel 00/0 : 1[1] -> 9[1] via NET/FasTrak/3\n"
GIB = "n:1:2 [0] NCCL INFO Using network gIB\n"
IB = "n:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB\nn:1:2 [0] NCCL INFO Using network IB\n"
ROCE = "n:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB eth0:10.0.0.5<0>\n"


@pytest.mark.parametrize(
    ("text", "networks", "direct"),
    [
        (EFA, ("efa",), True),
        (EFA.splitlines()[1] + "\n" + PXN, ("efa",), True),
        (FALLBACK, ("socket",), False),
        (TCPXO, ("gpudirect",), False),
        (GIB, ("gpudirect",), False),
        (IB, ("ib",), False),
        (ROCE, ("ib",), False),
        ("", (), False),
        ("n:1:2 [0] NCCL INFO Using network NewPlugin\n", ("newplugin",), False),
    ],
)
def test_the_network_that_carries_traffic(text: str, networks: tuple[str, ...], direct: bool) -> None:
    evidence = nccl_log.read(text)
    assert (evidence.networks, evidence.gpu_direct) == (networks, direct)


def test_libfabric_over_tcp_is_not_efa() -> None:
    (network,) = nccl_log.read(LIBFABRIC_TCP).networks
    assert network == "libfabric (tcp)"


def test_channels_outweigh_what_was_chosen_at_the_start() -> None:
    mixed = EFA + "ip-10:77:99 [0] NCCL INFO Channel 01/0 : 8[0] -> 0[0] [receive] via NET/Socket/0\n"
    assert nccl_log.read(mixed).networks == ("efa", "socket")
    assert any("NET/Socket/0" in line for line in nccl_log.read(mixed).lines)
