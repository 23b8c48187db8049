"""The sentences on pairs of models and on ranks in English and Chinese; see `sentences`."""

from collections.abc import Mapping

from evalui.types import Language

PAIR_SENTENCES: Mapping[str, Mapping[Language, str]] = {
    # One pair
    "pair-beats": {
        "en": "{first} beats {second} by {gap} points ({span})",
        "zh": "{first} 比 {second} 高 {gap} 分（合理范围 {span}）",
    },
    "pair-beats-guessing": {
        "en": "{first} beats {second} by {gap} points ({span}); "
        "{second} is no better than guessing",
        "zh": "{first} 比 {second} 高 {gap} 分（合理范围 {span}）；{second} 不比乱猜好",
    },
    "pair-guessing": {
        "en": "{first} and {second} are not ranked: neither is better than guessing",
        "zh": "{first} 与 {second} 不分高下：都不比乱猜好",
    },
    "pair-guessing-first": {
        "en": "{first} and {second} are not ranked: {first} is no better than guessing",
        "zh": "{first} 与 {second} 不分高下：{first} 不比乱猜好",
    },
    "pair-level": {
        "en": "{first} and {second} cannot be told apart with {n} questions; "
        "between these two, a true difference under {least} points would usually be missed",
        "zh": "{n} 题分不出 {first} 与 {second} 的高下；"
        "两者的真实差别若低于 {least} 分，通常看不出来",
    },
    "pair-few": {
        "en": "{first} and {second}: too few questions to tell ({n})",
        "zh": "{first} 与 {second}：题目太少，无法判断（{n} 题）",
    },
    "pair-same": {
        "en": "By this figure {first} and {second} are equal on each of {n} questions",
        "zh": "就这一指标而言，{first} 与 {second} 在 {n} 题上逐题相同",
    },
    "pair-steady": {
        "en": "{first} is ahead of {second} by {gap} points on each of {n} questions",
        "zh": "{n} 题中，{first} 每一题都比 {second} 高 {gap} 分",
    },
    "pair-refused": {
        "en": "{first} and {second} are not compared: they differ in {parts}",
        "zh": "{first} 与 {second} 不作比较：{parts}不同",
    },
    "pair-strangers": {
        "en": "{first} and {second} are not compared: they have no questions in common",
        "zh": "{first} 与 {second} 不作比较：没有共同的题目",
    },
    # What two cells may differ in
    "part-dataset": {"en": "dataset", "zh": "数据集"},
    "part-mode": {"en": "mode", "zh": "方式"},
    "part-prompt": {"en": "prompt", "zh": "提示词"},
    "part-rule": {"en": "rule of reading", "zh": "判读规则"},
    "part-spell": {"en": "spellings of a letter", "zh": "字母的写法"},
    "part-shots": {"en": "number of examples", "zh": "示例数"},
    "part-orders": {"en": "option orders", "zh": "选项顺序"},
    "part-n": {"en": "number of questions", "zh": "题数"},
    "part-un": {"en": "unconditional cue", "zh": "无条件提示"},
    # The small line below the pairs
    "pairs-about": {
        "en": "Paired on the same questions, corrected for {k} comparisons, {p}.",
        "zh": "按题配对，已校正 {k} 次比较，{p}。",
    },
    "pairs-about-one": {
        "en": "Paired on the same questions, {p}.",
        "zh": "按题配对，{p}。",
    },
    "pairs-each": {"en": "each p < .001", "zh": "均为 p < .001"},
    "pairs-up-to": {"en": "p from {low} to {high}", "zh": "p 介于 {low} 与 {high} 之间"},
    "pairs-p": {"en": "p {p}", "zh": "p {p}"},
    "pair-mcnemar": {
        "en": "{k} questions decide the difference: {b} only {first} gets right, "
        "{c} only {second}. McNemar mid-p {p}.",
        "zh": "{k} 题决定差别：只有 {first} 答对的 {b} 题，只有 {second} 答对的 {c} 题。"
        "McNemar mid-p {p}。",
    },
    "pair-mcnemar-none": {
        "en": "No question separates {first} and {second}.",
        "zh": "没有一题能区分 {first} 与 {second}。",
    },
    # Measures
    "measure-accuracy": {"en": "accuracy", "zh": "准确率"},
    "measure-robust": {"en": "robust accuracy", "zh": "稳健准确率"},
    "measure-mean_over_orders": {"en": "mean over orders", "zh": "各顺序平均"},
    # Ranks
    "rank": {"en": "Rank {band}", "zh": "第 {band} 档"},
    "rank-shared": {"en": "Rank {band}, shared", "zh": "第 {band} 档（并列）"},
    "rank-none-few": {"en": "too few questions", "zh": "题目太少"},
    "rank-none-unreadable": {"en": "too many unreadable answers", "zh": "无法判读的回答太多"},
    "rank-none-guessing": {"en": "no better than guessing", "zh": "不比乱猜好"},
    "rank-none-baseline": {"en": "a script", "zh": "脚本模型"},
    # Words on charts, in tables and in the report
    "pairs-title": {"en": "Pair by pair", "zh": "两两比较"},
    "points-told": {
        "en": "{gap} points ({span}), n = {n}",
        "zh": "{gap} 分（{span}），n = {n}",
    },
    "paired-lines": {
        "en": "Lines: 95 % range, paired by question.",
        "zh": "线：95 % 合理范围，按题配对。",
    },
    "missed-band": {
        "en": "Grey: true differences that these questions would usually miss.",
        "zh": "灰色：这些题目通常看不出的真实差别。",
    },
    "needed-axis": {"en": "questions", "zh": "题数"},
    "needed-points": {"en": "points", "zh": "分"},
    "needed-told": {
        "en": "{n} questions: {least} points",
        "zh": "{n} 题：{least} 分",
    },
    "with-reason": {"en": "{said} ({reason})", "zh": "{said}（{reason}）"},
    "pair-head-mcnemar": {"en": "McNemar mid-p", "zh": "McNemar mid-p"},
    "pair-head-n": {"en": "Questions", "zh": "题数"},
    "pair-head-first": {"en": "Higher", "zh": "较高"},
    "pair-head-second": {"en": "Lower", "zh": "较低"},
    "pair-head-points": {"en": "Points", "zh": "分差"},
    "pair-head-p": {"en": "p, corrected", "zh": "p（已校正）"},
    "pair-head-least": {"en": "Usually missed below", "zh": "低于此差通常看不出"},
    "head-rank": {"en": "Rank", "zh": "档次"},
}
