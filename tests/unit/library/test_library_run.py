"""The frames of a run beside report.json and the exported lines."""

import json
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from library_charts import charts_of
from pictured_runs import RED, RED_MARK, give_pictures

import evalui
from evalui.errors import DataError, SpecError, UnknownName
from evalui.local_runs import STORE_NAME
from evalui.report.figures import CHARTS
from evalui.report.frames.run import KINDS
from evalui.report.frames.trials import QUESTION_COLUMNS, TRIAL_COLUMNS
from evalui.store.connection import Database


def _report(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "report.json").read_text(encoding="utf-8"))


def _value(metrics: pd.DataFrame, **which: str) -> pd.Series:
    for name, value in which.items():
        metrics = metrics[metrics[name] == value]
    (row,) = (row for _, row in metrics.iterrows())
    return row


def _is_opencompass(column: str) -> bool:
    return column.startswith(("acc_", "perf_", "more_")) and not column.endswith(("_low", "_high"))


def test_a_picture_of_a_question_is_a_file(choice: evalui.Run, choice_folder: Path, tmp_path: Path):
    shutil.copy(choice_folder / STORE_NAME, tmp_path)
    with closing(Database(tmp_path / STORE_NAME)) as database:
        give_pictures(database, choice.id, RED)
    with evalui.open(tmp_path / STORE_NAME) as run:
        assert run.picture(RED_MARK.id) == RED
        with pytest.raises(UnknownName, match="00000000 is not in the store"):
            run.picture("0" * 32)


def test_exported_files_hold_no_pictures(choice_folder: Path, tmp_path: Path):
    shutil.copy(choice_folder / "report.json", tmp_path)
    with evalui.open(tmp_path) as run, pytest.raises(SpecError, match="not among exported files"):
        run.picture(RED_MARK.id)


def test_metrics_equal_report_json_to_the_digit(choice: evalui.Run, choice_folder: Path):
    metrics, seen = choice.metrics(), 0
    report = _report(choice_folder)
    for cell in report["overview"]:
        where = {name: cell[name] for name in ("dataset", "model", "mode")}
        for name in [*filter(_is_opencompass, cell), "robust"]:
            if cell.get(name) is None:
                continue
            row = _value(metrics, **where, group="", metric=name)
            assert row["value"] == cell[name]
            if f"{name}_low" in cell:
                assert [row["low"], row["high"]] == [cell[f"{name}_low"], cell[f"{name}_high"]]
            assert row["settings"] == cell["signature"]
            seen += 1
    for group in report["groups"]:
        named = ("dataset", "model", "mode", "kind", "group", "mean")
        place = {name: group[name] for name in named}
        for name in filter(_is_opencompass, group if group["mean"] else ()):
            if group[name] is not None:
                assert _value(metrics, **place, metric=name)["value"] == group[name]
                seen += 1
    assert seen > 100


def test_text_metrics_and_ratings_equal_report_json(judged: evalui.Run, open_folder: Path):
    metrics, report = judged.metrics(), _report(open_folder)
    for cell in report["answers"]:
        for name in (name for name in cell if name.startswith("rouge-") and "_" not in name):
            row = _value(metrics, model=cell["model"], mode=cell["mode"], judge="", metric=name)
            ends = [cell[f"{name}_low"], cell[f"{name}_high"]]
            assert [row["value"], row["low"], row["high"]] == [cell[name], *ends]
    for standing in report["standings"]:
        place = {"model": standing["model"], "judge": standing["judge"]}
        row = _value(metrics, **place, metric="elo")
        found = [standing[f"elo{end}"] for end in ("", "_low", "_high")]
        assert [row["value"], row["low"], row["high"]] == found
    assert len(judged.standings()) == len(report["standings"])


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


@pytest.mark.parametrize("name", KINDS)
def test_a_frame_has_the_declared_columns_and_dtypes_with_rows_and_without(
    choice: evalui.Run, judged: evalui.Run, name: str
):
    for run in (choice, judged):
        made = run.frame(name)
        declared = KINDS[name].columns
        assert {column: str(made[column].dtype) for column in declared} == {
            column: own.dtype for column, own in declared.items()
        }
        assert KINDS[name].more or list(made) == list(declared)


@pytest.mark.parametrize(
    "name", ["cells", "metrics", "pairs", "positions", "standings", "verdicts", "votes"]
)
def test_the_frames_that_are_wanted_most_have_methods(
    choice: evalui.Run, judged: evalui.Run, name: str
):
    made = [getattr(run, name)() for run in (choice, judged)]
    assert name == "votes" or any(len(each) for each in made)
    for run, own in zip((choice, judged), made, strict=True):
        pd.testing.assert_frame_equal(own, run.frame(name))


def test_questions_have_the_declared_dtypes(choice: evalui.Run):
    assert {name: str(own.dtype) for name, own in choice.questions().items()} == {
        name: column.dtype for name, column in QUESTION_COLUMNS.items()
    }


def test_an_unknown_frame_is_refused_with_those_there_are(choice: evalui.Run):
    with pytest.raises(UnknownName, match="Unknown frame 'shapes'"):
        choice.frame("shapes")


def test_a_frame_may_be_changed_by_who_has_it(choice: evalui.Run):
    changed = choice.frame("overview")
    changed.loc[:, "n"] = 0
    assert choice.frame("overview")["n"].max() > 0


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
    names = ["mode", "first", "points", "points_low", "points_high", "p_holm"]
    expected = [tuple(pair[n] for n in names) for pair in _report(choice_folder)["pairs"]]
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
    assert {*charts_of(choice), *charts_of(judged)} == {*CHARTS}


def test_a_chart_says_what_it_lacks(choice: evalui.Run):
    with pytest.raises(UnknownName, match=r"bias\.picks"):
        choice.chart("bias.pick")
    with pytest.raises(SpecError, match=r"nothing to draw in 'bias\.picks' for model='nobody'"):
        choice.chart("bias.picks", model="nobody")
    with pytest.raises(SpecError, match="no column 'player'"):
        choice.chart("bias.picks", player="leans")
    with pytest.raises(SpecError, match=r"'bias\.answers' shows one model at a time"):
        choice.chart("bias.answers")


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
        for name in KINDS:
            if name != "duels":  # no file has both answers of a pair
                pd.testing.assert_frame_equal(exported.frame(name), run.frame(name))
        with pytest.raises(SpecError, match="duels is not among exported files"):
            exported.frame("duels")
        assert charts_of(exported) == charts_of(run)
        assert exported.spec == run.spec
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
