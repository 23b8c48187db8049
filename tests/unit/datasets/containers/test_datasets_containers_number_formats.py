"""Numbers and dates as spreadsheet programs show them: right answers are what Excel displays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalui.datasets.containers.number_formats import (
    COUNTRY_FORMATS,
    UnknownNumberFormat,
    compile_format,
    plain_number,
)

ACCOUNTING = '_ ¥* #,##0.00_ ;_ ¥* -#,##0.00_ ;_ ¥* "-"??_ ;_ @_ '


def shown(code: str, value: float, *, starts_1904: bool = False) -> str:
    write = compile_format(code, starts_1904=starts_1904)
    return write(value) if write else plain_number(value)


@pytest.mark.parametrize(
    ("code", "value", "text"),
    [
        ("0", 1234.5, "1235"),
        ("0.00", 0.125, "0.13"),  # not 0.12, as binary halves would be rounded
        ("0.00", 1.005, "1.01"),
        ("#,##0", 1234567, "1,234,567"),
        ("#,##0.00", -1234.5, "-1,234.50"),
        ("0%", 0.5, "50%"),
        ("0.0%", 0.1234, "12.3%"),
        ('"￥"#,##0', 1200, "￥1,200"),
        ("[$¥-804]#,##0.00", 12, "¥12.00"),
        ('#,##0.00"元"', 3.5, "3.50元"),
        ("0.00_);(0.00)", -3, "(3.00)"),
        ("[Red]0.0;[Blue]-0.0", -2, "-2.0"),
        ('0;-0;"零"', 0, "零"),
        ("0;@", 2, "2"),
        (ACCOUNTING, 1200, "¥1,200.00"),
        (ACCOUNTING, 0, "¥-"),
        ("#.##", 0.5, ".5"),
        ("0.##", 3.14159, "3.14"),
        ('0,,"M"', 12345678, "12M"),
        ("00000", 42, "00042"),
        ('"第"0"题"', 7, "第7题"),
        ('General"人"', 5, "5人"),
        ("General", 0.1 + 0.2, "0.3"),
        ("@", 12, "12"),
        ("0.00", 1e300, "1" + "0" * 300 + ".00"),
    ],
)
def test_a_number_is_shown_as_its_format_says(code: str, value: float, text: str):
    assert shown(code, value) == text


@pytest.mark.parametrize(
    ("code", "value", "text"),
    [
        ("yyyy-mm-dd", 18172, "1949-10-01"),
        ("yyyy\\-mm\\-dd", 18172, "1949-10-01"),
        ('yyyy"年"m"月"d"日"', 18172, "1949年10月1日"),
        ("yyyy年m月d日", 18172, "1949年10月1日"),
        ("yyyy/m/d h:mm", 45322.395833, "2024/1/31 9:30"),
        ("mmm d, yyyy", 45322, "Jan 31, 2024"),
        ("d-mmm-yy", 18172, "1-Oct-49"),
        ("[$-F800]dddd, mmmm dd, yyyy", 18172, "Saturday, October 01, 1949"),
        ("h:mm:ss", 0.3958333333, "9:30:00"),
        ("h:mm AM/PM", 0.75, "6:00 PM"),
        ('上午/下午h"时"mm"分"', 0.75, "下午6时00分"),
        ("mm:ss", 90 / 86400, "01:30"),
        ("yyyy-mm-dd", 59, "1900-02-28"),
        ("yyyy-mm-dd", 61, "1900-03-01"),
        ("yyyy-mm-dd", -1, "-1"),
        ("yyyy-mm-dd", 1e9, "1000000000"),
    ],
)
def test_a_date_is_shown_as_its_format_says(code: str, value: float, text: str):
    assert shown(code, value) == text


def test_days_count_from_1904_where_the_workbook_says_so():
    assert shown("yyyy-mm-dd", 0, starts_1904=True) == "1904-01-01"


@pytest.mark.parametrize(
    "code",
    [
        *("[>=100]0;0.0", "[DBNum1]0", "# ?/?", "# ?/16", '[$-411]ggge"年"', "0" * 300, "0.0 0/0"),
        *("0.00E+00", "000-0000", "aaaa", "[h]:mm", "ss.00"),
    ],
)
def test_what_is_not_understood_is_told(code: str):
    with pytest.raises(UnknownNumberFormat):
        compile_format(code)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (12.0, "12"),
        (-0.5, "-0.5"),
        (1e300, "1e+300"),
        (float("inf"), "inf"),
        (1 / 3, "0." + "3" * 15),
    ],
)
def test_a_number_without_a_format_has_no_more_digits_than_a_cell(value: float, text: str):
    assert plain_number(value) == text


@pytest.mark.parametrize("code", COUNTRY_FORMATS.values())
def test_every_format_that_files_name_by_number_is_understood(code: str):
    assert shown(code, 45322.75)


@given(
    code=st.text('0#?.,%yMdhsamEGeneral/[]"\\_*@;-+() $¥年AP上午下', max_size=9),
    value=st.floats(),
)
def test_any_format_writes_a_number_or_is_not_understood(code: str, value: float):
    try:
        write = compile_format(code)
    except UnknownNumberFormat:
        return
    if write:
        assert isinstance(write(value), str)
