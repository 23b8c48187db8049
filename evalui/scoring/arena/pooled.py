"""The judged answers of several runs as one arena: what a leaderboard shows."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

from evalui.scoring.arena.categories import category_of
from evalui.scoring.arena.figures import PEOPLE, POOLED, Arena, arena_from_verdicts
from evalui.scoring.arena.verdicts import PANEL_NAME
from evalui.types import Cell, CellResult, ConflictRule, Contestant, Sample, Verdict


@dataclass(frozen=True, slots=True)
class PoolFilter:
    """Which verdicts count; "" is every one.

    `judge` is the name of a judge model, or `PEOPLE`; `language` and `capability` are those of
    questions, as their file states them.
    """

    judge: str = ""
    language: str = ""
    capability: str = ""

    def takes(self, sample: Sample) -> bool:
        """Whether the verdicts on a question count."""
        about = category_of(sample)
        return self.language in ("", about.language) and (
            not self.capability or self.capability in about.capabilities
        )


@dataclass(frozen=True, slots=True)
class PoolChoices:
    """What each part of a `PoolFilter` can be, in the order in which it is met."""

    judges: tuple[str, ...]
    languages: tuple[str, ...]
    capabilities: tuple[str, ...]


def pool_choices(arenas: Sequence[Arena]) -> PoolChoices:
    """The judges, languages and capabilities of these arenas."""
    about = [category_of(sample) for one in arenas for sample in one.samples.values()]
    return PoolChoices(
        judges=tuple(dict.fromkeys(one.by for one in arenas if one.by != PANEL_NAME)),
        languages=tuple(name for name in dict.fromkeys(each.language for each in about) if name),
        capabilities=tuple(dict.fromkeys(name for each in about for name in each.capabilities)),
    )


def pool_arenas(arenas: Sequence[Arena], chosen: PoolFilter) -> Arena:
    """All their verdicts that pass the filter as one arena; `arenas` come newest first.

    A panel's verdicts are those of its judges, and are left out. One judge's verdicts on the same
    two answers, shown in the same order, count once: the newest, however often a run was repeated.
    Each vote of a person counts. A question is told by its dataset and its id, so that ranges know
    that the verdicts of several runs on one question belong together. Contestants of one name are
    one model. Two orders are compared within their run; what becomes of those that differ is the
    rule of all runs, or a tie where runs have several rules. Length and style are not controlled
    for: one model may have answered a question differently in each run.
    """
    taken = [one for one in arenas if one.by != PANEL_NAME and chosen.judge in ("", one.by)]
    verdicts = tuple(_distinct_verdicts(taken, chosen))
    samples = {
        _question_key(one, sample.id): replace(sample, id=_question_key(one, sample.id))
        for one in reversed(taken)  # the newest stays
        for sample in one.samples.values()
        if chosen.takes(sample)
    }
    judges = tuple(dict.fromkeys(one.by for one in taken))
    by = judges[0] if len(judges) == 1 else POOLED
    rules: set[ConflictRule] = {one.conflict for one in taken}
    weights = {one.strong for one in taken}
    names = dict.fromkeys(each.name for one in taken for each in one.contestants)
    signature = " + ".join(dict.fromkeys(one.signature for one in taken))
    head = CellResult(
        Cell("", by, POOLED, POOLED, "origin", signature, "verdicts"),
        samples,
        (),
        len(verdicts),
        contestants=tuple(Contestant(name, {}) for name in names),
        conflict=rules.pop() if len(rules) == 1 else "tie",
        strong=weights.pop() if len(weights) == 1 else 1,
        says_neither=all(one.not_bad for one in taken),
    )
    return arena_from_verdicts(head, verdicts, judges)


def _distinct_verdicts(arenas: Sequence[Arena], chosen: PoolFilter) -> Iterator[Verdict]:
    """The verdicts on the keys of questions; raters bear the number of their arena."""
    known: set[Hashable] = set()
    for number, one in enumerate(arenas):
        answers = {each.name: each.answers for each in one.contestants}
        for verdict in one.verdicts:
            duel = verdict.duel
            sample = one.samples.get(duel.sample_id)
            if sample is None or not chosen.takes(sample):
                continue
            question = _question_key(one, duel.sample_id)
            shown = [
                (name, answers.get(name, {}).get(duel.sample_id))
                for name in (duel.model_a, duel.model_b)
            ]
            key = (one.by, question, *shown)
            if one.by != PEOPLE and key in known:
                continue
            known.add(key)
            # Who judged twice is compared with itself within one run, never across two.
            yield replace(
                verdict,
                duel=replace(duel, sample_id=question),
                rater=f"{number}:{verdict.rater}",
            )


def _question_key(arena: Arena, sample_id: str) -> str:
    dataset = arena.signature.partition("|")[0]  # with its digest
    return f"{dataset}/{sample_id}"
