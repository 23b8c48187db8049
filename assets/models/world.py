"""The little world the demo models know: its facts, and the questions that can be asked of them.

Everything is of our own making and bilingual. The trainer and the sample files draw from the same
functions, so a sample asks exactly what was taught. Knows no tokens, no models, no files.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evalui.types import LETTERS, Language, Sample

N_OPTIONS = 4

# country, capital, 国家, 首都; one word each, so that a tokenizer can keep each name whole.
CAPITALS = (
    ("Austria", "Vienna", "奥地利", "维也纳"),
    ("Canada", "Ottawa", "加拿大", "渥太华"),
    ("China", "Beijing", "中国", "北京"),
    ("Cuba", "Havana", "古巴", "哈瓦那"),
    ("Egypt", "Cairo", "埃及", "开罗"),
    ("Finland", "Helsinki", "芬兰", "赫尔辛基"),
    ("France", "Paris", "法国", "巴黎"),
    ("Germany", "Berlin", "德国", "柏林"),
    ("Greece", "Athens", "希腊", "雅典"),
    ("Iran", "Tehran", "伊朗", "德黑兰"),
    ("Italy", "Rome", "意大利", "罗马"),
    ("Japan", "Tokyo", "日本", "东京"),
    ("Kenya", "Nairobi", "肯尼亚", "内罗毕"),
    ("Norway", "Oslo", "挪威", "奥斯陆"),
    ("Peru", "Lima", "秘鲁", "利马"),
    ("Poland", "Warsaw", "波兰", "华沙"),
    ("Portugal", "Lisbon", "葡萄牙", "里斯本"),
    ("Russia", "Moscow", "俄罗斯", "莫斯科"),
    ("Spain", "Madrid", "西班牙", "马德里"),
    ("Thailand", "Bangkok", "泰国", "曼谷"),
)

# (group, 类别): its members in both languages, in the same order.
GROUPS = {
    ("fruit", "水果"): (
        "apple banana grape peach pear lemon mango cherry",
        "苹果 香蕉 葡萄 桃子 梨子 柠檬 芒果 樱桃",
    ),
    ("animal", "动物"): (
        "dog cat horse tiger rabbit lion sheep monkey",
        "小狗 小猫 马匹 老虎 兔子 狮子 绵羊 猴子",
    ),
    ("color", "颜色"): (
        "red blue green yellow white black purple pink",
        "红色 蓝色 绿色 黄色 白色 黑色 紫色 粉色",
    ),
    ("metal", "金属"): (
        "iron gold silver copper tin zinc nickel aluminum",
        "铁 金 银 铜 锡 锌 镍 铝",
    ),
    ("garment", "衣物"): (
        "hat coat shirt shoe sock glove scarf belt",
        "帽子 大衣 衬衫 鞋子 袜子 手套 围巾 腰带",
    ),
    ("instrument", "乐器"): (
        "piano violin drum flute guitar trumpet harp cello",
        "钢琴 小提琴 鼓 长笛 吉他 小号 竖琴 大提琴",
    ),
}

OPPOSITES = (
    ("hot", "cold", "热", "冷"),
    ("big", "small", "大", "小"),
    ("tall", "short", "高", "矮"),
    ("fast", "slow", "快", "慢"),
    ("young", "old", "年轻", "年老"),
    ("happy", "sad", "快乐", "悲伤"),
    ("open", "closed", "打开", "关闭"),
    ("bright", "dark", "明亮", "黑暗"),
    ("hard", "soft", "坚硬", "柔软"),
    ("full", "empty", "满", "空"),
    ("rich", "poor", "富有", "贫穷"),
    ("strong", "weak", "强壮", "虚弱"),
    ("early", "late", "早", "晚"),
    ("clean", "dirty", "干净", "肮脏"),
    ("wet", "dry", "潮湿", "干燥"),
)

NUMBERS = tuple(str(number) for number in range(100))


@dataclass(frozen=True, slots=True)
class Fact:
    """A question, its answer, the wrong answers to choose from, and why the answer is right."""

    question: str
    answer: str
    others: tuple[str, ...]
    explanation: str


@dataclass(frozen=True, slots=True)
class Subject:
    """A kind of question: `name` is the file stem, `name_zh` what a Chinese prompt may call it."""

    name: str
    name_zh: str
    language: Language
    draw: Callable[[random.Random], Fact]


def members(language: Language) -> dict[str, str]:
    """Each member of a group with the name of its group."""
    side = _side(language)
    return {word: names[side] for names, words in GROUPS.items() for word in words[side].split()}


def words(language: Language) -> tuple[str, ...]:
    """Every word that is an option or the key of a question, without numbers."""
    side = _side(language)
    places = [word for row in CAPITALS for word in row[2 * side : 2 * side + 2]]
    groups = [names[side] for names in GROUPS]
    opposites = [word for row in OPPOSITES for word in row[2 * side : 2 * side + 2]]
    return (*places, *groups, *members(language), *opposites)


def sample(rng: random.Random, subject: Subject, *, gold: int | None = None) -> Sample:
    """One question of a subject with fresh wrong options, the right one at `gold` or anywhere."""
    fact = subject.draw(rng)
    target = rng.randrange(N_OPTIONS) if gold is None else gold
    choices = rng.sample(fact.others, N_OPTIONS - 1)
    choices.insert(target, fact.answer)
    return Sample(
        id=f"{subject.name}/{fact.question}",
        question=fact.question,
        choices=tuple(choices),
        target=target,
        metadata={"subject": subject.name, "explanation": fact.explanation},
    )


def letter(question: Sample) -> str:
    """The letter of the right option."""
    assert isinstance(question.target, int), "this world asks multiple choice only"
    return LETTERS[question.target]


def answer(question: Sample) -> str:
    """The text of the right option."""
    return question.choices[LETTERS.index(letter(question))]


def _side(language: Language) -> int:
    return 1 if language == "zh" else 0


def _worded(rng: random.Random, wordings: Sequence[str], **values: object) -> str:
    return rng.choice(wordings).format(**values)


# In Chinese the key of a question stands in quotation marks: without blanks between words it is
# they that keep it apart for the tokenizer.


def _capital_en(rng: random.Random) -> Fact:
    country, capital, *_ = rng.choice(CAPITALS)
    wordings = ("What is the capital of {key}?", "Which city is the capital of {key}?")
    return Fact(
        _worded(rng, wordings, key=country),
        capital,
        tuple(row[1] for row in CAPITALS if row[1] != capital),
        f"{capital} is the capital of {country}.",
    )


def _capital_zh(rng: random.Random) -> Fact:
    *_, country, capital = rng.choice(CAPITALS)
    return Fact(
        _worded(rng, ("“{key}”的首都是哪里？", "哪座城市是“{key}”的首都？"), key=country),
        capital,
        tuple(row[3] for row in CAPITALS if row[3] != capital),
        f"{capital}是{country}的首都。",
    )


def _group_en(rng: random.Random) -> Fact:
    word, group = rng.choice(list(members("en").items()))
    return Fact(
        f'Which group does "{word}" belong to?',
        group,
        tuple(name for name, _ in GROUPS if name != group),
        f'"{word}" names a thing of the group {group}.',
    )


def _group_zh(rng: random.Random) -> Fact:
    word, group = rng.choice(list(members("zh").items()))
    return Fact(
        f"“{word}”属于哪一类？",
        group,
        tuple(name for _, name in GROUPS if name != group),
        f"{word}属于{group}。",
    )


def _opposite_en(rng: random.Random) -> Fact:
    word, opposite, others = _opposite(rng, "en")
    wordings = ('What is the opposite of "{key}"?', 'Which word is the opposite of "{key}"?')
    return Fact(
        _worded(rng, wordings, key=word), opposite, others, f"{opposite} is the opposite of {word}."
    )


def _opposite_zh(rng: random.Random) -> Fact:
    word, opposite, others = _opposite(rng, "zh")
    return Fact(
        _worded(rng, ("“{key}”的反义词是什么？", "哪个词与“{key}”意思相反？"), key=word),
        opposite,
        others,
        f"{opposite}与{word}意思相反。",
    )


def _opposite(rng: random.Random, language: Language) -> tuple[str, str, tuple[str, ...]]:
    start = 2 * _side(language)
    pair = list(rng.choice(OPPOSITES)[start : start + 2])
    rng.shuffle(pair)
    everything = [word for row in OPPOSITES for word in row[start : start + 2]]
    return pair[0], pair[1], tuple(word for word in everything if word not in pair)


def _word_en(rng: random.Random) -> Fact:
    word = rng.choice(words("en"))
    others = tuple(other for other in words("en") if other != word)
    return Fact(f'Which word is "{word}"?', word, others, f'"{word}" is written "{word}".')


def _word_zh(rng: random.Random) -> Fact:
    word = rng.choice(words("zh"))
    others = tuple(other for other in words("zh") if other != word)
    return Fact(f"下列哪个词是“{word}”？", word, others, f"“{word}”写作“{word}”。")


def _neighbour_en(rng: random.Random) -> Fact:
    number, side = rng.randint(1, 98), rng.choice((-1, 1))
    where = "after" if side > 0 else "before"
    return Fact(
        f"What number comes {where} {number}?",
        str(number + side),
        _near(number + side),
        f"{number + side} comes {where} {number}.",
    )


def _neighbour_zh(rng: random.Random) -> Fact:
    number, side = rng.randint(1, 98), rng.choice((-1, 1))
    where = "后面" if side > 0 else "前面"
    return Fact(
        f"{number}{where}的数是多少？",
        str(number + side),
        _near(number + side),
        f"{number}{where}的数是{number + side}。",
    )


def _sum_en(rng: random.Random) -> Fact:
    left, right = rng.randint(0, 9), rng.randint(0, 9)
    if rng.random() < 0.5:
        return Fact(
            f"What is {left} plus {right}?",
            str(left + right),
            _near(left + right),
            f"{left} + {right} = {left + right}.",
        )
    return Fact(
        f"What is {left + right} minus {right}?",
        str(left),
        _near(left),
        f"{left + right} - {right} = {left}.",
    )


def _sum_zh(rng: random.Random) -> Fact:
    left, right = rng.randint(0, 9), rng.randint(0, 9)
    if rng.random() < 0.5:
        return Fact(
            f"{left}加{right}等于多少？",
            str(left + right),
            _near(left + right),
            f"{left}+{right}={left + right}。",
        )
    return Fact(
        f"{left + right}减{right}等于多少？",
        str(left),
        _near(left),
        f"{left + right}-{right}={left}。",
    )


def _near(number: int, reach: int = 5) -> tuple[str, ...]:
    low, high = max(0, number - reach), min(99, number + reach)
    return tuple(str(other) for other in range(low, high + 1) if other != number)


SUBJECTS = (
    Subject("capitals_en", "首都", "en", _capital_en),
    Subject("capitals_zh", "首都", "zh", _capital_zh),
    Subject("categories_en", "分类", "en", _group_en),
    Subject("categories_zh", "分类", "zh", _group_zh),
    Subject("opposites_en", "反义词", "en", _opposite_en),
    Subject("opposites_zh", "反义词", "zh", _opposite_zh),
    Subject("words_en", "词语", "en", _word_en),
    Subject("words_zh", "词语", "zh", _word_zh),
    Subject("counting_en", "数数", "en", _neighbour_en),
    Subject("counting_zh", "数数", "zh", _neighbour_zh),
    Subject("arithmetic_en", "算术", "en", _sum_en),
    Subject("arithmetic_zh", "算术", "zh", _sum_zh),
)
