"""The report of OpenCompass on judged answers, as its own program wrote it of the same verdicts."""

import io
import zipfile
from dataclasses import replace

import pytest
from open_examples import judged_run, opencompass_cases
from open_examples import opencompass_result as result_of

from evalui.errors import UnknownName
from evalui.report.compile import compile_report
from evalui.report.write.files import write
from evalui.report.write.opencompass import opencompass_report
from evalui.scoring.arena.figures import arena

CASES = opencompass_cases()
SOUND = (
    "public-mixed-langs-bad-replies",
    "public-double-order-separate-dirs",
    "public-four-models-refm",
    "public-english-only",
)


@pytest.mark.parametrize("name", SOUND)
def test_the_report_is_theirs_to_the_letter(name: str):
    case = CASES[name]
    found = opencompass_report(arena(result_of(case)))
    whole, _, _ = case["report_md"].partition("By language Overall")  # against a reference model
    assert found == whole.replace("from GPT-4 replies", "from gpt-4 replies")


def test_a_model_without_rows_is_absent_there_and_nowhere_else():
    case = CASES["public-QUIRK-model-absent-in-cn"]
    lines = opencompass_report(arena(result_of(case))).splitlines()
    (chinese,) = [line for line in lines if line.startswith("| LANG: CN") and "%" in line]
    (common,) = [line for line in lines if line.startswith("| CAPA: common") and "%" in line]
    # Theirs has one cell too few: what it prints at CN belongs to EN, and so on.
    assert [each.strip() for each in chinese.split("|")][3] == "N/A"
    assert [each.strip() for each in common.split("|")][3] == "0.0% / 33.3% / 66.7% / 0.0%"


def test_a_name_stays_text_in_its_cell():
    result = result_of(CASES["public-english-only"])
    first, second = result.contestants
    named = (replace(first, name="my_model|<b>x</b>"), second)
    found = opencompass_report(arena(replace(result, contestants=named)))
    assert "| my_model\\|&lt;b&gt;x&lt;/b&gt;   |" in found
    assert "<b>" not in found


def test_each_judge_and_the_panel_have_a_report_and_their_pictures_in_the_archive():
    report = compile_report("Run", judged_run(judges=("one", "two"), n=15))
    text = write(report, "opencompass.md", "zh").decode()
    assert text.count("# Subjective Analysis\n") == 3
    assert "answers from panel replies" in text
    with zipfile.ZipFile(io.BytesIO(write(report, "zip", "en"))) as archive:
        names = [name for name in archive.namelist() if name.startswith("opencompass/")]
        assert len(names) == 9
        assert sorted({name.rpartition("/")[2] for name in names}) == [
            "by_capa.png",
            "by_lang.png",
            "report.md",
        ]
        assert "".join(archive.read(each).decode() for each in names if each.endswith(".md")) == (
            text
        )
        assert all(
            archive.read(each).startswith(b"\x89PNG") for each in names if each.endswith(".png")
        )
        drawn = [archive.read(f"by_capa{suffix}.png") for suffix in ("", "-2", "-3")]
        assert [archive.read(each) for each in names if each.endswith("by_capa.png")] == drawn


def test_the_pictures_have_groups_of_few_questions_which_the_report_leaves_out():
    report = compile_report("Run", judged_run())
    with zipfile.ZipFile(io.BytesIO(write(report, "zip", "en"))) as archive:
        names = archive.namelist()
    assert "opencompass/by_capa.png" in names
    assert "by_capa.png" not in names
    assert "by_lang.png" in names


def test_a_run_without_a_judge_has_no_such_report():
    report = compile_report("Run", judged_run(judges=()))
    with pytest.raises(UnknownName, match="No answers of this run were judged"):
        write(report, "opencompass.md", "en")
    with zipfile.ZipFile(io.BytesIO(write(report, "zip", "en"))) as archive:
        assert not [name for name in archive.namelist() if name.startswith("opencompass/")]
