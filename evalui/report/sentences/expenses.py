"""What the report says of requests, tokens and dollars, in English and Chinese."""

from collections.abc import Mapping

from evalui.types import Language

EXPENSE_SENTENCES: Mapping[str, Mapping[Language, str]] = {
    "expenses": {"en": "Tokens and cost", "zh": "词元与费用"},
    "expenses-are": {
        "en": "Requests are those behind the answers of this report; one that was answered in an "
        "earlier run cost no tokens. Prices are US dollars for a million tokens read / written, "
        "as given when this report was made. Models that count no tokens are not listed.",
        "zh": "请求数是本报告中各回答所用的请求；以前的任务已答过的请求不再用词元。"
        "价格是生成本报告时每百万词元（读入 / 写出）的美元数。不统计词元的模型不列出。",
    },
    "expense-model": {"en": "Model", "zh": "模型"},
    "expense-requests": {"en": "Requests", "zh": "请求数"},
    "expense-read": {"en": "Tokens read", "zh": "读入词元"},
    "expense-written": {"en": "Tokens written", "zh": "写出词元"},
    "expense-prices": {"en": "Price per million", "zh": "每百万词元价格"},
    "expense-dollars": {"en": "Cost", "zh": "费用"},
    "expense-together": {"en": "Together", "zh": "合计"},
    "no-price": {"en": "no price given", "zh": "未给出价格"},
    "partly-priced": {"en": "not all priced", "zh": "部分没有价格"},
    "expense-wait": {
        "en": "{model} has not answered since {since}: {why}",
        "zh": "{model} 自 {since} 起没有应答：{why}",
    },
}
