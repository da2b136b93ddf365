#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Patience: what the lock kind of this folder costs against a ticket lock."""
import sys

from common import arguments, frame, report, runs
from common.report import mean
from common.sweep import Point

NAME = "patience"
KINDS = ("patient", "ticket")


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick")
    return arguments.parsed(p, words)


def points(args):
    def run(kind, seed):
        device = runs.merged(runs.load_yaml("devices", NAME), {"locks": {"kind": {"default": kind}}})
        return f"{kind}-{seed}", device, runs.merged(runs.load_yaml("workloads", "small"), {"seed": seed})
    return [Point({"kind": kind}, kind, [run(kind, seed) for seed in args.seeds]) for kind in KINDS]


def check(*_):
    """The run itself has verified what it read."""


def summarize(results):
    return {"elapsed_us": mean(r["elapsed_ns"] / 1e3 for r in results)}


def figures(_, measured):
    return [report.figure(f"elapsed, {kind}", p["elapsed_us"], "us") for kind, p in measured.items()]


def show(measured):
    report.table(["kind", "us"], [[kind, p["elapsed_us"]] for kind, p in measured.items()])


def facts(_):
    return {"device": NAME}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
