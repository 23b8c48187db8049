"""What the heads of columns say: a lexicon of names in many spellings, and series of heads.

A head is only a hint, the cells decide. Letter case, full-width forms, separators and what stands
in brackets behind a name do not matter: `option_a`, `optionA`, `Option A`, `选项Ａ` and `A选项` are
heads of one series each.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from evalui.types import LETTERS

_MAX_NAME_CHARS = 60  # characters; what is longer is a text
_MIN_SERIES = 2  # heads that make a series
_MAX_SERIES_NUMBER = 99


_BRACKETS = re.compile(r"[(\[【](?!\w[)\]】])[^)\]】]+[)\]】]\s*$")
_AFTER_DASH = re.compile(r"\s[-–—]\s.*$", re.DOTALL)
_ACCENTED = re.compile(r"[À-ɏḀ-ỿ]")
_BARRED = {"đ": "d", "Đ": "D", "ı": "i", "ł": "l", "ø": "o"}
_TOKENS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_a-zA-Z]+")
_PLACE = re.compile(r"[a-z]|\d{1,2}")
_NUMERALS = dict(zip("一二三四五六七八九", "123456789", strict=True))
# The letters that options have in order, in the scripts whose exams have their own.
_ALPHABETS = (
    LETTERS,
    "АБВГДЕЖЗИК",
    "أبجدهوزحطي",
    "가나다라마바사아자차",
    "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊ",
    "アイウエオカキクケコ",
    "ΑΒΓΔΕΖΗΘΙΚ",
    "กขคงจฉชซ",
    "कखगघङ",
    "אבגדהוזחטי",
    "甲乙丙丁戊己庚辛壬癸",
    "①②③④⑤⑥⑦⑧⑨⑩",
)
# The place of each letter: of A, a, the full-width form, and of those of other scripts.
LETTER_PLACES: Mapping[str, int] = {
    form: place
    for alphabet in _ALPHABETS
    for place, letter in enumerate(alphabet)
    for form in (
        *(letter, letter.lower()),
        *([chr(ord(letter) + 0xFEE0)] if letter in LETTERS else []),
        *([unicodedata.normalize("NFKC", letter)] if letter.isalpha() else []),
    )
} | {"ا": 0}
FIRST_LETTERS = frozenset(letter for letter, place in LETTER_PLACES.items() if not place)
# Those of other scripts that stand before options with a mark behind them, as "A." does.
OTHER_LETTERS = "".join(
    form
    for alphabet in _ALPHABETS[1:-2]
    for letter in alphabet
    for form in {letter, letter.lower()}
)


def fold_head(text: str) -> str:
    """A head without letter case, accents, separators and remarks in brackets."""
    return "".join(_tokens(text))


@lru_cache(4096)
def _tokens(text: str) -> tuple[str, ...]:
    """The words, letters and numbers of a head, folded; a letter of another script as ours."""
    plain = unicodedata.normalize("NFKC", text[:_MAX_NAME_CHARS]).strip()
    plain = _AFTER_DASH.sub("", _BRACKETS.sub("", plain).strip() or plain)
    if not plain.isascii():  # marks of vowels and tones part the letters of a word
        plain = "".join(char for char in plain if unicodedata.category(char) != "Mn")
    plain = _ACCENTED.sub(
        lambda char: _BARRED.get(char[0], unicodedata.normalize("NFKD", char[0])[0]), plain
    )
    return tuple(
        LETTERS[LETTER_PLACES[token]].casefold() if token in LETTER_PLACES else token.casefold()
        for token in _TOKENS.findall(plain)
    )


def _words(text: str) -> frozenset[str]:
    return frozenset(map(fold_head, text.split()))


# For each role its names, the surest first. They are folded: see `fold_head`.
_ROLE_NAMES: Mapping[str, str] = {
    "question": """
        question query stem questionstem questiontext problem problemstatement questioncontent
        quiz goal startphrase ctx prompt instruction sentence questions ask q inputs input
        premise statement claim usermessage user 题干 题目 问题 试题 题目内容 试题内容 题干内容
        题目描述 试题题干 题目名称 提问 问 題目 題幹 問題 問 提示词 提示 指令 输入 用户问题
        用户输入 测试问题 题面 判断题 单选题 选择题 mcq problemtext preguntas perguntas questoes
        fragen domande вопросы userquery userprompt 問題文 設問 質問 質問文 질문 문제 문항
        질문내용 지문질문 pregunta enunciado questao pergunta frage fragestellung domanda вопрос
        задание текствопроса السؤال سؤال نصالسؤال soru cauhoi pertanyaan soal vraag pytanie คำถาม
        प्रश्न سوال שאלה
    """,
    "options": """
        choices options candidates candidateanswers endings alternatives choice option
        answerchoices answeroptions optionlist choicelist multiplechoicetargets mc1targets 选项
        备选项 备选答案 答案选项 选项内容 候选项 候选答案 选择项 選項 選択肢 선택지 보기 선지
        opciones
        opcoes alternativas propositions choix antwortmoglichkeiten antworten optionen opzioni
        варианты вариантыответа вариантыответов الخيارات خيارات الاختيارات secenekler luachon
        pilihan ตัวเลือก विकल्प
    """,
    "answer": """
        answer answerkey correctanswer correctoption correctchoice rightanswer goldanswer
        answerletter correct gold goldlabel key label target answers bestanswer answeridx
        goldenanswer goldenanswers groundtruths correctoptionindex correctoptionidx
        correctoptionid correctanswerid answerindex answerid correctoptiontext correctanswertext
        correctindex correctidx correctansweridx correctanswerindex truth groundtruth solution
        cop rightoption iscorrect response referenceanswer reference expectedanswer expected
        expectedoutput ideal output outputs completion targets finalanswer answerrightending
        answertext canonicalanswer correctanswers goldanswers standardanswer standardanswers 答案
        正确答案 标准答案 参考答案 正确选项 正确项 标答 回答 标准回答 参考回答 期望答案 期望输出
        预期答案 输出 答 结论 是否正确 对错 标签 正確答案 正解 答え 解答番号 模範解答 정답 답
        정답번호 답변 답안 모범답안 respuesta respuestacorrecta resposta respostacorreta gabarito
        reponse bonnereponse reponsecorrecte antwort richtigeantwort korrekteantwort losung
        musterlosung risposta rispostacorretta ответ правильныйответ верныйответ
        номерправильногоответа номерверногоответа الإجابة الاجابة الإجابةالصحيحة الاجابةالصحيحة
        إجابة الجواب جواب cevap dogrucevap dapan dapandung jawaban kunci kuncijawaban antwoord
        odpowiedz poprawnaodpowiedz prawidlowaodpowiedz คำตอบ เฉลย उत्तर सहीउत्तर תשובה
    """,
    "passage": """
        passage context article paragraph support story text background material document
        dialogue dialog conversationtext hint contexts content documents essay excerpt scenario
        材料 背景 文章 短文 阅读材料 篇章 段落 原文 资料 上下文 情景 背景材料 阅读文本 案例
        题目材料 对话 文本 内容 背景资料 案例材料 本文 지문 본문 contexto pasaje texto contexte
        texte
        kontext passaggio контекст текст отрывок السياق النص
    """,
    "explanation": """
        explanation explanations exp explain rationale reasoning analysis answerexplanation
        cotcontent cot justification chainofthought 解析 答案解析 解答 详解 解释 试题解析
        题目解析 解题思路 说明 依据 出处 答案依据 解説 해설 풀이 explicacion explicacao explication
        erklarung spiegazione пояснение объяснение комментарий الشرح التفسير
    """,
    "subject": """
        subject subjectname topic category task 学科 科目 类别 主题 学科名称 课程 科目名 과목 분야
        asignatura materia disciplina matiere fach предмет тема المادة الموضوع
    """,
    "id": """
        id no nr number index idx qid questionid exampleid recordid sampleid uid idstring ind
        num 序号 编号 题号 题目编号 试题编号 番号 問題番号 번호 문항번호 numero nummer номер
        الرقم رقم
    """,
    "capability": "capability skill ability 能力",
    "guidance": """
        evaluatingguidance guidance criteria rubric rubrics gradingcriteria scoringcriteria
        evaluationcriteria gradingguidelines markingscheme 评分标准 评价标准 评分细则 评估标准
        评分要点 评分指南 打分标准 評分標準 採点基準 채점기준 평가기준
    """,
    "distractor": """
        distractors incorrectanswers wronganswers incorrectoptions wrongoptions incorrectchoices
        falseanswers wrongchoices 干扰项 错误答案 错误选项 干扰选项
    """,
}
# Names of the correct answer where wrong ones stand beside it.
CORRECT_NAMES = _words("""
    correctanswer correctoption correctchoice rightanswer bestanswer goldanswer answer correct
    rightoption 正确答案 正确选项 标准答案 答案 正确项
""")
# Names that the right answer has, and no reply of a model.
REFERENCE_NAMES = _words("""
    truth groundtruth groundtruths gold goldanswer goldanswers goldenanswer goldenanswers reference
    referenceanswer expected expectedanswer expectedoutput ideal correctanswer correctanswers
    bestanswer target targets standardanswer standardanswers
    正确答案 标准答案 参考答案 标准回答 参考回答 期望答案 期望输出 预期答案
""")
# Names of replies of models, which are never right answers, and of the model beside them.
OUTPUT_NAMES = _words("""
    prediction predictions pred predicted predictedanswer modeloutput modelanswer modelresponse
    modelreply modelprediction generated generatedtext generatedanswer reply replies llmanswer
    llmresponse resps filteredresps 模型回答 模型输出 模型答案 模型回复 预测 预测答案 预测结果 回复
    模型预测
""")
MODEL_NAMES = _words("model modelid modelname generator 模型 模型名称")
# The beginning of heads of options, as in `option_a`, `ending0`, `选项1`.
_OPTION_STEMS = _words("""
    option options opt op choice choices ans answer answers answerchoice answeroption sol
    solution ending endings end alternative alt candidate mc hypothesis hyp var variant item
    optiontext choicetext answertext randomfifthsentencequiz 选项 备选 备选项 备选答案 答案 项
    候选 候选项 候选答案 选择项 选择 选项内容 答案选项 选 選項 選択肢 肢 선택지 보기 선지 opcion
    opcao alternativa proposition choix reponse respuesta resposta risposta sikki siklar dapan
    jawaban odpowiedz antwort antwortmoglichkeit opzione вариант вариантответа ответ خيار الخيار
    الاختيار اختيار secenek sik luachon pilihan ตัวเลือก विकल्प
""")
_DISTRACTOR_STEMS = _words("""
    distractor incorrectanswer wronganswer incorrectoption wrongoption incorrectchoice
    wrongchoice incorrect wrong falseanswer distractoranswer 干扰项 错误答案 错误选项 干扰选项
    干扰 错误项
""")
# Names of columns that mean something though they are no role: they make a head likely.
_OTHER_NAMES = _words("""
    type difficulty level source split score language author history system messages turns
    conversation conversations tags tag url model date 题型 难度 来源 分值
    知识点 章节 年份 题目类型 难易度 难度等级 备注 语言 出题人 分数 类型
""")
# Names of answers that only say which option is right: of open questions they hold something else.
CHOICE_ANSWER_NAMES = _words("""
    key correct cop answeridx answerindex answerid answerletter correctindex correctidx
    correctansweridx correctanswerindex correctoptionindex correctoptionidx correctoptionid
    iscorrect correctoption correctchoice rightoption answerrightending 正确选项 正确项 是否正确
    对错
""")
# Labels of a classification: a class that the text has, not an answer to a question.
LABEL_NAMES = _words("""
    label labels class goldlabel category labeldesc labeltext labelname sentiment polarity
    entailment 标签 类别 分类 情感
""")
# Texts that are named in pairs and judged together.
PAIR_STEMS = _words("""
    sentence text question query premise hypothesis s q 句子 文本 问题 句
""")
# An instruction stands before what it is about.
INSTRUCTION_NAMES = frozenset(("instruction", "instructions", "指令", "任务"))
_CHAT_NAMES = frozenset(("messages", "conversation", "conversations", "chat", "dialog", "turns"))


@dataclass(frozen=True, slots=True)
class Head:
    """The name of a column: folded, and the role that the lexicon has for it.

    `rank` is 0 for the surest name of the role and grows with the doubt; `role` is "" for none.
    """

    name: str
    role: str = ""
    rank: int = 0


@dataclass(frozen=True, slots=True)
class HeadSeries:
    """Heads that differ only in a letter or a number, in order: `columns` are their places.

    `start` is the first letter or number ("a", "0" or "1"), `stem` what the heads share.
    """

    stem: str
    start: str
    columns: tuple[int, ...]

    @property
    def names_options(self) -> bool:
        """Whether such heads are usually those of options."""
        return self.stem in _OPTION_STEMS or (not self.stem and self.start == "a")

    @property
    def names_distractors(self) -> bool:
        """Whether such heads are usually those of wrong options."""
        return self.stem in _DISTRACTOR_STEMS


def read_head(text: str) -> Head:
    """What the lexicon knows of a head."""
    name = fold_head(text)
    role, rank = _lexicon().get(name, ("", 0))
    return Head(name, role, rank)


def is_known_name(text: str) -> bool:
    """Whether a text is a name that columns of questions have."""
    if not text.strip() or len(text) > _MAX_NAME_CHARS:
        return False
    name = fold_head(text)
    if name in _lexicon() or name in _OTHER_NAMES | _CHAT_NAMES | OUTPUT_NAMES | MODEL_NAMES:
        return True
    return any(
        stem in _OPTION_STEMS or stem in _DISTRACTOR_STEMS or (not stem and place.isalpha())
        for stem, place in _places(text)
    )


def is_chat_name(text: str) -> bool:
    """Whether conversations have this name."""
    return fold_head(text) in _CHAT_NAMES


def find_series(headers: Sequence[str]) -> tuple[HeadSeries, ...]:
    """The series among the headers, each from its first letter or number on, without gaps."""
    stems: defaultdict[tuple[str, bool], dict[str, int]] = defaultdict(dict)
    for at, header in enumerate(headers):
        if len(header) <= _MAX_NAME_CHARS:
            for stem, place in _places(header):
                stems[stem, place.isalpha()].setdefault(place, at)
    series = (
        _to_series(stem, places, letters=letters) for (stem, letters), places in stems.items()
    )
    return tuple(each for each in series if len(each.columns) >= _MIN_SERIES)


def _to_series(stem: str, places: Mapping[str, int], *, letters: bool) -> HeadSeries:
    if letters:
        order = list(LETTERS.casefold())
    else:
        numbers = {str(int(place)): at for place, at in places.items()}
        places = numbers
        first = 0 if "0" in numbers else 1
        order = [str(number) for number in range(first, _MAX_SERIES_NUMBER + 1)]
    columns: list[int] = []
    for place in order:
        if place not in places:
            break
        columns.append(places[place])
    return HeadSeries(stem, order[0], tuple(columns))


def _places(header: str) -> tuple[tuple[str, str], ...]:
    """Each way to take a head apart into what a series shares, and a letter or a number."""
    tokens = _tokens(header)
    ways = [
        ("".join((*tokens[:at], *tokens[at + 1 :])), token)
        for at, token in enumerate(tokens)
        if _PLACE.fullmatch(token)
    ]
    if not ways and len(tokens) == 1:
        stem, last = tokens[0][:-1], tokens[0][-1]
        if last in LETTER_PLACES:  # opa, opb: a series only if several agree
            ways.append((stem, LETTERS[LETTER_PLACES[last]].casefold()))
        elif stem and last in _NUMERALS:
            ways.append((stem, _NUMERALS[last]))
    return tuple(ways)


@lru_cache(1)
def _lexicon() -> Mapping[str, tuple[str, int]]:
    known: dict[str, tuple[str, int]] = {}
    for role, names in _ROLE_NAMES.items():
        for rank, name in enumerate(names.split()):
            known.setdefault(fold_head(name), (role, rank))
    return known
