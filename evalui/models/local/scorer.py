"""Questions in, log-probabilities out: over tries where the architecture allows, else row by row.

Decides how large a batch the device can take, and whether tries can be trusted.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from evalui.models.local.loading import Causal, free, out_of_memory
from evalui.models.local.onednn_linear import quicken
from evalui.models.local.padded_forward import Full, Network, Readout
from evalui.models.local.tree.attention import Unfit
from evalui.models.local.tree.forward import TreeNetwork
from evalui.models.local.tree.memory import room, trunk_room
from evalui.models.local.tree.prefix_tree import Pack, plan_tree
from evalui.models.local.tree.self_check import misfit, reach
from evalui.models.logprob_queries import Batch, Question, plan

_LEAST = 64  # tokens of a batch; a device that cannot hold them cannot hold the model's work
Questions = Sequence[Question]
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Found:
    """For everything a question wants, in order: its log-probability, and the best token there."""

    question: Question
    logprobs: tuple[float, ...]
    best: tuple[int, ...]


class Reader:
    """Reads with a causal language model, in whichever way is fastest and right.

    `note` says in a sentence why it reads row by row, "" if it reads over tries.

    Raises:
        ModelError: the device cannot hold even a small batch, or the network computes NaN.
    """

    def __init__(self, causal: Causal, *, token_budget: int) -> None:
        if causal.library == "onednn":
            quicken(causal.model)
        self._causal = causal
        self._plain = Network(causal)
        self._tree = TreeNetwork(causal, trunk_bytes=trunk_room(causal))
        self._budget = min(token_budget, room(causal))
        self._reach = reach(causal)
        try:
            self.note = misfit(self._plain, self._tree, causal)
        except Full as error:
            raise out_of_memory(_LEAST) from error
        if self.note:
            _LOG.warning("%s", self.note)

    def read(self, questions: Sequence[Question]) -> Iterator[Found]:
        """What each question wants, in any order; a device short of memory gets smaller batches.

        Raises:
            ModelError: the device cannot hold even a small batch, or the network computes NaN.
        """
        reach = 0 if self.note else self._reach
        fit = {each.key: each for each in questions if len(each.tokens) <= reach}
        rest = {each.key: each for each in questions if len(each.tokens) > reach}
        try:
            yield from self._halving(fit, self._over_tries)
        except Unfit as error:
            _LOG.warning("Reading row by row from now on, because of %s.", error)
            self._reach = 0
        yield from self._halving(fit | rest, self._row_by_row)

    def _halving(
        self, open_: dict[int, Question], way: Callable[[Questions], Iterator[Found]]
    ) -> Iterator[Found]:
        """Answers what is open and takes it out, with half the budget after each want of memory."""
        while open_:
            try:
                for found in way(tuple(open_.values())):
                    del open_[found.question.key]
                    yield found
            except Full as error:
                if self._budget <= _LEAST:
                    raise out_of_memory(self._budget) from error
                self._budget //= 2
                self._tree.trunks.clear()
                free(self._causal.device)

    def _over_tries(self, questions: Questions) -> Iterator[Found]:
        kept = self._tree.trunks
        places = self._causal.place_budget
        for pack in plan_tree(questions, kept=kept, token_budget=self._budget, place_budget=places):
            yield from _found(pack, self._tree.read(pack))

    def _row_by_row(self, questions: Questions) -> Iterator[Found]:
        places = self._causal.place_budget
        steady = self._causal.steady
        for batch in plan(questions, token_budget=self._budget, place_budget=places, steady=steady):
            yield from _found(batch, self._plain.read(batch))


def _found(work: Pack | Batch, readout: Readout) -> Iterator[Found]:
    for question, own in work.answers:
        yield Found(question, readout.logprobs[own], readout.best[own])
