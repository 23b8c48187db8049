"""The index is whole: every name of the source documents, and nothing that no reader knows."""

import json
import re
from pathlib import Path

import pytest
from benchmark_examples import GOLDEN
from test_benchmarks_questions import ROWS

from evalui.benchmarks.harness import harness_index
from evalui.benchmarks.index import Benchmark, find, is_name, read_index, search
from evalui.errors import UnknownName
from evalui.scoring.metrics import metric_named

NAMES = (
    *("obqa", "AX_b", "siqa", "nq", "mbpp", "winogrande", "mmlu", "BoolQ", "cluewsc", "ocnli"),
    *("lambada", "CMRC", "ceval", "csl", "cmnli", "bbh", "ReCoRD", "math", "humaneval", "eprstmt"),
    *("WSC", "storycloze", "MultiRC", "RTE", "chid", "gsm8k", "AX_g", "bustm", "afqmc", "piqa"),
    *("lcsts", "strategyqa", "Xsum", "agieval", "ocnli_fc", "C3", "tnews", "race", "triviaqa"),
    *("CB", "WiC", "hellaswag", "summedits", "GaokaoBench", "ARC_e", "COPA", "ARC_c", "DRCD"),
)
PICTURES = (
    *("COCO_VAL", "MME", "HallusionBench", "POPE", "MMBench_DEV_EN", "MMBench_TEST_EN"),
    *("MMBench_DEV_CN", "MMBench_TEST_CN", "MMBench", "MMBench_CN", "MMBench_DEV_EN_V11"),
    *("MMBench_TEST_EN_V11", "MMBench_DEV_CN_V11", "MMBench_TEST_CN_V11", "MMBench_V11"),
    *("MMBench_CN_V11", "SEEDBench_IMG", "SEEDBench2", "SEEDBench2_Plus", "ScienceQA_VAL"),
    *("ScienceQA_TEST", "MMT-Bench_ALL_MI", "MMT-Bench_ALL", "MMT-Bench_VAL_MI", "MMT-Bench_VAL"),
    *("AesBench_VAL", "AesBench_TEST", "CCBench", "AI2D_TEST", "MMStar", "RealWorldQA"),
    *("MLLMGuard_DS", "BLINK", "OCRVQA_TEST", "OCRVQA_TESTCORE", "TextVQA_VAL", "DocVQA_VAL"),
    *("DocVQA_TEST", "InfoVQA_VAL", "InfoVQA_TEST", "ChartQA_TEST", "MathVision"),
    *("MathVision_MINI", "MMMU_DEV_VAL", "MMMU_TEST", "OCRBench", "MathVista_MINI", "LLaVABench"),
    *("MMVet", "MTVQA_TEST", "MMLongBench_DOC", "VCR_EN_EASY_500", "VCR_EN_EASY_100"),
    *("VCR_EN_EASY_ALL", "VCR_EN_HARD_500", "VCR_EN_HARD_100", "VCR_EN_HARD_ALL"),
    *("VCR_ZH_EASY_500", "VCR_ZH_EASY_100", "VCR_ZH_EASY_ALL", "VCR_ZH_HARD_500"),
    *("VCR_ZH_HARD_100", "VCR_ZH_HARD_ALL", "MMDU", "MMBench-Video", "Video-MME"),
)
DOCS = (Path(__file__).parents[3] / "docs" / "benchmarks.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_each_name_of_the_source_documents_is_a_set(name: str):
    assert name in (find(name).name, *find(name).names)


def test_each_name_that_is_handed_to_vlmevalkit_is_a_set_of_pictures():
    assert len(PICTURES) == len(set(PICTURES)) == 66
    assert {each.name for each in read_index().values() if each.pictures} == set(PICTURES)
    assert all(find(name.lower()).name == name for name in PICTURES)


@pytest.mark.parametrize("name", ["GQA_TestDev_Balanced", "VizWiz", "CRPE_EXIST"])
def test_no_set_of_texts_is_proposed_for_one_of_pictures(name: str):
    with pytest.raises(UnknownName, match="nor one like it"):
        find(name)


def test_a_slip_in_a_name_of_pictures_proposes_one_of_pictures():
    with pytest.raises(UnknownName, match="those like it: COCO_VAL"):
        find("COCO_VALL")


def test_the_table_of_pictures_in_the_documents_is_the_index():
    (table,) = re.findall(r"^\| names \|.*?\n\n", DOCS, re.MULTILINE | re.DOTALL)
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:-1]]
    assert sorted(name for row in rows for name in re.findall(r"`(\S+)`", row[0])) == sorted(
        PICTURES
    )
    for names, kind, leads, _ in rows:
        for benchmark in map(find, re.findall(r"`(\S+)`", names)):
            own = _kind_of_pictures(benchmark)
            assert kind == own, benchmark.name
            assert (f"`{benchmark.metric}`" == leads) == bool(benchmark.metric), benchmark.name
            assert all(map(metric_named, re.findall(r"`(\S+?)`", leads))), benchmark.name


def _kind_of_pictures(benchmark: Benchmark) -> str:
    if benchmark.unsupported:
        return "refused"
    if benchmark.kind == "text":
        is_caption = benchmark.metric == "rouge-l-f"
        return "judged" if benchmark.judged else "caption" if is_caption else "text"
    if benchmark.options == ("Yes", "No"):
        return "yes or no"
    return "circular" if benchmark.circular else "choice"


def test_a_slip_of_the_pen_still_finds_its_set():
    with pytest.raises(UnknownName, match="those like it: arc_chal"):
        find("arc_chalenge")


def test_the_table_of_the_documents_is_that_of_the_index():
    (table,) = re.findall(r"^\| in the sources \|.*?\n\n", DOCS, re.MULTILINE | re.DOTALL)
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:-1]]
    stated = {row[0].strip("`"): row[1:4] for row in rows}
    assert tuple(stated) == NAMES
    for name, (own, place, task) in stated.items():
        benchmark = find(name)
        assert own == f"`{benchmark.name}`", name
        parts = "" if benchmark.configs in ((), ("*",)) else " " + ", ".join(benchmark.configs)
        shown = f"{benchmark.place}{parts}" if len(benchmark.configs) < 5 else benchmark.place
        assert place == shown, name
        assert task == (f"`{benchmark.lm_eval}`" if benchmark.lm_eval else "none"), name


def test_how_a_set_is_tested_is_what_the_tests_use():
    """The last column: "a row" is one of `ROWS`, a figure one that lm_eval has printed."""
    (table,) = re.findall(r"^\| in the sources \|.*?\n\n", DOCS, re.MULTILINE | re.DOTALL)
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:-1]]
    with_rows = {name for name, *_ in ROWS}
    printed = json.loads((GOLDEN / "official.json").read_text("utf-8"))["models"]["demo-late"]
    for name, _, _, _, tested in cells:
        benchmark = find(name.strip("`"))
        words = tested.replace(":", ";").split(";")[0]
        if "a row" in words:
            assert benchmark.name in with_rows, name
        elif "as published" in words or "files of" in words:
            assert benchmark.name in PUBLISHED, name
        else:
            assert "not run" in words or "official figure only" in words, (name, words)
            assert benchmark.unsupported, name
        has_figure = any(
            task == benchmark.lm_eval or task.startswith(f"{benchmark.lm_eval}_")
            for task in printed["results"]
        )
        assert ("official figure" in tested) == (bool(benchmark.lm_eval) and has_figure), name


# Sets that test_benchmarks_preparing.py reads as their authors publish them.
PUBLISHED = re.findall(
    r"def test_(\w+?)_as_published",
    (Path(__file__).parent / "test_benchmarks_preparing.py")
    .read_text("utf-8")
    .replace("test_arc_as", "test_arc_challenge_as")
    .replace("test_commonsense_as", "test_commonsense_qa_as"),
)


def test_each_other_set_is_in_the_documents():
    others = set(read_index()) - {find(name).name for name in NAMES}
    assert all(f"`{name}`" in DOCS for name in others)
    assert len(others) >= 5


def test_each_task_of_lm_eval_is_in_its_index():
    tasks = harness_index().tasks
    named = {each.lm_eval for each in read_index().values()} - {""}
    assert named <= set(tasks)
    assert len(named) > 25


def test_no_two_sets_share_a_name():
    names = [n.lower() for each in read_index().values() for n in {each.name, *each.names}]
    folded = [(each.name, n.lower()) for each in read_index().values() for n in each.names]
    clashes = [pair for pair in folded if pair[1] in read_index() and pair[1] != pair[0]]
    assert not clashes
    assert len(set(names)) >= len(read_index())


def test_a_set_that_can_be_asked_states_its_questions_and_answers():
    for each in read_index().values():
        if not each.unsupported:
            assert all((each.question, each.answer)), each.name
            assert each.options or each.kind != "choice", each.name
            assert bool(each.tests) == (each.kind == "code"), each.name
        assert all((each.place, each.split, each.licence)), each.name


def test_a_name_is_known_in_any_letter_case():
    assert find("arc-c" if is_name("arc-c") else "ARC-Challenge").name == "arc_challenge"
    assert find("ARC_C") is find("arc_challenge")


def test_an_unknown_name_tells_those_like_it():
    with pytest.raises(UnknownName, match=r"those like it: arc_challenge, arc_easy"):
        find("arc")


def test_a_name_with_a_slip_tells_the_one_that_was_meant():
    with pytest.raises(UnknownName, match="those like it: arc_challenge"):
        find("ARC_chalenge")


def test_an_unknown_name_like_no_other_tells_where_all_are():
    with pytest.raises(UnknownName, match="evalui benchmarks list") as raised:
        find("nosuchset")
    assert "winogrande" not in str(raised.value)


def test_words_search_names_topics_and_languages():
    assert [each.name for each in search("zh similarity")] == ["afqmc", "bustm"]
    assert search("no such words") == ()
