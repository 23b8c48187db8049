"""Answers in a CSV file whose columns somebody names: what no harness has written."""

from collections.abc import Iterator, Mapping, Sequence
from math import inf, log
from pathlib import Path

from evalui.errors import DataError, SpecError
from evalui.harnesses.base import (
    Evidence,
    Flaw,
    FlawedAnswer,
    LoggedAnswer,
    LogPart,
    LogReader,
)
from evalui.harnesses.options import slot_of

NAME = "table"
ROLES = (
    *("id", "question", "options", "answer", "reference", "reply", "probabilities"),
    *("correct", "model", "dataset", "subject"),
)
_MARK = "correct"
_ROWS_AT_A_TIME = 10_000
_TRUE, _FALSE = ("true", "yes", "right", "correct"), ("false", "no", "wrong", "incorrect")


def table_reader(mapping: Sequence[str]) -> LogReader:
    """A reader of CSV files by `ROLE=COLUMN` pairs.

    Raises:
        SpecError: a role is unknown, or one is missing that is needed.
    """
    columns: dict[str, str] = {}
    for pair in mapping:
        role, equals, column = pair.partition("=")
        if role not in ROLES or not equals or not column:
            raise SpecError("log-mapping", role=pair, known=", ".join(ROLES))
        columns[role] = column
    missing = [role for role in ("question",) if role not in columns]
    if not columns.keys() & {"reply", "probabilities"}:
        missing.append("reply")
    if missing:
        raise SpecError("log-mapping-missing", roles=", ".join(missing))
    if not {"options", "answer"} <= columns.keys() and "reference" not in columns:
        raise SpecError("log-mapping-answers")
    return lambda files: tuple(part for path in files for part in _parts(path, columns))


def _parts(path: Path, columns: Mapping[str, str]) -> Iterator[LogPart]:
    """A part for each model and dataset that the file names."""
    heads = _heads(path)
    for role, column in columns.items():
        for name in _names(column) if role in ("options", "probabilities") else (column,):
            if name not in heads and not _is_text(name):
                known = ", ".join(heads)
                raise SpecError("log-mapping-column", file=path.name, column=name, known=known)
    evidence: Evidence = "written"
    if "options" in columns:
        evidence = "letters" if "probabilities" in columns else "reply"
    keys = dict.fromkeys(
        (_value(row, columns, "dataset") or path.stem, _value(row, columns, "model") or "model")
        for _, row in _rows(path)
    )
    for dataset, model in keys:
        yield LogPart(
            harness=NAME,
            dataset=dataset,
            model=model,
            evidence=evidence,
            files=(path.name,),
            read=lambda key=(dataset, model): _answers(path, columns, key),
            readings={_MARK: {"letters": "forced", "reply": "tolerant"}.get(evidence, "")},
            main_mark=_MARK if evidence == "reply" and "correct" in columns else "",
            repeats=True,
            missing=(
                *(("one-order",) if evidence != "written" else ()),
                *(() if "correct" in columns else ("marks",)),
                *(("probabilities",) if evidence == "reply" else ()),
                *(() if "id" in columns else ("ids",)),
            ),
        )


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Each row with the number of the line on which it ends.

    By pandas: a reply may be longer than Python's own reader takes, whose limit holds for the whole
    process, uploads included.
    """
    from pandas import read_csv
    from pandas.errors import EmptyDataError, ParserError

    line = 1
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            parts = read_csv(
                file,
                dtype=str,
                keep_default_na=False,
                skip_blank_lines=False,
                index_col=False,
                chunksize=_ROWS_AT_A_TIME,
            )
            for part in parts:
                names = list(part.columns)
                line += "".join(names).count("\n") if line == 1 else 0
                for row in part.itertuples(index=False, name=None):
                    line += 1 + sum(text.count("\n") for text in row)
                    if any(row):
                        yield line, dict(zip(names, row, strict=True))
    except EmptyDataError:
        return
    except UnicodeDecodeError as error:
        raise DataError("file-not-utf8", path=path.name, byte=error.start) from error
    except ParserError as error:
        raise DataError("log-damaged", file=path.name, reason=str(error)) from error


def _heads(path: Path) -> tuple[str, ...]:
    return next((tuple(row) for _, row in _rows(path)), ())


def _names(columns: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in columns.split(","))


def _is_text(column: str) -> bool:
    return len(column) > 1 and column[0] == column[-1] == '"'


def _value(row: Mapping[str, str], columns: Mapping[str, str], role: str) -> str:
    """The text in the column of a role, or the text that stands in its place in quotes."""
    column = columns.get(role, "")
    return column[1:-1] if _is_text(column) else row.get(column, "").strip()


def _answers(
    path: Path, columns: Mapping[str, str], wanted: tuple[str, str]
) -> Iterator[LoggedAnswer | FlawedAnswer]:
    for line, row in _rows(path):
        dataset = _value(row, columns, "dataset") or path.stem
        if (dataset, _value(row, columns, "model") or "model") == wanted:
            read = _answer(row, columns, str(line))
            place = f"{path.name}:{line}"
            yield read if isinstance(read, LoggedAnswer) else FlawedAnswer(place, read)


def _answer(row: Mapping[str, str], columns: Mapping[str, str], line: str) -> LoggedAnswer | Flaw:
    id_ = _value(row, columns, "id") or line
    question, subject = _value(row, columns, "question"), _value(row, columns, "subject")
    reply, mark = _value(row, columns, "reply"), _mark(_value(row, columns, "correct"))
    marks = {} if mark is None else {_MARK: mark}
    if "options" not in columns:
        references = tuple(filter(None, [_value(row, columns, "reference")]))
        return LoggedAnswer(
            id_, question, references=references, subject=subject, reply=reply, marks=marks
        )
    texts = [row.get(name, "").strip() for name in _names(columns["options"])]
    while texts and not texts[-1]:  # questions of fewer options
        texts.pop()
    if len(texts) < 2 or not all(texts):
        return "options"
    gold = _slot(_value(row, columns, "answer"), texts)
    if gold is None:
        return "gold"
    totals = _log_probabilities(row, columns, len(texts))
    if totals is None:
        return "damaged"
    return LoggedAnswer(
        id_,
        question,
        tuple(texts),
        gold,
        subject=subject,
        totals=totals,
        reply=reply,
        marks=marks,
    )


def _slot(answer: str, options: Sequence[str]) -> int | None:
    """The option that is meant: by its text, its letter, or its number from 1."""
    same = [slot for slot, text in enumerate(options) if text == answer]
    if same:
        return same[0] if len(same) == 1 else None
    if answer.isdecimal() and 1 <= int(answer) <= len(options):
        return int(answer) - 1
    return slot_of(answer, len(options))


def _log_probabilities(
    row: Mapping[str, str], columns: Mapping[str, str], n_options: int
) -> tuple[float, ...] | None:
    """The logarithms of the probabilities; () where there are none, None if they are no numbers."""
    if "probabilities" not in columns:
        return ()
    try:
        shares = [float(row.get(name, "")) for name in _names(columns["probabilities"])[:n_options]]
    except ValueError:
        return None
    if len(shares) != n_options or not all(0 <= share <= 1 for share in shares):
        return None
    return tuple(log(share) if share else -inf for share in shares)


def _mark(text: str) -> float | None:
    if text.casefold() in _TRUE:
        return 1.0
    if text.casefold() in _FALSE:
        return 0.0
    try:
        return float(text)
    except ValueError:
        return None
