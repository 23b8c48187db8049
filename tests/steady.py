"""Texts without what differs from one run or machine to the next."""

import re
from collections.abc import Iterable, Mapping

Rules = Iterable[tuple[str, str]]

_OF_FILES: Rules = (
    (r"evalui([: ]v?)\d+\.\d+\.\d+\w*", r"evalui\1VERSION"),
    (r'("evalui": |"version": )"\d[^"]*"', r'\1"VERSION"'),
    (r"\|version:[\d.]+", "|version:VERSION"),  # of sacreBLEU
    (r"(127\.0\.0\.1|localhost):\d+", "HOST"),
    (r"(?<=\bremote@)[0-9a-f]{8}", "HOST"),  # which holds a digest of its address
    (r"(?<![\d.])1[789]\d{8}(?!\d)", "MOMENT"),  # of Every Eval Ever
    (r"\b20\d\d-\d\d-\d\d(?:T\d\d:\d\d:\d\d[\d.]*\+00:00| \d\d:\d\d\b)", "MOMENT"),
    (r"(?<![\w/.<])/(?:[\w.+-]+/)+", "FOLDER/"),
)
_OF_PAGES: Rules = (
    (r"\b(?:today|yesterday|\d{4}-\d\d-\d\d) \d\d:\d\d\b", "<moment>"),
    (r"(?:今天|昨天|\d{4}-\d\d-\d\d) ?\d\d:\d\d", "<moment>"),
    (r"\b\d+ h \d+ min\b|\b\d+(?:\.\d+)? (?:s|min)\b", "<duration>"),
    (r"\d+ 小时 \d+ 分|\d+(?:\.\d+)? (?:秒|分钟)", "<duration>"),
    (r"\d[\d,.]* per s\b", "<speed> per s"),
    (r"每秒 \d[\d,.]*", "每秒 <speed>"),
    (r"\b\d[\d,.]* (?:kB|MB|GB)\b", "<size>"),
    (r"\b(version|evalui|ver):\d+\.[\w.+]+", r"\1:<version>"),
    (r"\bevalui \d+\.\d+\.\w+", "evalui <version>"),
    (r"(?s)(?<=\(most recent call last\):).*?(?=\b[\w.]+(?:Error|Exception): )", " <frames> "),
    (r"(?<![\w<])/(?:[\w.@+-]+/)+[\w.@+-]+", "<path>"),
    (r"\b(127\.0\.0\.1|localhost):\d+", r"\1:<port>"),
    (r"(?<=\bremote@)[0-9a-f]{8}", "<port>"),
    # The first cell of the table of workers is the number of its process.
    (r"(?m)^\d+(?=\t?\n?(?:\t|\n)(?:Idle|Working|空闲|工作中)\b)", "<worker>"),
)


def steady(text: str) -> str:
    """A file without versions of evalui and sacreBLEU, moments, addresses of servers on this
    machine, and folders of absolute paths. All else is the same on each run.
    """
    return _replaced(text, _OF_FILES)


def normalised(text: str, ids: Mapping[str, str]) -> str:
    """The text of a page without what another run or machine would show differently.

    `ids` are ids of runs with the word that stands for each. Moments, durations, speeds, sizes
    (of files and of memory), versions, paths, ports, frames of tracebacks and the numbers of worker
    processes become words in angle brackets; every other figure stays. White space within a line
    becomes one space, and empty lines go.
    """
    for found, word in ids.items():
        text = text.replace(found, word)
    lines = (re.sub(r"\s+", " ", line).strip() for line in _replaced(text, _OF_PAGES).splitlines())
    return "\n".join(line for line in lines if line)


def _replaced(text: str, rules: Rules) -> str:
    for pattern, name in rules:
        text = re.sub(pattern, name, text)
    return text
