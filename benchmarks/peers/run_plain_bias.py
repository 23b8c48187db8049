"""Option bias straight from the formulas, without any care for speed.

Not somebody's program: numpy written down as a reader of the papers would. One question's options
stand in slots; `orders[v][s]` is the option that slot s shows in order v. RStd after Zheng et al.
(arXiv 2309.03882), CKLD after Choi et al. (2409.18857), Cochran's Q (Biometrika 1950); the test
shuffles each question's chosen options over its orders.
"""

import numpy as np
from numpy.typing import NDArray
from rounds import Prepared, serve, work

Numbers = NDArray[np.int64]
given = work()
DRAWS = 999
TINY = 1e-10
EQUAL = 1e-6


def prepare(job: str) -> Prepared:
    size = int(job)
    chances = np.array(given["chances"][:size])
    gold, orders = np.array(given["gold"][:size]), np.array(given["orders"])
    return lambda: figures(chances, gold, orders)


def figures(chances: NDArray[np.float64], gold: Numbers, orders: Numbers) -> dict[str, float]:
    k = chances.shape[2]
    slot_of = np.argsort(orders, axis=1)  # the slot that shows an option, by order
    chosen = chances.argmax(axis=2)
    asked = slot_of[:, gold].T
    content = np.take_along_axis(np.broadcast_to(orders, chances.shape), chosen[..., None], 2)[
        ..., 0
    ]
    right = chosen == asked
    recalls = recall(chosen, asked, k)
    used = np.bincount(chosen.ravel(), minlength=k) / chosen.size
    held = np.bincount(asked.ravel(), minlength=k) / asked.size
    prior, averaged, debiased = by_probability(chances, gold, orders)
    return {
        "rstd": float(recalls.std() * 100),
        "ckld": float((held * np.log(held / used)).sum()),
        "content": agreement(content, k),
        "position": agreement(chosen, k),
        "averaged": averaged,
        "debiased": debiased,
        "prior_a": float(prior[0]),
        "q": cochran(right, asked, k),
        "p": shuffled(content, slot_of, asked, k),
        "ece": calibration(chances[:, 0], right[:, 0]),
        "brier": float(((chances[:, 0] - np.eye(k)[asked[:, 0]]) ** 2).sum(axis=1).mean()),
    }


def recall(chosen: Numbers, asked: Numbers, k: int) -> NDArray[np.float64]:
    return np.array([(chosen[asked == slot] == slot).mean() for slot in range(k)])


def agreement(labels: Numbers, k: int) -> float:
    """The share of pairs of orders that give a question the same label."""
    n_orders = labels.shape[1]
    counts = np.stack([(labels == label).sum(axis=1) for label in range(k)], axis=1)
    return float((counts * (counts - 1)).sum(axis=1).mean() / (n_orders * (n_orders - 1)))


def by_probability(
    chances: NDArray[np.float64], gold: Numbers, orders: Numbers
) -> tuple[NDArray[np.float64], float, float]:
    """PriDe's prior; the accuracy of the mean over orders, and of the first without the prior."""
    logs = np.log(chances + TINY).mean(axis=1)
    each = np.exp(logs - logs.max(axis=1, keepdims=True))
    prior = (each / each.sum(axis=1, keepdims=True)).mean(axis=0)
    by_option = np.zeros((len(chances), chances.shape[2]))
    for number, order in enumerate(orders):
        for slot, option in enumerate(order):
            by_option[:, option] += chances[:, number, slot]
    first = np.log(chances[:, 0] + TINY) - np.log(prior + TINY)
    by_order = np.empty_like(first)
    by_order[:, orders[0]] = first
    return prior, accuracy(by_option / chances.shape[1], gold), accuracy(by_order, gold)


def accuracy(scores: NDArray[np.float64], gold: Numbers) -> float:
    """The mean credit; options that are equal but for rounding share it."""
    top = scores >= scores.max(axis=1, keepdims=True) - EQUAL
    return float((top[np.arange(len(gold)), gold] / top.sum(axis=1)).mean())


def cochran(right: NDArray[np.bool_], asked: Numbers, k: int) -> float:
    table = np.zeros((len(right), k))
    np.put_along_axis(table, asked, right.astype(float), 1)
    columns, rows, total = table.sum(axis=0), table.sum(axis=1), table.sum()
    return float((k - 1) * (k * (columns**2).sum() - total**2) / (k * total - (rows**2).sum()))


def shuffled(content: Numbers, slot_of: Numbers, asked: Numbers, k: int) -> float:
    """The p-value of the slot counts; the floor of RStd comes along."""
    rng = np.random.default_rng(0)
    places = np.arange(content.shape[1])
    expected = content.size / k

    def unevenness(options: Numbers) -> float:
        counts = np.bincount(slot_of[places, options].ravel(), minlength=k)
        return float(((counts - expected) ** 2 / expected).sum())

    seen, reached, floor = unevenness(content), 0, np.empty(DRAWS)
    for draw in range(DRAWS):
        order = rng.random(content.shape).argsort(axis=1)
        options = np.take_along_axis(content, order, axis=1)
        reached += unevenness(options) >= seen - 1e-9
        floor[draw] = recall(slot_of[places, options], asked, k).std() * 100
    return (1 + reached) / (1 + DRAWS)


def calibration(chances: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    sure = chances.max(axis=1)
    bins = np.minimum((sure * 10).astype(int), 9)
    groups = [bins == number for number in range(10)]
    return float(sum(g.mean() * abs(right[g].mean() - sure[g].mean()) for g in groups if g.any()))


serve("the formulas in plain numpy", ("numpy",), prepare)
