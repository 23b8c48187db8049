"""Fisher's exact test of two by two counts; scipy.stats has it, after half a second of imports."""

from math import comb


def fisher_p_value(inside: int, part: int, every: int, whole: int) -> float:
    """How likely a part of this size has a count as unlikely as `inside`, or less likely.

    `every` of `whole` things are marked; `part` of them are drawn, `inside` of which are marked.
    Two-sided: the probabilities of all counts that are no likelier are added up (R's and scipy's
    definition), here in whole numbers, so that none is taken for another by rounding.
    """
    lowest, highest = max(0, part + every - whole), min(part, every)
    assert lowest <= inside <= highest, "the counts are of one table"
    # Proportional to the hypergeometric probabilities; each follows from the one before.
    weights = [comb(every, lowest) * comb(whole - every, part - lowest)]
    for count in range(lowest, highest):
        ways = weights[-1] * (every - count) * (part - count)
        weights.append(ways // ((count + 1) * (whole - every - part + count + 1)))
    observed = weights[inside - lowest]
    return sum(weight for weight in weights if weight <= observed) / sum(weights)
