#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Planted: what the planted key does to reads."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, frame, report, runs  # noqa: E402
from common.report import mean  # noqa: E402
from common.sweep import Point  # noqa: E402

NAME = "planted"


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--added 0,500 --quick")
    arguments.add_numbers(p, "--added", 0, 1000000, "0,100,500", "what the key adds to each read, in us")
    args = arguments.parsed(p, words)
    if args.quick:
        args.added = args.added[::2]
    return args


def points(args):
    def run(added, seed):
        device = runs.merged(runs.load_yaml("devices", NAME), {"timing": {"planted": f"{added}us"}})
        return f"{added}-{seed}", device, runs.merged(runs.load_yaml("workloads", "small"), {"seed": seed})
    return [Point({"added_us": added}, f"{added} us added", [run(added, seed) for seed in args.seeds]) for added in args.added]


def check(*_):
    """The run itself has verified what it read."""


def summarize(results):
    return {"read_mean_us": mean(r["totals"]["read"]["latency_ns"]["mean"] / 1e3 for r in results)}


def figures(_, measured):
    return [report.figure(f"read latency, {added} us added", p["read_mean_us"], "us") for added, p in measured.items()]


def show(measured):
    report.table(["added us", "read us"], [[added, p["read_mean_us"]] for added, p in measured.items()])


def facts(_):
    return {"device": NAME}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
