"""Numbers of a spreadsheet as its cells show them: ECMA-376 part 1, section 18.8.31.

Understood is what people use: digits, thousands, percent, texts with currencies, a format each for
positive and negative numbers and zero, dates and times. A format with anything else, such as
fractions, exponents, conditions or Chinese numerals, is told, and its numbers stay plain.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from math import isfinite
from typing import NamedTuple

FormatNumber = Callable[[float], str]

# Formats that files name by a number and that depend on the country of the program: as ISO 8601 and
# Chinese programs have them.
COUNTRY_FORMATS: Mapping[int, str] = {
    14: "yyyy-mm-dd",
    22: "yyyy-mm-dd h:mm",
    30: "m-d-yy",
    31: 'yyyy"年"m"月"d"日"',
    32: 'h"时"mm"分"',
    33: 'h"时"mm"分"ss"秒"',
    34: '上午/下午h"时"mm"分"',
    35: '上午/下午h"时"mm"分"ss"秒"',
    **dict.fromkeys((27, 36, 50, 52, 55, 57), 'yyyy"年"m"月"'),
    **dict.fromkeys((28, 29, 51, 53, 54, 56, 58), 'm"月"d"日"'),
}
_EPOCH_1900 = datetime(1899, 12, 30)  # noqa: DTZ001 - a spreadsheet has no time zones
_EPOCH_1904 = datetime(1904, 1, 1)  # noqa: DTZ001
_LEAP_DAY_1900 = 60  # the serial number of a 29th of February that there was not
MAX_SERIAL = 2_958_466  # the day after the last one of the year 9999
_DAY_S = 86_400  # seconds
_MAX_DIGITS = 700  # of a number with as many decimals as a format can ask for
_MAX_FORMAT_CHARS = 255  # as spreadsheet programs have it
_TOKEN = re.compile(
    r'"(?P<text>[^"]*)"?|\\(?P<escaped>.)|_(?P<blank>.)|\*(?P<fill>.)'
    r"|\[\$(?P<currency>[^\]-]*)(?:-[^\]]*)?\]|\[(?P<bracket>[^\]]*)\]"
    r"|(?P<general>General|G/通用格式)|(?P<half>AM/PM|A/P|上午/下午)"
    r"|(?P<date>y+|m+|d+|h+|s+)|(?P<digits>[0#?][0#?,]*(?:\.[0#?]*)?|\.[0#?]+)"
    r"|(?P<percent>%)|(?P<at>@)|(?P<unknown>[/EBGAea.])|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_COLOURS = re.compile(r"black|blue|cyan|green|magenta|red|white|yellow|color\s*\d+", re.IGNORECASE)
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class _Token(NamedTuple):
    kind: str
    text: str


class UnknownNumberFormat(ValueError):
    """A format of which a part is not understood."""


def plain_number(value: float) -> str:
    """A number as a cell without a format shows it: 15 digits, no point without decimals."""
    if float(value).is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.15g}"


def compile_format(code: str, *, starts_1904: bool = False) -> FormatNumber | None:
    """What writes numbers as the format has it, None for "General" and for texts.

    Raises:
        UnknownNumberFormat: a part of it is not understood.
    """
    if len(code) > _MAX_FORMAT_CHARS:
        raise UnknownNumberFormat(code)
    sections = list(_sections(code))
    if len(sections) == 1 and all(token.kind in ("general", "at") for token in sections[0]):
        return None
    if len(sections) > 1 and any(token.kind == "at" for token in sections[-1]):
        sections.pop()  # that of texts
    is_date = any(token.kind in ("date", "half") for token in sections[0])
    writers = [
        _date_writer(tokens, starts_1904=starts_1904) if is_date else _number_writer(tokens)
        for tokens in sections[: 1 if is_date else 3]
    ]

    def write(value: float) -> str:
        if not isfinite(value):
            return plain_number(value)
        if value == 0 and len(writers) == 3:
            return writers[2](value)
        if value >= 0 or is_date:
            return writers[0](value)
        return writers[1](-value) if len(writers) > 1 else "-" + writers[0](-value)

    return write


def _sections(code: str) -> Iterator[list[_Token]]:
    section: list[_Token] = []
    for match in _TOKEN.finditer(code):
        kind = match.lastgroup or "other"
        text = match[kind] or ""
        if kind == "other" and text == ";":
            yield section
            section = []
        elif (kind == "unknown" and text == "/") or (kind == "other" and text == ","):
            section.append(_Token("text", text))  # as in dates; a fraction has it after digits
        elif kind == "unknown" or (kind == "bracket" and not _COLOURS.fullmatch(text)):
            raise UnknownNumberFormat(code)  # an exponent, a condition, an era, hours in all
        elif kind in ("text", "escaped", "currency", "other"):
            section.append(_Token("text", text))
        elif kind not in ("fill", "bracket"):
            section.append(_Token(kind, " " if kind == "blank" else text))
    yield section


# Decimals


def _number_writer(tokens: Sequence[_Token]) -> FormatNumber:
    """A number with a fixed count of decimals, between the texts of its format."""
    kinds = [token.kind for token in tokens]
    if kinds.count("digits") + kinds.count("general") > 1 or "date" in kinds or "half" in kinds:
        raise UnknownNumberFormat("".join(token.text for token in tokens))
    at = next((n for n, kind in enumerate(kinds) if kind in ("digits", "general", "at")), -1)
    before = "".join(token.text for token in tokens[: at if at >= 0 else None])
    after = "".join(token.text for token in tokens[at + 1 :]) if at >= 0 else ""
    if at < 0:  # a section of a text only
        return lambda _: before.strip()
    percent = 100 ** kinds.count("percent")
    if kinds[at] != "digits":
        return lambda value: (before + plain_number(value * percent) + after).strip()
    if after.startswith("/"):
        raise UnknownNumberFormat(tokens[at].text + after)
    mask, point, decimals = tokens[at].text.partition(".")
    whole = mask.rstrip(",")
    divisor = 1000 ** (len(mask) - len(whole))

    def write(value: float) -> str:
        from decimal import ROUND_HALF_UP, Context, Decimal  # only sheets with formats need it

        # The digits that a spreadsheet keeps of a number, rounded as it rounds them.
        number = Decimal(f"{value:.15g}") * percent / divisor
        rounded = number.quantize(
            Decimal(1).scaleb(-len(decimals)), ROUND_HALF_UP, Context(prec=_MAX_DIGITS)
        )
        shown = f"{rounded:,f}" if "," in whole else f"{rounded:f}"
        digits, _, places = shown.partition(".")
        least = whole.count("0")
        digits = "" if digits == "0" and not least else digits.zfill(least)
        kept = len(decimals.rstrip("#?"))
        places = places[:kept] + places[kept:].rstrip("0")
        return (before + digits + point + places + after).strip()

    return write


# Dates and times


def _date_writer(tokens: Sequence[_Token], *, starts_1904: bool) -> FormatNumber:
    parts = list(_date_parts(tokens))
    halved = any(token.kind == "half" for token in tokens)

    def write(value: float) -> str:
        if not 0 <= value < MAX_SERIAL:
            return plain_number(value)  # a sheet shows ##### where there is no such day
        moment = _to_moment(value, starts_1904=starts_1904)
        return "".join(_write_part(part, moment, halved=halved) for part in parts).strip()

    return write


def _to_moment(value: float, *, starts_1904: bool) -> datetime:
    if starts_1904:
        epoch = _EPOCH_1904
    else:
        epoch = _EPOCH_1900 + timedelta(days=1 if value < _LEAP_DAY_1900 else 0)
    days, share = divmod(value, 1)
    return epoch + timedelta(days=days, seconds=round(share * _DAY_S))


def _date_parts(tokens: Sequence[_Token]) -> Iterator[_Token]:
    """The tokens with m as months or minutes, by what stands beside it."""
    dated = [token for token in tokens if token.kind == "date"]
    if any(token.kind in ("digits", "at", "general") for token in tokens):
        raise UnknownNumberFormat("".join(token.text for token in tokens))
    place = -1
    for token in tokens:
        if token.kind != "date":
            yield token
            continue
        place += 1
        letter = token.text[0].lower()
        if letter == "m" and len(token.text) < 3:
            before = dated[place - 1].text[0].lower() if place else ""
            after = dated[place + 1].text[0].lower() if place + 1 < len(dated) else ""
            kind = "minute" if before == "h" or after == "s" else "month"
        else:
            kind = {"y": "year", "m": "month", "d": "day", "h": "hour", "s": "second"}[letter]
        yield _Token(kind, token.text)


def _write_part(part: _Token, moment: datetime, *, halved: bool) -> str:
    kind, length = part.kind, len(part.text)
    if kind == "year":
        return f"{moment.year:04d}" if length > 2 else f"{moment.year % 100:02d}"
    if kind in ("month", "day"):
        number = moment.month if kind == "month" else moment.day
        name = _MONTHS[number - 1] if kind == "month" else _WEEKDAYS[moment.weekday()]
        return f"{number:0{length}d}" if length < 3 else name[:3] if length == 3 else name
    if kind in ("hour", "minute", "second"):
        number = {"hour": moment.hour, "minute": moment.minute, "second": moment.second}[kind]
        if kind == "hour" and halved:
            number = number % 12 or 12
        return f"{number:0{min(length, 2)}d}"
    if kind == "half":
        names = ("上午", "下午") if "午" in part.text else tuple(part.text.upper().split("/"))
        return names[moment.hour >= 12]
    return part.text
