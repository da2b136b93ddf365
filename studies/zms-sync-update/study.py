#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ZMS, synchronous updates: 4 KiB and a sync, and SQLite's inserts, in place, appended, and in place within a budget."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, block, files, frame, plot, report, runs, zms  # noqa: E402
from common.report import mean, percent_more  # noqa: E402
from common.sweep import Point  # noqa: E402

NAME = "zms-sync-update"
ZONES, QUICK_ZONES, SLC = 70, 18, 40 # superblocks; the block device has 5 more of the former, or 4, the fewest
BASELINE, APPEND, BUDGET = "block device, in place", "zones, appended", "zones, budgeted in place"
WAYS = {BASELINE: ("--in-place",), APPEND: (), BUDGET: ("--in-place",)}
SHORT = "block device, in place, short programs" # a control: those of TLC take no longer than those of SLC
UPDATES = "4 KiB and a sync"
LOG = "SQLite, write-ahead log"
AGED = {f"{LOG}, 80 % full": 80}
JOURNALS = {"SQLite, rollback journal": "delete", LOG: "wal"} | dict.fromkeys(AGED, "wal")
LOADS = (UPDATES, *JOURNALS)
INSERT = "insert into t(v) values(hex(randomblob(50)));"
PAGE_CACHE = "64MiB" # as on a host, what SQLite just wrote is not read from the device


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick")
    arguments.add_number(p, "--inserts", 10, 100000, 1000, "inserts with a rollback journal, a transaction each, and as many updates of 4 KiB")
    arguments.add_number(p, "--log-inserts", 10, 1000000, 20000, "inserts with a write-ahead log, which SQLite overwrites from its start after every 1,000 pages")
    arguments.add_update(p)
    p.set_defaults(zones=ZONES)
    args = arguments.parsed(p, words)
    return arguments.quickly(args, inserts=100, log_inserts=2000, zones=QUICK_ZONES)


def device(args, way):
    """The block device has the same flash."""
    spare = max(4, args.zones // 14)
    zoned = zms.device(args.zones, SLC, spare, in_place="16 MiB") | {"name": NAME}
    if way not in (BASELINE, SHORT):
        return zoned
    plain = block.of(zoned, args.zones + 1, spare)
    return runs.merged(plain, {"timing": {"normal": {"program": "75us"}}}) if way == SHORT else plain


def inserts(args, load):
    return args.log_inserts if JOURNALS.get(load) == "wal" else args.inserts


def words_of(args, load, way, seed):
    if load == UPDATES:
        return ("files", "update", "--size", 1, "--count", args.inserts, "--seed", seed, *WAYS.get(way, WAYS[BASELINE]))
    aged = ("--aged", AGED[load]) if load in AGED else ()
    begin = f"pragma journal_mode={JOURNALS[load]}; create table t(k integer primary key, v text);"
    # From a pipe of the shell: a command line holds some 2,600 inserts.
    return ("sqlite", "--seed", seed, "--page-cache", PAGE_CACHE, *aged, *WAYS[way], "mobibench.db", begin,
            f".read '|yes \"{INSERT}\" | head -n {inserts(args, load)}'")


def points(args):
    return [Point({"load": load, "way": way}, f"{load}, {way}",
                  [files.run(f"{i}-{j}-{seed}", device(args, way), words_of(args, load, way, seed)) for seed in args.seeds])
            for i, load in enumerate(LOADS) for j, way in enumerate(WAYS)] + [
        Point({"load": UPDATES, "way": SHORT}, f"{UPDATES}, {SHORT}",
              [files.run(f"0-short-{seed}", device(args, SHORT), words_of(args, UPDATES, SHORT, seed)) for seed in args.seeds])]


def check(result, folder):
    if not result["files"]["syncs"] or (not result["layer"]["in_place"] and result["files"]["in_place_blocks"]):
        raise runs.StudyError(f"the run in {folder} synced nothing, or wrote in place unasked")


def commands(result):
    return {name: one["count"] for name, one in result["device"].items() if one["count"]}


def elapsed_ms(result):
    """SQLite's has all that it does, from its first command to the last."""
    return 1e3 * result["result"]["updates"] / result["result"]["per_second"] if "result" in result else result["elapsed_ns"] / 1e6


def summarize(results):
    durable = [r["device"]["durable write"] for r in results]
    return {"elapsed_ms": mean(map(elapsed_ms, results)), "in_place": mean(r["files"]["in_place_blocks"] for r in results),
            "over_budget": mean(r["files"]["over_budget"] for r in results), "nodes": mean(r["files"]["node_blocks"] for r in results),
            "collected_mib": mean(r["collected_bytes"] / 2 ** 20 for r in results), "durable": mean(d["count"] for d in durable), "durable_us": mean(d["latency_ns"]["mean"] / 1e3 for d in durable),
            "commands": commands(results[0]), "digests": [r["digest"] for r in results]}


def figures(args, measured):
    out = []
    for load in LOADS:
        elapsed = {way: measured.value((load, way), "elapsed_ms") for way in WAYS}
        rates = {way: 1e3 * inserts(args, load) / ms if ms else None for way, ms in elapsed.items()}
        out += [report.figure(f"{load}, {way}", rates[way], "/s") for way in WAYS]
        out += [report.figure(f"{load}, {what}, {way}", measured.value((load, way), field), "") for way in WAYS
                for what, field in (("blocks in place", "in_place"), ("over budget", "over_budget"), ("inodes and maps", "nodes"), ("MiB moved by the device", "collected_mib"))]
        out += [report.figure(f"{load}, {way} against the block device", percent_more(rates[way], rates[BASELINE]), "%",
                              0 if way == BUDGET and load in (UPDATES, LOADS[1]) else None) for way in (APPEND, BUDGET)]
    ms = measured.value((UPDATES, SHORT), "elapsed_ms")
    return [*out, report.figure(f"{UPDATES}, {SHORT}", 1e3 * args.inserts / ms if ms else None, "/s")]


def rows(figure):
    papers = {UPDATES: ("slower", "no loss"), LOADS[1]: ("slower", "no loss")} | dict.fromkeys((LOG, *AGED), ("+60 to +100 %", "+60 to +100 %"))
    for load in LOADS:
        for way, paper in zip((APPEND, BUDGET), papers[load]):
            yield (f"{load}: {way}, against a block device in place", paper,
                   f"{figure(f'{load}, {way} against the block device'):+.0f} % ({figure(f'{load}, {way}'):,.0f} against {figure(f'{load}, {BASELINE}'):,.0f} a second)")
        if load == UPDATES:
            yield f"control, {load}: {SHORT}", "", f"{figure(f'{load}, {SHORT}'):,.0f} a second"
        if load not in AGED: # there the counters include the files that age the device
            yield (f"{load}: inodes and maps written: in place, appended, budgeted", "",
                   ", ".join(f"{figure(f'{load}, inodes and maps, {way}'):,.0f}" for way in WAYS))
        else:
            yield (f"{load}: MiB moved by the device: in place, appended, budgeted", "",
                   ", ".join(f"{figure(f'{load}, MiB moved by the device, {way}'):,.0f}" for way in WAYS))


def directions(figure):
    for load in LOADS:
        yield f"appending costs: {load}", figure(f"{load}, {APPEND} against the block device") < -3
        yield f"with a budget nothing is lost: {load}", figure(f"{load}, {BUDGET} against the block device") > -5
        yield f"as no inode is written: {load}", figure(f"{load}, inodes and maps, {BUDGET}") < figure(f"{load}, inodes and maps, {APPEND}")
        yield f"the budget is used: {load}", figure(f"{load}, blocks in place, {BUDGET}") > 0
    plain, short, budget = (figure(f"{UPDATES}, {way}") for way in (BASELINE, SHORT, BUDGET))
    yield "programs of TLC are a part of what a block device takes longer", 1.03 * plain < short < budget
    for load in AGED:
        yield f"the block device moves data there: {load}", figure(f"{load}, MiB moved by the device, {BASELINE}") > 1
        gain, empty = (figure(f"{name}, {BUDGET} against the block device") for name in (load, LOG))
        yield f"the gain is larger on a full device: {load}", gain > empty + 3


def show(measured):
    report.table(["load", "way", "ms", "in place", "over budget", "nodes", "moved MiB", "durable writes", "us"],
                 [[load, way, p["elapsed_ms"], p["in_place"], p["over_budget"], p["nodes"], p["collected_mib"], p["durable"], p["durable_us"]]
                  for (load, way), p in measured.items()])


def draw(measured):
    fig, axes = plot.figure(3)
    for ax, load in zip(axes, LOADS):
        base = measured.value((load, BASELINE), "elapsed_ms")
        plot.bars(ax, [""], {way: [base and measured.value((load, way), "elapsed_ms") and base / measured.value((load, way), "elapsed_ms")] for way in WAYS},
                  load, "throughput, of the block device in place")
    return fig


def facts(_):
    return {"device": "zms, with kept data"}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
