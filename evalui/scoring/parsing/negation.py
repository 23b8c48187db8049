"""What keeps a sentence from saying what its words say: negation, a condition, second thoughts.

All patterns expect sentences in lower case whose mentions are marked (`option_mentions.py`). The
stems of a pattern are looked for first: most sentences hold none, and a search takes much longer.
"""

import re

from evalui.scoring.parsing.patterns import Stems, either

# ---------------------------------------------------------------- negation

_CLAUSE_BEGINS = re.compile(
    r"[,;:—(]|\b(?:but|yet|so|therefore|hence|thus|instead|rather|though|and)\b|"
    "但|而|所以|因此|因而|故|于是"
)
_NEGATION = re.compile(
    r"n't\b|\b"
    + either("""
    not | never | hardly | scarcely | barely | rarely | seldom | unlikely | least | worst
    weakest
    poorest | refuse | disagree | deny | oppose | nothing | none | nobody | no one | neither | nor
    by no means | surprised | no way | isnt | arent | wasnt | cant | dont | doesnt | didnt | wont
    no (?:evidence|reason|support|indication|sign|hint|proof|basis) | wouldnt | couldnt
    (?<!no )(?<!without )doubt
    """)
    + r"\b|"
    + either("""
    不(?!难|得不|仅|但|过|管|论|妨|禁|言|用说|如|错|离十|犹豫|出) | 未必 | 并非 | 绝非 | 决非
    从未 | 无法 | 难以
    没有?(?!错|问题) | 别(?!的|人) | 勿
    """)
)
_NEGATION_STEMS = Stems(
    (
        "arent",
        "barely",
        "basis",
        "by no means",
        "cant",
        "couldnt",
        "deny",
        "didnt",
        "disagree",
        "doesnt",
        "dont",
        "doubt",
        "evidence",
        "hardly",
        "hint",
        "indication",
        "isnt",
        "least",
        "n't",
        "neither",
        "never",
        "no one",
        "no way",
        "nobody",
        "none",
        "nor",
        "not",
        "oppose",
        "poorest",
        "proof",
        "rarely",
        "reason",
        "refuse",
        "scarcely",
        "seldom",
        "sign",
        "support",
        "surprised",
        "unlikely",
        "wasnt",
        "weakest",
        "wont",
        "worst",
        "wouldnt",
    ),
    (
        "不",
        "从未",
        "决非",
        "别",
        "勿",
        "并非",
        "无法",
        "未必",
        "没",
        "绝非",
        "难以",
    ),
)
_ANY_NEGATION = re.compile(
    r"n't\b|\b"
    + either("""
    not | never | no | neither | nor | cannot | without | unlike | hardly | nothing | disagree
    deny
    isnt | arent | wasnt | cant | dont | doesnt | wont
    """)
    + r"\b|不(?!久|断|锈|丹)|没|非(?![洲常])|无(?!论|锡|线)|未(?!来)"
)
# "the one that is not true is B" names B all the same.
_NAMES_WRONG_ONE = re.compile(
    r"的(?:选?项|一项|一个|说法|描述|答案)?(?:应该?)?(?:是|为|选)?$|"
    r"\b(?:that|which|one)\b.*\bis\W*$"
)


def is_negated(lead: str) -> bool:
    """Whether the clause that leads to a mention is negated: "I don't think it's"."""
    if not _NEGATION_STEMS.may_be_in(lead) or not _NEGATION.search(lead):
        return False
    clause = _last_clause(lead)
    return bool(_NEGATION.search(clause)) and not _NAMES_WRONG_ONE.search(clause)


def holds_negation(lead: str) -> bool:
    """Whether any word of the clause before a mention negates: "it has nothing to do with"."""
    return bool(_ANY_NEGATION.search(_last_clause(lead)))


def _last_clause(lead: str) -> str:
    core = lead.rstrip(" :\"'“‘([{")
    return core[max((cut.end() for cut in _CLAUSE_BEGINS.finditer(core)), default=0) :]


# ---------------------------------------------------------------- conditions, and what others think

OPPOSED = re.compile(r"\b(?:but|however|yet)\b|但|不过|可是|然而")
_SUPPOSED = re.compile(
    either(
        r"\bif\b(?! (?:i|we|you|one) (?:had|have|were|must|need|really|am|are)\b)"
        r"(?! (?:forced|pressed|pushed|i'm|anything)\b)[^,;:]*",
        r"\b(?:unless|(?<!i )suppose|supposing|assuming|whether|in case|otherwise)\b[^,;:]*",
        r"\b(?:although|though|even (?:if|though)|while|despite|albeit)\b[^,;:]*",
        r"\b"
        + either(r"""
        people | students? | many | some | others | they | someone | beginners? | trap
        distractor
        tempting | (?<!my )mistake | mistakenly | misconception
        (?:you|one) (?:might|may|could|would)
        might (?:think|seem|say) | at first | initially | originally | (?:it's|is) said
        supposedly
        allegedly | (?:wrong|mistake|incorrect|unwise|error|silly|tempting) to | previous
        previously
        (?<=\bi )first (?:put|wrote|said|chose|picked) | first (?:thought|considered) | earlier
        was going to | almost | nearly | (?:my|the) (?:\w+ )?answer was
        """)
        + r"\b,?[^,;]{0,60}",
        either("""
        虽然? | 尽管 | 即便 | 固然 | 如果 | 假如 | 假设 | 若 | 倘若 | 要是 | 与其 | 是否 | 是不是
        能否 | 为什么 | 为何
        除非 | 难道 | 假定 | 即使 | 怎么会 | 怎么可能 | 谁说 | 岂
        """)
        + "[^,;:]*",
        either("""
        有人 | 据说 | 听说 | 有的人 | 很多人 | 不少人 | 许多人 | 有些人 | 大家 | 他们 | 同学
        学生 | 考生 | 别人
        误[选认以将] | 容易 | 乍一?看 | 初看 | 起初 | 一开始 | 最初 | 刚开始 | 本来 | 原本
        原以为 | 前面 | 之前 | 先前
        干扰项 | 陷阱 | 你可能 | 你也许 | 可能会
        """)
        + "[^,;。]{0,16}",
    )
    + "$"
)

_SUPPOSED_STEMS = Stems(
    (
        " said",
        "albeit",
        "allegedly",
        "almost",
        "answer was",
        "assuming",
        "at first",
        "beginner",
        "considered",
        "despite",
        "distractor",
        "earlier",
        "error",
        "even ",
        "first ",
        "if",
        "in case",
        "incorrect",
        "initially",
        "many",
        "might ",
        "misconception",
        "mistake",
        "nearly",
        "one",
        "originally",
        "others",
        "otherwise",
        "people",
        "previous",
        "silly",
        "some",
        "student",
        "suppose",
        "supposing",
        "tempting",
        "they",
        "though",
        "trap",
        "unless",
        "unwise",
        "was going to",
        "whether",
        "while",
        "wrong",
        "you",
    ),
    (
        "一开始",
        "不少人",
        "与其",
        "为什么",
        "为何",
        "之前",
        "乍",
        "他们",
        "你也许",
        "你可能",
        "假如",
        "假定",
        "假设",
        "先前",
        "刚开始",
        "初看",
        "别人",
        "前面",
        "即使",
        "即便",
        "原以为",
        "原本",
        "可能会",
        "同学",
        "听说",
        "固然",
        "大家",
        "如果",
        "学生",
        "容易",
        "尽管",
        "岂",
        "干扰项",
        "很多人",
        "怎么会",
        "怎么可能",
        "据说",
        "是不是",
        "是否",
        "最初",
        "有些人",
        "有人",
        "有的人",
        "本来",
        "考生",
        "能否",
        "若",
        "虽",
        "要是",
        "许多人",
        "误",
        "谁说",
        "起初",
        "除非",
        "陷阱",
        "难道",
    ),
)


def is_supposed(lead: str) -> bool:
    """Whether what follows is a condition, or what others think: "students often choose"."""
    return _SUPPOSED_STEMS.may_be_in(lead) and bool(_SUPPOSED.search(OPPOSED.split(lead)[-1]))


# ---------------------------------------------------------------- refusals and second thoughts

_REFUSES = re.compile(
    r"\b(?:don't know|do not know|not sure|cannot|can't|unable|sorry|unclear)\b|"
    "无法|不知道|不确定|不清楚|抱歉|不能",
    re.IGNORECASE,
)
_PROVISIONAL = re.compile(
    r"\b(?:first|initial|preliminary|tentative|provisional)(?: \w+)? "
    r"(?:guess|thought|instinct|impression|reaction|idea|answer|choice|pick)\b|"
    "第一(?:反应|印象|感觉|直觉)|初步",
    re.IGNORECASE,
)


def refuses(text: str) -> bool:
    """Whether the text says that it has no answer."""
    return bool(_REFUSES.search(text))


def is_provisional(text: str) -> bool:
    """Whether the text calls an answer a first one: "my first guess is"."""
    return bool(_PROVISIONAL.search(text))


_TAKES_BACK = re.compile(
    r"(?:^|[.,;:!?…—–\-( ])"
    + either(r"""
    wait\b | hold on\b | hmm+ | on (?:second|further) thought | on reflection | scratch that
    correction\b | edit: | oops | no, | no wait | no\. | let me (?:re|double) | let's (?:re|double)
    let us re | sorry\b | i meant
    changed my mind | never ?mind | forget (?:it|that|what) | ignore (?:that|my)
    my mistake\b | i take (?:that|it) back | i retract | or (?:is|was|does) it\b | or not\b
    """)
    + r"|that(?:'s| is) (?:wrong|not right|incorrect)|back and forth|"
    r"\b(?:made|see|spot|found|notice|there is|there's) (?:an?|my|the) (?:mistake|error|slip)\b|"
    r"(?:^|[.!?] ?)\W*"
    + either(r"""
    (?:definitely|certainly|surely|absolutely|probably|of course) not(?=\s*(?:$|[.,;!?…]))
    (?:nope|nah|never|not (?:really|at all|likely|quite))(?=\s*(?:$|[.,;!?…]))
    i (?:don't|do not) (?:think|believe) so | i doubt
    """)
    + "|(?:^|[。,;!?… ])(?:不对|不,|不不|哦不)|"
    + either("""
    等等(?=[,.。…! ]) | 等一下 | 更正 | 再想 | 让我再 | 打错了 | 说错了 | 改主意 | 算了 | 忽略
    收回 | 当我没说 | 定不下来
    """)
)
_TAKES_BACK_STEMS = Stems(
    (
        " thought",
        "absolutely",
        "ah",
        "at all",
        "back and forth",
        "believe",
        "certainly",
        "changed my mind",
        "correction",
        "definitely",
        "edit:",
        "ever",
        "forget ",
        "hm",
        "hold on",
        "i doubt",
        "i meant",
        "i retract",
        "i take ",
        "ignore ",
        "incorrect",
        "let me ",
        "let us ",
        "let's ",
        "likely",
        "mistake",
        "slip",
        "error",
        "no,",
        "no.",
        "not right",
        "of course",
        "on reflection",
        "oops",
        "ope",
        "or ",
        "probably",
        "quite",
        "really",
        "scratch that",
        "sorry",
        "surely",
        "think",
        "wait",
        "wrong",
    ),
    (
        "不,",
        "不不",
        "不对",
        "再想",
        "哦不",
        "定不下来",
        "当我没说",
        "忽略",
        "打错了",
        "收回",
        "改主意",
        "更正",
        "等一下",
        "等等",
        "算了",
        "让我再",
        "说错了",
    ),
)
_NO = re.compile(r"\W*(?:不是|不可能|不会|并不是?|当然不是?)\W*")


def takes_back(words: str) -> bool:
    """Whether the words between or behind mentions take back what was said before."""
    return _TAKES_BACK_STEMS.may_be_in(words) and bool(_TAKES_BACK.search(words))


def is_no(sentence: str) -> bool:
    """Whether a sentence without mentions only denies what was asked before: 不是。"""
    return bool(_NO.fullmatch(sentence))
