"""Every sentence of a report in English and Chinese; `narrative` decides which of them are true.

Names of models and datasets stay as they are. Points (分) for differences, per cent for shares.
"""

from collections.abc import Mapping

from evalui.report.sentences.arena import ARENA_SENTENCES
from evalui.report.sentences.bias import BIAS_SENTENCES
from evalui.report.sentences.expenses import EXPENSE_SENTENCES
from evalui.report.sentences.left_out import LEFT_OUT_SENTENCES
from evalui.report.sentences.pairs import PAIR_SENTENCES
from evalui.report.sentences.people import PEOPLE_SENTENCES
from evalui.report.sentences.texts import TEXT_SENTENCES
from evalui.types import Language

Sentence = Mapping[Language, str]

SENTENCES: Mapping[str, Sentence] = {
    # Titles of the chart before and after reordering
    "nothing-yet": {
        "en": "No answers yet",
        "zh": "还没有回答",
    },
    "too-few": {
        "en": "Too few questions ({n}) to read differences from this chart",
        "zh": "题目太少（{n} 题），看不出差别",
    },
    "guessing-all": {
        "en": "No model beats guessing on these questions.",
        "zh": "在这些题上，没有模型好于乱猜。",
    },
    "guessing-so-far": {
        "en": "So far no model beats guessing on these questions.",
        "zh": "到目前为止，在这些题上没有模型好于乱猜。",
    },
    "guessing-best": {
        "en": "The best, {model}, is right on {value} % ({span}); guessing scores {chance} %. "
        "So nobody is ranked.",
        "zh": "最好的 {model} 答对 {value} %（{span}）；随机为 {chance} %。因此不排名。",
    },
    "guessing-alone": {
        "en": "{model} is right on {value} % ({span}); guessing scores {chance} %.",
        "zh": "{model} 答对 {value} %（{span}）；随机为 {chance} %。",
    },
    "guessing-ranges": {
        "en": "No plausible range lies above the guessing line",
        "zh": "没有一个合理范围高于随机水平",
    },
    "guessing-but-baselines": {
        "en": "Only scripted baselines do clearly better than guessing here",
        "zh": "这里只有脚本基线明显好于乱猜",
    },
    "loses": {
        "en": "{model} loses about {tenths} in 10 of its right answers when options move",
        "zh": "选项换个顺序，{model} 的正确答案约丢掉{chengs}成",
    },
    "loses-nearly-all": {
        "en": "{model} loses nearly all its right answers when options move",
        "zh": "选项换个顺序，{model} 的正确答案几乎全部丢掉",
    },
    "loses-all": {
        "en": "{model} loses all its right answers when options move",
        "zh": "选项换个顺序，{model} 的正确答案全部丢掉",
    },
    "loses-few": {
        "en": "No model loses more than 1 in 20 of its right answers when options move",
        "zh": "选项换个顺序，没有模型丢掉超过二十分之一的正确答案",
    },
    "keeps": {
        "en": "{model} loses at most 1 in 20 of its right answers when options move",
        "zh": "选项换个顺序，{model} 丢掉的正确答案不超过二十分之一",
    },
    "one-model": {
        "en": "{model} answers {value} % of {n} questions right",
        "zh": "{model} 答对 {n} 题中的 {value} %",
    },
    "between": {
        "en": "Accuracy lies between {low} % ({lowest}) and {high} % ({highest})",
        "zh": "准确率介于 {low} %（{lowest}）与 {high} %（{highest}）之间",
    },
    "all-equal": {
        "en": "All models answer {value} % right",
        "zh": "所有模型的准确率都是 {value} %",
    },
    "overview-orders": {
        "en": "Hollow: accuracy in the order as written. Solid: right in every order. "
        "Pale band: 95 % plausible range. {n}",
        "zh": "空心：原顺序准确率；实心：每种顺序都答对。浅色带：95 % 合理范围。{n}",
    },
    "overview-origin": {
        "en": "Accuracy in the order as written. Pale band: 95 % plausible range. {n}",
        "zh": "原顺序准确率。浅色带：95 % 合理范围。{n}",
    },
    "n-same": {"en": "n = {n}.", "zh": "n = {n}。"},
    "n-range": {"en": "n = {low} to {high}.", "zh": "n = {low} 至 {high}。"},
    # What one model did
    "range": {"en": "plausible range {span}", "zh": "合理范围 {span}"},
    "right": {
        "en": "{value} % right (n = {n}), plausible range {span}.",
        "zh": "答对 {value} %（n = {n}），合理范围 {span}。",
    },
    "robust": {
        "en": "{value} % right whatever order the options come in ({span}).",
        "zh": "无论选项怎样排列都答对的占 {value} %（{span}）。",
    },
    "only-as-written": {
        "en": "Right as written but not in every order: {k} of {n} questions.",
        "zh": "{n} 题中有 {k} 题原顺序答对，换个顺序就答错。",
    },
    "only-as-written-short": {"en": "{k} of {n} only as written", "zh": "{k} / {n} 题仅原顺序答对"},
    "unreadable": {
        "en": "{k} of {n} unreadable, counted as wrong",
        "zh": "{n} 条中 {k} 条无法判读，按错计",
    },
    "bounds": {"en": "accuracy {low}–{high} %", "zh": "准确率介于 {low}–{high} %"},
    # Positions
    "picks": {
        "en": "Picks {letter} {value} % of the time where {fair} % is fair",
        "zh": "选 {letter} 的比例为 {value} %，公平值 {fair} %",
    },
    "picks-uneven": {
        "en": "Picks {letter} {value} % of the time; the right answer stands there {gold} %",
        "zh": "选 {letter} 的比例为 {value} %，正确答案在此的比例为 {gold} %",
    },
    "picks-only": {
        "en": "Picks {letter} in all {n} readable replies",
        "zh": "{n} 条可读回答全部选 {letter}",
    },
    "picks-tied": {
        "en": "No position is picked most often",
        "zh": "没有哪个位置被选得最多",
    },
    "picks-none": {"en": "No answer names a position", "zh": "没有一条回答选出位置"},
    "confusion-about": {
        "en": "Each row: the {n} answers whose right option stood at that position. "
        "Outlined cells are right answers. Below: share of all picks; the mark is chance, "
        "{fair} %.",
        "zh": "每行：正确选项位于该位置的 {n} 次回答。描边格为答对。"
        "下方：占全部选择的比例，刻度为随机水平 {fair} %。",
    },
    "confusion-about-uneven": {
        "en": "Each row: the answers whose right option stood at that position. "
        "Outlined cells are right answers. Below: share of all picks; the mark is chance, "
        "{fair} %.",
        "zh": "每行：正确选项位于该位置的回答。描边格为答对。"
        "下方：占全部选择的比例，刻度为随机水平 {fair} %。",
    },
    "recall": {
        "en": "Right answers are found most often at {best} ({high} %), "
        "least often at {worst} ({low} %)",
        "zh": "正确答案在 {best} 处最常被找到（{high} %），在 {worst} 处最少（{low} %）",
    },
    "recall-equal": {
        "en": "Right answers are found equally often at every position ({value} %)",
        "zh": "正确答案在每个位置被找到的比例相同（{value} %）",
    },
    "recall-none": {
        "en": "No right answer stood anywhere yet",
        "zh": "还没有可统计的正确答案",
    },
    "recall-about": {
        "en": "Share found at each position, with 95 % range. Spread (RStd) {rstd} points; "
        "even an unbiased model shows some.",
        "zh": "各位置找到正确答案的比例与 95 % 合理范围。离散度（RStd）{rstd} 分；"
        "无偏差的模型也会有一些。",
    },
    "recall-about-origin": {
        "en": "Share found at each position, with 95 % range. Only the order as written was asked, "
        "so easy and hard questions are not spread evenly. Spread (RStd) {rstd} points.",
        "zh": "各位置找到正确答案的比例与 95 % 合理范围。只问了原顺序，"
        "题目难易在各位置并不均匀。离散度（RStd）{rstd} 分。",
    },
    # Things to know, most serious first
    "not-run": {"en": "Cannot run: {reason}", "zh": "不能运行：{reason}"},
    "failed": {"en": "Failed: {reason}", "zh": "失败：{reason}"},
    "partial": {
        "en": "Only {done} of {total} answers are in; figures may still change.",
        "zh": "{total} 条回答中只完成 {done} 条，数字还可能变化。",
    },
    "fewer-than-30": {
        "en": "Fewer than 30 questions ({n}): read the counts, not the percentages.",
        "zh": "不到 30 题（{n} 题）：请看题数，不要看百分比。",
    },
    "fewer-than-100": {
        "en": "With {n} questions small differences would usually be missed.",
        "zh": "只有 {n} 题，小的差别通常看不出来。",
    },
    "chance": {
        "en": "Cannot be told apart from guessing: {span} % includes chance, {chance} %.",
        "zh": "与乱猜区分不开：{span} % 包含随机水平 {chance} %。",
    },
    "below-chance": {
        "en": "Below guessing: {span} % lies under chance, {chance} %.",
        "zh": "低于乱猜：{span} % 在随机水平 {chance} % 之下。",
    },
    "unreadable-many": {
        "en": "Unreadable replies, counted as wrong: {k} of {n}. "
        "If all of them were right, accuracy would be {high} % instead of {low} %.",
        "zh": "{n} 条回答中 {k} 条无法判读，按错计。"
        "若它们全部答对，准确率为 {high} %，而不是 {low} %。",
    },
    "format": {
        "en": "A format problem, not only knowledge: {gap} points are lost when the reply must be "
        "exactly one letter.",
        "zh": "有格式问题，不全是知识问题：若要求只回一个字母，会少 {gap} 分。",
    },
    "by-number": {
        "en": "{value} % of replies give a number instead of a letter; check the prompt.",
        "zh": "{value} % 的回答给的是数字而不是字母，请检查提示词。",
    },
    "mass": {
        "en": "The letters hold only {value} % of the probability on average: "
        "the model was not answering with letters.",
        "zh": "字母平均只占 {value} % 的概率：模型并不是在用字母作答。",
    },
    "mass-some": {
        "en": "The letters hold {value} % of the probability on average; "
        "forced choice reads only that part.",
        "zh": "字母平均占 {value} % 的概率；强制选择只看这一部分。",
    },
    "ties": {
        "en": "Answers that tie at the top: {k} of {n}. They count in part and show no position.",
        "zh": "{n} 条中有 {k} 条并列最高，按比例计分，不计入位置统计。",
    },
    "incomplete": {
        "en": "Questions that lack an order: {k}. They are left out of the robust figures.",
        "zh": "{k} 题缺少某种顺序，不计入稳健指标。",
    },
    "naming": {
        "en": "Questions with options that speak of other options, such as “all of the above”: "
        "{k}. They are asked in the order as written only.",
        "zh": "{k} 题的选项提到其他选项（如“以上都对”），只按原顺序提问。",
    },
    "merged": {
        "en": "Options that the tokenizer joined with the question: {k}. "
        "They were scored from where the two part.",
        "zh": "有 {k} 个选项与题干被分词器合并，从分歧处开始计分。",
    },
    "truncated": {
        "en": "Prompts longer than the model's limit: {k}. They lost their beginning.",
        "zh": "{k} 条提示词超过模型长度上限，开头被截去。",
    },
    "near-ties": {
        "en": "Answers decided by a hair: {k} of {n}. Computed in bfloat16, or in batches of "
        "another shape, they may come out otherwise.",
        "zh": "{n} 个回答中有 {k} 个仅以极小差距决定；用 bfloat16 计算或换一种批次，结果可能不同。",
    },
    # Words on charts and in tables
    "mode-multiple_choice": {
        "en": "multiple choice, letters",
        "zh": "选择题（看概率）",
    },
    "mode-choices_only": {"en": "options only", "zh": "只看选项"},
    "mode-generation": {"en": "multiple choice, reply", "zh": "选择题（读回复）"},
    "mode-cloze": {"en": "cloze", "zh": "完形"},
    "chance-line": {"en": "chance {value} %", "zh": "随机 {value} %"},
    "chance-line-robust": {
        "en": "chance {value} % (robust {robust} %)",
        "zh": "随机 {value} %（稳健 {robust} %）",
    },
    "chance-lines": {"en": "dotted: chance", "zh": "虚线：随机水平"},
    "as-written": {"en": "as written", "zh": "原顺序"},
    "every-order": {"en": "in every order", "zh": "每种顺序"},
    "picked": {"en": "model picked position", "zh": "模型所选位置"},
    "gold": {"en": "right answer at position", "zh": "正确答案所在位置"},
    "unreadable-column": {"en": "unreadable", "zh": "无法判读"},
    "tied-column": {"en": "tied", "zh": "并列"},
    "all-picks": {"en": "all picks", "zh": "全部选择"},
    "mean": {"en": "mean {value} %", "zh": "平均 {value} %"},
    "of": {"en": "{k} of {n}", "zh": "{n} 中的 {k}"},
    # The written report
    "report": {"en": "Evaluation report", "zh": "评测报告"},
    "head-model": {"en": "Model", "zh": "模型"},
    "head-dataset": {"en": "Dataset", "zh": "数据集"},
    "head-mode": {"en": "Mode", "zh": "方式"},
    "head-n": {"en": "Questions", "zh": "题数"},
    "head-accuracy": {"en": "Accuracy", "zh": "准确率"},
    "head-robust": {"en": "Robust accuracy", "zh": "稳健准确率"},
    "head-sensitivity": {"en": "Order sensitivity", "zh": "顺序敏感度"},
    "head-position": {"en": "Picks most", "zh": "最常选"},
    "head-readable": {"en": "Readable answers", "zh": "可读回答"},
    "head-rule": {"en": "Rule of reading", "zh": "判读规则"},
    "head-subject": {"en": "Subjects", "zh": "科目"},
    "head-by-question": {"en": "Mean over questions", "zh": "按题平均"},
    "head-by-subject": {"en": "Mean over subjects", "zh": "按科目平均"},
    "figures": {"en": "Figures", "zh": "指标"},
    "each": {"en": "Each model", "zh": "各模型"},
    "made": {"en": "How the figures were made", "zh": "指标如何得出"},
    "ranges-are": {
        "en": "Shares in per cent; in brackets the 95 % plausible range. "
        "Order sensitivity is in points.",
        "zh": "比例以 % 计，括号内为 95 % 合理范围。顺序敏感度以分计。",
    },
    "with-options": {"en": "{k} options: {said}", "zh": "{k} 个选项：{said}"},
    "by-evalui": {"en": "Made by evalui {version}.", "zh": "由 evalui {version} 生成。"},
    "category-stem": {"en": "STEM", "zh": "理工"},
    "category-social_science": {"en": "Social science", "zh": "社会科学"},
    "category-humanities": {"en": "Humanities", "zh": "人文"},
    "category-other": {"en": "Other", "zh": "其他"},
    "group-hard": {"en": "C-Eval Hard", "zh": "C-Eval Hard"},
    "group-all": {"en": "All subjects", "zh": "全部科目"},
    **ARENA_SENTENCES,
    **BIAS_SENTENCES,
    **EXPENSE_SENTENCES,
    **LEFT_OUT_SENTENCES,
    **PAIR_SENTENCES,
    **PEOPLE_SENTENCES,
    **TEXT_SENTENCES,
}


def say(key: str, language: Language, /, **values: object) -> str:
    """The sentence called `key` with its fields filled in."""
    return SENTENCES[key][language].format(**values)
