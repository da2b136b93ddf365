"""Command line of a study: --out, --quick, --seeds and what the study adds."""
import argparse
import pathlib


def parser(name, text):
    p = argparse.ArgumentParser(prog=f"hartzone study {name}", description=text,
                                formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    p.add_argument("--out", type=pathlib.Path, default=pathlib.Path("results") / name,
                   help="folder for study.json, the plot and each run's result.json")
    p.add_argument("--quick", action="store_true", help="the smallest form that still shows the effect; the test suite runs it")
    p.add_argument("--seeds", type=numbers, default=[1], help="comma-separated seeds; figures are means over them")
    return p


def numbers(text):
    """'1,2,4' → [1, 2, 4]"""
    try:
        values = [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a comma-separated list of whole numbers") from None
    if min(values) < 0:
        raise argparse.ArgumentTypeError(f"'{text}' has a negative number")
    return values


def names(choices):
    """A checker for comma-separated words out of `choices`."""
    def check(text):
        words = text.split(",")
        for word in words:
            if word not in choices:
                raise argparse.ArgumentTypeError(f"'{word}' is not one of {', '.join(choices)}")
        return words
    return check
