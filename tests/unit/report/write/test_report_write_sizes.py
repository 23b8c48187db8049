"""The sizes stated before a file is made."""

import random
from dataclasses import replace

import pytest
from open_examples import rating_result

from evalui.report.compile import compile_report
from evalui.report.write.files import write
from evalui.report.write.sizes import about_sizes


@pytest.mark.parametrize("extension", ["xlsx", "zip"])
def test_the_marks_of_judges_have_their_part_of_a_size(extension: str):
    drawn = random.Random(0).choices([1.0, 2.5, 7.0, 9.5, None], k=6000)
    whole = rating_result({"late": drawn[:3000], "early": drawn[3000:]}, n=3000)
    report = compile_report("Run", [whole])
    trials = [*whole.trials[:250], *whole.trials[3000:3250]]
    sizes = about_sizes(report, [replace(whole, trials=trials)], [6000], "en")
    assert sizes[extension] == pytest.approx(len(write(report, extension, "en")), rel=0.15)
