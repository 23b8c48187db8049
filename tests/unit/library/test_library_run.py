"""The frames of a run beside report.json and the exported lines."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import evalui
from evalui.errors import DataError, SpecError, UnknownName
from evalui.report.export import frame_columns
from evalui.report.frames.base import FrameColumn
from evalui.report.frames.trials import QUESTION_COLUMNS, TRIAL_COLUMNS


def _report(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "report.json").read_text(encoding="utf-8"))


def _value(metrics: pd.DataFrame, **which: str) -> pd.Series:
    for name, value in which.items():
        metrics = metrics[metrics[name] == value]
    (row,) = (row for _, row in metrics.iterrows())
    return row


def test_metrics_equal_report_json_to_the_digit(choice: evalui.Run, choice_folder: Path):
    metrics, seen = choice.metrics(), 0
    for cell in _report(choice_folder)["cells"]:
        figures = cell["figures"]
        where = {name: cell[name] for name in ("dataset", "model", "mode")}
        for name in [*(n for n in figures if n.startswith(("acc_", "perf_", "more_"))), "robust"]:
            if figures.get(name) is None:
                continue
            row = _value(metrics, **where, group="", metric=name)
            assert row["value"] == figures[name]
            assert [row["low"], row["high"]] == figures["ranges"].get(
                name, [row["low"], row["high"]]
            )
            assert row["settings"] == cell["signature"]
            seen += 1
        for group in figures["groups"]:
            for mean in ("micro", "macro"):
                for name, value in group.get(mean, {}).items():
                    place = {**where, "kind": group["kind"], "group": group["name"], "mean": mean}
                    assert _value(metrics, **place, metric=name)["value"] == value
                    seen += 1
    assert seen > 100


def test_text_metrics_and_ratings_equal_report_json(judged: evalui.Run, open_folder: Path):
    metrics, report = judged.metrics(), _report(open_folder)
    for cell in report["answers"]:
        for name, value in cell["figures"]["means"].items():
            row = _value(metrics, model=cell["model"], mode=cell["mode"], judge="", metric=name)
            assert row["value"] == value
            assert [row["low"], row["high"]] == cell["figures"]["ranges"][name]
    for arena in report["arenas"]:
        for standing in arena["standings"]:
            place = {"model": standing["model"], "judge": arena["by"]}
            row = _value(metrics, **place, metric="elo")
            assert [row["value"], row["low"], row["high"]] == [
                standing["elo"],
                *standing["elo_range"],
            ]
    assert len(judged.standings()) == sum(len(arena["standings"]) for arena in report["arenas"])


def test_each_metric_states_its_unit_and_direction(choice: evalui.Run, judged: evalui.Run):
    for run in (choice, judged):
        metrics = run.metrics()
        assert metrics[["unit", "direction"]].notna().all(axis=None)
    units = choice.metrics().set_index("metric")["unit"].astype("str").to_dict()
    assert {units[name] for name in ("acc_origin", "perf_circular", "robust")} == {"percent"}
    assert (units["label_mass"], units["tied"]) == ("probability", "count")


def test_trials_are_those_of_the_exported_lines(choice: evalui.Run, choice_folder: Path):
    lines = (choice_folder / "trials.jsonl").read_text(encoding="utf-8").splitlines()
    objects = [json.loads(line) for line in lines]
    trials = choice.trials()
    assert len(trials) == len(objects)
    for name in ("dataset", "model", "mode", "id", "subject", "signature"):
        assert trials[name].astype("str").tolist() == [each[name] for each in objects]
    read = [each["readings"][each["headline"]] for each in objects]
    choices = trials["choice"].astype("object")
    assert choices.where(choices.notna(), None).tolist() == [each["choice"] for each in read]
    assert trials["credit"].tolist() == [each["credit"] for each in read]


def test_some_columns_of_the_trials_are_all_that_is_read(choice: evalui.Run):
    whole = choice.trials()
    some = choice.trials(["choice", "model", "p_A", "fixed_order"])
    pd.testing.assert_frame_equal(some, whole[["choice", "model", "p_A", "fixed_order"]])
    with pytest.raises(SpecError, match="no column 'chosen'; the columns are dataset, model"):
        choice.trials(["chosen"])


def test_neither_texts_nor_objects_are_made_where_columns_will_do(
    choice: evalui.Run, monkeypatch: pytest.MonkeyPatch
):
    def refuse(*_: object) -> None:
        raise AssertionError("a text was read")

    monkeypatch.setattr("evalui.store.trials.text_reader", lambda *_: refuse)
    monkeypatch.setattr("evalui.scoring.trial_columns.TrialColumns.build", refuse)
    assert len(choice.trials(["choice", "correct", "p_A", "strict_rule", "question"])) > 0
    with pytest.raises(AssertionError, match="a text was read"):
        choice.trials(["reply"])


@pytest.mark.parametrize(
    ("name", "declared"),
    [
        ("cells", frame_columns.CELL_COLUMNS),
        ("metrics", frame_columns.METRIC_COLUMNS),
        ("pairs", frame_columns.PAIR_COLUMNS),
        ("positions", frame_columns.POSITION_COLUMNS),
        ("questions", QUESTION_COLUMNS),
        ("standings", frame_columns.STANDING_COLUMNS),
        ("verdicts", frame_columns.VERDICT_COLUMNS),
        ("votes", frame_columns.VOTE_COLUMNS),
    ],
)
def test_a_frame_has_the_declared_columns_and_dtypes_with_rows_and_without(
    choice: evalui.Run,
    judged: evalui.Run,
    name: str,
    declared: dict[str, FrameColumn],
):
    made = [getattr(run, name)() for run in (choice, judged)]
    assert name == "votes" or any(len(each) for each in made)
    for each in made:
        assert {column: str(each[column].dtype) for column in each} == {
            column: own.dtype for column, own in declared.items()
        }


def test_trials_have_the_declared_dtypes(choice: evalui.Run, judged: evalui.Run):
    for run in (choice, judged):
        trials = run.trials()
        assert list(trials)[: len(TRIAL_COLUMNS)] == list(TRIAL_COLUMNS)
        for name, column in TRIAL_COLUMNS.items():
            assert str(trials[name].dtype) == column.dtype, name
    assert judged.trials()["rouge-l-f"].max() <= 100


def test_pairs_are_those_of_report_json(
    choice: evalui.Run, judged: evalui.Run, choice_folder: Path
):
    pairs = choice.pairs()
    expected = [
        (compared["mode"], pair["first"], pair["points"], *pair["range"], pair["p_holm"])
        for compared in _report(choice_folder)["comparisons"]
        for pair in compared["pairs"]
    ]
    names = ["mode", "first", "points", "points_low", "points_high", "p_holm"]
    assert [tuple(row) for row in pairs[names].itertuples(index=False)] == expected
    assert "rouge-l-f" in set(judged.pairs()["measure"])


def test_verdicts_are_those_of_the_exported_lines(judged: evalui.Run, open_folder: Path):
    lines = (open_folder / "duels.jsonl").read_text(encoding="utf-8").splitlines()
    winners = judged.verdicts()["winner"].astype("object")
    assert winners.where(winners.notna(), None).tolist() == [
        json.loads(line)["winner"] for line in lines
    ]


def test_charts_draw_what_the_frames_hold(choice: evalui.Run, judged: evalui.Run):
    positions = choice.positions()
    leans = positions[(positions["model"] == "leans") & (positions["mode"] == "generation")]
    figure = choice.chart("bias.picks", model="leans", mode="generation", dataset="mixed")
    bars = {bar.name: list(bar.y) for bar in figure.data}
    assert sorted(value for own in bars.values() for value in own) == sorted(
        leans["share_of_picks"]
    )
    ratings = judged.chart("arena.ratings", judge="by-order")
    own = judged.standings()
    own = own[own["judge"] == "by-order"]
    drawn = {mark.name: list(mark.x) for mark in ratings.data}
    assert drawn["ELO"] == own["elo"].tolist()
    assert json.loads(figure.to_json())["data"]  # as a notebook shows it


def test_a_chart_says_what_it_lacks(choice: evalui.Run):
    with pytest.raises(UnknownName, match=r"bias\.picks"):
        choice.chart("bias.pick")
    with pytest.raises(SpecError, match=r"nothing to draw in 'bias\.picks' for model='nobody'"):
        choice.chart("bias.picks", model="nobody")
    with pytest.raises(SpecError, match="no column 'player'"):
        choice.chart("bias.picks", player="leans")


def test_the_page_is_the_one_of_the_folder(choice: evalui.Run, choice_folder: Path, tmp_path: Path):
    path = choice.report(tmp_path / "own.html")
    assert path.read_bytes() == (choice_folder / "report.html").read_bytes()
    assert "评测" in choice.report(tmp_path / "zh.html", "zh").read_text(encoding="utf-8")


def _copied(folder: Path, target: Path) -> Path:
    """The files of a report without its store."""
    target.mkdir()
    for path in folder.iterdir():
        if not path.name.startswith("evalui.sqlite"):
            (target / path.name).write_bytes(path.read_bytes())
    return target


@pytest.mark.parametrize("kind", ["choice", "judged"])
def test_exported_files_give_the_same_frames_as_the_store(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
):
    run: evalui.Run = request.getfixturevalue(kind)
    folder: Path = request.getfixturevalue({"choice": "choice_folder"}.get(kind, "open_folder"))
    with evalui.open(_copied(folder, tmp_path / "files")) as exported:
        for name in ("cells", "metrics", "pairs", "positions", "standings", "verdicts", "votes"):
            pd.testing.assert_frame_equal(getattr(exported, name)(), getattr(run, name)())
        mine, own = exported.trials(), run.trials()
        unknown = ["subject", "file", "line", "language", "capability"]
        pd.testing.assert_frame_equal(
            mine.drop(columns=unknown), own.drop(columns=unknown), check_categorical=False
        )
        assert (exported.id, exported.name) == ("", run.name)
        page = exported.report(tmp_path / "page.html")
        assert page.read_bytes() == (folder / "report.html").read_bytes()
        with pytest.raises(DataError, match="one language only"):
            exported.report(tmp_path / "zh.html", "zh")


def test_a_closed_temporary_store_is_gone(choice_folder: Path):
    run = evalui.open(choice_folder)
    run.close()
    run.close()
    assert (choice_folder / "evalui.sqlite").exists()  # it is not temporary
