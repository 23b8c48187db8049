"""A peer of the benchmarks that cannot do its work says why, in every round."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import peer

FAILS = """
import sys
sys.path.insert(0, {peers!r})
from rounds import serve

def prepare(job):
    raise ModuleNotFoundError("No module named 'tenacity'")

serve("lm-eval 0", (), prepare)
"""


def test_a_peer_that_ended_is_missing_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    script = FAILS.format(peers=str(peer.PEERS))
    (tmp_path / "run_lmeval.py").write_text(script, encoding="utf-8")
    monkeypatch.setattr(peer, "PEERS", tmp_path)
    begun: list[subprocess.Popen[str]] = []
    popen = subprocess.Popen
    monkeypatch.setattr(
        peer.subprocess, "Popen", lambda *a, **k: begun.append(popen(*a, **k)) or begun[-1]
    )
    with peer.started("lmeval", Path(sys.executable), {}) as lmeval:
        assert isinstance(lmeval, peer.Peer)
        for _ in range(2):
            with pytest.raises(peer.PeerMissing, match="No module named 'tenacity'"):
                lmeval.round("1")
            begun[0].wait()  # so that the next job meets a closed pipe
