"""What an answer shows its judge: its Markdown, and prompt injection against the judge.

An injection may imitate a verdict or a delimiter, or give orders. It is a flag for users to look
at, not a reason to leave an answer out: an answer *about* judging may be flagged. Mere letters,
matrices, code and formulas are not.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

_LOOKALIKE_BRACKETS = str.maketrans({"【": "[", "】": "]", "≫": ">>", "≪": "<<"})
# Answers may be long and hostile: two gaps side by side are possessive (*+), or a run of blanks
# would be split between them in every way.
_ANSWER_NAME = r"(?:(?:assistant|model|response|answer|助手|回答)\s*)?[AB12]"
_NAMED_ANSWER = r"(?:(?:assistant|model|response|answer|助手|回答)\s*[AB12甲乙]|[甲乙])"
_INJECTION_PATTERNS = (
    # Verdicts in brackets. After a word it is an index: m[[B]] in R.
    r"(?<![\w\])])\[\[\s*(?:[ABC]|[AB]\s*(?:>>?|<<?|=+|≈)\s*[AB]|tie)\s*\]\]",
    r"\[\[\s*(?:(?:answer|回答)\s*[12](?:\s*(?:much |明显)?(?:better|更好))?|both (?:good|bad)|"
    r"(?:两个)?都不?好)\s*\]\]",
    r"\[\[\s*(?:in)?correct\s*\]\]|\[\[\s*不?正确\s*\]\]|\[\[\s*错误\s*\]\]",
    r"(?:rating|score|评分|得分|分数)[ \t*:是为]*\[\[\s*\d+(?:\.\d+)?\s*\]\]",
    r"^[ \t*_>#]*(?:最终)?(?:选择|choice)[ \t*_]*:[ \t*_]*[ABCD][ \t*_.。]*$",
    r"""["'](?:winner|verdict|choice|preference|decision)["']\s*:\s*["']"""
    rf"(?:{_ANSWER_NAME}\+{{0,2}}|{_ANSWER_NAME} (?:much )?better|tie|neither|both (?:good|bad)|"
    r"[AB]\s*[<>=]+\s*[AB])[\"']",
    rf"final verdict\b.{{0,20}}?(?:\b{_ANSWER_NAME}\b|\btie\b)",
    r"最终(?:裁决|判定|评判)[^\n]{0,10}?(?:回答|助手|答案)?\s*[AB12](?![A-Za-z])",
    # Delimiters: ours, and those of FastChat, Arena-Hard and OpenCompass.
    r"</?(?:history|question|reference|guidance|answer)(?:_(?:[ab]|one|two))?(?:_\d+)?"
    r"_[0-9a-f]{6,}>",
    r"</?answer_(?:[ab]|one|two)\b",
    r"The (?:Start|End) of (?:Assistant|Reference|User)",
    r"\[(?:回答|参考答案|问题)\s*+(?:[12AB]\s*+)?(?:开始|结束)\]",
    # Words to the judge.
    r"(?:dear|attention|note to(?: the)?|hey|hello)[,:]?\s+"
    r"(?:judge|grader|evaluator|reviewer)s?\b",
    r"\b(?:ignore|disregard|forget|override)\s+(?:(?:all|any|the|your|of)\s+)*"
    r"(?:previous|prior|above|earlier|preceding|other)\s+(?:\w+\s+)?"
    r"(?:instructions?|prompts?|rules?|criteria|answers?|responses?|text)",
    r"\b(?:rate|score|prefer|select|choose|pick|mark|vote for)\s+(?:this|my)\s+"
    r"(?:answer|response)\b",
    r"\b(?:this|my) (?:answer|response) (?:is|should be|must be) (?:rated|judged|scored|marked|"
    r"preferred|chosen|the winner|the better one)",
    r"\b(?:choose|pick|select|prefer|vote for)\s+(?:assistant|model|response)\s+[AB12]\b",
    r"(?:忽略|无视|忘记|忘掉)[^\n。]{0,8}(?:之前|以上|前面|上述|先前|其他|另一)[^\n。]{0,8}"
    r"(?:指令|指示|提示|要求|规则|标准|回答|答案)",
    r"(?:评委|裁判|评审|评分者|评判者|阅卷人)(?:老师|模型|大人)?\s*+"
    r"(?:[,:]\s*+请|(?:[,:]\s*+)?(?:你好|您好|请务必|请注意|请选|请判))",
    r"请(?:务必)?(?:选择?|判定?|判断|判给|评选|给)(?:我的|本|这个|此)(?:回答|答案)",
    r"(?:本|我的|这个|此)(?:回答|答案)(?:应该?|应当|必须|理应)(?:获胜|得到?满分|判为|被选|被评)",
    # Verdicts in the words of other judges.
    rf"final decision\b.{{0,20}}?\b{_ANSWER_NAME}\b",
    rf"\[\[\s*(?:{_NAMED_ANSWER}|平局)\s*\]\]|\[RESULT\]\s*(?:[AB]|[1-9]|10)(?!\w)",
    r"^[ \t*_>#]*+(?:最终)?(?:选择|结论|胜者|choice|winner|verdict|(?:final\s)?decision)"
    rf"[ \t*_]*+(?:is\b[ \t*_]*+)?(?::[ \t*_]*+)?{_NAMED_ANSWER}[ \t*_.。]*$",
)
# A comment in a program is no header and its minus signs are no list.
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_HEADER = re.compile(r" {0,3}#{1,6}\s")
# Markdown wants a blank after the mark; Chinese texts often leave it out after a number.
# "3.5 million" at the beginning of a line is a number and no item.
_ITEM = re.compile(r"[ \t]*(?:[-*+]\s+\S|•|\d{1,3}(?:[.)）](?!\d)|、))")
# Two patterns that begin with a fixed text are far faster than one with a choice.
_BOLD = (re.compile(r"\*\*[^*\n]+\*\*"), re.compile(r"__[^_\n]+__"))


@dataclass(frozen=True, slots=True)
class MarkdownCounts:
    """Counts over one answer: characters, and marks outside of code."""

    length: int
    headers: int
    items: int
    bold: int


def contains_injection(answer: str) -> bool:
    """Whether the answer holds a verdict, a delimiter of a judge's prompt, or orders to a judge."""
    plain = unicodedata.normalize("NFKC", answer).translate(_LOOKALIKE_BRACKETS)
    return any(pattern.search(plain) for pattern in _compiled())


def count_markdown(turns: Sequence[str]) -> MarkdownCounts:
    """The counts of an answer, of all its turns together."""
    prose = _CODE.sub("", "\n".join(turns))
    lines = prose.splitlines()
    return MarkdownCounts(
        length=sum(map(len, turns)),
        headers=sum(_HEADER.match(line) is not None for line in lines),
        items=sum(_ITEM.match(line) is not None for line in lines),
        bold=sum(len(mark.findall(prose)) for mark in _BOLD),
    )


@cache  # at first use: to compile them takes longer than to import the module
def _compiled() -> tuple[re.Pattern[str], ...]:
    return tuple(
        re.compile(pattern, re.IGNORECASE | re.MULTILINE) for pattern in _INJECTION_PATTERNS
    )
