#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What ConZone's figures do when a parameter that the paper does not give is halved and doubled."""
import copy
import pathlib
import sys
import textwrap

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1]), str(pathlib.Path(__file__).resolve().parent)]
from common import arguments, conzone, frame, readme, report  # noqa: E402
from common.sweep import Point, Points  # noqa: E402
from parameters import PARAMETERS  # noqa: E402

NAME = "conzone-sensitivity"
# The figures' own studies in a shorter form. For figure 7 a range of 256 MiB replaces 1 GiB: the
# cache holds 5 % of it.
SHORT = {
    "conzone-fig6a": ["--space", "96", "--passes", "2"],
    "conzone-fig6b": [],
    "conzone-fig7": ["--ranges", "1,16,256", "--volume", "16"],
    "conzone-fig8": ["--volume", "16"],
}
# Figures of these studies to show: name → short name, digits after the point. All are in %, except
# the KIOPS.
SHOWN = {
    "conzone-fig6a": {f"{kind}, {threads}, zoned against legacy": (f"{kind}, {threads}", 1)
                      for kind in ("read", "write") for threads in ("1 thread", "4 threads")},
    "conzone-fig6b": {"bandwidth, apart against shared": ("bandwidth", 0), "WAF, apart against shared": ("WAF", 1)},
    "conzone-fig7": {"reads, page map, 1 MiB": ("page map, 1 MiB (KIOPS)", 1), "reads, page map, 16 MiB against 1 MiB": ("16 MiB", 1),
                     "reads, page map, 256 MiB against 1 MiB": ("256 MiB", 1),
                     "reads, hybrid map, 256 MiB against 1 MiB": ("hybrid map, 256 MiB", 1)},
    "conzone-fig8": {"L2P misses, bitmap": ("misses of BITMAP", 1), "reads, multiple against bitmap": ("MULTIPLE against BITMAP", 1)},
}
MODULES = {name: readme.module(name) for name in SHORT}
# Figure 6 (b) only with the device's own way, and no figure's controls: the others are not shown.
LEFT_OUT = {"conzone-fig6a": set(MODULES["conzone-fig6a"].CHANGED),
            "conzone-fig6b": {*MODULES["conzone-fig6b"].OTHERS, *MODULES["conzone-fig6b"].CONTROLS}, "conzone-fig7": {MODULES["conzone-fig7"].CACHED}, "conzone-fig8": set(MODULES["conzone-fig8"].CONTROLS)}
FACTORS = [0.5, 2]
UNCHANGED, FEW = "none", ["cache"]


def options(words=None):
    known = [parameter.name for parameter in PARAMETERS]
    p = arguments.study_parser(NAME, __doc__, "--parameters cache --quick")
    arguments.add_names(p, "--parameters", known, ",".join(FEW), "what to halve and double")
    p.add_argument("--full", action="store_true", help="all parameters: some 8 minutes on two cores; --update means them")
    arguments.add_update(p)
    args = arguments.parsed(p, words)
    if args.full or args.update:
        args.parameters = known
    return arguments.quickly(args, parameters=args.parameters[:1])


def changed(parameter, figure, factor, device, workload):
    """(device, workload) with the parameter times the factor, or None where that makes no sense."""
    device, workload = copy.deepcopy(device), copy.deepcopy(workload)
    return None if parameter.change(figure, device, workload, factor) is False else (device, workload)


def one_point(parameter, factor, figure, inner):
    runs = []
    for folder, device, workload in inner.runs:
        both = changed(parameter, figure, factor, device, workload) if parameter else (device, workload)
        if both is None:
            return None
        runs.append((f"{parameter.name if parameter else UNCHANGED}-{factor}-{figure}-{folder}", *both))
    name = f"{parameter.name} x {factor}" if parameter else "as it is"
    return Point({"parameter": parameter.name if parameter else UNCHANGED, "factor": factor, "figure": figure, "point": inner.name},
                 f"{name}, {figure}, {inner.name}", runs)


def figures_of(args):
    """Figures that one of the chosen parameters may affect."""
    chosen = [parameter for parameter in PARAMETERS if parameter.name in args.parameters]
    return chosen, [figure for figure in SHORT if any(figure in parameter.figures for parameter in chosen)]


def inner_points(figure, seeds):
    words = ["--seeds", ",".join(map(str, seeds)), *SHORT[figure]]
    shown = MODULES[figure].points(MODULES[figure].options(words))
    return [point for point in shown if not LEFT_OUT.get(figure, set()) & set(point.labels.values())]


def points(args):
    chosen, figures_shown = figures_of(args)
    inner = {figure: inner_points(figure, args.seeds) for figure in figures_shown}
    out = [one_point(None, 1, figure, point) for figure in figures_shown for point in inner[figure]]
    out += [one_point(parameter, factor, figure, point) for parameter in chosen for factor in FACTORS
            for figure in figures_shown if figure in parameter.figures for point in inner[figure]]
    return [point for point in out if point]


check = conzone.check


def summarize(results):
    return MODULES[results[0]["workload"]["name"]].summarize(results)


def settings(measured):
    """(parameter, factor, figure) of the measurements, in order"""
    return list(dict.fromkeys(key[:3] for key in measured))


def effect(measured, setting):
    """The shown figures of one setting: name → row of study.json."""
    module, words = MODULES[setting[2]], SHORT[setting[2]]
    args = module.options(words)
    inner = Points({point.key: measured[(*setting, point.name)] for point in module.points(args) if (*setting, point.name) in measured})
    return {row["name"]: row for row in module.figures(args, inner) if row["name"] in SHOWN[setting[2]]}


def label(parameter, factor, figure, name):
    return f"{figure}, {parameter} x {factor}: {name}"


def figures(_, measured):
    return [report.figure(label(*setting, name), row["measured"], row["unit"])
            for setting in settings(measured) for name, row in effect(measured, setting).items()]


def show(measured):
    for figure in dict.fromkeys(setting[2] for setting in settings(measured)):
        rows = [[parameter, factor, *(row["measured"] for row in effect(measured, (parameter, factor, at)).values())]
                for parameter, factor, at in settings(measured) if at == figure]
        report.table([figure, "times", *(short for short, _ in SHOWN[figure].values())], rows)
        print()


def facts(args):
    return {"parameters": args.parameters, "short": SHORT}


def signed(value, name, digits):
    return f"{value:.{digits}f}" if "KIOPS" in name or "misses" in name else f"{value:+.{digits}f}"


def cell(figures_recorded, parameter, figure, name):
    """'half / twice'; a dash where there is no such run, nothing where the last digit shown does not change."""
    short, digits = SHOWN[figure][name]
    values = [figures_recorded.get(label(parameter, factor, figure, name)) for factor in FACTORS]
    texts = ["–" if value is None else signed(value, short, digits) for value in values]
    base = signed(figures_recorded[label(UNCHANGED, 1, figure, name)], short, digits)
    return "" if set(texts) <= {base, "–"} else " / ".join(texts)


def tables(figures_recorded):
    """For studies/README.md: the parameters, and the effect of each on each figure."""
    text = readme.markdown(["parameter", "", "here", "source"], [[f"`{p.name}`", p.text, p.value, p.source] for p in PARAMETERS])
    for figure, shown in SHOWN.items():
        header = [f"`{figure}`", *(short for short, _ in shown.values())]
        base = ["as it is", *(signed(figures_recorded[label(UNCHANGED, 1, figure, name)], *shown[name]) for name in shown)]
        rows = [[f"`{p.name}`", *(cell(figures_recorded, p.name, figure, name) for name in shown)] for p in PARAMETERS if figure in p.figures]
        none = [row[0] for row in rows if not any(row[1:])]
        text += "\n\n" + readme.markdown(header, [base, *(row for row in rows if any(row[1:]))])
        text += "\n\n" + textwrap.fill(f"No digit changes with {', '.join(none)}.", 100, break_on_hyphens=False) if none else ""
    return text


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
