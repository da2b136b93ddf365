"""How near a measured figure is to the paper's, by the cells of a row: what the paper gives as a number, or as a word of direction."""
# SPDX-License-Identifier: BSD-3-Clause
import re

NEAR = 0.15
FITTED = "fitted"
VERDICTS = ("reproduced", "direction only", "not reproduced")  # from best to worst
NUMBER = r"([+-]?\d[\d,]*(?:\.\d+)?)"
UNIT = r"(?:\s?(%|x|KIOPS|us|ms))?"
PAPER = re.compile(rf"(?:about |up to )?{NUMBER}{UNIT}(?: to {NUMBER}{UNIT})?(?: on average)?")
HERE = re.compile(rf"{NUMBER}{UNIT}(?: against {NUMBER})?")
WORDS = {"comparable": 0, "the same": 0, "no more": 0, "higher": 1, "more": 1, "slower": -1, "less": -1}


def number(text):
    return float(text.replace(",", ""))


def near(here, paper):
    return abs(here - paper) <= NEAR * abs(paper)


def of_numbers(here, low, high, is_change):
    """is_change: of something by so many per cent, so that the factor may be near instead of the number."""
    nearest = min(max(here, low), high)
    if near(here, nearest) or (is_change and near(100 + here, 100 + nearest)):
        return VERDICTS[0]
    return VERDICTS[1] if is_change and here * nearest > 0 else VERDICTS[2]


def of_word(direction, match):
    """match: of a signed change in per cent, or of two values, one against the other."""
    change = 100 * (number(match[1]) / number(match[3]) - 1) if match[3] and number(match[3]) else number(match[1])
    if direction == 0:
        return VERDICTS[0] if abs(change) <= 100 * NEAR else VERDICTS[2]
    return VERDICTS[0] if change * direction > 0 else VERDICTS[2]


def one(paper, here):
    found, given = HERE.match(here), PAPER.fullmatch(paper)
    if not found or not (given or paper in WORDS):
        return None
    if paper in WORDS:
        return of_word(WORDS[paper], found) if found[3] or (found[2] == "%" and found[1][0] in "+-") else None
    low, high = sorted((number(given[1]), number(given[3] or given[1])))
    signed = given[1][0] in "+-"
    return of_numbers(number(found[1]), low, high, signed and (given[2] or given[4]) == "%")


def verdict(paper, here):
    """The worst of the row's figures; '' where the paper's cell has none that a number or a direction can be held against."""
    papers = re.split(r", (?=[+-])", paper)
    found = [one(*pair) for pair in zip(papers, re.split(r", (?=[+-])", here))]
    return "" if not paper or None in found or len(found) != len(papers) else max(found, key=VERDICTS.index)
