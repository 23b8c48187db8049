"""Answers that were collected elsewhere, scored on the command line: one JSON line for each."""

import argparse
import json
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from evalui.messages.command_help import (
    BATTLES_HELP,
    CHOICES_HELP,
    REPLIES_HELP,
    TEXTS_HELP,
    VERDICTS_HELP,
)
from evalui.types import Cell, CellResult


def add_score_command(commands: Any) -> None:
    """Add `evalui score KIND FILE` to the commands of a parser."""
    score = commands.add_parser("score", help="score answers collected elsewhere")
    kinds = score.add_subparsers(required=True, metavar="KIND")
    for name, about, command in (
        ("choices", CHOICES_HELP, _score_choices),
        ("replies", REPLIES_HELP, _score_replies),
        ("texts", TEXTS_HELP, _score_texts),
        ("battles", BATTLES_HELP, _score_battles),
        ("verdicts", VERDICTS_HELP, _score_verdicts),
    ):
        kind = kinds.add_parser(
            name,
            help=about.partition(".")[0].lower(),
            description=about,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        kind.add_argument("file", metavar="FILE.jsonl", type=Path)
        kind.set_defaults(command=command)
        if name == "choices":
            kind.add_argument("--all", action="store_true", help="add bias, tests, calibration")
        if name == "texts":
            kind.add_argument("--samples", action="store_true", help="add a line for each pair")
        if name == "battles":
            kind.add_argument(
                "--opencompass-elo",
                action="store_true",
                help="OpenCompass's ELO [Mean] and [Std] of more than 500 battles, too",
            )


def _score_choices(given: argparse.Namespace) -> int:
    from evalui.report.frames import calibration, choices
    from evalui.report.imports.predictions import read_choices
    from evalui.report.write.json_text import json_text
    from evalui.scoring.cell_summary import summarise
    from evalui.scoring.choice.options import pattern_of
    from evalui.types import Sample

    trials = read_choices(given.file)
    pattern = pattern_of(trial.variant for trial in trials)
    cell = Cell(given.file.stem, "", "predictions", "predictions", pattern, "")
    samples = {trial.sample_id: Sample(trial.sample_id, "") for trial in trials}
    summary = summarise(CellResult(cell, samples, trials, len(trials)), with_bias=given.all)
    frames = {
        "readings": choices.readings,
        "rules": choices.rules,
        "positions": choices.positions,
        "confusion": choices.confusion,
    }
    if given.all:
        frames |= {
            "consistency": choices.consistency,
            "priors": choices.priors,
            "bias": choices.bias,
            "flips": choices.flips,
            "calibration": calibration.calibration,
            "calibration_figures": calibration.calibration_figures,
            "risk_coverage": calibration.risk_coverage,
            "thresholds": calibration.thresholds,
            "gates": calibration.gates,
        }
    own = {*choices.CELL, "signature", "error"}  # of a run; here there is one cell
    (figures,) = choices.overview([summary])
    rows = {name: [*make([summary])] for name, make in frames.items()}
    whole = dict(summary.metrics) | _without(figures, own)
    whole |= {name: [_without(row, own) for row in each] for name, each in rows.items()}
    print(json_text(whole, indented=True))
    return 0


def _without(row: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


def _score_replies(given: argparse.Namespace) -> int:
    from evalui.report.imports.predictions import read_replies

    return _print_lines(json.dumps(row, ensure_ascii=False) for row in read_replies(given.file))


def _score_texts(given: argparse.Namespace) -> int:
    from evalui.report.imports.predictions import score_texts

    return _print_lines(score_texts(given.file, samples=given.samples))


def _score_battles(given: argparse.Namespace) -> int:
    from evalui.report.imports.battles import score_battles

    return _print_lines(score_battles(given.file, opencompass_elo=given.opencompass_elo))


def _score_verdicts(given: argparse.Namespace) -> int:
    from evalui.report.imports.battles import score_verdicts

    return _print_lines(score_verdicts(given.file))


def _print_lines(lines: Iterable[str]) -> int:
    for line in lines:
        print(line)
    return 0
