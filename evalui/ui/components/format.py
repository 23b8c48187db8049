"""Counts, times and sizes as people read them."""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta

from evalui.datasets.health import LengthStatistics
from evalui.messages import Messages, Sentence
from evalui.types import Fault, Language, Sample

DOCUMENT_LANGUAGES: Mapping[Language, str] = {"zh": "zh-CN", "en": "en"}  # as browsers name them
_UNBROKEN = re.compile(r"“[^”]*”|\d{1,3}(?:,\d{3})+")


def duration(t: Messages, seconds: float) -> str:
    """ "43 s", "4 min", "2 h 10 min"."""
    whole = max(round(seconds), 0)
    if whole < 90:
        return t("time.seconds", n=max(whole, 1))
    minutes = round(whole / 60)
    if minutes < 90:
        return t("time.minutes", n=minutes)
    return t("time.hours", h=minutes // 60, m=minutes % 60)


def format_time(t: Messages, at: float, *, now: datetime | None = None) -> str:
    """ "today 09:42", "yesterday 18:03" or the date, in the server's time zone."""
    then = datetime.fromtimestamp(at).astimezone()
    today = (now or datetime.now().astimezone()).date()
    clock = f"{then:%H:%M}"
    if then.date() == today:
        return t("time.today", clock=clock)
    if then.date() == today - timedelta(days=1):
        return t("time.yesterday", clock=clock)
    return f"{then:%Y-%m-%d} {clock}"


def short_id(sample_id: str) -> str:
    """An id of a question without the name of its file."""
    return sample_id.rpartition("/")[2]


def source(t: Messages, sample: Sample, topic: str) -> str:
    """What a question is about, and where in its file it stands."""
    file, line = sample.metadata.get("file", ""), sample.metadata.get("line", "")
    where = t("question.line", line=line, file=file) if file and line else file
    return " · ".join(word for word in (topic, where) if word)


def size(number: int) -> str:
    """Bytes as kB or MB."""
    if number < 1_000_000:
        return f"{max(number / 1000, 0.1):.0f} kB" if number >= 1000 else f"{number} B"
    return f"{number / 1e6:.1f} MB"


def length_range(lengths: LengthStatistics) -> str:
    """Shortest, median and longest: "4 – 18 – 120"."""
    return f"{lengths.shortest:,} – {lengths.median:,.0f} – {lengths.longest:,}"


def format_large_count(number: float) -> str:
    """A large count: "3,360", "0.38 M"."""
    return f"{number:,.0f}" if number < 100_000 else f"{number / 1e6:,.2f} M"


def fault_text(t: Messages, fault: Fault) -> tuple[str, str]:
    """The actual and the expected contents.

    Most are English phrases; a Chinese page keeps what they quote of the file and large numbers.
    """
    if t.language == "en":
        return fault.actual, fault.expected
    if isinstance(fault.actual, Sentence):
        return t.translate(fault.actual), t.translate(fault.expected)
    quoted = "、".join(_UNBROKEN.findall(fault.actual))
    actual = "：".join(filter(None, (t(f"fault.{fault.rule}.what"), quoted)))
    return actual, t(f"fault.{fault.rule}.expected")


def amount(n_bytes: int) -> str:
    """Bytes as people compare them: "40 kB", "12 MB", "5.4 GB", "141 GB"."""
    if 0 < n_bytes < 1e6:
        return size(n_bytes)
    if n_bytes < 1e9:
        return f"{n_bytes / 1e6:.3g} MB"
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes < 1e11 else f"{n_bytes / 1e9:.0f} GB"
