"""Reference values for change points, computed with MongoDB's implementation of E-divisive.

    python3 -m venv /path/to/venv && /path/to/venv/bin/pip install signal-processing-algorithms
    /path/to/venv/bin/python crates/core/analysis/tests/change_points_reference.py

writes change_points_reference.json beside this file. For each series: the statistic of each position (0 before
the first), and the positions of the changes. The library allows pieces of a single value and ours does not, and both test
by random permutations, so that the series are such that their changes are beyond doubt, or that there are none.
"""

import json
import pathlib

import numpy
from signal_processing_algorithms.energy_statistics import energy_statistics as energy

random = numpy.random.default_rng(20140601)


def levels(*pieces, sd=1.0):
    return numpy.concatenate([random.normal(level, sd, n) for level, n in pieces]).tolist()


SERIES = {
    "no change": levels((10, 40)),
    "three sigma": levels((10, 20), (13, 20)),
    "up and back": levels((10, 25), (15, 25), (10, 25)),
    "three steps": levels((100, 15), (110, 20), (90, 15), (130, 25), sd=2.0),
    "late and short": levels((50, 30), (60, 4), sd=0.5),
    "ties": [1.0] * 12 + [2.0] * 12,
    "large origin": [1e4 + value for value in levels((0, 20), (6, 20))],
    "skewed": numpy.concatenate(
        [random.lognormal(0, 0.2, 25), random.lognormal(1, 0.2, 25)]
    ).tolist(),
}


def case(name, series):
    distances = energy._get_distance_matrix(numpy.array(series, dtype=float).reshape(-1, 1))
    numpy.random.seed(1)
    return {
        "name": name,
        "series": series,
        "statistics": energy._calculate_t_stats(distances, use_c_if_possible=False).tolist(),
        "change_points": sorted(int(at) for at in energy.e_divisive(series, pvalue=0.01, permutations=999)),
    }


path = pathlib.Path(__file__).with_suffix(".json")
cases = [case(name, series) for name, series in SERIES.items()]
for one in cases:
    print(one["name"], one["change_points"])
path.write_text(json.dumps({"cases": cases}, indent=1) + "\n")
