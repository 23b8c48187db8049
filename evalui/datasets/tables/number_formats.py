"""Numbers of a spreadsheet as its cells show them: ECMA-376 part 1, section 18.8.31.

Understood are digits, thousands, percent, exponents, fractions, literal texts with currencies, and
dates and times. A format with anything else, such as conditions or Chinese numerals, is reported
as not understood, and its numbers stay plain.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from math import isfinite
from typing import NamedTuple

FormatNumber = Callable[[float], str]

# What the formats mean that files name by a number only; those that depend on the country of the
# program are written as ISO 8601 has it.
BUILTIN_FORMATS = {
    0: "General",
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    5: '"$"#,##0;("$"#,##0)',
    6: '"$"#,##0;("$"#,##0)',
    7: '"$"#,##0.00;("$"#,##0.00)',
    8: '"$"#,##0.00;("$"#,##0.00)',
    9: "0%",
    10: "0.00%",
    11: "0.00E+00",
    12: "# ?/?",
    13: "# ??/??",
    14: "yyyy-mm-dd",
    15: "d-mmm-yy",
    16: "d-mmm",
    17: "mmm-yy",
    18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM",
    20: "h:mm",
    21: "h:mm:ss",
    22: "yyyy-mm-dd h:mm",
    27: 'yyyy"年"m"月"',
    28: 'm"月"d"日"',
    29: 'm"月"d"日"',
    30: "m-d-yy",
    31: 'yyyy"年"m"月"d"日"',
    32: 'h"时"mm"分"',
    33: 'h"时"mm"分"ss"秒"',
    34: '上午/下午h"时"mm"分"',
    35: '上午/下午h"时"mm"分"ss"秒"',
    36: 'yyyy"年"m"月"',
    37: "#,##0;(#,##0)",
    38: "#,##0;(#,##0)",
    39: "#,##0.00;(#,##0.00)",
    40: "#,##0.00;(#,##0.00)",
    41: "#,##0",
    42: '"$"#,##0',
    43: "#,##0.00",
    44: '"$"#,##0.00',
    45: "mm:ss",
    46: "[h]:mm:ss",
    47: "mm:ss.0",
    48: "##0.0E+0",
    49: "@",
    50: 'yyyy"年"m"月"',
    51: 'm"月"d"日"',
    52: 'yyyy"年"m"月"',
    53: 'm"月"d"日"',
    54: 'm"月"d"日"',
    55: 'yyyy"年"m"月"',
    56: 'm"月"d"日"',
    57: 'yyyy"年"m"月"',
    58: 'm"月"d"日"',
}
_EPOCH_1900 = datetime(1899, 12, 30)  # noqa: DTZ001 - a spreadsheet has no time zones
_EPOCH_1904 = datetime(1904, 1, 1)  # noqa: DTZ001
_LEAP_DAY_1900 = 60  # the serial number of a 29th of February that there was not
_MAX_SERIAL = 2_958_466  # the day after the last one of the year 9999
_DAY_S = 86_400  # seconds
_MAX_DIGITS = 700  # of a number with as many decimals as a format can ask for
_MAX_FORMAT_CHARS = 255  # as spreadsheet programs have it
_TOKEN = re.compile(
    r'"(?P<text>[^"]*)"?|\\(?P<escaped>.)|_(?P<blank>.)|\*(?P<fill>.)'
    r"|\[\$(?P<currency>[^\]-]*)(?:-[^\]]*)?\]|\[(?P<bracket>[^\]]*)\]"
    r"|(?P<general>General|G/通用格式)|(?P<half>AM/PM|A/P|上午/下午)"
    r"|(?P<date>y+|m+|d+|h+|s+(?:\.0+)?|a{3,4})|(?P<exponent>E[+-])|(?P<digits>[0#?][0#?,]*)"
    r"|(?P<point>\.)|(?P<percent>%)|(?P<at>@)|(?P<slash>/)|(?P<comma>,)|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_COLOURS = re.compile(r"black|blue|cyan|green|magenta|red|white|yellow|color\s*\d+", re.IGNORECASE)
_ELAPSED = re.compile(r"h+|m+|s+", re.IGNORECASE)
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
    sections = _sections(code)
    if len(sections) == 1 and not any(t.kind not in ("general", "at") for t in sections[0]):
        return None
    if len(sections) > 1 and any(token.kind == "at" for token in sections[-1]):
        sections.pop()  # that of texts
    writers = [_section_writer(tokens, starts_1904=starts_1904) for tokens in sections[:3]]
    is_date = _is_date(sections[0])

    def write(value: float) -> str:
        if not isfinite(value):
            return plain_number(value)
        if value == 0 and len(writers) == 3:
            return writers[2](value)
        if value >= 0 or is_date:
            return writers[0](value)
        return writers[1](-value) if len(writers) > 1 else "-" + writers[0](-value)

    return write


def _sections(code: str) -> list[list[_Token]]:
    sections: list[list[_Token]] = [[]]
    for match in _TOKEN.finditer(code):
        kind = match.lastgroup or "other"
        text = match[kind] or ""
        if kind == "other" and text == ";":
            sections.append([])
        elif kind == "bracket" and _COLOURS.fullmatch(text):
            continue
        elif kind == "bracket" and _ELAPSED.fullmatch(text):
            sections[-1].append(_Token("elapsed", text.lower()))
        elif kind == "bracket":
            raise UnknownNumberFormat(code)  # a condition, another script, an era
        elif kind == "other" and text in "bBeEgG":
            raise UnknownNumberFormat(code)  # the years of other calendars
        elif kind in ("text", "escaped", "currency", "other"):
            sections[-1].append(_Token("text", text))
        elif kind == "blank":
            sections[-1].append(_Token("text", " "))
        elif kind != "fill":
            sections[-1].append(_Token(kind, text))
    return sections


def _is_date(tokens: Sequence[_Token]) -> bool:
    return any(token.kind in ("date", "half", "elapsed") for token in tokens)


def _section_writer(tokens: Sequence[_Token], *, starts_1904: bool) -> FormatNumber:
    kinds = {token.kind for token in tokens}
    if _is_date(tokens):
        return _date_writer(tokens, starts_1904=starts_1904)
    if "general" in kinds:
        return lambda value: "".join(
            plain_number(value) if token.kind == "general" else token.text for token in tokens
        ).strip()
    if "at" in kinds:
        return plain_number
    if "slash" in kinds and "digits" in kinds:
        return _fraction_writer(tokens)
    return _decimal_writer(tokens)


# Decimals


def _decimal_writer(tokens: Sequence[_Token]) -> FormatNumber:
    """A number with a fixed count of decimals, between the texts of its format."""
    places = [at for at, token in enumerate(tokens) if token.kind == "digits"]
    if not places:  # a section of a text only
        shown = "".join(t.text if t.kind in ("text", "percent") else "" for t in tokens).strip()
        return lambda _: shown
    first = places[0]
    last = max(at for at, token in enumerate(tokens) if token.kind in ("digits", "exponent"))
    core = tokens[first : last + 1]
    if first and tokens[first - 1].kind == "point":
        core, first = tokens[first - 1 : last + 1], first - 1
    rest = tokens[last + 1 :]
    if rest and rest[0].kind == "point":  # "0." keeps its point
        core, rest = (*core, rest[0]), rest[1:]
    if any(token.kind in ("text", "percent", "slash", "comma") for token in core):
        return _masked_writer(tokens, core)
    before, after = _literal(tokens[:first]), _literal(rest)
    percent = 100 ** sum(1 for token in tokens if token.kind == "percent")
    digits = _DigitLayout.of(core)

    def write(value: float) -> str:
        return (before + digits.write(value, percent) + after).strip()

    return write


def _masked_writer(tokens: Sequence[_Token], core: Sequence[_Token]) -> FormatNumber:
    """Texts between the digits of a whole number, as in 000-0000."""
    if any(token.kind not in ("text", "digits") for token in core):
        raise UnknownNumberFormat("".join(token.text for token in tokens))
    mask = [
        (token.kind, char)
        for token in tokens
        for char in (token.text if token.kind in ("text", "digits") else "")
    ]

    def write(value: float) -> str:
        digits = list(f"{round(value):d}")
        shown: list[str] = []
        left = sum(1 for kind, _ in mask if kind == "digits")
        for kind, char in reversed(mask):
            if kind == "text":
                shown.append(char)
                continue
            left -= 1
            if not left:
                shown += reversed(digits)
                digits = []
            elif digits:
                shown.append(digits.pop())
            elif char == "0":
                shown.append("0")
        return "".join(reversed(shown)).strip()

    return write


class _DigitLayout(NamedTuple):
    """How many digits a number has at least and at most, and how they are grouped."""

    whole: int
    decimals: int
    optional: int
    grouped: bool
    divisor: int
    point: bool
    exponent: int

    @classmethod
    def of(cls, core: Sequence[_Token]) -> "_DigitLayout":
        whole, decimals, power = "", "", ""
        part = 0  # whole, decimals, exponent
        for token in core:
            if token.kind == "point":
                part = 1
            elif token.kind == "exponent":
                part = 2
            elif part == 0:
                whole += token.text
            elif part == 1:
                decimals += token.text
            else:
                power += token.text
        places = whole.rstrip(",")
        scaled = len(whole) - len(places) + (len(decimals) - len(decimals.rstrip(",")))
        fixed = decimals.rstrip(",")
        return cls(
            places.count("0"),
            len(fixed),
            len(fixed) - len(fixed.rstrip("#?")),
            "," in places,
            1000**scaled,
            any(token.kind == "point" for token in core),
            len(power),
        )

    def write(self, value: float, factor: int) -> str:
        from decimal import ROUND_HALF_UP, Context, Decimal  # only sheets with formats need it

        # The digits that a spreadsheet keeps of a number, rounded as it rounds them.
        number = Decimal(f"{value:.15g}") * factor / self.divisor
        if self.exponent:
            return self._write_exponent(float(number))
        rounded = number.quantize(
            Decimal(1).scaleb(-self.decimals), ROUND_HALF_UP, Context(prec=_MAX_DIGITS)
        )
        whole, _, decimals = f"{rounded:f}".partition(".")
        if not self.whole and whole == "0":
            whole = ""
        whole = whole.zfill(self.whole)
        if self.grouped:
            head = len(whole) % 3
            groups = [whole[:head]] if head else []
            whole = ",".join(groups + [whole[at : at + 3] for at in range(head, len(whole), 3)])
        return self._join(whole, decimals)

    def _join(self, whole: str, decimals: str) -> str:
        kept = len(decimals) - self.optional
        decimals = decimals[:kept] + decimals[kept:].rstrip("0")
        return whole + ("." + decimals if self.point else "")

    def _write_exponent(self, value: float) -> str:
        mantissa, _, power = f"{value:.{self.decimals}E}".partition("E")
        whole, _, decimals = mantissa.partition(".")
        sign = power[0] if power[0] == "-" else "+"
        return f"{self._join(whole, decimals)}E{sign}{power[1:].lstrip('0').zfill(self.exponent)}"


def _literal(tokens: Sequence[_Token]) -> str:
    kept = ("text", "percent", "point", "slash", "comma")
    if any(token.kind not in kept for token in tokens):
        raise UnknownNumberFormat("".join(token.text for token in tokens))
    return "".join(token.text for token in tokens)


def _fraction_writer(tokens: Sequence[_Token]) -> FormatNumber:
    slash = next(at for at, token in enumerate(tokens) if token.kind == "slash")
    digits = [at for at, token in enumerate(tokens) if token.kind == "digits"]
    below = [at for at in digits if at > slash]
    above = [at for at in digits if at < slash]
    # A denominator of given digits, such as # ?/16, is written as texts and digits mixed.
    if len(below) != 1 or not above or any(char not in "?#" for char in tokens[below[0]].text):
        raise UnknownNumberFormat("".join(token.text for token in tokens))
    most = 10 ** len(tokens[below[0]].text) - 1
    mixed = len(above) > 1

    def write(value: float) -> str:
        from fractions import Fraction  # only sheets with fractions need it

        number = Fraction(value).limit_denominator(most)
        whole, rest = divmod(number, 1) if mixed else (0, number)
        if mixed and not rest:
            return str(whole)
        shown = f"{rest.numerator}/{rest.denominator}"
        return f"{whole} {shown}" if whole else shown

    return write


# Dates and times


def _date_writer(tokens: Sequence[_Token], *, starts_1904: bool) -> FormatNumber:
    parts = list(_date_parts(tokens))
    halved = any(token.kind == "half" for token in tokens)
    decimals = max((len(t.text) - 2 for t in parts if t.kind == "second"), default=0)
    decimals = max(decimals, 0)

    def write(value: float) -> str:
        if not 0 <= value < _MAX_SERIAL:
            return plain_number(value)  # a sheet shows ##### where there is no such day
        moment = _to_moment(value, decimals, starts_1904=starts_1904)
        return "".join(_write_part(part, moment, value, halved=halved) for part in parts).strip()

    return write


def _to_moment(value: float, decimals: int, *, starts_1904: bool) -> datetime:
    if starts_1904:
        epoch = _EPOCH_1904
    else:
        epoch = _EPOCH_1900 + timedelta(days=1 if value < _LEAP_DAY_1900 else 0)
    days, share = divmod(value, 1)
    unit = 10**decimals
    seconds = round(share * _DAY_S * unit) / unit
    return epoch + timedelta(days=days, seconds=seconds)


def _date_parts(tokens: Sequence[_Token]) -> Iterator[_Token]:
    """The tokens with m as months or minutes, by what stands beside it."""
    timed = [at for at, t in enumerate(tokens) if t.kind in ("date", "elapsed")]
    for at, token in enumerate(tokens):
        if token.kind != "date":
            digits = token.kind in ("digits", "exponent", "at", "general")
            if digits:
                raise UnknownNumberFormat("".join(each.text for each in tokens))
            yield token
            continue
        letter = token.text[0].lower()
        if letter == "m" and len(token.text) < 3:
            place = timed.index(at)
            before = tokens[timed[place - 1]].text[0].lower() if place else ""
            after = tokens[timed[place + 1]].text[0].lower() if place + 1 < len(timed) else ""
            kind = "minute" if before == "h" or after == "s" else "month"
        else:
            names = {"y": "year", "m": "month", "d": "day", "h": "hour", "s": "second"}
            kind = names.get(letter, "weekday")
        yield _Token(kind, token.text.lower())


def _write_part(part: _Token, moment: datetime, value: float, *, halved: bool) -> str:
    kind, length = part.kind, len(part.text)
    if kind == "year":
        return f"{moment.year:04d}" if length > 2 else f"{moment.year % 100:02d}"
    if kind == "month":
        name = _MONTHS[moment.month - 1]
        by_length = {1: str(moment.month), 2: f"{moment.month:02d}", 3: name[:3], 5: name[0]}
        return by_length.get(length, name)
    if kind == "day":
        name = _WEEKDAYS[moment.weekday()]
        by_length = {1: str(moment.day), 2: f"{moment.day:02d}", 3: name[:3]}
        return by_length.get(length, name)
    if kind == "weekday":
        day = "一二三四五六日"[moment.weekday()]
        return f"星期{day}" if length > 3 else f"周{day}"
    if kind in ("hour", "minute", "second"):
        return _write_time(part, moment, halved=halved)
    if kind == "half":
        names = ("上午", "下午") if "午" in part.text else tuple(part.text.upper().split("/"))
        return names[moment.hour >= 12]
    if kind == "elapsed":
        return _write_elapsed(part.text, value)
    return part.text


def _write_time(part: _Token, moment: datetime, *, halved: bool) -> str:
    text = part.text
    if part.kind == "second":
        whole, _, decimals = text.partition(".")
        shown = f"{moment.second:0{min(len(whole), 2)}d}"
        return shown + (f".{moment.microsecond:06d}"[: len(decimals) + 1] if decimals else "")
    number = moment.minute if part.kind == "minute" else moment.hour
    if part.kind == "hour" and halved:
        number = number % 12 or 12
    return f"{number:0{min(len(text), 2)}d}"


def _write_elapsed(text: str, value: float) -> str:
    seconds = round(value * _DAY_S)
    number = seconds // {"h": 3600, "m": 60, "s": 1}[text[0]]
    return f"{number:0{len(text)}d}"
