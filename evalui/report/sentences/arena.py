"""The sentences on answers, judges and standings in English and Chinese; see `sentences`."""

from collections.abc import Mapping

from evalui.types import Language

ARENA_SENTENCES: Mapping[str, Mapping[Language, str]] = {
    # Titles above the standings
    "arena-empty": {"en": "No verdicts yet", "zh": "还没有评判"},
    "arena-unreferenced": {
        "en": "Nothing was judged: no question has the reference that this judge needs",
        "zh": "没有可评判的题目：评委需要参考答案，而题目都没有",
    },
    "arena-few": {
        "en": "Too few questions ({n}) to read a ranking from",
        "zh": "题目太少（{n} 题），排不出名次",
    },
    "arena-leads": {
        "en": "{first} leads {second} by {gap} points ({span})",
        "zh": "{first} 比 {second} 高 {gap} 分（{span}）",
    },
    "arena-endless": {
        "en": "{first} is ahead of {second}; by how much cannot be told with {n} questions",
        "zh": "{first} 领先 {second}，但 {n} 题看不出领先多少",
    },
    "arena-level": {
        "en": "{names} cannot be told apart with {n} questions",
        "zh": "{n} 题分不出 {names} 的高下",
    },
    "arena-islands": {
        "en": "No finite rating: {k} groups of models never met",
        "zh": "没有有限的评分：{k} 组模型从未交手",
    },
    "arena-unbeaten": {
        "en": "No finite rating: {names} never lost a point",
        "zh": "没有有限的评分：{names} 一分未失",
    },
    "arena-winless": {
        "en": "No finite rating: {names} never won a point",
        "zh": "没有有限的评分：{names} 一分未得",
    },
    "arena-apart": {
        "en": "No finite rating: some models never lost a point to any of the others",
        "zh": "没有有限的评分：有的模型对其余模型一分未失",
    },
    "and": {"en": "{first} and {last}", "zh": "{first} 和 {last}"},
    "and-others": {"en": "{first} and {k} others", "zh": "{first} 等 {k} 个模型"},
    # How to read the charts
    "elo-about": {
        "en": "ELO, median of {runs} orders of play. Whiskers: 95 %, resampling the {n} questions.",
        "zh": "ELO，{runs} 种对战顺序的中位数。须线：对 {n} 题重抽样的 95 % 范围。",
    },
    "ordered-bradley_terry": {
        "en": "Ordered by Bradley-Terry rating.",
        "zh": "按 Bradley-Terry 评分排序。",
    },
    "ordered-elo": {
        "en": "Ordered by ELO, since no Bradley-Terry rating is finite.",
        "zh": "没有有限的 Bradley-Terry 评分，故按 ELO 排序。",
    },
    "otherwise": {
        "en": "By {what} the order is another.",
        "zh": "按{what}，名次有所不同。",
    },
    "otherwise-first": {
        "en": "By {what}, {model} is first.",
        "zh": "按{what}，{model} 居首。",
    },
    "otherwise-score": {"en": "score", "zh": "得分"},
    "otherwise-elo": {"en": "ELO", "zh": " ELO "},
    "otherwise-both": {"en": "score and ELO", "zh": "得分和 ELO"},
    "battles-by": {"en": "{battles} battles, {judge}.", "zh": "{battles} 场对战，{judge}。"},
    "by-judge": {"en": "judge: {name}", "zh": "评委：{name}"},
    "by-panel": {"en": "panel of {k} judges: {names}", "zh": "{k} 位评委合议：{names}"},
    "by-people": {"en": "judged by people", "zh": "由人评判"},
    "rule-based": {"en": "{name} (rule-based)", "zh": "{name}（规则）"},
    "start": {"en": "start {value}", "zh": "起点 {value}"},
    "matrix": {"en": "Who beats whom", "zh": "谁胜谁"},
    "matrix-about": {
        "en": "Share won by the row against the column, ties as halves. "
        "Blue above 50 %, orange below. Range from {n} questions.",
        "zh": "行对列的得分占比，平局各算一半。蓝色高于 50 %，橙色低于 50 %。范围来自 {n} 题。",
    },
    "matrix-most": {
        "en": "{first} wins most against each of the others",
        "zh": "{first} 对其余每个模型都胜多负少",
    },
    "matrix-gap": {
        "en": "{k} of {n} pairs of models never met",
        "zh": "{n} 对模型中有 {k} 对从未交手",
    },
    "never-met": {"en": "never met", "zh": "从未交手"},
    "against": {
        "en": "{row} against {column}: {value} % ({span}), n = {n}",
        "zh": "{row} 对 {column}：{value} %（{span}），n = {n}",
    },
    "panels-most": {
        "en": "{model} is clearly first in {k} of {n} {groups}",
        "zh": "{model} 在 {n} 项{groups}中的 {k} 项明显第一",
    },
    "panels-split": {
        "en": "{names}: each clearly first in {k} of {n} {groups}",
        "zh": "{names}：各在 {n} 项{groups}中的 {k} 项明显第一",
    },
    "panels-none": {
        "en": "No model is clearly first in any {group}",
        "zh": "没有模型在任何一项{group}上明显第一",
    },
    "panels-few": {
        "en": "Too few questions per {group} to compare",
        "zh": "每项{group}的题目太少，无法比较",
    },
    "panels-about": {
        "en": "Share of points won, ties as halves. Whiskers: 95 % plausible range; "
        "n: questions. Dotted: 50 %. Grey: fewer than {few} questions.",
        "zh": "得分占比，平局各算一半。须线：95 % 合理范围；n：题数。虚线：50 %。"
        "灰色：不到 {few} 题。",
    },
    "group-capability": {"en": "capability", "zh": "能力"},
    "group-capabilities": {"en": "capabilities", "zh": "能力"},
    "group-language": {"en": "language", "zh": "语言"},
    "group-languages": {"en": "languages", "zh": "语言"},
    "dimension-overall": {"en": "Overall", "zh": "总体"},
    "dimension-zh": {"en": "Chinese", "zh": "中文"},
    "dimension-en": {"en": "English", "zh": "英文"},
    "no-capability": {"en": "without capability", "zh": "未标能力"},
    "rates-capability": {"en": "Win rates by capability", "zh": "各能力胜率"},
    "rates-language": {"en": "Win rates by language", "zh": "各语言胜率"},
    "rates-about": {
        "en": "Per cent of battles that the row won against the column; "
        "ties and losses are the rest. n: questions.",
        "zh": "行对列获胜的对战占比（%），其余为平局和负局。n：题数。",
    },
    "groups-left-out": {
        "en": "Shown: the {shown} with the most questions. {k} more are in the exported tables.",
        "zh": "显示题目最多的 {shown} 项，另有 {k} 项见导出的表格。",
    },
    "pictures-need-matplotlib": {
        "en": "No pictures: they need matplotlib (pip install evalui[figures]).",
        "zh": "没有图片：需要 matplotlib（pip install evalui[figures]）。",
    },
    "pictures-need-font": {
        "en": "No pictures: no font with Chinese characters is installed here "
        "(for example Noto Sans CJK).",
        "zh": "没有图片：这里没有安装中文字体（例如 Noto Sans CJK）。",
    },
    # What to know of a judge
    "steady": {"en": "The judge is steady.", "zh": "评委稳定。"},
    "fair": {"en": "The judge is only fairly steady.", "zh": "评委只算较稳定。"},
    "unsteady": {"en": "The judge is not steady.", "zh": "评委不稳定。"},
    "steady-word": {"en": "Steady", "zh": "稳定"},
    "fair-word": {"en": "Fair", "zh": "较稳定"},
    "unsteady-word": {"en": "Unsteady", "zh": "不稳定"},
    "changed": {
        "en": "{value} % of its verdicts changed when the two answers swapped places ({span}).",
        "zh": "两个回答交换位置后，{value} % 的评判改变（{span}）。",
    },
    "fair-so": {
        "en": "Trust gaps, not single ranks.",
        "zh": "看差距，不要看单个名次。",
    },
    "unsteady-so": {
        "en": "This ranking says little.",
        "zh": "这个排名说明不了多少。",
    },
    "one-order": {
        "en": "Each pair was shown in one order only: "
        "how much the order sways the judge is not known.",
        "zh": "每对回答只展示了一种顺序：无法得知顺序对评委的影响。",
    },
    "arena-partial": {
        "en": "Only {done} of {total} verdicts are in; figures may still change.",
        "zh": "{total} 条评判中只完成 {done} 条，数字还可能变化。",
    },
    "rule-judge": {
        "en": "{names}: a rule decides, not a model. It shows how the page works and "
        "says nothing of quality.",
        "zh": "{names}：由规则而非模型裁决。只用于演示页面，不反映质量。",
    },
    "self-judge": {
        "en": "A judge is also a candidate: {names}. Judges tend to favour their own answers.",
        "zh": "评委同时也是参评模型：{names}。评委往往偏向自己的回答。",
    },
    "judge-unreadable": {
        "en": "Verdicts that cannot be read: {value} % ({span}) of {n}. They count for nobody.",
        "zh": "{n} 条评判中 {value} %（{span}）无法判读，不计入任何一方。",
    },
    "no-reference": {
        "en": "No reference: not judged. {k} of {n} showings are on questions that lack the "
        "reference this judge needs. They count for nobody.",
        "zh": "没有参考答案，未评判：{n} 次展示中有 {k} 次的题目缺少评委所需的参考答案，"
        "不计入任何一方。",
    },
    "no-majority": {
        "en": "Showings without a majority of the judges: {value} % ({span}) of {n}. "
        "They count for nobody.",
        "zh": "{n} 次展示中 {value} %（{span}）没有形成多数，不计入任何一方。",
    },
    "judge-bare": {
        "en": "{k} of them are on questions without a reference, which a judge that follows a rule "
        "needs.",
        "zh": "其中 {k} 条的题目没有参考答案，而按规则判断的评委需要它。",
    },
    "swayed": {
        "en": "Judges whose verdicts change when the two answers swap places: {names}.",
        "zh": "两个回答交换位置后评判改变的评委：{names}。",
    },
    "swayed-judge": {"en": "{name} {value} % ({span})", "zh": "{name} {value} %（{span}）"},
    "injected": {
        "en": "Verdicts on an answer that speaks to the judge: {k}. Read them first.",
        "zh": "有 {k} 条评判涉及对评委喊话的回答。先读一读再采信。",
    },
    "prefers-longer": {
        "en": "Prefers the longer answer: it wins {value} % ({span}) of decided verdicts.",
        "zh": "偏爱较长的回答：分出胜负的评判中，较长者胜 {value} %（{span}）。",
    },
    "prefers-lists": {
        "en": "Prefers the answer with more list items: it wins {value} % ({span}) of "
        "decided verdicts.",
        "zh": "偏爱列表项较多的回答：分出胜负的评判中，其胜率为 {value} %（{span}）。",
    },
    "prefers-first": {
        "en": "Prefers the answer shown first: it wins {value} % ({span}) of decided verdicts.",
        "zh": "偏爱先展示的回答：分出胜负的评判中，先展示者胜 {value} %（{span}）。",
    },
    "prefers-second": {
        "en": "Prefers the answer shown second: the first wins only {value} % ({span}) of "
        "decided verdicts.",
        "zh": "偏爱后展示的回答：分出胜负的评判中，先展示者只胜 {value} %（{span}）。",
    },
    # The written report
    "answers-part": {"en": "Written answers · {dataset}", "zh": "书面回答 · {dataset}"},
    "arena-part": {
        "en": "Comparisons · {dataset} · {judge}",
        "zh": "对比评测 · {dataset} · {judge}",
    },
    "of-model": {"en": "{model}: {said}", "zh": "{model}：{said}"},
    "head-answers": {"en": "Answers", "zh": "回答"},
    "head-empty": {"en": "Empty", "zh": "空"},
    "head-cut": {"en": "Cut off", "zh": "被截断"},
    "head-length": {"en": "Median length (characters)", "zh": "长度中位数（字符）"},
    "head-rating-by": {"en": "Rating by {judge} (1 to 10)", "zh": "{judge} 评分（1 至 10）"},
    "head-correct-by": {"en": "Correct by {judge} (0 to 1)", "zh": "{judge} 判对（0 至 1）"},
    "head-figure": {"en": "Figure", "zh": "指标"},
    "head-pair": {"en": "Pair", "zh": "对比"},
    "head-difference": {"en": "Difference", "zh": "差值"},
    "head-range": {"en": "95 % range", "zh": "95 % 范围"},
    "head-p": {"en": "p (Holm)", "zh": "p（Holm）"},
    "head-measure": {"en": "Measure", "zh": "项目"},
    "head-value": {"en": "Value", "zh": "数值"},
    "head-share": {"en": "Share won by the first", "zh": "前者得分占比"},
    "head-stats": {
        "en": "Dimension [W / T / L / NB]",
        "zh": "维度 [胜 / 平 / 负 / 不差]",
    },
    "head-score": {"en": "Dimension [score]", "zh": "维度 [得分]"},
    "head-rating": {"en": "Rating", "zh": "评分"},
    "figures-are": {
        "en": "Means over the questions with a reference, 0 to 1; in brackets the 95 % range.",
        "zh": "有参考答案的题目的平均值，0 到 1；括号内为 95 % 范围。",
    },
    "corpus-are": {
        "en": "BLEU and chrF over all answers together, 0 to 100, as sacreBLEU counts them:",
        "zh": "全部回答合并计算的 BLEU 与 chrF，0 到 100，按 sacreBLEU 计：",
    },
    "pairs-are": {
        "en": "The same questions compared, difference in {metric}:",
        "zh": "同题比较，{metric} 之差：",
    },
    "versus": {"en": "{first} − {second}", "zh": "{first} − {second}"},
    "first-against": {"en": "{first} against {second}", "zh": "{first} 对 {second}"},
    "compared": {
        "en": "{total} comparisons, of which {read} could be read ({rate} %).",
        "zh": "共 {total} 次比较，其中 {read} 次可判读（{rate} %）。",
    },
    "compared-panel": {
        "en": "{total} comparisons: in {read} ({rate} %) most judges agreed, "
        "{none} had no majority.",
        "zh": "共 {total} 次比较：{read} 次（{rate} %）形成多数，{none} 次没有。",
    },
    "consistent": {
        "en": "Of these, {k} ({rate} %) are not contradicted by the other order.",
        "zh": "其中 {k} 次（{rate} %）没有被另一种顺序推翻。",
    },
    "contradicted-tie": {
        "en": "Two orders that contradict each other count as two ties.",
        "zh": "两种顺序结果矛盾的，按两次平局计。",
    },
    "contradicted-half": {
        "en": "Two orders that contradict each other both count as they are.",
        "zh": "两种顺序结果矛盾的，各按原样计。",
    },
    "contradicted-drop": {
        "en": "Two orders that contradict each other do not count.",
        "zh": "两种顺序结果矛盾的，不计入。",
    },
    "basic": {"en": "Basic statistics", "zh": "基本统计"},
    "basic-about": {
        "en": "W won, T tied (both good or both bad), L lost, NB not bad: won or both good.",
        "zh": "胜、平（都好或都差）、负；不差：胜或都好。",
    },
    "scores": {"en": "Scores", "zh": "得分"},
    "scores-about": {
        "en": "From 0: win +3, both good +1, both bad −1, loss −3.",
        "zh": "从 0 起：胜 +3，都好 +1，都差 −1，负 −3。",
    },
    "elo": {"en": "ELO and Bradley-Terry", "zh": "ELO 与 Bradley-Terry"},
    "row-elo": {"en": "ELO, median of {runs} orders", "zh": "ELO，{runs} 种顺序的中位数"},
    "row-elo-range": {"en": "ELO, 95 % range", "zh": "ELO，95 % 范围"},
    "row-bt": {"en": "Bradley-Terry", "zh": "Bradley-Terry"},
    "row-bt-range": {"en": "Bradley-Terry, 95 % range", "zh": "Bradley-Terry，95 % 范围"},
    "row-styled": {
        "en": "Bradley-Terry at equal length and style",
        "zh": "Bradley-Terry，长度与格式相同时",
    },
    "row-rank": {"en": "Rank, 95 % range", "zh": "名次，95 % 范围"},
    "pairwise": {"en": "Who beats whom", "zh": "谁胜谁"},
    "reliability": {"en": "How far the judge can be trusted", "zh": "评委有多可靠"},
    "row-flips": {
        "en": "Verdicts changed with the order of the answers",
        "zh": "交换回答位置后评判改变",
    },
    "row-flips-of": {
        "en": "Verdicts changed with the order of the answers, {judge}",
        "zh": "交换回答位置后评判改变，{judge}",
    },
    "row-no-majority": {"en": "Without a majority", "zh": "没有多数意见"},
    "row-first": {"en": "Answer shown first wins", "zh": "先展示者胜"},
    "row-longer": {"en": "Longer answer wins", "zh": "较长者胜"},
    "row-lists": {"en": "Answer with more list items wins", "zh": "列表项较多者胜"},
    "row-unreadable": {"en": "Unreadable verdicts", "zh": "无法判读的评判"},
    "row-no-reference": {
        "en": "No reference: not judged",
        "zh": "没有参考答案，未评判",
    },
    "row-injected": {
        "en": "Verdicts on an answer that speaks to the judge",
        "zh": "涉及对评委喊话的回答的评判",
    },
    "row-agree": {"en": "Judges agree", "zh": "评委之间一致"},
    "row-kappa": {"en": "Fleiss’ kappa between judges", "zh": "评委之间的 Fleiss kappa"},
    "share-of-n": {"en": "{value} % ({span}), n = {n}", "zh": "{value} %（{span}），n = {n}"},
}
