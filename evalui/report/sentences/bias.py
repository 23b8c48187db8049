"""The sentences on option bias in English and Chinese; see `sentences`."""

from collections.abc import Mapping

from evalui.types import Language

BIAS_SENTENCES: Mapping[str, Mapping[Language, str]] = {
    # The front page
    "sentence": {"en": "{said}.", "zh": "{said}。"},
    "readable-said": {
        "en": "{value} % of {n} replies contained a usable answer.",
        "zh": "{n} 条回答中 {value} % 含有可用的答案。",
    },
    # The light, and the sentence beside it
    "light-red": {"en": "Clear bias", "zh": "明显偏差"},
    "light-amber": {"en": "Slight bias", "zh": "轻微偏差"},
    "light-green": {"en": "No bias seen", "zh": "未见偏差"},
    "light-few": {"en": "Too few questions to tell", "zh": "题目太少，无法判断"},
    "light-na": {"en": "Not tested", "zh": "未检验"},
    "light-mass": {"en": "Not by letters", "zh": "未用字母作答"},
    "light-one": {"en": "One position only", "zh": "只选一个位置"},
    "said-red": {"en": "{said}; clear bias", "zh": "{said}，偏差明显"},
    "said-amber": {"en": "{said}; slight bias", "zh": "{said}，略有偏差"},
    "said-green": {"en": "{said}; no bias seen", "zh": "{said}，未见偏差"},
    "said-few": {"en": "{said}; too few questions to tell", "zh": "{said}，题目太少，无法判断"},
    "said-na": {"en": "{said}; not tested", "zh": "{said}，未检验"},
    "mass-little": {
        "en": "Letters hold {value} % of the probability, too little to speak of a bias",
        "zh": "字母只占 {value} % 的概率，谈不上位置偏差",
    },
    "recall-mass": {
        "en": "Right answers found at each position; letters hold {value} % of the probability, "
        "too little to speak of a bias",
        "zh": "各位置找到正确答案的比例；字母只占 {value} % 的概率，谈不上位置偏差",
    },
    "prior-muted": {
        "en": "Left out, as letters hold under a tenth of the probability: {models}.",
        "zh": "字母所占概率不到十分之一，未列入：{models}。",
    },
    "picks-count": {
        "en": "Picks {letter} in {k} of {n} readable replies",
        "zh": "{n} 条可读回答中有 {k} 条选 {letter}",
    },
    "light-small": {"en": "p {p}, n = {n}", "zh": "p {p}，n = {n}"},
    # The tests in words: question, finding, how it was made
    "ask-picks": {"en": "Do picks depend on position?", "zh": "选择与位置有关吗？"},
    "picks-yes": {
        "en": "Yes. {letter} is picked {more} points more often than is fair; "
        "shuffled answers rarely do that.",
        "zh": "有关。选 {letter} 比公平值高 {more} 分，打乱答案很少出现这种情况。",
    },
    "picks-yes-level": {
        "en": "Yes. Shuffled answers are rarely spread this unevenly.",
        "zh": "有关。打乱答案很少出现这样的不均匀。",
    },
    "picks-no": {
        "en": "Not seen. Shuffled answers are often spread as unevenly.",
        "zh": "看不出来。打乱答案也常有这样的不均匀。",
    },
    "tell-few": {"en": "Too few questions to tell.", "zh": "题目太少，无法判断。"},
    "how-permuted": {
        "en": "within-question permutation, {draws} draws",
        "zh": "题内置换检验，{draws} 次",
    },
    "ask-recalls": {
        "en": "Is a right answer as easy to find everywhere?",
        "zh": "正确答案在哪里都一样容易找到吗？",
    },
    "recalls-no": {
        "en": "No. {high} % at {best}, {low} % at {worst}.",
        "zh": "不是。{best} 处 {high} %，{worst} 处 {low} %。",
    },
    "recalls-unseen": {
        "en": "No difference seen. {high} % at {best}, {low} % at {worst}.",
        "zh": "看不出差别。{best} 处 {high} %，{worst} 处 {low} %。",
    },
    "recalls-same": {"en": "Yes, equally: {value} %.", "zh": "一样：{value} %。"},
    "how-cochran": {"en": "Cochran Q = {q}, {df} df", "zh": "Cochran Q = {q}，自由度 {df}"},
    "ask-spread": {"en": "How uneven are the positions?", "zh": "各位置有多不均匀？"},
    "spread-floor": {
        "en": "Recalls spread by {rstd} points; an unbiased model shows {floor} on average, "
        "up to {floor95}.",
        "zh": "召回率离散 {rstd} 分；无偏差的模型平均为 {floor} 分，最高约 {floor95} 分。",
    },
    "spread-alone": {
        "en": "Recalls spread by {rstd} points.",
        "zh": "召回率离散 {rstd} 分。",
    },
    "how-spread": {
        "en": "RStd, range {span}; noise floor: mean and 95 % of {draws} shuffles; CKLD {ckld}",
        "zh": "RStd，合理范围 {span}；噪声下限为 {draws} 次打乱的均值与 95 % 分位；CKLD {ckld}",
    },
    "how-spread-alone": {"en": "RStd; CKLD {ckld}", "zh": "RStd；CKLD {ckld}"},
    "ckld-infinite": {
        "en": "infinite ({letters} never chosen), smoothed {smoothed}",
        "zh": "无穷大（从未选 {letters}），平滑后 {smoothed}",
    },
    "ask-follow": {"en": "How many follow the letter?", "zh": "多少题跟着字母走？"},
    "follow": {
        "en": "{k} of {n} questions kept a position in more orders than an option.",
        "zh": "{n} 题中有 {k} 题，守住位置的顺序多于守住选项的顺序。",
    },
    "how-agreement": {
        "en": "two orders agree on the option {content} % (kappa {content_kappa}), "
        "on the position {position} % ({position_kappa}); chance {chance} %",
        "zh": "两种顺序选项一致 {content} %（kappa {content_kappa}），"
        "位置一致 {position} %（{position_kappa}），随机 {chance} %",
    },
    "ask-plurality": {"en": "How steady are the answers?", "zh": "回答有多稳定？"},
    "plurality": {
        "en": "The most frequent option comes in {value} % of the orders; "
        "guessing gives {chance} %.",
        "zh": "最常选的选项占全部顺序的 {value} %，乱猜为 {chance} %。",
    },
    "how-plurality": {
        "en": "plurality agreement (PPA), {n} questions in {orders} orders",
        "zh": "多数一致率（PPA），{n} 题，各 {orders} 种顺序",
    },
    "ask-averaged": {"en": "What if the bias is averaged out?", "zh": "把偏差平均掉会怎样？"},
    "ask-majority": {
        "en": "What does a majority over the orders give?",
        "zh": "各顺序的多数给出什么？",
    },
    "averaged": {
        "en": "Accuracy would be {value} % ({span}) instead of {plain} %.",
        "zh": "准确率会是 {value} %（{span}），而不是 {plain} %。",
    },
    "how-averaged": {
        "en": "mean probability of each option over {orders} orders",
        "zh": "各选项在 {orders} 种顺序下的平均概率",
    },
    "voted": {
        "en": "A majority over the orders would give {value} % instead of {plain} %.",
        "zh": "按各顺序多数票，准确率为 {value} %，而不是 {plain} %。",
    },
    "how-voted": {
        "en": "the most frequent option of {orders} orders, ties in part",
        "zh": "{orders} 种顺序中最常选的选项，并列按比例计",
    },
    "ask-pride": {
        "en": "What could one order give without the prior?",
        "zh": "只问一种顺序并去掉位置先验会怎样？",
    },
    "pride": {
        "en": "{after} % instead of {before} %; recalls spread by {spread_after} points "
        "instead of {spread_before}.",
        "zh": "{after} %，而不是 {before} %；召回率离散 {spread_after} 分，"
        "而不是 {spread_before} 分。",
    },
    "pride-alone": {
        "en": "{after} % instead of {before} %.",
        "zh": "{after} %，而不是 {before} %。",
    },
    "how-pride": {"en": "PriDe, prior {prior}", "zh": "PriDe，先验 {prior}"},
    "ask-clusters": {
        "en": "How much do more orders tell?",
        "zh": "多问几种顺序能多知道多少？",
    },
    "clusters": {
        "en": "{trials} answers know as much as {effective} independent ones.",
        "zh": "{trials} 条回答相当于 {effective} 条独立回答。",
    },
    "how-clusters": {
        "en": "design effect {deff}, clustered error {se} points",
        "zh": "设计效应 {deff}，聚类标准误 {se} 分",
    },
    "ask-left-out": {"en": "Were any replies left out?", "zh": "有没有回答未计入？"},
    "left-out-none": {"en": "None of {n}.", "zh": "{n} 条全部计入。"},
    "left-out": {
        "en": "{k} of {n} were unreadable, {ties} tied. They show no position.",
        "zh": "{n} 条中 {k} 条无法判读，{ties} 条并列，不计入位置。",
    },
    "how-left-out": {
        "en": "unreadable ones count as wrong, ties in part",
        "zh": "无法判读的按错计，并列的按比例计",
    },
    # Below charts
    "recall-tested": {
        "en": "Share found at each position, with 95 % range. Spread (RStd) {rstd} points, "
        "noise floor {floor95}. Cochran p {p}.",
        "zh": "各位置找到正确答案的比例与 95 % 合理范围。离散度（RStd）{rstd} 分，"
        "噪声下限 {floor95} 分。Cochran p {p}。",
    },
    "recall-floored": {
        "en": "Share found at each position, with 95 % range. Spread (RStd) {rstd} points, "
        "noise floor {floor95}.",
        "zh": "各位置找到正确答案的比例与 95 % 合理范围。离散度（RStd）{rstd} 分，"
        "噪声下限 {floor95} 分。",
    },
    "recall-few": {
        "en": "Share found at each position, with 95 % range. Too few questions ({n}) to tell "
        "more.",
        "zh": "各位置找到正确答案的比例与 95 % 合理范围。题目太少（{n} 题），看不出更多。",
    },
    "agree-title": {"en": "Content or position?", "zh": "看内容还是看位置？"},
    "agree-about": {
        "en": "{n} questions, each asked in {orders} orders. Select a cell to list its questions.",
        "zh": "{n} 题，每题问 {orders} 种顺序。点选格子查看题目。",
    },
    "agree-content": {
        "en": "most times the same option was chosen",
        "zh": "同一选项被选的最多次数",
    },
    "agree-position": {"en": "most times the same position", "zh": "同一位置的最多次数"},
    "agree-locked": {"en": "top left: locked<br>on a letter", "zh": "左上：<br>守住字母"},
    "agree-by-content": {"en": "answers by<br>content ↘", "zh": "按内容<br>作答 ↘"},
    "agree-told": {
        "en": "same position in {slots} of {orders} orders, same option in {options}: "
        "{k} of {n} questions, {value} % ({span})",
        "zh": "{orders} 种顺序中同一位置 {slots} 次，同一选项 {options} 次："
        "{n} 题中 {k} 题，{value} %（{span}）",
    },
    "prior-title": {
        "en": "What is preferred whatever stands there",
        "zh": "不论内容，偏好哪个位置",
    },
    "prior-about": {
        "en": "Prior by position, estimated from probabilities (PriDe). {rest}",
        "zh": "由概率估计的位置先验（PriDe）。{rest}",
    },
    "picks-about": {
        "en": "Share of readable answers by position. {rest}",
        "zh": "可读回答在各位置的比例。{rest}",
    },
    "prior-mixed-about": {
        "en": "Prior by position: estimated from probabilities (PriDe) where there are any, "
        "else the share of readable answers. {rest}",
        "zh": "位置先验：有概率时由概率估计（PriDe），否则为可读回答的比例。{rest}",
    },
    "prior-rest": {
        "en": "White is fair, {fair} %; grey has fewer than 30 questions.",
        "zh": "白色为公平值 {fair} %，灰色不到 30 题。",
    },
    "prior-told": {
        "en": "prior of {letter} {value} % ({span}), fair {fair} %, n = {n}",
        "zh": "{letter} 的先验 {value} %（{span}），公平值 {fair} %，n = {n}",
    },
    "picks-told": {
        "en": "{letter} picked {value} % ({span}), fair {fair} %, n = {n}",
        "zh": "选 {letter} {value} %（{span}），公平值 {fair} %，n = {n}",
    },
    "fair-at": {"en": "white: fair, {value} %", "zh": "白色：公平值 {value} %"},
    "cell-told": {
        "en": "{gold} → {picked}: {k} of {n}, {value} % ({span})",
        "zh": "{gold} → {picked}：{n} 次中 {k} 次，{value} %（{span}）",
    },
    "gap-title": {
        "en": "Where the order of options matters most",
        "zh": "选项顺序在哪里影响最大",
    },
    "gap-about": {
        "en": "Points of questions right only as written. A star: unlike the rest of that "
        "model's questions, corrected for all cells (Benjamini-Hochberg). "
        "Grey: fewer than 30 questions.",
        "zh": "仅原顺序答对的题所占的分。星号：与该模型其余题目不同，已按全部格子校正"
        "（Benjamini-Hochberg）。灰色：不到 30 题。",
    },
    "gap-told": {
        "en": "{value} points ({span}), {k} of {n} questions",
        "zh": "{value} 分（{span}），{n} 题中 {k} 题",
    },
    "gap-star": {"en": "Unlike the rest.", "zh": "与其余题目不同。"},
    "soft-title": {
        "en": "Probability of the right answer by position",
        "zh": "正确答案在各位置的概率",
    },
    "soft-about": {
        "en": "Mean probability given to the right option where it stands; it needs fewer "
        "questions than shares do. n = {n}.",
        "zh": "正确选项在各位置得到的平均概率，所需题数比比例少。n = {n}。",
    },
    "soft-told": {
        "en": "{letter}: {value} % when right, {mass} % whatever stands there, n = {n}",
        "zh": "{letter}：为正确答案时 {value} %，不论内容 {mass} %，n = {n}",
    },
    # Calibration
    "reliable-over": {
        "en": "{model} is surer than it is right: by {gap} points on average",
        "zh": "{model} 的把握高于正确率，平均高 {gap} 分",
    },
    "reliable-under": {
        "en": "{model} is right more often than it is sure: by {gap} points on average",
        "zh": "{model} 的正确率高于把握，平均高 {gap} 分",
    },
    "reliable-even": {
        "en": "{model} is about as sure as it is right",
        "zh": "{model} 的把握与正确率大致相符",
    },
    "reliable-few": {
        "en": "Too few questions ({n}) to judge how well probabilities fit",
        "zh": "题目太少（{n} 题），无法判断概率是否可信",
    },
    "reliable-about": {
        "en": "Order as written. ECE {ece} points, Brier {brier} (0 to 2); lower is better. "
        "Letters hold {mass} % of the probability. n = {n}.",
        "zh": "原顺序。ECE {ece} 分，Brier {brier}（0 至 2），越低越好。"
        "字母占 {mass} % 的概率。n = {n}。",
    },
    "reliable-told": {
        "en": "sure {sure} %, right {value} % ({span}), n = {n}",
        "zh": "把握 {sure} %，答对 {value} %（{span}），n = {n}",
    },
    "reliable-sure": {"en": "how sure the model is", "zh": "模型的把握"},
    "reliable-right": {"en": "how often it is right", "zh": "答对的比例"},
    "reliable-line": {"en": "dotted: as sure as right", "zh": "虚线：把握等于正确率"},
    "reliable-counts": {"en": "questions", "zh": "题数"},
    # Things to know
    "exploratory": {
        "en": "Exploratory: with {n} questions small differences would usually be missed. "
        "Even an unbiased model shows a spread (RStd) of {floor} points here.",
        "zh": "仅供探索：{n} 题时，小的差别通常看不出来。"
        "无偏差的模型在这里也会有 {floor} 分的离散度（RStd）。",
    },
    "format-index": {
        "en": "A format problem, not only knowledge: {gap} points are lost when the reply must be "
        "exactly one letter; {hits} % of replies give a number.",
        "zh": "有格式问题，不全是知识问题：若要求只回一个字母，会少 {gap} 分；"
        "{hits} % 的回答给的是数字。",
    },
    "unbalanced": {
        "en": "The right answers are not spread evenly: {most} % stand at {letter} in the order "
        "as written. Read position bias from reordered questions only.",
        "zh": "正确答案分布不均：原顺序下 {most} % 位于 {letter}。位置偏差只能看重排后的题目。",
    },
    "unbalanced-origin": {
        "en": "The right answers are not spread evenly: {most} % stand at {letter}. "
        "Figures of position bias are unreliable in one order; ask in every order.",
        "zh": "正确答案分布不均：{most} % 位于 {letter}。只问一种顺序时位置偏差的指标不可靠，"
        "请按每种顺序提问。",
    },
    "choices-only": {
        "en": "Answerable without reading the question: {value} % right from the options alone "
        "({p}).",
        "zh": "不看题目也能答：只看选项答对 {value} %（{p}）。",
    },
    "duplicates": {
        "en": "Questions with options of the same text: {k}. A letter counts as that letter, their "
        "common text in part. They are left out of the robust figures and of the bias tests.",
        "zh": "{k} 题有文字相同的选项：答字母按该字母计分，答相同的文字按比例计分；"
        "不计入稳健指标和偏差检验。",
    },
    "duplicates-text": {
        "en": "Questions with options of the same text: {k}. Such options are equally probable, so "
        "where they come first the question counts in part.",
        "zh": "{k} 题有文字相同的选项：它们的概率相同，并列最高时该题按比例计分。",
    },
    "debiasing-hurts": {
        "en": "Taking the prior away makes the spread of one order worse, {before} to {after} "
        "points: rely on the mean over orders.",
        "zh": "去掉位置先验后，单一顺序的离散度反而由 {before} 升至 {after} 分：请看各顺序的平均。",
    },
    # The written report
    "head-bias": {"en": "Position bias", "zh": "位置偏差"},
    "test-head-finding": {"en": "Finding", "zh": "发现"},
    "test-head-question": {"en": "Question", "zh": "问题"},
    "test-head-p": {"en": "p", "zh": "p"},
    "test-head-how": {"en": "How", "zh": "方法"},
    "picture-heat": {
        "en": "{model}: {said}",
        "zh": "{model}：{said}",
    },
}
