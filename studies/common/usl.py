"""How throughput grows with workers, as laws say: the Universal Scalability Law (Gunther, "Guerrilla Capacity Planning", 2007)

    X(N) = speed · N / (1 + sigma · (N − 1) + kappa · N · (N − 1))

and Amdahl's, which is the same without kappa. sigma is the share of work that only one worker can do at a time, kappa what each pair of
workers costs the others."""
# SPDX-License-Identifier: BSD-3-Clause
import dataclasses
import math


@dataclasses.dataclass
class Law:
    speed: float # of one worker
    sigma: float
    kappa: float
    error: float # relative, root of the mean square over the points

    def at(self, workers):
        return self.speed * workers / (1 + self.sigma * (workers - 1) + self.kappa * workers * (workers - 1))

    @property
    def peak(self):
        """Workers with the highest throughput; None: it only grows."""
        return math.sqrt((1 - self.sigma) / self.kappa) if self.kappa > 0 and self.sigma < 1 else None


def solved(matrix, right):
    """Gauss with pivots; None: singular. matrix and right are used up."""
    size = len(right)
    for i in range(size):
        pivot = max(range(i, size), key=lambda row: abs(matrix[row][i]))
        if abs(matrix[pivot][i]) < 1e-12:
            return None
        matrix[i], matrix[pivot], right[i], right[pivot] = matrix[pivot], matrix[i], right[pivot], right[i]
        for row in range(i + 1, size):
            factor = matrix[row][i] / matrix[i][i]
            matrix[row] = [a - factor * b for a, b in zip(matrix[row], matrix[i])]
            right[row] -= factor * right[i]
    found = [0.0] * size
    for i in reversed(range(size)):
        found[i] = (right[i] - sum(matrix[i][j] * found[j] for j in range(i + 1, size))) / matrix[i][i]
    return found


TERMS = (lambda n: 1.0, lambda n: n - 1, lambda n: n * (n - 1))


def fitted(points, terms):
    """N/X is linear in 1/speed, sigma/speed and kappa/speed: least squares of the relative errors,
    with some of the three. None: no fit, or a negative parameter."""
    rows = [([TERMS[t](n) * x / n for t in terms], 1.0) for n, x in points] # divided by N/X: errors are relative
    matrix = [[sum(row[i] * row[j] for row, _ in rows) for j in range(len(terms))] for i in range(len(terms))]
    right = [sum(row[i] * value for row, value in rows) for i in range(len(terms))]
    values = solved(matrix, right)
    if values is None or min(values) < 0 or values[0] <= 0:
        return None
    part = dict(zip(terms, values))
    law = Law(1 / part[0], part.get(1, 0.0) / part[0], part.get(2, 0.0) / part[0], 0.0)
    law.error = math.sqrt(sum((law.at(n) / x - 1) ** 2 for n, x in points) / len(points))
    return law


def best(points, choices):
    laws = [law for law in (fitted(points, terms) for terms in choices) if law]
    return min(laws, key=lambda law: law.error) if laws else None


def usl(points):
    """points: (workers, throughput) of three or more worker counts; None: there are fewer."""
    return best(points, ((0, 1, 2), (0, 1), (0, 2), (0,))) if len({n for n, _ in points}) > 2 else None


def amdahl(points):
    """The same without kappa, of two or more."""
    return best(points, ((0, 1), (0,))) if len({n for n, _ in points}) > 1 else None
