"""What a judge itself wrote: its reply without thoughts, quotations and repetitions of the prompt.

A quotation is never a verdict, whatever it says: texts between the tags of a prompt, fences, block
quotes, indented code, quotation marks, and lines that an attribution introduces ("Answer A ends
with:"). The one exception is a span that holds nothing but a verdict, with no attribution before
it, because judges dress their verdicts: "Choice: `B`", or a fence around the last line.

Every pattern is linear in the length of a reply: repetitions are bounded or over one class. Of a
reply longer than 60,000 characters only the first third of that and the last two are read.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from evalui.replies.text import FILLER, shortened
from evalui.replies.thoughts import after_thoughts

# `FILLER` stands for each character of a quotation, so that places stay what they are. These stand
# around a quotation that is nothing but a verdict; all three are taken out of the reply beforehand.
_DRESS_OPEN, _DRESS_CLOSE = "\ue000", "\ue001"
DRESS = _DRESS_OPEN + _DRESS_CLOSE

CUT_REASONS = ("length", "max_tokens")  # why a reply ends that was cut off
# What a judge calls the answers that it compares.
SIDE_NOUN = (
    "assistant|model|response|answer|reply|option|candidate|system|output|chatbot|completion|"
    "summary|essay|player|ai|助手|模型|回答|回复|答复|答案|选项|方案|候选|作答"
)
_LONGEST_LEAD = 300  # characters before a verdict that may say whose it is


@dataclass(frozen=True, slots=True)
class Judgement:
    """The lines a judge wrote, Markdown removed; `blocks` is the text without block quotations.

    A line that is a quotation is blank. A quotation inside a line is one `FILLER` for each of its
    characters, or stands between the two characters of `DRESS` if it is nothing but a verdict.
    """

    lines: tuple[str, ...]
    blocks: str


def parse_judgement(
    reply: str, is_verdict: Callable[[str], bool], prompt_forms: Sequence[str] = ()
) -> Judgement | str:
    """What the judge wrote itself, or the rule by which nothing can be read: unfinished, empty.

    `is_verdict` says of a text whether it is nothing but a verdict.
    """
    spoken = _spoken(reply)
    if spoken is None:
        return "unfinished"
    if not spoken.strip():
        return "empty"
    text = _without_prompt(spoken, is_verdict, prompt_forms)
    blocks = shortened(_mask_blocks(text, is_verdict))
    masked = _mask_spans(_mask_indented(blocks), is_verdict)
    lines = [_without_markup(line) for line in masked.split("\n")]
    for place in _attributed(lines):
        lines[place] = ""
    return Judgement(tuple(lines), blocks)


@dataclass(frozen=True, slots=True)
class MaskedReply:
    """What a judge wrote after its thoughts, and the same with `FILLER` for what is quoted.

    Both have the same length. Quotation marks themselves stay in `own`.
    """

    text: str
    own: str


def mask_reply(reply: str, prompt_forms: Sequence[str] = ()) -> MaskedReply | str:
    """The reply with its quotations masked, or the rule by which nothing can be read."""
    spoken = _spoken(reply)
    if spoken is None:
        return "unfinished"
    text = shortened(spoken.expandtabs(4))
    if not text.strip():
        return "empty"
    blocks = _mask_indented(_mask_blocks(_without_prompt(text, _never, prompt_forms), _never))
    own = _SPAN.sub(_fill_between_marks, blocks)
    lines = own.split("\n")
    for place in _attributed(lines):
        lines[place] = _filled(lines[place])
    return MaskedReply(text, "\n".join(lines))


def _spoken(reply: str) -> str | None:
    """The reply after its thoughts in plain signs; None if it was cut off while thinking.

    Marks of thoughts may be rare signs, or stand there as HTML entities: they are searched twice.
    """
    spoken = after_thoughts(reply)
    return None if spoken is None else after_thoughts(plain_judgement(spoken))


def without_quotations(text: str) -> str:
    """The text with what stands in quotation marks or code as `FILLER`."""
    return _SPAN.sub(_fill, text)


def plain_judgement(reply: str) -> str:
    """A judge's reply without HTML entities, full-width forms, and escaped or rare brackets."""
    from html import unescape  # its table of 2,000 names

    text = unicodedata.normalize("NFKC", unescape(reply)).replace("\r\n", "\n")
    text = text.translate(_LOOKALIKES)
    return re.sub(r"\\([\[\]_*])", r"\1", text)


# ---------------------------------------------------------------- block quotations


def _never(text: str) -> bool:
    del text
    return False


def _filled(text: str) -> str:
    return re.sub(r"[^\n]", FILLER, text)


def _with_filled(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text with spans, in order and apart from each other, as `FILLER`."""
    parts: list[str] = []
    position = 0
    for start, end in spans:
        parts += (text[position:start], _filled(text[start:end]))
        position = end
    return "".join((*parts, text[position:]))


def _mask_blocks(text: str, is_verdict: Callable[[str], bool]) -> str:
    """Without texts between a prompt's tags, fences and block quotes."""
    lines = _with_filled(text, _tagged_spans(text)).split("\n")
    written = [place for place, line in enumerate(lines) if line.strip()]
    fences = list(_fences(lines))
    # A verdict beside the fences is the judge's, so that one in a fence is quoted.
    fenced = {place for start, end in fences for place in range(start, end + 1)}
    decided = bool(fences) and any(
        is_verdict(lines[place]) for place in written if place not in fenced
    )
    above, place = "", 0  # the last line that is not blank before a fence, and where the search is
    for start, end in fences:
        above = next((line for line in reversed(lines[place:start]) if line.strip()), above)
        place = min(end + 1, len(lines))
        content = "\n".join(lines[start + 1 : end]).strip()
        whole = start == written[0] and written[-1] <= end
        dressed = content[:1] in ("{", "[") or is_verdict(content)
        kept = dressed and not is_attribution(above) and not decided
        if not (whole or kept):
            lines[start + 1 : end] = map(_filled, lines[start + 1 : end])
        lines[start] = " " * len(lines[start])
        if end < place:
            lines[end] = " " * len(lines[end])
    return "\n".join(_filled(line) if _BLOCK_QUOTE.match(line) else line for line in lines)


def _tagged_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where texts stand that the prompt shows between two tags, those of peers included."""
    opened: dict[str, int] = {}
    end = 0
    for tag in _prompt_tag().finditer(text):
        name = (tag["name"] or tag["peer"] or tag["zh"]).casefold()
        if tag["close"] or (tag["edge"] or "").casefold() == "end" or tag["zh_edge"] == "结束":
            start = opened.pop(name, None)
            if start is not None and start >= end:
                end = tag.end()
                yield start, end
        else:
            opened.setdefault(name, tag.start())


def _fences(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The first and the last line of each fence; one that is never closed goes to the end."""
    start, mark = None, ""
    for place, line in enumerate(lines):
        match = _FENCE.match(line)
        if start is None and match:
            start, mark = place, match[1]
        elif (
            start is not None
            and match
            and match[1].startswith(mark)
            and not match[2].strip(_MARKS_OF_CLOSING)
        ):
            yield start, place
            start = None
    if start is not None:
        yield start, len(lines)


def _mask_indented(text: str) -> str:
    """Without lines that Markdown shows as code: four blanks more than all, and no list item."""
    lines = text.expandtabs(4).split("\n")
    widths = [len(line) - len(line.lstrip(" ")) for line in lines if line.strip()]
    deep = min(widths, default=0) + 4
    above = ""
    for place, line in enumerate(lines):
        if not line.strip():
            continue
        indented = line.startswith(" " * deep) and not _LIST_ITEM.match(line)
        if indented and not is_heading_of_verdict(above):
            lines[place] = _filled(line)
        else:
            above = line
    return "\n".join(lines)


# ---------------------------------------------------------------- quotations inside lines


def _mask_spans(text: str, is_verdict: Callable[[str], bool]) -> str:
    """Without quotations, code and comments in lines; what is nothing but a verdict is marked."""
    if is_verdict(bare := text.strip("\"“”'‘’ \n")):
        return bare  # a reply that is a quoted verdict and nothing else quotes no one

    def mask(span: re.Match[str]) -> str:
        content = span["fence"] or span["code"] or span[0][1:-1]
        dressed = span.lastgroup != "dropped" and "\n" not in content and is_verdict(content)
        if not dressed and ":" in content and not text[span.end() :].strip(" .。*\n"):
            # As prompts show it, at the end: "My final verdict is that A is better: [[A]]".
            lead = text[text.rfind("\n", 0, span.start()) + 1 : span.start()].rstrip(" *_")
            is_headed = lead[-1:] in ("", ":") and not is_attribution(lead)
            dressed = is_headed and is_verdict(content.rpartition(":")[2])
        return f"{_DRESS_OPEN}{content.strip()}{_DRESS_CLOSE}" if dressed else _fill(span)

    text = _SPAN.sub(mask, text)
    return _with_filled(text, _quoted_lines(text))


def _fill(span: re.Match[str]) -> str:
    return _filled(span[0])


def _fill_between_marks(span: re.Match[str]) -> str:
    return span[0][0] + _filled(span[0][1:-1]) + span[0][-1]


def _quoted_lines(text: str) -> Iterator[tuple[int, int]]:
    """Straight quotations over several lines, whose marks are odd on their lines."""
    start = None
    for mark in _ODD_QUOTE.finditer(text):
        if mark["open"] is not None:
            start = mark.start()
        elif start is not None:
            if mark.end() - start <= _LONGEST_QUOTATION:
                yield start, mark.end()
            start = None


def _without_markup(line: str) -> str:
    """A line without emphasis, headings' marks and the commands of LaTeX around a verdict."""
    return _BLANKS.sub(" ", _MARKUP.sub("", line)).strip()


# ---------------------------------------------------------------- attributions and the prompt


def _attributed(lines: Sequence[str]) -> list[int]:
    """The lines behind one that introduces the words of somebody else.

    That is a paragraph, or the list at its beginning; behind a heading that only names an answer,
    and behind a line that is not finished, it is the next line.
    """
    places: list[int] = []
    quoting = listed = False
    above = ""
    for place, line in enumerate(lines):
        item = bool(_LIST_ITEM.match(line))
        if not line.strip(FILLER + " "):
            quoting = False
            above = "" if FILLER in line else above  # a block quotation is what it introduced
            continue
        listed = listed or item
        quoting = quoting and (item or not listed)
        introduced = not quoting and is_attribution(above)
        follows = introduced or (place > 0 and lines[place - 1] == above and _is_unfinished(above))
        if introduced:
            quoting, listed = not _ANSWER_HEADING.match(above), item
        places += [place] if quoting or follows else []
        above = "" if quoting or follows else line
    return places


def is_attribution(line: str) -> bool:
    """Whether the line introduces the words of somebody else: "Answer A ends with:"."""
    line = line[-_LONGEST_LEAD:].rstrip(" *_`")
    if not line.endswith(":"):
        return False
    line = _without_markup(line)
    introduces = _patterns().attribution.search(line) or _ANSWER_HEADING.match(line)
    return bool(introduces) and not is_heading_of_verdict(line)


def _is_unfinished(line: str) -> bool:
    """Whether the words of somebody else are the rest of the sentence: "It has the line"."""
    if not line.endswith(_PASSAGES) or _LIST_ITEM.match(line):
        return False
    return bool(_patterns().unfinished.search(line[-_LONGEST_LEAD:]))


def is_heading_of_verdict(line: str) -> bool:
    """Whether the line ends by announcing the judge's own verdict: "so my verdict is:"."""
    tail = re.split(r"[,.;。]", _without_markup(line)[-_LONGEST_LEAD:].rstrip(" :."))[-1]
    patterns = _patterns()
    return bool(patterns.heading.search(tail)) and not patterns.report.search(tail)


def is_instruction(line: str) -> bool:
    """Whether the line says how a verdict is to be written, as the closing of a prompt does."""
    return bool(_patterns().instruction.search(line.strip()))


def _without_prompt(
    text: str, is_verdict: Callable[[str], bool], prompt_forms: Sequence[str]
) -> str:
    """Without lines of the prompt, unless a single one of them is nothing but a verdict."""
    forms = [
        "\n" + _collapsed(plain_judgement(form)) + "\n" for form in prompt_forms if form.strip()
    ]
    if not forms:
        return text
    lines = text.split("\n")
    run: list[int] = []
    repeated = ""
    for place, line in enumerate([*lines, ""]):
        plain = _collapsed(line)
        if not plain and place < len(lines):
            continue
        longer = f"{repeated}\n{plain}"
        if plain and any(longer in form for form in forms):
            run, repeated = [*run, place], longer
            continue
        _drop_run(lines, run, is_verdict)
        starts = plain and any(f"\n{plain}" in form for form in forms)
        run, repeated = ([place], f"\n{plain}") if starts else ([], "")
        if plain and not starts and not is_verdict(line) and any(plain in form for form in forms):
            lines[place] = " " * len(line)
    return "\n".join(lines)


def _drop_run(lines: list[str], run: Sequence[int], is_verdict: Callable[[str], bool]) -> None:
    if len(run) > 1 or (run and not is_verdict(lines[run[0]])):
        for place in run:
            lines[place] = " " * len(lines[place])


def _collapsed(text: str) -> str:
    """Each line without markup and with single blanks, blank lines left out."""
    lines = (" ".join(_without_markup(line).split()) for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


# ---------------------------------------------------------------- whose verdict it is


def lead_of(line: str, start: int) -> str:
    """What stands before `start` in its sentence."""
    lead = line[max(0, start - _LONGEST_LEAD) : start]
    return _SENTENCE_END.split(lead)[-1]


def sentences_of(line: str) -> Iterator[str]:
    """The sentences of a line."""
    start = 0
    for end in _SENTENCE_END.finditer(line):
        yield line[start : end.end()]
        start = end.end()
    if line[start:].strip():
        yield line[start:]


def is_own(lead: str, *, first_person: bool = False) -> bool:
    """Whether what follows the lead is stated by the judge, and not supposed, denied or reported.

    `first_person`: what follows names the judge ("my verdict"), so that a report stands nearer.
    """
    patterns = _patterns()
    since = since_turn(patterns.harmless.sub(" ", lead))
    clause = re.split(r"[,:]", since)[-1]
    if any(one.search(since) for one in (patterns.condition, patterns.provisional, patterns.other)):
        return False
    if patterns.report.search(clause if first_person else since):
        return False
    return not (patterns.negation.search(clause) or patterns.example.search(since))


def since_turn(lead: str) -> str:
    """What of a lead follows the last word that turns from what was said before: "but", 因此."""
    return _patterns().reset.split(lead)[-1]


def is_doubted(rest: str) -> bool:
    """Whether what follows a verdict takes it back: "if ...", "would be wrong", "?"."""
    return bool(_patterns().doubt.match(rest))


# ---------------------------------------------------------------- patterns

_LOOKALIKES = str.maketrans(
    {"【": "[", "】": "]", "≫": ">>", "≪": "<<", "〉": ">", "〈": "<", "\r": "\n", "\u2028": "\n"}
    | {"−": "-", "ı": "i", "İ": "I"}  # signs and letters that patterns take for these
    | dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\ufe0f" + FILLER + DRESS)
    | dict(
        zip(
            "選擇終後結論斷決應兩個為與項較對勝優評審獲贏負沒無輸認說寫傾總綜體",
            "选择终后结论断决应两个为与项较对胜优评审获赢负没无输认说写倾总综体",
            strict=True,
        )
    )
)
_LONGEST_QUOTATION = 4000
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^`\n]*)$")
_MARKS_OF_CLOSING = " \t\"'”’.,;:)]。"
_BLOCK_QUOTE = re.compile(r" {0,3}>")
_LIST_ITEM = re.compile(r"\s*(?:[-*+•]\s|\d{1,2}[.)、]\s?)")
# Each opening mark ends the search of the one before it, so that many of them stay cheap.
_SPAN = re.compile(
    r"```(?P<fence>[^`\n]+)```|`(?P<code>[^`\n]+)`|"
    r'"[^"\n]+"|“[^“”]{1,4000}”|「[^「」]{1,4000}」|『[^『』]{1,4000}』|‘[^‘’\n]{1,4000}’|'
    r"(?<!\w)'[^'\n]+'(?!\w)|"
    r"(?P<dropped>~~[^~\n]+~~|<!--(?:(?!<!--|-->)[\s\S]){0,2000}-->)"
)
_ODD_QUOTE = re.compile(
    r'(?P<open>(?:(?<=[\s:(,。])|^)"(?=\S))|(?<=\S)"(?=[\s.,;:)!?。]|$)', re.MULTILINE
)
_ANSWER_HEADING = re.compile(
    rf"(?:the\s)?(?:{SIDE_NOUN})s?\s?[#(\[]?\s?[AB12甲乙][)\]]?(?:'s\s\w{{1,12}}|的\w{{1,6}})?:$",
    re.IGNORECASE,
)
_MARKUP = re.compile(
    r"\*+|(?<!\w)_+|_+(?!\w)|`+|^\s*#+\s*|\$|"
    r"\\(?:boxed|fbox|text(?:bf|rm|tt)?|math(?:bf|rm|tt|bb))\s*(?=\{)"
)
_BLANKS = re.compile(r"[ \t]{2,}")
_SENTENCE_END = re.compile(r"(?<![\s(][A-Za-z0-9])[.!?](?=\s|$)|[;。!?]|\n")


@cache  # at first use: to compile patterns takes longer than to import the modules
def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern, in whatever case."""
    return re.compile(pattern, re.IGNORECASE)


@cache
def _prompt_tag() -> re.Pattern[str]:
    """The tags of our own prompts, and the layouts of FastChat, Arena-Hard and OpenCompass."""
    return compiled(
        r"<(?P<close>/)?(?P<name>(?:history|question|reference|guidance|answer)"
        r"(?:_(?:[ab12]|one|two))?(?:_\d{1,3})?"
        r"(?:_[0-9a-f]{6,64}|(?<=_[ab12])|(?<=_one)|(?<=_two)))>|"
        r"[<\[]\|?\s?The\s(?P<edge>Start|End)\sof\s(?P<peer>[^\]|>\n]{1,60})\|?[\]>]|"
        r"\[(?P<zh>[^\[\]\n]{1,20}?)(?P<zh_edge>开始|结束)\]"
    )


@dataclass(frozen=True, slots=True)
class _Patterns:
    """What leads and lines are searched for."""

    attribution: re.Pattern[str]
    unfinished: re.Pattern[str]
    heading: re.Pattern[str]
    instruction: re.Pattern[str]
    harmless: re.Pattern[str]
    reset: re.Pattern[str]
    condition: re.Pattern[str]
    provisional: re.Pattern[str]
    other: re.Pattern[str]
    report: re.Pattern[str]
    negation: re.Pattern[str]
    example: re.Pattern[str]
    doubt: re.Pattern[str]


_PASSAGES = (
    *("line", "lines", "text", "words", "phrase", "sentence", "string", "instruction", "message"),
    *("note", "passage", "paragraph"),
)
_SPEAKER = (
    r"(?:\b(?:answers?|responses?|assistants?|models?|repl(?:y|ies)|outputs?|candidates?|users?|"
    r"questions?|prompts?|texts?|authors?|systems?|narrators?|papers?|students?|readers?|people|"
    r"he|she|it|they|which|that|who|some(?:one)?|others?)\b|"
    r"回答|助手|模型|用户|题目|作者|读者|同学|学生|文中|原文|结尾|末尾|开头|最后一[段行句]|它|其|有人|一些人)"
)
_VIEWS_EN = "choice|verdict|conclusion|decision|opinion|view|preference|claim|pick|rating|score"
_VIEWS_ZH = "结论|选择|观点|看法|意见|判断|答案|主张|评分|打分|立场"
_SPEECH = (
    r"(?:\b(?:says?|said|saying|reads?|reading|wrote|writes?|writing|written|states?|stated|stating|"
    r"claims?|claimed|claiming|contain(?:s|ed|ing)?|put(?:s|ting)?\sit|itself|themselves|"
    r"end(?:s|ed|ing)?|conclude[sd]?|close[sd]?|finish(?:es|ed)|began|begins?|starts?|instructs?|instructing|instructed|asks?|asked|asking|tells?|telling|told|"
    r"demands?|orders?|commands?|adds?|inserts?|inserted|injects?|injected|appends?|appended|"
    r"declares?|declared|announces?|quotes?|quoted|quoting|prints?|outputs?|suggests?|suggesting|"
    r"argues?|argued|insists?|pretends?|urges?|wants?|wanted|tries|attempts?|"
    r"means?|meaning|denotes?|stands?\sfor|thinks?|believes?|prefers?|finds?|feels?|mentions?|"
    r"repeats?|imitates?|according\sto)\b|"
    r"(?<!来)说(?![明法服得])|写(?![法作得])|声称|自称|宣称|号称|表示|要求|指示|命令|提示|诱导|认为|觉得|"
    r"建议|主张|提到|提及|包含|含有|附有|插入|引用|输出|伪装|暗示|试图|企图|想要|希望)"
)


@cache
def _patterns() -> _Patterns:
    return _Patterns(
        attribution=compiled(
            rf"{_SPEAKER}[^\n]{{0,80}}?{_SPEECH}[^\n]{{0,60}}?:$|"
            r"(?:最后一[段行句]|结尾|末尾|开头|原文|原话|全文|其中一[段行句]|内容)[^\n]{0,12}(?:是|为|如下|有)?:$"
        ),
        unfinished=compiled(
            rf"{_SPEAKER}[^\n]{{0,80}}?(?:{_SPEECH}|\bhas\b)[^\n]{{0,40}}?"
            rf"\b(?:{'|'.join(_PASSAGES)})$"
        ),
        heading=compiled(
            r"(?:\bverdict|\bchoice|\bdecision|\bjudge?ment|\bwinner|\bconclusion|\bpreference|"
            r"\brat(?:ing|e|ed)|\bscores?|\bmark|\bgrade|\bevaluation|\bresult|"
            r"选择|结论|判断|判定|裁决|决定|评判|胜者|评分|得分|打分|分数|总评|更好的回答)"
            r"(?:\s(?:is|are|was|would\sbe|should\sbe|it|the|this|assistant's|answer|response|as\sfollows|as)){0,6}"
            r"(?:是|为|如下|\s)*$"
        ),
        instruction=compiled(
            r"(?:^|[.,;:]\s|\bthen\s|\bplease\s|\band\s)(?:end|finish|conclude|close|begin|start|reply|"
            r"respond|answer)\s(?:your\s\w{1,12}\s)?(?:only\s)?with\b|"
            r"\b(?:exactly\s)?one\sof(?:\s(?:these|the\sfollowing)\b[^.\n]{0,40})?:|"
            r"(?:^|[.,;:]\s|\bthen\s|\bplease\s)(?:write|give|state|output|print)\s"
            r"(?:your|only|exactly|one|the\s(?:verdict|decision|choice|mark|rating|reasons?))\b|"
            r"\bon\sa\s(?:last\s|separate\s|new\s)?line\sof\sits\sown\b|\blast\sline\s(?:holds|must|should)|"
            r"\bno\s(?:decision|mark)\scould\sbe\sread|\band\snothing\selse\b|\bin\sdouble\sbrackets\b|"
            r"[二三四五六]选一|以下之一|其中之一|单独一行|单独写出|最后一行(?:只|单独|写)|请只|只回复|"
            r"双方括号|先用几句|没有读到|(?:请|然后|并)在?(?:最后|末尾|结尾)[^\n]{0,8}写"
        ),
        harmless=compiled(
            r"\bi(?:'d|\swould|\smust|\scan|\swill|\shave\sto)?\s(?:say|state|argue|believe|think|find|"
            r"conclude|declare|prefer|feel|want)\b|\b(?:even|as)\s(?:if|though)\b|"
            r"^output\s?:|\bno\s(?:doubt|question)\b|\bwithout\s(?:a\s)?(?:doubt|question)\b|\bnot\s(?:only|just)\b|"
            r"\bit\s(?:is|must\sbe)\s(?:said|concluded)\b|\bends?\sup\b|\bin\sthe\send\b|"
            r"(?:我们?|本人|笔者|评审)(?:会|更|仍|也|还是)?(?:认为|觉得|主张|建议|希望)|"
            r"可以说|应当?说|不得不说|换句话说|毫无疑问|毫不犹豫地?|不难看出|不仅|不但|不过|不同|"
            r"不错|不少|不足|不妨|非常|未来|即便|即使"
        ),
        reset=compiled(
            r"\b(?:but|however|yet|overall|therefore|thus|hence|so|nevertheless|nonetheless|instead|"
            r"ultimately|finally|on\sbalance|in\sconclusion|consequently|accordingly)\b,?|"
            r"但是?|然而|可是|不过|综合(?:来看|考虑|以上)?|综上(?:所述)?|总的来说|总体(?:来看|而言|上)?|总之|"
            r"因此|因而|所以|于是|最终"
        ),
        condition=compiled(
            r"\b(?:if|unless|whether|suppos(?:e|ing|ed)|assum(?:e|ing)|imagine|provided\sthat|"
            r"hypothetically|otherwise)\b|\b(?:answer|response|reply|it|user|reader|one|people|they|this)"
            r"\swould\b(?!\sbe\s(?:rated|scored|given|graded))|(?:^|,\s)(?:were|had|should)\b|\bwould\shave\b|\bcould\shave\b|"
            r"\b(?:only|just|alone|solely)\s(?:by|on|for)\b|\b(?:alone|in\sterms\sof|with\srespect\sto|"
            r"as\sfar\sas|when\sit\scomes\sto)\b|"
            r"如果|假如|假设|假定|假使|若(?!干)|倘若|倘使|要是|除非|的话|只看|单看|光看|仅看|仅就|仅从|单从|仅凭|"
            r"是否|万一|本可|本应|本该|本来"
        ),
        provisional=compiled(
            r"\b(?:initial(?:ly)?|at\sfirst|first\s(?:impression|sight|glance|pass|look|reading)|"
            r"preliminary|provisional(?:ly)?|tentative(?:ly)?|tempted|inclined\sat|original(?:ly)?|"
            r"previous(?:ly)?|earlier|might|may|could|perhaps|maybe|possibly|i\sconsidered|"
            r"leaned|leaning|thought|expected)\b|"
            r"起初|最初|一开始|开始时|原本|原先|曾|初步|初看|乍看|乍一看|粗看|第一印象|第一眼|暂定|暂时|可能|或许|"
            r"也许|大概|考虑过|想过|犹豫"
        ),
        other=compiled(
            rf"(?<!我)(?<!我们)(?<!最终)(?<!最后)(?<!综合)的(?:最终|最后)?(?:{_VIEWS_ZH})\s?[是为:]|"
            rf"\b(?!my|our|judge)\w+'s\s(?:own\s|final\s)?(?:{_VIEWS_EN})\s(?:is|was|would\sbe)\b|"
            rf"\b(?:{SIDE_NOUN})\s[AB12]'s\s(?:answer|response|reply|text|output)(?:\s(?:is|was))?\s?:|"
            rf"(?:{SIDE_NOUN})\s?[AB12甲乙]\s?的(?:内容|全文|原文|结尾|末尾|回复)(?:是|为|:)|"
            rf"\b(?:its|their|his|her|your)\s(?:own\s|final\s)?(?:{_VIEWS_EN})\b"
        ),
        report=compiled(_SPEECH),
        negation=compiled(
            r"\b(?:not|never|cannot|hardly|neither|nor|no|refuse[sd]?|avoid|reject\w{0,4}|against|"
            r"rather\sthan|instead\sof|wrong\sto|unable|fail(?:s|ed)?\sto)\b|n't\b|"
            r"不|没有?|未|无法|并非|非|别|勿|拒绝|否认|难以"
        ),
        example=compiled(
            r"(?:\b(?:like\sthis|for\s(?:example|instance)|e\.g|such\sas|in\sthe\s(?:form|format)|"
            r"one\sof|either|(?:end|reply|respond|answer|finish)\swith)\b|"
            r"例如|比如|譬如|形如|诸如|格式[是为]?|之一|请(?:只|回|写|输)[^,。]{0,6})"
            r"[^,.;。]{0,16}$|\b(?:write|output)\s?$|(?:好|差|坏)写$|[二三四五六]选一|\bor\s$|或者?\s?$"
        ),
        doubt=compiled(
            r"[\s)\]}\"'”’」,]{0,6}(?:(?:if|unless|provided|assuming|when|were|would|could|might|should|"
            r"means|stands\sfor|denotes|only\sif|or\snot)\b|(?:is|was|are|were)\s(?:not|wrong|incorrect|"
            r"my\s(?:first|initial))\b|isn't|的话|吗|\?|表示|代表|意味)"
        ),
    )
