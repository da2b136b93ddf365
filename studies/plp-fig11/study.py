#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Selective power-loss protection, figure 11: RocksDB's overwrite over the size of the write buffers."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import frame, plp, plp_bandwidth  # noqa: E402

NAME, LOAD = "plp-fig11", "overwrite"
PAPER = {"selective": "up to +6.5 %", "full": "a little less than selective"}

check, summarize, show, directions = plp.check, plp.summarize, plp_bandwidth.show, plp_bandwidth.directions


def options(words=None):
    return plp_bandwidth.options(NAME, __doc__, words)


def points(args):
    return plp_bandwidth.points(NAME, LOAD, args)


def figures(args, measured):
    return plp_bandwidth.figures(args, measured, {})


def rows(figure):
    return plp_bandwidth.rows(figure, LOAD, PAPER)


def draw(measured):
    return plp_bandwidth.draw(measured, f"RocksDB, {LOAD}")


def facts(args):
    return {"device": "plp", "trace": f"rocksdb-{LOAD}", "records": args.records}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
