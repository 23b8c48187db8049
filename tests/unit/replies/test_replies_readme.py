import doctest
from pathlib import Path

import evalui.replies


def test_the_example_of_the_readme_is_true():
    readme = Path(evalui.replies.__file__).with_name("README.md")
    failed, tried = doctest.testfile(str(readme), module_relative=False)
    assert failed == 0
    assert tried >= 9
