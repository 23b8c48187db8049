"""Registries find what other packages bring, and leave out what is broken."""

import logging
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread
from types import ModuleType

import pytest

from evalui import registry
from evalui.errors import UnknownName
from evalui.messages import LANGUAGES, add_messages, messages
from evalui.modes import Mode
from evalui.registry import Registry

GOOD = """
class Echo:
    label = {"en": "Echo {it}", "zh": "回声"}

ECHO = Echo()
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A function that puts a distribution with entry points on the path of Python."""
    monkeypatch.syspath_prepend(str(tmp_path))
    # Sentences that a test adds are forgotten; those of imported modules stay.
    catalogues = [messages(language).by_key for language in LANGUAGES]
    before = [by_key.copy() for by_key in catalogues]
    registry.plugin_groups.cache_clear()
    yield _installer(tmp_path)
    for name in [name for name in sys.modules if name.startswith("plugin_")]:
        del sys.modules[name]
    for by_key, kept in zip(catalogues, before, strict=True):
        by_key.clear()
        by_key.update(kept)
    registry.plugin_groups.cache_clear()


def _installer(folder: Path):
    def install(name: str, code: str, entry_points: str) -> None:
        (folder / f"{name}.py").write_text(code, encoding="utf-8")
        about = folder / f"{name}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(entry_points)

    return install


def test_an_object_of_an_entry_point_is_registered_under_its_name(package):
    package("plugin_a", GOOD, "[evalui.modes]\necho = plugin_a:ECHO\n")
    modes: Registry[object] = Registry("mode")
    modes.register("cloze")(1)
    assert list(modes) == ["cloze", "echo"]
    assert "echo" in modes
    assert type(modes["echo"]).__name__ == "Echo"


@pytest.fixture
def modes(monkeypatch: pytest.MonkeyPatch) -> Registry[object]:
    """A registry that plug-ins find in a module."""
    home = ModuleType("registry_home")
    home.MODES = Registry("mode")  # type: ignore[attr-defined] # a module made here
    monkeypatch.setitem(sys.modules, "registry_home", home)
    return home.MODES


def test_a_module_of_an_entry_point_registers_by_itself(package, modes: Registry[object]):
    code = (
        "from registry_home import MODES\n"
        "assert 'cloze' in MODES  # a look-up while it is loaded\n"
        "MODES.register('by_itself')(object())\n"
    )
    modes.register("cloze")(1)
    package("plugin_b", code, "[evalui.modes]\nanything = plugin_b\n")
    assert list(modes) == ["cloze", "by_itself"]


def test_entry_points_of_other_groups_are_not_loaded(package):
    package("plugin_c", "raise SystemExit", "[evalui.metrics]\nx = plugin_c\n[other]\ny = z\n")
    assert list(Registry("mode")) == []


@pytest.mark.parametrize(
    ("code", "target", "reason"),
    [
        ("raise ImportError('no such library')", "plugin_d", "ImportError: no such library"),
        ("", "plugin_d:MISSING", "AttributeError"),
        ("import nowhere_to_be_found", "plugin_d", "ModuleNotFoundError"),
        ("ECHO = 1", "plugin_d:ECHO", "'taken' is registered twice"),
    ],
)
def test_a_broken_plugin_is_named_once_and_left_out(
    package, caplog: pytest.LogCaptureFixture, code: str, target: str, reason: str
):
    package("plugin_d", code, f"[evalui.modes]\ntaken = {target}\n")
    modes: Registry[int] = Registry("mode")
    modes.register("taken")(7)
    with caplog.at_level(logging.WARNING):
        assert list(modes) == ["taken"]
        assert modes["taken"] == 7
        with pytest.raises(UnknownName):
            modes["other"]
    (record,) = caplog.records
    assert "plugin_d" in record.getMessage()
    assert reason in record.getMessage()


def test_a_mode_that_does_not_declare_what_it_gives_is_named_and_left_out(
    package, caplog: pytest.LogCaptureFixture
):
    package("plugin_k", GOOD, "[evalui.modes]\necho = plugin_k:ECHO\n")
    modes: Registry[object] = Registry("mode", Mode)
    assert list(modes) == []
    assert "'echo' does not declare abilities_needed, gives, kinds" in caplog.text


def test_what_a_broken_module_registered_before_it_failed_is_left_out_too(
    package, modes: Registry[object], caplog: pytest.LogCaptureFixture
):
    code = "from registry_home import MODES\nMODES.register('half')(1)\n1 / 0\n"
    package("plugin_e", code, "[evalui.modes]\nx = plugin_e\n")
    package("plugin_j", GOOD, "[evalui.modes]\necho = plugin_j:ECHO\n")
    assert list(modes) == ["echo"]
    assert "ZeroDivisionError" in caplog.text


def test_threads_that_look_up_at_the_same_time_find_the_same(package):
    package(
        "plugin_k", f"import time\ntime.sleep(0.05)\n{GOOD}", "[evalui.modes]\ne = plugin_k:ECHO"
    )
    registry: Registry[object] = Registry("mode")
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda _: list(registry), range(4))) == [["e"]] * 4


@pytest.mark.usefixtures("package")
def test_a_sentence_of_evalui_is_not_replaced(tmp_path: Path):
    path = tmp_path / "words.toml"
    path.write_text('[en.mode]\nalien = "x"\ncloze = "Mine"\n', encoding="utf-8")
    before = messages("en")("mode.cloze")
    with pytest.raises(ValueError, match=r"the key mode\.cloze is taken"):
        add_messages(path)
    assert messages("en")("mode.cloze") == before
    assert "mode.alien" not in messages("en")


@pytest.mark.usefixtures("package")
def test_a_language_without_singulars_gets_none_of_another(tmp_path: Path):
    path = tmp_path / "words.toml"
    path.write_text(
        '[en.quiz]\nasked = "{n} quizzes"\n"asked.one" = "One quiz"\nonly = "{n} of"\n'
        '"only.one" = "One of"\n[zh.quiz]\nasked = "{n} 个测验"\n',
        encoding="utf-8",
    )
    add_messages(path)
    add_messages(path)  # as a module does that is imported again
    assert messages("en").count("quiz.asked", 1) == "One quiz"
    assert messages("zh").count("quiz.asked", 1) == "1 个测验"
    assert messages("zh").count("quiz.only", 1) == "One of"


@pytest.mark.usefixtures("package")
def test_threads_add_their_sentences_to_one_catalogue(tmp_path: Path):
    paths = [tmp_path / f"{name}.toml" for name in "abcdefgh"]
    for path in paths:
        path.write_text(f'[en.{path.stem}]\nx = "{path.stem}"\n', encoding="utf-8")
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(add_messages, paths))
    assert [messages("zh")(f"{path.stem}.x") for path in paths] == list("abcdefgh")


def test_a_label_of_the_object_is_used_where_the_catalogue_has_none(package):
    package("plugin_f", GOOD, "[evalui.modes]\necho = plugin_f:ECHO\n")
    assert "echo" in Registry[object]("mode")
    assert messages("en")("mode.echo") == "Echo {it}"
    assert messages("zh")("mode.echo") == "回声"
    assert messages("zh")("mode.echo_short") == "回声"
    assert messages("en")("mode-echo") == "Echo {it}"


def test_a_thing_without_a_label_is_called_by_its_name(package):
    package("plugin_g", "PLAIN = object()", "[evalui.backends]\nplain = plugin_g:PLAIN\n")
    assert "plain" in Registry[object]("model backend")
    assert messages("zh")("backend.plain") == "plain"


def test_sentences_of_the_plugin_come_before_labels(package, tmp_path: Path):
    (tmp_path / "words.toml").write_text(
        '[en.mode]\necho = "The echo"\n[zh.mode]\necho = "那个回声"\n', encoding="utf-8"
    )
    code = (
        "from pathlib import Path\nfrom evalui.messages import add_messages\n"
        "add_messages(Path(__file__).with_name('words.toml'))\n" + GOOD
    )
    package("plugin_h", code, "[evalui.modes]\necho = plugin_h:ECHO\n")
    english = messages("en")  # as a page holds them that was made before
    assert "echo" in Registry[object]("mode")
    assert english("mode.echo") == "The echo"
    assert messages("zh")("mode.echo") == "那个回声"
    assert messages("zh")("mode.echo_short") == "回声"


def test_a_registry_of_another_kind_looks_for_no_plugins(package):
    package("plugin_i", "raise ImportError", "[evalui.rubric]\nx = plugin_i\n")
    assert list(Registry("rubric")) == []


@pytest.fixture
def backends(modes: Registry[object]) -> Registry[object]:
    """A second registry in the module of the first."""
    del modes
    home = sys.modules["registry_home"]
    home.BACKENDS = Registry("model backend")  # type: ignore[attr-defined] # a module made here
    return home.BACKENDS


def test_all_that_one_module_brings_has_its_labels(
    package, modes: Registry[object], backends: Registry[object]
):
    code = (
        f"from registry_home import BACKENDS, MODES\n{GOOD}\n"
        "BACKENDS.register('both')(ECHO)\nMODES.register('both')(ECHO)\n"
    )
    package("plugin_l", code, "[evalui.backends]\nx = plugin_l\n[evalui.modes]\nx = plugin_l\n")
    assert list(backends) == ["both"]
    assert list(modes) == ["both"]
    assert messages("en")("backend.both") == "Echo {it}"
    assert messages("zh")("mode.both") == "回声"


def test_plugins_of_two_kinds_may_look_into_each_others_registry(
    package, modes: Registry[object], backends: Registry[object]
):
    wait = "import time\nimport registry_home\ntime.sleep(0.05)\n"
    package(
        "plugin_m", f"{wait}list(registry_home.BACKENDS)\nM = 1", "[evalui.modes]\nm=plugin_m:M"
    )
    package(
        "plugin_n", f"{wait}list(registry_home.MODES)\nB = 1", "[evalui.backends]\nb=plugin_n:B"
    )
    found: list[list[str]] = []
    threads = [
        Thread(target=lambda each=each: found.append(list(each)), daemon=True)
        for each in (modes, backends)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(found) == [["b"], ["m"]]
