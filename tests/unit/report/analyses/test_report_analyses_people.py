"""People's votes in report.md and report.html."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import pytest
from open_examples import DATASET, MODELS, answers_result, judged_run, votes
from pictured_runs import RED, RED_MARK

from evalui.pictures import Picture
from evalui.report.analyses.arena import standings_title
from evalui.report.analyses.base import OpenContext, Report, no_pictures
from evalui.report.analyses.people import people_blocks
from evalui.report.blocks import Card, Details, ModelCell, PlotCell, Table
from evalui.report.compile import compile_report, markdown
from evalui.report.numbers import format_value
from evalui.report.render.markdown import as_markdown
from evalui.report.render.page import render_blocks
from evalui.report.write.files import write
from evalui.scoring.arena.people import PeopleFigures
from evalui.types import CastVote, Duel, Language, Outcome, Verdict

_HOSTILE = "eve<b>|`x`"


def _contrary(number: int, first: str, second: str) -> Outcome:
    del number
    return "b" if MODELS.index(first) < MODELS.index(second) else "a"


@pytest.fixture(scope="module")
def said() -> tuple[Verdict, ...]:
    """Ann sees a third of the pairs as the judge does, Eve a few of them the other way round."""
    stray = Verdict(Duel("nowhere", "late", "early"), "a", "ann")
    return (*votes("ann")[:12], *votes(_HOSTILE, decide=_contrary)[:6], stray)


@pytest.fixture(scope="module")
def report(said: Sequence[Verdict]) -> Report:
    return compile_report("Open", judged_run(), votes={DATASET: said})


@pytest.fixture(scope="module")
def text(report: Report) -> str:
    return _people(report)


def _people(report: Report, language: Language = "en", rules: Sequence[str] = ()) -> str:
    context = OpenContext(language, baselines=rules, rules=frozenset(rules))
    return as_markdown(tuple(people_blocks(report.people, context)))


def _rows(text: str, head: str) -> Mapping[str, list[str]]:
    """The cells of the first table whose head begins with `head`, by first cell."""
    lines = text.splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith(f"| {head}"))
    found: dict[str, list[str]] = {}
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        first, *rest = (cell.strip() for cell in line.strip("|").split(" | "))
        found[first.strip()] = rest
    return found


def test_a_report_without_votes_stays_as_it_was(report: Report):
    plain = compile_report("Open", judged_run())
    empty = compile_report("Open", judged_run(), votes={DATASET: ()})
    assert markdown(plain, "en") == markdown(empty, "en")
    assert "People" not in markdown(plain, "en")
    part = _people(report)
    signed = f"- `{report.signatures[-1]}`\n"
    rest = markdown(report, "en").replace(f"{part}\n", "").replace(signed, "")
    told = set(rest.splitlines()) - set(markdown(plain, "en").splitlines())
    # Beside their own part, people are held against the judge.
    assert told
    assert all("people" in line for line in told)


def test_the_part_says_who_voted_and_how_often(text: str):
    assert text.startswith("## People · open-qa\n")
    assert "18 votes of 2 people on 12 pairs of answers" in text
    assert "does not have: 1. They are not counted." in text


def test_the_title_is_the_agreement_with_the_judge(report: Report, text: str):
    (figures,) = report.people
    assert figures.agreement is not None
    share = round(100 * figures.agreement.raw.value)
    assert f"### Most people and judge-local say the same of {share} % (" in text
    assert f") of {figures.agreement.n} pairs\n" in text


def test_people_and_judge_have_their_ratings_side_by_side(report: Report, text: str):
    (figures,) = report.people
    assert figures.human_arena is not None
    best = figures.human_arena.standings[0]
    tally = best.tally
    judged = {standing.model: standing for standing in figures.judged.standings}
    cells = _rows(text, "Model | ELO by people")[best.model]
    assert cells[0].startswith(f"{best.elo:,.0f} (")
    assert cells[1].startswith(f"{judged[best.model].elo:,.0f} (")
    assert cells[2:6] == [str(each) for each in (tally.win, tally.tie, tally.lose, tally.score)]


def test_every_two_raters_have_agreement_and_kappa(report: Report, text: str):
    (figures,) = report.people
    rows = _rows(text, "Two raters")
    hostile = "eve&lt;b&gt;\\|\\`x\\`"
    assert list(rows) == [
        "judge-local and most people",
        "judge-local and ann",
        f"judge-local and {hostile}",
        f"ann and {hostile}",
    ]
    found = figures.between_people["ann", _HOSTILE]
    assert found.kappa is not None
    share, kappa, n = rows[f"ann and {hostile}"]
    assert share.startswith(f"{100 * found.raw.value:.0f} (")
    assert kappa.startswith(f"{found.kappa.value:.2f}".replace("-", "−"))
    assert n == "6"


def test_one_person_is_not_told_twice():
    found = compile_report("", judged_run(), votes={DATASET: votes("ann")[:6]})
    assert list(_rows(_people(found), "Two raters")) == ["judge-local and most people"]


def test_a_title_is_not_repeated_below_the_table(report: Report, text: str):
    (figures,) = report.people
    assert figures.human_arena is not None
    assert f"{standings_title(figures.human_arena, 'en')}.\n" in text  # the title is another
    found = compile_report("", judged_run(), votes={DATASET: votes("ann")[:1]})
    (alone,) = (replace(one, agreement=None) for one in found.people)
    assert alone.human_arena is not None
    said = as_markdown(tuple(people_blocks((alone,), OpenContext("en"))))
    assert said.count(standings_title(alone.human_arena, "en")) == 1


def test_win_rates_stand_three_times_with_their_ranges(report: Report, text: str):
    (figures,) = report.people
    assert "Votes on 12 of 36 pairs correct the verdicts of judge-local on all." in text
    rate = figures.prediction_powered["late", "early"]
    assert rate.human
    assert rate.combined
    cells = _rows(text, "Pair | Judge only")["late against early"]
    wanted = [format_value(share) for share in (rate.judge, rate.human, rate.combined)]
    assert [cell.partition(" ")[0] for cell in cells[:3]] == wanted
    assert cells[3] == "4 / 12"


def test_opinions_that_part_are_listed_with_those_who_hold_them(text: str):
    rows = _rows(text, "Question")
    pair, people, judge = rows["cn-0 · 第 0 题：什么是熵？"]
    assert (pair, judge) == ("early against weak", "early")  # the last of three pairs
    assert people == "early: ann; weak: eve&lt;b&gt;\\|\\`x\\`"


def test_no_more_than_twenty_quarrels_are_listed():
    found = compile_report("", judged_run(), votes={DATASET: votes("eve", decide=_contrary)})
    text = _people(found)
    listed = text[text.index("### Where opinions part") :]
    assert listed.count("\n| ") == 1 + 1 + 20  # head, rule, rows
    assert "or people among themselves, differ on 36 pairs." in listed
    assert "Listed are the 20 with most votes" in listed


def test_the_quarrels_with_most_votes_come_first():
    late = (*votes("ann", decide=_contrary)[:6], *votes("eve", decide=_contrary)[5:6])
    found = compile_report("", judged_run(), votes={DATASET: late})
    rows = _people(found).partition("| Question")[2].splitlines()
    assert [row.count("ann, eve") for row in rows[2:8]] == [1, 0, 0, 0, 0, 0]


def test_a_long_question_is_cut_and_never_markup():
    results = judged_run()
    long = "<script>" + "x" * 100
    asked = {key: replace(sample, question=long) for key, sample in results[-1].samples.items()}
    judge = replace(results[-1], samples=asked)
    found = compile_report("", [judge], votes={DATASET: votes("eve", decide=_contrary)[:3]})
    assert "· &lt;script&gt;" + "x" * 72 + "… |" in _people(found)
    assert b"<script>x" not in write(found, "html", "en")


def test_answers_that_nobody_judged_have_the_standings_of_people():
    results = [answers_result(model) for model in MODELS]
    found = compile_report("", results, votes={DATASET: (*votes("ann"), *votes("eve"))})
    text = _people(found)
    assert "### late is ahead of early; by how much cannot be told with 12 questions" in text
    assert "Win rates, the judge corrected" not in text
    assert "| ELO by people | Won | Tied | Lost | Score |\n" in text
    assert list(_rows(text, "Two raters")) == ["ann and eve"]


def test_people_who_part_without_a_judge_are_listed():
    results = [answers_result(model) for model in MODELS]
    both = (*votes("ann")[:3], *votes("eve", decide=_contrary)[:3])
    text = _people(compile_report("", results, votes={DATASET: both}))
    assert "People say different things about 3 pairs of answers." in text
    assert "| Question | Pair | People |\n" in text


def test_each_judge_of_a_panel_is_held_against_people(said: Sequence[Verdict]):
    found = compile_report("", judged_run(judges=("one", "two")), votes={DATASET: said})
    text = _people(found, rules=("two",))
    assert "ELO by people | ELO by the panel | ELO by one | ELO by two (rule-based) |" in text
    section = text.partition("### Win rates, the judge corrected by people")[2]
    for judge in ("the panel", "one", "two (rule-based)"):
        assert f"correct the verdicts of {judge} on all." in section.partition("Where opinions")[0]
    assert text.startswith("## People · open-qa\n\n### Most people and the panel say")
    assert text.count("## People · ") == 1


def test_voters_unlike_the_others_are_named():
    crowd = [vote for name in ("ann", "bob", "cat") for vote in votes(name)]
    found = compile_report(
        "", judged_run(), votes={DATASET: [*crowd, *votes("eve", decide=_contrary)]}
    )
    assert "Votes unlike those of the others: eve." in _people(found)


def test_the_part_is_in_chinese_too(report: Report):
    text = _people(report, "zh")
    assert text.startswith("## 人的投票 · open-qa\n")
    assert "12 对回答的投票，校正裁判“judge-local”对全部 36 对的判决。" in text
    assert "pairs" not in text


def test_the_figures_of_people_are_signed(report: Report):
    signature = report.signatures[-1]
    assert "|by:people|people:2|votes:18|" in signature
    assert f"`{signature}`" in markdown(report, "en")


def test_the_standings_are_drawn_with_people_solid_and_the_judge_hollow(report: Report):
    card = next(
        block
        for block in people_blocks(report.people, OpenContext("en"))
        if isinstance(block, Card)
    )
    table = next(block for block in card.blocks if isinstance(block, Table))
    (figures,) = report.people
    assert figures.human_arena is not None
    for standing, (model, plot, *_) in zip(figures.human_arena.standings, table.rows, strict=True):
        assert isinstance(model, ModelCell)
        assert isinstance(plot, PlotCell)
        assert model.name == standing.model
        assert (plot.marks[0].value, plot.marks[0].hollow) == (standing.elo, False)
        assert plot.marks[1].hollow
    places = {row[0].name: row[0].place for row in table.rows if isinstance(row[0], ModelCell)}
    assert places == {model: place for place, model in enumerate(MODELS)}


def test_what_folds_has_its_finding_and_a_place_of_its_own(report: Report):
    folded = [
        block
        for block in people_blocks((*report.people, *_second(report)), OpenContext("en"))
        if isinstance(block, Details)
    ]
    assert all(block.finding for block in folded)
    keys = [block.key for block in folded]
    assert len(keys) == len(set(keys))
    assert {"agreement", "powered", "parting", "agreement-2"} <= set(keys)


def test_a_disputed_question_stands_beside_its_picture_in_files(report: Report):
    (first, *others) = report.people
    question = f"{RED_MARK} What is it?"
    samples = {key: replace(one, question=question) for key, one in first.judged.samples.items()}
    people = (replace(first, judged=replace(first.judged, samples=samples)), *others)

    def kept_of(wanted: Iterable[str]) -> Mapping[str, Picture]:
        return {each: Picture(each, RED) for each in wanted if each == RED_MARK.id}

    for context in (OpenContext("en", small_pictures=kept_of), OpenContext("en")):
        text = as_markdown(tuple(people_blocks(people, context)))
        assert "[picture\\] What is it?" in text
        assert ("(Picture of question" in text) == (context.small_pictures is not no_pictures)
    page = render_blocks(
        people_blocks(people, OpenContext("zh", small_pictures=kept_of)), filed=True
    )
    assert '<img src="data:image/png;base64,' in page
    assert "题的图片" in page


def _second(report: Report) -> tuple[PeopleFigures, ...]:
    """The same figures of another dataset."""
    return tuple(
        replace(one, judged=replace(one.judged, dataset="second")) for one in report.people
    )


@pytest.mark.parametrize(
    ("language", "sentence"),
    [("en", "one outcome was decided: 3"), ("zh", "有 3 对回答的投票不一致")],
)
def test_the_part_states_how_many_pairs_were_decided(language: Language, sentence: str):
    differing = (*votes("ann", n=1), *votes("eve", n=1, decide=_contrary))
    for decision in ("tie", None):
        made = [
            CastVote(vote.duel, vote.outcome, vote.rater, adjudicated=decision)
            for vote in differing
        ]
        report = compile_report("", judged_run(), votes={DATASET: made})
        assert (sentence in _people(report, language)) is (decision == "tie")
