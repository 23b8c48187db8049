"""What sets of questions on pictures compute of a written answer, in 0..1, higher is better.

A row that names one of `VISUAL_METRICS` as its `metric` has it; no other row does.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from evalui.scoring.texts.metrics import normalised_words

_ANLS_THRESHOLD = 0.5
_MAX_CHANGE = 0.05  # of a number, relative to the reference
_AGREEING = 3  # other people whose answer it is, for a reply to be wholly right
_PUNCTUATION = ';/[]"{}()=+\\_-><@`,?!'
_COMMA_IN_NUMBER = re.compile(r"\d,\d")
_LONE_POINT = re.compile(r"(?<!\d)\.(?!\d)")
_WRITTEN_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_VQA_WORDS: Mapping[str, str] = {
    **{word: str(number) for number, word in enumerate((*_WRITTEN_NUMBERS, "ten"))},
    **dict.fromkeys(("a", "an", "the"), ""),
    "none": "0",
}
# The contractions that the evaluation of VQA knows; each is found with one apostrophe left out.
_CONTRACTIONS = """
    ain't aren't can't could've couldn't couldn't've didn't doesn't don't hadn't hadn't've hasn't
    haven't he'd he'd've he's how'd how'll how's isn't it'd it'd've it'll ma'am mightn't
    mightn't've might've mustn't must've needn't not've o'clock oughtn't 'ow's'at shan't she'd've
    should've shouldn't shouldn't've somebody'd somebody'd've somebody'll somebody's someone'd
    someone'd've someone'll someone's something'd something'd've something'll that's there'd
    there'd've there're there's they'd they'd've they'll they're they've 'twas wasn't we'd've we've
    weren't what'll what're what's what've when's where'd where's where've who'd who'd've who'll
    who's who've why'll why're why's won't would've wouldn't wouldn't've y'all y'all'll y'all'd've
    you'd you'd've you'll you're you've
"""
_FULL_CONTRACTION = {
    word[:at] + word[at + 1 :]: word
    for word in _CONTRACTIONS.split()
    for at, letter in enumerate(word)
    if letter == "'"
}


def vqa_accuracy(reply: str, references: Sequence[str]) -> float | None:
    """The accuracy of the VQA challenge: is it what at least 3 of the other people answered?

    Mean over the people of min(1, answers of the others that equal the reply / 3), as Antol et al.
    (arXiv 1505.00468) and visualqa.org's evaluation compute it, which compares after normalising
    (`normalised_for_vqa`). None below 4 references, with which no reply could reach 1.
    """
    if len(references) <= _AGREEING:
        return None
    own = normalised_for_vqa(reply)
    equal = [normalised_for_vqa(each) == own for each in references]
    others = sum(min(_AGREEING, sum(equal) - each) for each in equal)
    return others / (_AGREEING * len(references))


def anls(reply: str, references: Sequence[str]) -> float:
    """The average normalised Levenshtein similarity of one reply (Biten et al., arXiv 1905.13648).

    1 - edits / characters of the longer text, of the closest reference, and 0 below a half. Edits
    are counted without case and further blanks, characters in capitals and with them, as the
    evaluation of DocVQA and InfographicVQA (rrc.cvc.uab.es) counts.
    """
    similarity = max(_similarity(reply, each) for each in references)
    return similarity if similarity >= _ANLS_THRESHOLD else 0.0


def relaxed_accuracy(reply: str, references: Sequence[str]) -> float:
    """1 if the reply is within 5 % of a number, or else the same text without case (ChartQA).

    Masry et al. (arXiv 2203.10244, section 5.1), after Methani et al. A per cent sign divides by
    100; numbers have no commas; 0 must be met as a text.
    """
    return float(any(_is_close(reply.strip(), each.strip()) for each in references))


def contains_any(reply: str, references: Sequence[str]) -> float:
    """1 if the reply contains a reference, without case: OCRBench's (Liu et al., 2305.07895)."""
    own = _in_a_line(reply)
    return float(any(_in_a_line(each) in own for each in references))


def contains_each(reply: str, references: Sequence[str]) -> float:
    """The share of the references whose normalised words stand in the reply, in order (VCR)."""
    words = normalised_words(reply)
    return sum(_holds(words, normalised_words(each)) for each in references) / len(references)


# By the name that a row gives as its `metric`.
VISUAL_METRICS: Mapping[str, Callable[[str, Sequence[str]], float | None]] = {
    "vqa_accuracy": vqa_accuracy,
    "anls": anls,
    "relaxed_accuracy": relaxed_accuracy,
    "contains_any": contains_any,
    "contains_each": contains_each,
}
VISUAL_DOCS = {
    "vqa_accuracy": "mean over answers: agreement with the people asked, as in the VQA challenge",
    "anls": "mean over answers: normalised Levenshtein similarity, 0 below a half",
    "relaxed_accuracy": "mean over answers: 1 if within 5 % of a number or the same text, else 0",
    "contains_any": "mean over answers: 1 if a reference stands in the reply, else 0",
    "contains_each": "mean over answers: share of the references that stand in the reply",
}
RIGHT_OR_WRONG = ("relaxed_accuracy", "contains_any")


def normalised_for_vqa(text: str) -> str:
    """A text as the evaluation of VQA compares it.

    Without punctuation, which becomes a blank where it stands between letters; without points
    beside letters, case and articles; with digits for zero to ten, and whole contractions.
    """
    text = " ".join(re.split(r"[\n\t]", text)).strip()
    plain, has_commas = text, _COMMA_IN_NUMBER.search(text) is not None
    for mark in _PUNCTUATION:
        stands_apart = f"{mark} " in text or f" {mark}" in text
        plain = plain.replace(mark, "" if stands_apart or has_commas else " ")
    words = (_VQA_WORDS.get(word, word) for word in _LONE_POINT.sub("", plain).lower().split())
    return " ".join(_FULL_CONTRACTION.get(word, word) for word in words if word)


def _similarity(reply: str, reference: str) -> float:
    longer = max(1, len(reply.upper()), len(reference.upper()))  # the capitals of ß are two
    first, second = (" ".join(text.lower().split()) for text in (reply, reference))
    # The edits are at least so many as one text is longer: a whole essay is not compared.
    if abs(len(first) - len(second)) > longer * (1 - _ANLS_THRESHOLD):
        return 0.0
    return 1 - _edits(first, second) / longer


def _edits(first: str, second: str) -> int:
    """The Levenshtein distance of two texts.

    A column of the matrix is two numbers, whose bits are where it rises and where it falls (Myers,
    J. ACM 46 (3), 1999, in the form and with the names of Hyyrö, 2003).
    """
    if not first:
        return len(second)
    places: defaultdict[str, int] = defaultdict(int)
    for at, letter in enumerate(first):
        places[letter] |= 1 << at
    whole, last = (1 << len(first)) - 1, 1 << (len(first) - 1)
    vp, vn, edits = whole, 0, len(first)
    for letter in second:
        equal = places.get(letter, 0)
        d0 = (((equal & vp) + vp) ^ vp) | equal | vn
        hp, hn = vn | (whole & ~(d0 | vp)), d0 & vp
        edits += bool(hp & last) - bool(hn & last)
        hp, hn = hp << 1 | 1, hn << 1
        vp, vn = whole & (hn | ~(d0 | hp)), hp & d0 & whole
    return edits


def _in_a_line(text: str) -> str:
    return text.lower().strip().replace("\n", " ")


def _is_close(reply: str, reference: str) -> bool:
    said, wanted = _number(reply), _number(reference)
    if said is not None and wanted:
        return abs(said - wanted) / abs(wanted) <= _MAX_CHANGE
    return reply.lower() == reference.lower()


def _number(text: str) -> float | None:
    try:
        return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        return None


def _holds(words: Sequence[str], part: Sequence[str]) -> bool:
    starts = range(len(words) - len(part) + 1)
    return any(words[at : at + len(part)] == part for at in starts)
