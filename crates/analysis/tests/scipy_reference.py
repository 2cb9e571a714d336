"""Reference values for the statistics of this crate, computed with scipy and statsmodels.

    python3 -m venv /path/to/venv && /path/to/venv/bin/pip install scipy statsmodels pandas
    /path/to/venv/bin/python crates/analysis/tests/scipy_reference.py

writes scipy_reference.json beside this file. The values depend only on this script and the seed.
"""

import json
import math
import pathlib

import numpy
import pandas
import scipy
import statsmodels
from scipy import optimize, stats
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm
from statsmodels.stats.multitest import multipletests

random = numpy.random.default_rng(20100512)


def t_quantiles():
    return [
        [upper, df, stats.t.isf(upper, df)]
        for upper in (0.2, 0.025, 0.005)
        for df in (1, 2, 3, 4, 5.5, 7, 9, 19, 29, 99.25, 999, 100000)
    ]


def t_p_values():
    return [
        [t, df, 2 * stats.t.sf(abs(t), df)]
        for t in (0.001, 0.5, -1.0, 2.5, 4.6, 12.0, 80.0)
        for df in (1, 2, 4, 7.3, 19, 199)
    ]


def f_p_values():
    return [
        [f, between, within, stats.f.sf(f, between, within)]
        for f in (0.1, 0.9, 1.7, 4.2, 30.0)
        for between, within in ((1, 1), (4, 16), (2, 8), (9, 81), (19, 3))
    ]


def normal_quantiles():
    return [[p, stats.norm.ppf(p)] for p in (0.0001, 0.025, 0.31, 0.5, 0.8, 0.975, 0.9999)]


def estimates():
    """t intervals of a mean."""
    cases = []
    for n in (2, 3, 5, 20):
        values = random.normal(12.0, 0.7, n).round(6).tolist()
        low, high = stats.t.interval(0.95, n - 1, numpy.mean(values), stats.sem(values))
        cases.append({
            "values": values, "mean": numpy.mean(values), "sd": numpy.std(values, ddof=1),
            "median": numpy.median(values), "low": low, "high": high,
        })
    return cases


def ratios():
    """Paired and Welch comparisons of log values; the factor is first / second."""
    cases = []
    for n in (2, 5, 8):
        first = random.lognormal(2.5, 0.1, n).round(6)
        second = (first * random.lognormal(-0.2, 0.05, n)).round(6)
        log = numpy.log(first) - numpy.log(second)
        low, high = stats.t.interval(0.95, n - 1, log.mean(), stats.sem(log))
        welch = stats.ttest_ind(numpy.log(first), numpy.log(second), equal_var=False)
        welch_interval = welch.confidence_interval(0.95)
        cases.append({
            "first": first.tolist(), "second": second.tolist(),
            "value": math.exp(log.mean()), "low": math.exp(low), "high": math.exp(high),
            "p": stats.ttest_rel(numpy.log(first), numpy.log(second)).pvalue,
            "welch_low": math.exp(welch_interval.low), "welch_high": math.exp(welch_interval.high),
            "welch_p": welch.pvalue,
        })
    return cases


def holm():
    cases = []
    for p_values in ([0.01, 0.04, 0.03, 0.005], [0.2, 0.001, 0.6, 0.02, 0.0499, 0.0126], [0.9, 0.8]):
        cases.append({"p": p_values, "adjusted": multipletests(p_values, method="holm")[1].tolist()})
    return cases


def bootstraps():
    cases = []
    for n, sigma in ((25, 1.0), (60, 0.8), (40, 0.3)):
        values = (random.lognormal(0.0, sigma, n) - 1.0).round(6)
        result = stats.bootstrap((values,), numpy.mean, n_resamples=200_000, method="BCa", batch=10_000, rng=7)
        cases.append({
            "values": values.tolist(),
            "low": result.confidence_interval.low, "high": result.confidence_interval.high,
        })
    return cases


def drifts():
    """F test of the block term in log(value) ~ configuration + block."""
    cases = []
    for configurations, blocks, trend in ((3, 5, 0.0), (4, 4, 0.05), (2, 6, 0.01)):
        rows = [
            (random.lognormal(0.0, 0.03, blocks) * (i + 2) * numpy.exp(trend * numpy.arange(blocks))).round(6).tolist()
            for i in range(configurations)
        ]
        frame = pandas.DataFrame(
            [(i, j, math.log(value)) for i, row in enumerate(rows) for j, value in enumerate(row)],
            columns=["configuration", "block", "value"],
        )
        table = anova_lm(ols("value ~ C(configuration) + C(block)", frame).fit(), typ=2)
        cases.append({"rows": rows, "f": table.loc["C(block)", "F"], "p": table.loc["C(block)", "PR(>F)"]})
    return cases


def detectables():
    """Mean difference, in standard deviations, that a paired t-test of n blocks finds 4 times out of 5."""
    def power(difference, n):
        critical = stats.t.isf(0.025, n - 1)
        noncentrality = difference * math.sqrt(n)
        # Far out, where the lower tail is 0 to all digits, scipy returns NaN for it.
        wrong_side = numpy.nan_to_num(stats.nct.cdf(-critical, n - 1, noncentrality))
        return stats.nct.sf(critical, n - 1, noncentrality) + wrong_side

    return [
        [n, optimize.brentq(lambda difference: power(difference, n) - 0.8, 0.1, 6)] for n in (3, 4, 5, 7, 10, 20)
    ]


reference = {
    "versions": {"scipy": scipy.__version__, "statsmodels": statsmodels.__version__},
    "t_quantile": t_quantiles(),
    "t_two_sided_p": t_p_values(),
    "f_upper_p": f_p_values(),
    "normal_quantile": normal_quantiles(),
    "estimate": estimates(),
    "ratio": ratios(),
    "holm": holm(),
    "bootstrap": bootstraps(),
    "drift": drifts(),
    "detectable": detectables(),
}
path = pathlib.Path(__file__).with_suffix(".json")
path.write_text(json.dumps(reference, indent=1, default=float) + "\n")
