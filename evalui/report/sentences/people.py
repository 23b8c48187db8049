"""What `people_document` says of people's votes, in English and Chinese."""

from collections.abc import Mapping

from evalui.types import Language

PEOPLE_SENTENCES: Mapping[str, Mapping[Language, str]] = {
    "people-part": {"en": "People · {dataset}", "zh": "人的投票 · {dataset}"},
    "people-agree": {
        "en": "Most people and {judge} say the same of {value} % ({span}) of {n} pairs of answers",
        "zh": "{n} 对回答中，多数人与评委“{judge}”有 {value} %（{span}）判断相同",
    },
    "people-the-panel": {"en": "the panel", "zh": "合议"},
    "people-counts": {
        "en": "Votes: {votes}. People: {people}. Pairs of answers with a vote: {pairs}. "
        "A person’s last vote on a pair counts.",
        "zh": "投票：{votes}。人数：{people}。有投票的回答对：{pairs}。"
        "同一人对同一对回答的投票以最后一次为准。",
    },
    "people-strangers": {
        "en": "Votes on models or questions that this run does not have: {k}. "
        "They enter no figure.",
        "zh": "有 {k} 张投票涉及本次评测没有的模型或题目，不计入任何指标。",
    },
    "people-outliers": {
        "en": "Votes unlike those of the others: {names}. Read their comments first.",
        "zh": "与其他人明显不同的投票者：{names}。计入之前先看备注。",
    },
    "people-standings": {"en": "Standings by people", "zh": "人评出的排名"},
    "head-counts": {"en": "W / T / L / NB", "zh": "胜 / 平 / 负 / 不差"},
    "head-points": {"en": "Score", "zh": "得分"},
    "head-people-elo": {"en": "ELO by people", "zh": "ELO · 人"},
    "head-judge-elo": {"en": "ELO by {judge}", "zh": "ELO · {judge}"},
    "people-agreement": {"en": "Who agrees with whom", "zh": "谁与谁一致"},
    "head-raters": {"en": "Two raters", "zh": "双方"},
    "head-same": {"en": "Say the same (%)", "zh": "判断相同（%）"},
    "head-kappa": {"en": "Cohen’s kappa", "zh": "Cohen kappa"},
    "head-shared": {"en": "Shared pairs", "zh": "共同回答对"},
    "people-majority": {"en": "most people", "zh": "多数人"},
    "people-two": {"en": "{first} and {second}", "zh": "{first} · {second}"},
    "people-kappa": {
        "en": "Kappa is agreement beyond chance: 1 is full, 0 is that of chance. "
        "In brackets the 95 % range. It has no value (–) where all votes are alike.",
        "zh": "Kappa 是超出偶然的一致程度：1 为完全一致，0 为偶然水平。"
        "括号内为 95 % 范围。所有投票相同时无值（–）。",
    },
    "people-more-raters": {
        "en": "{k} more pairs of raters are in the table “agreement” of the exported files.",
        "zh": "另有 {k} 组见导出文件的 agreement 表。",
    },
    "people-powered": {
        "en": "Win rates, the judge corrected by people",
        "zh": "胜率：评委经人校正",
    },
    "people-powered-is": {
        "en": "Votes on {n} of {total} pairs correct the verdicts of {judge} on all.",
        "zh": "{n} 对回答的投票，校正评委“{judge}”对全部 {total} 对的评判。",
    },
    "people-powered-about": {
        "en": "Share of points the first model won, in per cent, ties as halves; in brackets the "
        "95 % range. It holds if the pairs people voted on are a random part of all.",
        "zh": "前一个模型的得分占比（%），平局各算一半；括号内为 95 % 范围。"
        "前提：投票的回答对是全部的随机抽样。",
    },
    "head-by-judge": {"en": "Judge only", "zh": "仅评委"},
    "head-by-people": {"en": "People only", "zh": "仅人"},
    "head-by-both": {"en": "Judge corrected by people", "zh": "评委经人校正"},
    "head-voted": {"en": "Pairs with a vote", "zh": "有投票的回答对"},
    "people-parting": {"en": "Where opinions part", "zh": "意见不同之处"},
    "people-parting-of": {
        "en": "Pairs of answers on which people and {judge}, or people among themselves, "
        "say different things: {n}.",
        "zh": "人与评委“{judge}”之间，或人与人之间判断不同的回答对：{n}。",
    },
    "people-parting-alone": {
        "en": "Pairs of answers on which people say different things: {n}.",
        "zh": "人与人之间判断不同的回答对：{n}。",
    },
    "people-parting-more": {
        "en": "Listed are the {shown} with most votes; all are in the table “disagreements” of "
        "the exported files.",
        "zh": "此处列出投票最多的 {shown} 对；全部见导出文件的 disagreements 表。",
    },
    "head-question": {"en": "Question", "zh": "题目"},
    "head-people": {"en": "People", "zh": "人"},
    "head-judge": {"en": "Judge", "zh": "评委"},
    "people-tie": {"en": "both good", "zh": "都好"},
    "people-neither": {"en": "both bad", "zh": "都不好"},
}
