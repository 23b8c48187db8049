"""Files are read by a confined process: each limit has its sentence, and nothing it sends runs."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import hostile_readings as hostile
import pytest
from hostile_files import lying_workbook, lying_zip, wide_workbook
from picture_examples import base64_of, picture
from PIL import Image
from PIL.Image import Exif

from evalui.datasets import reader, sandbox
from evalui.datasets.model import Layout, Limits, LoadResult
from evalui.datasets.sandbox import Bounds, Sandbox
from evalui.errors import DataError, SpecError
from evalui.messages import Sentence, messages
from evalui.pictures import mark_of

MEMORY_MB = 192
ROWS = "id,question,A,B,C,D,answer\n" + "".join(f"{n},Q{n}?,1,2,3,4,B\n" for n in range(3000))
linux = pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")


@pytest.fixture(autouse=True)
def readings_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(hostile.__file__).parent))


def made(**bounds: float) -> Sandbox:
    return Sandbox(Bounds(**({"memory_mb": MEMORY_MB, "seconds": 20.0} | bounds)))  # type: ignore[arg-type]


@pytest.fixture
def box() -> Iterator[Sandbox]:
    box = made()
    yield box
    box.close()


@pytest.fixture
def quick() -> Iterator[Sandbox]:
    box = made(seconds=0.2)
    yield box
    box.close()


def pid_of(box: Sandbox) -> int:
    assert box.process
    return box.process.pid


def test_what_is_read_is_what_is_read_in_this_process(tmp_path: Path):
    path = tmp_path / "law_val.csv"
    path.write_text(ROWS + "9,Broken?,1,2,3,4,X\n", encoding="utf-8")
    read, here = sandbox.load([path]), reader.load([path])
    assert (read, len(read.dataset.samples), read.n_faults) == (here, 3000, 1)
    assert sandbox.read_columns([path]) == reader.read_columns([path])


@pytest.mark.parametrize("text", ["\ud800", "a\udcff", "\u2028 \x00 中文"])
def test_texts_come_back_whatever_characters_they_have(tmp_path: Path, text: str):
    path = tmp_path / "q.jsonl"
    path.write_text(
        ascii({"question": text, "answer": "x"}).replace("'", '"').replace("\\x", "\\u00")
    )
    assert sandbox.load([path]) == reader.load([path])


def test_paths_are_relative_to_where_they_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "q_val.csv").write_text(ROWS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert sandbox.load([Path("q_val.csv")]).n_rows == 3000


def test_an_error_comes_back_as_it_was_raised(box: Sandbox):
    with pytest.raises(SpecError, match=r"x\.csv") as raised:
        box.ask(hostile.refuse, "x.csv")
    assert raised.value.sentence.values == {"path": "x.csv", "reason": "closed"}
    before = pid_of(box)
    sentence = box.ask(hostile.sentence_within)
    assert isinstance(sentence, Sentence)
    assert (sentence.key, pid_of(box)) == ("error.file-unread", before)


@linux
def test_memory_that_is_used_up_is_named(box: Sandbox):
    with pytest.raises(DataError, match=r"took more than 0\.1875 GB of memory"):
        box.ask(hostile.take, 4 * MEMORY_MB)
    assert box.ask(hostile.take, 1) == 2**20


@linux
def test_a_request_has_all_the_memory_whatever_was_read_before(box: Sandbox):
    for _ in range(3):
        assert box.ask(hostile.keep, MEMORY_MB // 2 + 10) == MEMORY_MB // 2 + 10


@linux
def test_a_request_over_its_memory_is_not_tried_again(
    box: Sandbox, monkeypatch: pytest.MonkeyPatch
):
    box.ask(hostile.take, 1)
    monkeypatch.setattr(subprocess, "Popen", None)
    with pytest.raises(DataError, match="of memory"):
        box.ask(hostile.take, 4 * MEMORY_MB)


@linux
def test_seconds_of_computing_are_named_and_those_of_the_clock_too(quick: Sandbox):
    with pytest.raises(DataError, match=r"more than 0\.2 seconds of computing"):
        quick.ask(hostile.compute)
    with pytest.raises(DataError, match=r"Working out the run took more than 0\.2 seconds"):
        quick.ask(hostile.compute, work="planning")
    with pytest.raises(DataError, match=r"longer than 1 seconds"):
        quick.ask(hostile.wait)


@linux
def test_a_process_that_does_not_end_itself_is_ended(
    quick: Sandbox, monkeypatch: pytest.MonkeyPatch
):
    quick.ask(hostile.take, 1)
    monkeypatch.setattr(sandbox, "_PATIENCE_S", 0.1)
    with pytest.raises(DataError, match=r"longer than 1 seconds"):
        quick.ask(hostile.wait_whatever_comes)


def test_more_than_may_come_back_is_refused():
    box = made(answer_mb=1)
    assert len(box.ask(hostile.say, b"")) == len("returned")
    with pytest.raises(DataError, match="more than can be shown or read"):
        box.ask(hostile.many, 20_000)
    with pytest.raises(DataError, match=r"more than can be shown or read|failed"):
        box.ask(hostile.flood)
    box.close()


def test_what_is_printed_is_no_answer(box: Sandbox, capfd: pytest.CaptureFixture[str]):
    assert box.ask(hostile.print_and_answer) == "returned"
    assert capfd.readouterr() == ("", "")


@linux
@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (signal.SIGKILL, "machine has no memory left"),
        (signal.SIGABRT, "GB of memory"),  # as libraries in C++ and Rust do without memory
        (signal.SIGSEGV, "The log has the reason"),
    ],
)
def test_a_process_that_dies_is_replaced(box: Sandbox, number: int, sentence: str):
    with pytest.raises(DataError, match=sentence):
        box.ask(hostile.die, number)
    assert box.ask(hostile.take, 1) == 2**20


def test_a_process_that_ended_meanwhile_is_replaced_unnoticed(box: Sandbox):
    box.ask(hostile.take, 1)
    first = pid_of(box)
    os.kill(first, signal.SIGKILL)
    os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
    assert box.ask(hostile.take, 1) == 2**20
    assert pid_of(box) != first


def test_our_own_mistake_is_logged_and_stated(box: Sandbox, caplog: pytest.LogCaptureFixture):
    with pytest.raises(DataError, match="The log has the reason"):
        box.ask(hostile.fail)
    assert "ZeroDivisionError: our own mistake" in caplog.text


@pytest.mark.parametrize(
    "lie",
    [
        b"answer 1\n",
        b'answer {"sentence": 1, "key": "", "values": {}}\n',
        b"answer \xff\n",
        b"answer [[[[\n",
        b'part ["x"] [1]\n',
        b'error ["Path", "x"]\n',
        b'error ["sentence", "x"]\n',
        b"rows true\n",
        b"unheard of\n",
    ],
)
def test_what_is_no_answer_is_refused(box: Sandbox, lie: bytes, caplog: pytest.LogCaptureFixture):
    with pytest.raises(DataError, match="The log has the reason"):
        box.ask(hostile.say, lie)
    assert "what is no answer" in caplog.text
    assert box.process is None


def test_a_sentence_that_is_made_up_is_passed_on_as_a_text(box: Sandbox):
    with pytest.raises(DataError) as refused:
        box.ask(hostile.say, b'error ["DataError", "no-such-key"]\n')
    assert (refused.value.sentence, refused.value.sentence.key) == ("no-such-key", "")


def test_an_answer_of_another_type_is_refused(box: Sandbox):
    with pytest.raises(DataError, match="The log has the reason"):
        box.ask(hostile.lie_about_the_type)


def test_nothing_that_comes_is_unpickled(box: Sandbox, tmp_path: Path):
    path = tmp_path / "unpickled"
    with pytest.raises(DataError, match="The log has the reason"):
        box.ask(hostile.send_pickle, str(path))
    assert not path.exists()


def test_rows_are_counted_from_when_the_turn_has_come(box: Sandbox):
    told: list[int] = []
    assert box.ask(hostile.count, 7, on_rows=told.append) == 7
    assert told == [0, 7]


def test_a_process_has_no_key(box: Sandbox, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    monkeypatch.setenv("EVALUI_SECRET_KEY", "also-secret")
    assert "secret" not in str(box.ask(hostile.environment))


@linux
def test_a_process_can_start_nothing_and_become_nobody_else(box: Sandbox, tmp_path: Path):
    assert "NoNewPrivs:\t1\n" in box.ask(hostile.status)
    limits = {
        line[:26].strip(): line[26:].split()[:2] for line in box.ask(hostile.limits).splitlines()
    }
    assert limits["Max processes"] == ["0", "0"]
    assert limits["Max core file size"] == ["0", "0"]
    assert limits["Max open files"] == ["256", "256"]
    # The rest is for saying that the memory is used up.
    memory = MEMORY_MB * 2**20
    assert limits["Max address space"] == [str(memory), str(memory + 32 * 2**20)]
    assert box.ask(hostile.write, tmp_path / "small", 10) == "written"
    assert limits["Max file size"] == [str(2**28)] * 2


@linux
def test_a_limit_that_is_lower_already_stays_and_one_that_lacks_is_left_out():
    script = """
import resource, sys
from evalui.datasets import sandbox
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
del resource.RLIMIT_AS
sys.platform = "darwin"
sandbox._confine(sandbox.Bounds(1024, 1.0), writes=False)
print(*map(resource.getrlimit, (resource.RLIMIT_NOFILE, resource.RLIMIT_CORE)))
"""
    command = (sys.executable, "-c", script)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "(64, 64) (0, 0)\n"


def test_a_module_beside_the_files_is_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "orjson.py").write_text("raise SystemExit('taken over')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    box = made()
    assert box.ask(hostile.take, 1) == 2**20
    box.close()


def test_readers_import_nothing_large(box: Sandbox):
    loaded = {name.partition(".")[0] for name in box.ask(hostile.modules)}
    assert loaded.isdisjoint({"gradio", "numpy", "openpyxl", "pandas", "pydantic", "torch"})


def test_whoever_is_confined_reads_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "q_val.csv"
    path.write_text(ROWS, encoding="utf-8")
    monkeypatch.setattr(subprocess, "Popen", None)
    with sandbox.reading_here():
        assert sandbox.load([path]).n_rows == 3000


def test_a_stopped_reading_leaves_no_process(box: Sandbox):
    def stop(_: int) -> None:
        raise KeyboardInterrupt

    box.ask(hostile.take, 1)
    process = box.process
    assert process
    with pytest.raises(KeyboardInterrupt):
        box.ask(hostile.count, 7, on_rows=lambda rows: stop(rows) if rows else None)
    assert (box.process, process.poll()) == (None, -signal.SIGKILL)


def test_a_closed_box_ends_the_reading_under_way():
    box = made()
    ended: list[str] = []
    begun = threading.Event()

    def read() -> None:
        try:
            box.ask(hostile.wait, on_rows=lambda _: begun.set())
        except DataError as error:
            ended.append(error.sentence)

    reading = threading.Thread(target=read)
    reading.start()
    begun.wait()
    box.close()
    reading.join()
    assert len(ended) == 1
    with pytest.raises(DataError):
        box.ask(hostile.take, 1)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("lying.zip", lying_zip(40, 2**20)),
        ("cut.zip", lying_zip(40, 2**20, checked=2**20)),
        ("lying.xlsx", lying_workbook(40, 2**20, "xl/worksheets/sheet1.xml")),
        ("wide.xlsx", wide_workbook(100_000)),
        ("deep.json", b"[" * 10**6),
        ("many.jsonl", b"{" + b",".join(b'"k%d":1' % n for n in range(50_000)) + b"}"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_hostile_file_ends_in_a_sentence(tmp_path: Path, box: Sandbox, name: str, content: bytes):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"{name}|of memory"):
        box.ask(reader.load, [path])


def test_limits_of_one_upload_are_passed_on(tmp_path: Path):
    path = tmp_path / "q_val.csv"
    path.write_text(ROWS, encoding="utf-8")
    with pytest.raises(DataError, match=r"2,?999"):
        sandbox.load([path], limits=Limits(lines=2999), layout=Layout())
    assert isinstance(sandbox.load([path]), LoadResult)


@linux
def test_pictures_as_large_as_may_be_are_turned_there_and_bombs_are_faults(tmp_path: Path):
    exif = Exif()
    exif[0x0112] = 6  # turned by 90 degrees
    large = picture("red", "JPEG", (10_000, 5_000), exif=exif)
    bomb = picture("red", "JPEG", (10_000, 10_000))
    rows = [f"{n},Q{n}?,R{n},{base64_of(each)}" for n, each in enumerate((large, bomb, large[:-9]))]
    path, kept = tmp_path / "qa.csv", tmp_path / "kept"
    path.write_text("\n".join(("id,question,answer,image", *rows)), encoding="utf-8")
    kept.mkdir()
    box = made(memory_mb=1024)
    try:
        loaded = box.ask(reader.load, [path], pictures=kept)
    finally:
        box.close()
    assert [sample.question for sample in loaded.dataset.samples] == [f"{mark_of(large)}\nQ0?"]
    with Image.open(kept / mark_of(large).id) as turned:
        assert turned.size == (5_000, 10_000)
    reasons = ["error.picture-too-many-pixels", "error.picture-damaged"]
    actual = [fault.actual for fault in loaded.faults]
    assert [each.key for each in actual if isinstance(each, Sentence)] == reasons
    assert "5000 万像素" in messages("zh").translate(loaded.faults[0].expected)


def test_only_the_pictures_of_an_upload_can_be_named_in_it(tmp_path: Path, box: Sandbox):
    kept = tmp_path / "kept"
    kept.mkdir()
    (tmp_path / "a.csv").write_text(f"question,answer,image\nQ?,R,{base64_of(picture())}\n")
    (tmp_path / "b.csv").write_text(f"question,answer\nIs {mark_of(picture())} red?,R\n")
    (tmp_path / "c.csv").write_text(
        "question,answer,image\nQ?,R,../../kept/" + mark_of(picture()).id
    )
    for name, n in (("a.csv", 1), ("b.csv", 0), ("c.csv", 0)):
        loaded = box.ask(reader.load, [tmp_path / name], pictures=kept)
        assert len(loaded.dataset.samples) == n


_FORKING = """
import os, sys
from pathlib import Path
from evalui.datasets.sandbox import load, reading_here

with reading_here():
    folder = Path(load([Path(sys.argv[1])]).dataset.pictures)
if child := os.fork():
    os.waitpid(child, 0)
    print(folder, len(list(folder.iterdir())))
sys.exit()
"""


@linux
def test_the_pictures_that_were_read_go_with_the_process_and_not_with_its_fork(tmp_path: Path):
    path = tmp_path / "a.csv"
    path.write_text(f"question,answer,image\nQ?,R,{base64_of(picture())}\n")
    command = (sys.executable, "-c", _FORKING, str(path))
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    folder, n = done.stdout.split()
    assert n == "2"
    assert not Path(folder).exists()
