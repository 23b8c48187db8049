"""What a report says of everything a run does not evaluate, in English and Chinese."""

from collections.abc import Mapping

from evalui.types import Language

LEFT_OUT_SENTENCES: Mapping[str, Mapping[Language, str]] = {
    "left-title": {"en": "Left out of this run", "zh": "本次任务未评测的内容"},
    "left-rows": {
        "en": "Faulty rows left out of {dataset}: {rows}.",
        "zh": "{dataset}：略去 {rows} 行有错误的数据。",
    },
    "left-shot-rows": {
        "en": "Faulty rows left out of the worked examples of {dataset}: {rows}.",
        "zh": "{dataset}：示例中略去 {rows} 行有错误的数据。",
    },
    "left-other-kind": {
        "en": "{what} was left out of {dataset}, because its questions are of another kind "
        "({why}).",
        "zh": "{dataset}：未读 {what}，因为其中的题目属于另一种类型（{why}）。",
    },
    "left-folder-missing": {
        "en": "{what} was left out, because its folder is not among the files.",
        "zh": "未评测 {what}，因为文件中没有它的文件夹。",
    },
    "left-pictures": {
        "en": "{what} was left out of {dataset}, because every row has a picture (column {why}), "
        "and images are not supported yet.",
        "zh": "{dataset}：未评测 {what}，因为每一行都有图片（{why} 列），目前还不支持图片。",
    },
    "left-train-unused": {
        "en": "{what} was left out of {dataset}, because the worked examples come from the dev "
        "files.",
        "zh": "{dataset}：未用 {what}，因为示例取自 dev 文件。",
    },
    "left-duplicate-options-left-out": {
        "en": "Rows of {what} with options of the same text, left out as requested: {rows}, by "
        "line {why}.",
        "zh": "{what} 中选项文字相同的 {rows} 行已按要求略去，行号：{why}。",
    },
    "left-test-without-answers": {
        "en": "{what} was left out of {dataset}, because it has no answers.",
        "zh": "{dataset}：未评测 {what}，因为其中没有答案。",
    },
    "left-no-scored-file": {
        "en": "{what} was left out of {dataset}, because it has worked examples only and no "
        "question of {why} is scored.",
        "zh": "{dataset}：未用 {what}，因为其中只有示例，而 {why} 没有要评测的题目。",
    },
    "left-ignored-files": {
        "en": "Left out, because they are no tables of questions: {what}.",
        "zh": "未读以下文件，因为它们不是题目表：{what}。",
    },
    "left-other-sheets": {
        "en": "Sheets of {what} that were not read: {why}.",
        "zh": "{what} 中未读的工作表：{why}。",
    },
    "left-hidden-sheets": {
        "en": "Hidden sheets of {what} that were not read: {why}.",
        "zh": "{what} 中未读的隐藏工作表：{why}。",
    },
    "left-choice-modes": {
        "en": "Not used for {dataset}, which has no options to choose from: {mode}.",
        "zh": "{dataset} 没有选项，未用以下模式：{mode}。",
    },
    "left-open-modes": {
        "en": "Not used for {dataset}, which has options to choose from and nothing to write: "
        "{mode}.",
        "zh": "{dataset} 是选择题，无需书面作答，未用以下模式：{mode}。",
    },
    "left-no-choice-mode": {
        "en": "{dataset} was not evaluated: it is multiple choice, and no mode of this run is for "
        "multiple choice.",
        "zh": "未评测 {dataset}：它是选择题，而本次任务没有适用于选择题的模式。",
    },
    "left-no-open-mode": {
        "en": "{dataset} was not evaluated: its questions have no options, and no mode of this "
        "run is for answers in writing.",
        "zh": "未评测 {dataset}：其中的题目没有选项，而本次任务没有书面作答的模式。",
    },
    "left-nobody": {
        "en": "{dataset} was not evaluated: there is no answer to it in this run.",
        "zh": "未评测 {dataset}：本次任务中没有对它的回答。",
    },
    "left-answers": {
        "en": "Answers of {what} that belong to no question of {dataset}: {rows}.",
        "zh": "{what} 的回答中有 {rows} 条不对应 {dataset} 的任何题目。",
    },
    "left-model": {
        "en": "{what} on {dataset}, {mode}: {why}",
        "zh": "{what}（{dataset}，{mode}）：{why}",
    },
}
