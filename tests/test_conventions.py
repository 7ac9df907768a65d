from __future__ import annotations

import pytest

from trainyard.conventions import gpu_node_tolerations


def test_only_spot_nodes_have_the_spot_taint() -> None:
    assert [len(gpu_node_tolerations(capacity)) for capacity in ("reserved", "spot", "on-demand", "flex-start")] == [
        1,
        2,
        1,
        1,
    ]
    with pytest.raises(ValueError, match="one of reserved, spot, on-demand, flex-start, got free"):
        gpu_node_tolerations("free")
