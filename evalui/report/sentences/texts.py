"""The sentences on written answers in English and Chinese; see `sentences`."""

from collections.abc import Mapping

from evalui.types import Language

TEXT_SENTENCES: Mapping[str, Mapping[Language, str]] = {
    # Text figures
    "closest": {
        "en": "{model} is closest to the references: {metric} {value} ({span})",
        "zh": "{model} 与参考答案最接近：{metric} {value}（{span}）",
    },
    "closest-recall": {
        "en": "{model} covers the references best: {metric} {value} ({span})",
        "zh": "{model} 对参考答案的覆盖最好：{metric} {value}（{span}）",
    },
    "closest-level": {
        "en": "Against the references, {names} cannot be told apart: {metric} from {low} to {high}",
        "zh": "与参考答案对照，分不出 {names} 的高下：{metric} 从 {low} 到 {high}",
    },
    "brief": {
        "en": "References are {reference} characters, answers {answer} (medians): "
        "recall or a judge says more than ROUGE-L.",
        "zh": "参考答案 {reference} 字，回答 {answer} 字（中位数）："
        "召回率或评委比 ROUGE-L 更能说明问题。",
    },
    "brief-one": {
        "en": "References are {reference} character, answers {answer} (medians): "
        "recall or a judge says more than ROUGE-L.",
        "zh": "参考答案 {reference} 字，回答 {answer} 字（中位数）："
        "召回率或评委比 ROUGE-L 更能说明问题。",
    },
    "metric-rouge-l-f": {"en": "ROUGE-L", "zh": "ROUGE-L"},
    "metric-rouge-l-r": {"en": "recall (ROUGE-L)", "zh": "召回率（ROUGE-L）"},
    "reaches": {
        "en": "{model} reaches {metric} {value} ({span}) on {n} questions",
        "zh": "{model} 在 {n} 题上的 {metric} 为 {value}（{span}）",
    },
    "closest-none": {
        "en": "No answer has a reference to compare with",
        "zh": "没有可与回答对照的参考答案",
    },
    "closest-equal": {
        "en": "{names} are equally close to the references: {metric} {value}",
        "zh": "{names} 与参考答案同样接近：{metric} {value}",
    },
    "closest-apart": {
        "en": "The models were compared on different questions, so their means do not rank them",
        "zh": "各模型对照的题目不同，平均值不能用来排名",
    },
    "rated-best": {
        "en": "{judge} marks {model} highest: {value} ({span})",
        "zh": "{judge} 给 {model} 的评分最高：{value}（{span}）",
    },
    "rated-level": {
        "en": "By the marks of {judge}, {names} cannot be told apart: {low} to {high}",
        "zh": "按 {judge} 的评分，分不出 {names} 的高下：{low} 到 {high}",
    },
    "rated-one": {
        "en": "{judge} marks {model} {value} ({span})",
        "zh": "{judge} 给 {model} 的评分：{value}（{span}）",
    },
    "mark-rating": {"en": "{value} of 10", "zh": "{value} 分（满分 10）"},
    "mark-correct": {"en": "{value} % right", "zh": "{value} % 正确"},
    "text-axis": {"en": "mean over questions", "zh": "各题平均"},
    "text-about": {
        "en": "Mean over questions with a reference, 0 to 1. Whiskers: 95 % plausible range. {n}",
        "zh": "有参考答案的题目的平均值，0 到 1。须线：95 % 合理范围。{n}",
    },
    # What to know of answers
    "answers-partial": {
        "en": "Only {done} of {total} answers are in; figures may still change.",
        "zh": "{total} 条回答中只完成 {done} 条，数字还可能变化。",
    },
    "answers-some": {
        "en": "{done} of {total} questions were answered; the figures rest on these alone.",
        "zh": "{total} 题中回答了 {done} 题，数字仅依据这些题。",
    },
    "answers-empty": {
        "en": "Empty replies, counted as 0: {k} of {n}.",
        "zh": "{n} 条回答中 {k} 条为空，按 0 计。",
    },
    "answers-cut": {
        "en": "Answers cut off at the length limit: {k} of {n}.",
        "zh": "{n} 条回答中 {k} 条因长度上限被截断。",
    },
    "answers-bare": {
        "en": "Questions without a reference: {k} of {n}. They enter no text figure.",
        "zh": "{n} 题中 {k} 题没有参考答案，不计入文本指标。",
    },
    "answers-unreferenced": {
        "en": "Not judged by {judge}, for lack of a reference: {k} of {n} answers.",
        "zh": "{n} 条回答中 {k} 条的题目没有参考答案，{judge} 未评判。",
    },
    "answers-unscored": {
        "en": "Answers without a readable rating from {judge}: {k} of {n}.",
        "zh": "{judge} 对 {n} 条回答中的 {k} 条没有给出可读的评分。",
    },
}
