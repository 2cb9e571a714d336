"""Reference values for response surfaces, computed with numpy and scipy.

    python3 -m venv /path/to/venv && /path/to/venv/bin/pip install numpy scipy
    /path/to/venv/bin/python crates/core/designs/tests/surface_reference.py

writes surface_reference.json beside this file. The values depend only on this script and the seed.
"""

import itertools
import json
import pathlib

import numpy as np
from scipy import optimize, stats

RANDOM = np.random.default_rng(36)


def composite(factors, alpha, centre):
    cube = list(itertools.product([-1.0, 1.0], repeat=factors))
    axes = [[at * (axis == i) for axis in range(factors)] for i in range(factors) for at in (-alpha, alpha)]
    return np.array(cube + axes + [[0.0] * factors] * centre)


def terms(factors):
    pairs = list(itertools.combinations(range(factors), 2))
    return [[i] for i in range(factors)] + [list(p) for p in pairs] + [[i, i] for i in range(factors)]


def model(points, all_terms):
    return np.column_stack([np.prod(points[:, term], axis=1) for term in all_terms])


def case(factors, alpha, blocks, noise):
    design = composite(factors, alpha, 3)
    points = np.vstack([design] * blocks)
    block = np.repeat(np.arange(blocks), len(design))
    true = RANDOM.normal(size=len(terms(factors))) * 3
    shifts = RANDOM.normal(size=blocks)
    # Not rounded where it is written, so that both fit the same numbers.
    values = 50 + shifts[block] + model(points, terms(factors)) @ true + noise * RANDOM.normal(size=len(points))
    values = np.round(values, 6)

    dummies = np.column_stack([(block == number).astype(float) for number in range(1, blocks)]) if blocks > 1 else np.empty((len(points), 0))
    x = np.hstack([np.ones((len(points), 1)), dummies, model(points, terms(factors))])
    inverse = np.linalg.inv(x.T @ x)
    coefficients = inverse @ x.T @ values
    squares = float(np.sum((values - x @ coefficients) ** 2))
    df = len(values) - x.shape[1]
    variance = squares / df
    t = stats.t.ppf(0.975, df)
    half = t * np.sqrt(variance * np.diag(inverse))

    _, index = np.unique(points, axis=0, return_inverse=True)
    cells = np.column_stack([(index == cell).astype(float) for cell in range(index.max() + 1)])
    pure_x = np.hstack([cells, dummies])
    solution, *_ = np.linalg.lstsq(pure_x, values, rcond=None)
    pure = float(np.sum((values - pure_x @ solution) ** 2))
    df_pure = len(values) - np.linalg.matrix_rank(pure_x)
    df_misses = df - df_pure
    f = (squares - pure) / df_misses / (pure / df_pure)

    before = blocks
    fitted = coefficients[before:]
    b = fitted[:factors]
    matrix = np.zeros((factors, factors))
    for term, value in zip(terms(factors), fitted):
        if len(term) == 2:
            i, j = term
            if i == j:
                matrix[i, i] = value
            else:
                matrix[i, j] = matrix[j, i] = value / 2
    stationary = -0.5 * np.linalg.solve(matrix, b)

    at = RANDOM.uniform(-1, 1, size=factors)
    gradient = np.zeros((factors, x.shape[1]))
    for i in range(factors):
        for k, term in enumerate(terms(factors)):
            count = term.count(i)
            if count:
                rest = list(term)
                rest.remove(i)
                gradient[i, before + k] = count * np.prod(at[rest])
    slopes = gradient @ coefficients
    covariance = gradient @ inverse @ gradient.T
    f_slopes = slopes @ np.linalg.solve(covariance, slopes) / (factors * variance)
    weights = np.concatenate([[1.0], np.full(blocks - 1, 1 / blocks), [np.prod(at[term]) for term in terms(factors)]])
    mean = float(weights @ coefficients)
    half_mean = float(t * np.sqrt(variance * weights @ inverse @ weights))

    path = []
    for distance in (0.5, 1.0, 2.0):
        best = None
        for _ in range(60):
            start = RANDOM.normal(size=factors)
            start *= distance / np.linalg.norm(start)
            found = optimize.minimize(
                lambda p: -(b @ p + p @ matrix @ p), start, method="SLSQP",
                jac=lambda p: -(b + 2 * matrix @ p),
                constraints={"type": "eq", "fun": lambda p: p @ p - distance**2, "jac": lambda p: 2 * p},
                options={"ftol": 1e-15, "maxiter": 500},
            )
            if found.success and (best is None or found.fun < best.fun):
                best = found
        path.append({"distance": distance, "point": best.x.tolist()})

    return {
        "points": points.tolist(), "blocks": block.tolist(), "values": values.tolist(),
        "coefficients": coefficients.tolist(), "half_widths": half.tolist(), "df": int(df),
        "lack_of_fit": {"f": f, "df_misses": int(df_misses), "df_repeats": int(df_pure),
                        "p_value": float(stats.f.sf(f, df_misses, df_pure))},
        "stationary": stationary.tolist(), "curvatures": sorted(np.linalg.eigvalsh(matrix).tolist(), reverse=True),
        "at": at.tolist(), "p_stationary": float(stats.f.sf(f_slopes, factors, df)),
        "mean": mean, "half_mean": half_mean, "path": path,
    }


CASES = [case(2, 2**0.5, 1, 1.0), case(2, 1.0, 3, 2.0), case(3, 1.0, 2, 1.0), case(4, 2.0, 2, 3.0)]
target = pathlib.Path(__file__).with_suffix(".json")
target.write_text(json.dumps(CASES, separators=(",", ":")).replace("},{\"points\"", "},\n{\"points\"") + "\n")
