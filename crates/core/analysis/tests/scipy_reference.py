"""Reference values for the statistics of this crate, computed with scipy and statsmodels.

    python3 -m venv /path/to/venv && /path/to/venv/bin/pip install scipy statsmodels pandas
    /path/to/venv/bin/python crates/core/analysis/tests/scipy_reference.py

writes scipy_reference.json beside this file. The values depend only on this script and the seed.
"""

import json
import math
import pathlib

import numpy
import pandas
import scipy
import statsmodels
from scipy import linalg, optimize, stats
from statsmodels.formula.api import ols
from statsmodels.stats.anova import AnovaRM, anova_lm
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
    """Mean difference, in standard deviations, that a paired t-test of n blocks, corrected for so many comparisons,
    finds 4 times out of 5."""
    def power(difference, n, comparisons):
        critical = stats.t.isf(0.025 / comparisons, n - 1)
        return stats.nct.sf(critical, n - 1, difference * math.sqrt(n))

    return [
        [n, comparisons, optimize.brentq(lambda d: power(d, n, comparisons) - 0.8, 0.1, 60 if n > 2 else 400)]
        for n in (2, 3, 4, 5, 7, 10, 20) for comparisons in (1, 4, 17)
    ]


def outliers():
    """Modified z-scores of logarithms from the median of one configuration; the deviation of the median itself, zero
    by construction, is no part of the spread."""
    cases = []
    for values in ([10.0, 10.1, 9.9, 10.05, 15.0], [8.0, 8.1, 7.9, 8.2, 8.05, 7.95, 4.0, 8.02]):
        log = numpy.log(values)
        deviations = log - numpy.median(log)
        spread = numpy.median(numpy.abs(deviations[numpy.abs(deviations) > 1e-12]))
        cases.append({"values": values, "z": (0.6745 * deviations / spread).tolist()})
    return cases


def interactions():
    """Two-factor repeated-measures analysis of variance of logarithms, blocks as subjects, with the epsilon of Geisser
    and Greenhouse from the covariance of orthonormal contrasts."""
    def contrasts(n):
        return linalg.helmert(n)

    cases = []
    for a, b, blocks, gain in ((2, 2, 5, 0.0), (3, 2, 4, 0.1), (4, 3, 6, 0.02), (2, 4, 3, 0.5)):
        values = [
            [
                (random.lognormal(2.0, 0.05, blocks) * math.exp(-0.2 * i + gain * i * j)).round(6).tolist()
                for j in range(b)
            ]
            for i in range(a)
        ]
        frame = pandas.DataFrame(
            [(i, j, k, math.log(values[i][j][k])) for i in range(a) for j in range(b) for k in range(blocks)],
            columns=["a", "b", "block", "value"],
        )
        row = AnovaRM(frame, "value", "block", within=["a", "b"]).fit().anova_table.loc["a:b"]
        log = numpy.log(values)
        # The gain of the last level of a at b = 1 against the one at b = 0: a contrast over blocks.
        contrast = (log[0, :, :] - log[-1, :, :])[1] - (log[0, :, :] - log[-1, :, :])[0]
        low, high = stats.t.interval(0.95, blocks - 1, contrast.mean(), stats.sem(contrast))
        both = numpy.kron(contrasts(a), contrasts(b)) @ log.reshape(a * b, blocks)
        covariance = numpy.atleast_2d(numpy.cov(both))
        epsilon = numpy.trace(covariance) ** 2 / (len(covariance) * numpy.sum(covariance * covariance))
        df = [epsilon * row["Num DF"], epsilon * row["Den DF"]]
        cases.append({
            "values": values, "f": row["F Value"], "p": stats.f.sf(row["F Value"], *df), "df": df,
            "contrast": [math.exp(contrast.mean()), math.exp(low), math.exp(high)],
        })
    return cases


def equivalences():
    """Two paired t-tests of log ratios, each one-sided against a difference of 5 %; the larger p-value counts."""
    generator = numpy.random.default_rng(7)
    cases = []
    for n, effect, noise in ((3, 0.0, 0.004), (5, 0.01, 0.01), (5, 0.03, 0.02), (8, -0.045, 0.03), (10, 0.2, 0.02)):
        first = generator.lognormal(2.5, 0.1, n).round(6)
        second = (first * generator.lognormal(effect, noise, n)).round(6)
        log, margin = numpy.log(first) - numpy.log(second), math.log(1.05)
        below = stats.ttest_1samp(log, margin, alternative="less").pvalue
        above = stats.ttest_1samp(log, -margin, alternative="greater").pvalue
        cases.append({"first": first.tolist(), "second": second.tolist(), "p": max(below, above)})
    return cases


reference = {
    "versions": {"scipy": scipy.__version__, "statsmodels": statsmodels.__version__},
    "t_quantile": t_quantiles(),
    "t_two_sided_p": t_p_values(),
    "f_upper_p": f_p_values(),
    "normal_quantile": normal_quantiles(),
    "estimate": estimates(),
    "ratio": ratios(),
    "holm": holm(),
    "drift": drifts(),
    "detectable": detectables(),
    "outliers": outliers(),
    "interaction": interactions(),
    "equivalence": equivalences(),
}
path = pathlib.Path(__file__).with_suffix(".json")
path.write_text(json.dumps(reference, indent=1, default=float) + "\n")
