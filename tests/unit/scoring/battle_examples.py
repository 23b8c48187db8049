"""Golden and generated battles."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray
from scoring_examples import golden

from evalui.scoring.arena.battles import Battle, Outcome, encode_battles
from evalui.scoring.arena.elo import _battle_kinds, _replay

CASES: dict[str, dict[str, Any]] = {
    case["name"]: case for case in golden("arena/elo.json")["cases"]
}
FINITE = [name for name, case in CASES.items() if case["expected"]["bt_finite"]]
ENDLESS = [name for name in CASES if name not in FINITE]
TODAY: list[dict[str, Any]] = golden("opencompass/subjective_head.json")["ratings"]

_OUTCOMES: dict[str, Outcome] = {
    "A": "a",
    "model_a": "a",
    "B": "b",
    "model_b": "b",
    "tie": "tie",
    "neither": "neither",
    "tie (bothbad)": "neither",
}


def battles_of(case: dict[str, Any]) -> list[Battle]:
    return [Battle(first, second, _OUTCOMES[won]) for first, second, won in case["battles"]]


def in_orders(battles: Sequence[Battle], orders: NDArray[np.intp], k: float) -> NDArray[np.float64]:
    """The ratings, shape (runs, models), after the battles in each row of places 0 to n-1."""
    coded = encode_battles(battles)
    kinds = _battle_kinds(coded)
    return _replay(kinds, kinds.of_battle[orders], len(coded.models), k)


def _battle(pair: list[str], outcome: Outcome) -> Battle:
    return Battle(pair[0], pair[1], outcome)


_PAIRS = st.lists(st.sampled_from("wxyz"), min_size=2, max_size=2, unique=True)
BATTLES = st.lists(
    st.builds(_battle, _PAIRS, st.sampled_from(["a", "b", "tie", "neither"])),
    min_size=1,
    max_size=40,
)
