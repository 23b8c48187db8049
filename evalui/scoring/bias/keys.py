"""Which of the two moves a choice: the key under which an option stands, or its place?

Letters in order are places. Where keys are dealt anew for each question and order, as
`choice.decisions.key_places` deals them, key and place vary apart, and either can be tested.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evalui.scoring.bias.counts import PositionTable, RecallSpread, position_table, recall_spread
from evalui.scoring.bias.significance import N_DRAWS, PermutationTest, permutation_test
from evalui.scoring.choice.decisions import are_dealt, key_places
from evalui.scoring.choice.trial_grid import OptionCountStratum
from evalui.scoring.statistics.tests import holm
from evalui.types import Labels, Variant

Mover = Literal["key", "place", "both", "neither"]
_LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Pull:
    """How unevenly the slots of a stratum are chosen, be they places or keys, in that order.

    `table` has the shares and recalls of each slot, `spread` the unevenness, and `test` its p-value
    and the floor of RStd: what it is where slots have no effect.
    """

    table: PositionTable
    spread: RecallSpread
    test: PermutationTest


@dataclass(frozen=True, slots=True)
class KeyOrPlace:
    """The same choices by the place of the option and by its key.

    Both permutation tests shuffle the chosen options of a question among its orders, all repeats of
    an order together. That is exact for places, because the keys are dealt alike in every order;
    and for keys, because every deal is as probable as any other, whatever the places do.
    """

    place: Pull
    key: Pull

    @property
    def mover(self) -> Mover:
        """What moves choices at 5 %, both p-values being corrected for each other (Holm)."""
        place, key = (p < _LEVEL for p in holm([self.place.test.p, self.key.test.p]))
        return "both" if place and key else "place" if place else "key" if key else "neither"


def key_or_place(
    stratum: OptionCountStratum,
    labels: Labels,
    *,
    draws: int = N_DRAWS,
    seed: int = 0,
    place: Pull | None = None,
) -> KeyOrPlace | None:
    """Both sides of a stratum; None where keys are places, with one order, or without a choice.

    `place` is that of places where it is known.
    """
    keyed = by_key(stratum, labels)
    if keyed is stratum:
        return None
    place, key = place or _pull(stratum, draws, seed), _pull(keyed, draws, seed)
    return KeyOrPlace(place, key) if place and key else None


def by_key(stratum: OptionCountStratum, labels: Labels) -> OptionCountStratum:
    """The same with a slot for each key, in the order of the keys, in place of places.

    The stratum itself where keys are in the order of places or have none.
    """
    if not are_dealt(labels):
        return stratum
    orders = stratum.orders[: stratum.n_orders].tolist()
    dealt = [
        [key_places(labels, name, Variant(tuple(order))) for order in orders]
        for name in stratum.ids.tolist()
    ]
    key_of = np.tile(np.array(dealt, dtype=np.intp), (1, stratum.n_repeats, 1))
    place_of = np.argsort(key_of, axis=2)
    return replace(
        stratum,
        orders=np.take_along_axis(stratum.orders[None], place_of, axis=2),
        choice=np.where(stratum.choice >= 0, _at(key_of, stratum.choice), stratum.choice),
        target=_at(key_of, stratum.target),
        chances=None
        if stratum.chances is None
        else np.take_along_axis(stratum.chances, place_of, axis=2),
    )


def _pull(stratum: OptionCountStratum, draws: int, seed: int) -> Pull | None:
    test = permutation_test(stratum, draws=draws, seed=seed, dealt=True)
    table = position_table(stratum)
    return test and Pull(table, recall_spread(table), test)


def _at(table: NDArray[np.intp], slots: NDArray[np.intp]) -> NDArray[np.intp]:
    return np.take_along_axis(table, np.maximum(slots, 0)[:, :, None], axis=2)[:, :, 0]
