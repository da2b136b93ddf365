#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What zone random write areas are worth: a log's half full block, and the partial parity of RAID over zones, written again or appended."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, block, conzone, frame, plot, report, runs, zms  # noqa: E402
from common.report import mean  # noqa: E402
from common.sweep import Point, folder_of  # noqa: E402

NAME = "zrwa-log"
ZONES, SLC, SPARE = 20, 60, zms.CONVENTIONAL_SPARE # superblocks: of 1.5 MiB, of 512 KiB, and the block device's
# Zones move with what was written in place when three quarters of the budget are used, and one is full: with two zones. Or never: with six.
BUDGET, ALL = "3584 KiB", "14 MiB"
UNIT_KIB = 48 # a program of a plane of TLC
RECORD, CHUNK_KIB, DATA_CHUNKS = 512, 16, 4
LOG, PARITY = "log", "partial parity"
APPENDED, AREA, BUDGETED, BLOCK = "zones, appended", "zones, random write area", "zones, budgeted in place", "block device, in place"
WAYS = (APPENDED, AREA, BUDGETED, BLOCK)
# Each changes what one reason of the README is about.
UNITS = "random write area that moves by a superpage"
ONCE = "random write area, each record pads a block"
BLOCK_APPENDED = "block device, each record pads a block"
AMPLE = "budget that holds all"
BARE = "appended without headers"
CONTROLS = {LOG: (UNITS, ONCE, BLOCK_APPENDED, AMPLE), PARITY: (UNITS, AMPLE, BARE)}
LOADS = {load: (*WAYS, *controls) for load, controls in CONTROLS.items()}


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick", random=False)
    arguments.add_number(p, "--records", 4000, 200000, 40000, "records of 512 bytes that the log gets")
    arguments.add_number(p, "--stripes", 110, 10000, 800, "stripes of four chunks of 16 KiB")
    arguments.add_update(p)
    args = arguments.parsed(p, words)
    return arguments.quickly(args, records=4000, stripes=110)


def zoned(**keys):
    """The flash of ZMS's device, with zones of 1.5 MiB."""
    return runs.merged(zms.device(ZONES, SLC), {"name": NAME, "geometry": {"pages_per_block": 12}, **keys})


def device_of(way):
    if way in (BLOCK, BLOCK_APPENDED):
        return block.of(zoned(), ZONES, SPARE)
    if way in (BUDGETED, AMPLE):
        return zoned(zones={"in_place": BUDGET if way == BUDGETED else ALL})
    if way in (AREA, ONCE):
        return zoned(zrwa={"count": 1})
    return zoned(zrwa={"count": 1, "size": "384 KiB", "flush_granularity": "384 KiB"}) if way == UNITS else zoned()


def again_of(way, record, chunk):
    """A thread whose writes cover a chunk each, and append a record of its bytes."""
    if way in (APPENDED, ONCE, BLOCK_APPENDED):
        return {"block": chunk} | ({"zrwa": True} if way == ONCE else {})
    return {"block": chunk, "record": record} | ({"zrwa": True} if way in (AREA, UNITS) else {})


def threads_of(args, load, way):
    if load == LOG:
        return [again_of(way, f"{RECORD} B", "4 KiB") | {"total_ops": args.records}]
    chunk, chunks = {"block": f"{CHUNK_KIB} KiB"}, args.stripes * DATA_CHUNKS
    data = chunk | {"total_ops": chunks}
    if way not in (APPENDED, BARE):
        return [again_of(way, f"{CHUNK_KIB // DATA_CHUNKS} KiB", f"{CHUNK_KIB} KiB") | {"total_ops": chunks}, data]
    header = 4 if way == APPENDED else 0
    return [{"block": f"{CHUNK_KIB + header} KiB", "total_ops": chunks - args.stripes}, data, chunk | {"total_ops": args.stripes}]


def workload_of(args, load, way, seed):
    threads = threads_of(args, load, way)
    space = {"span_bytes": "9 MiB"} if way in (BLOCK, BLOCK_APPENDED) else {"zones": 6}
    return conzone.workload(NAME, seed, threads=len(threads), each=threads, common={"read_ratio": 0.0, "fua": True, "total_ops": 1, **space})


def points(args):
    return [Point({"load": load, "way": way}, f"{load}: {way}", [(folder_of(load, way, seed), device_of(way), workload_of(args, load, way, seed))
                                                                for seed in args.seeds]) for load, ways in LOADS.items() for way in ways]


def check(result, folder):
    if result["violations"] or not result["read_back"]["bytes"]:
        raise runs.StudyError(f"the run in {folder} read nothing back, or broke its own rules")


def payload_mib(result):
    """Records of the log; chunks of data, and parity for each stripe."""
    ops = [queue["write"]["ops"] for queue in result["queues"]]
    if len(ops) == 1:
        return ops[0] * RECORD / 2 ** 20
    return ops[1] * (1 + 1 / DATA_CHUNKS) * CHUNK_KIB / 1024


def appends_us(result):
    """Of the log, or of parity: all threads but that of data."""
    queues = [queue["write"] for i, queue in enumerate(result["queues"]) if i != 1]
    return sum(queue["ops"] * queue["latency_ns"]["mean"] for queue in queues) / sum(queue["ops"] for queue in queues) / 1e3


def copied_mib(result):
    ftl = result["ftl"]
    return (ftl["slc_gc_bytes"] + ftl["conventional_gc_bytes"] + ftl["refreshed_bytes"]) / 2 ** 20


def summarize(results):
    programmed = [sum(conzone.flash_mib(r).values()) for r in results]
    return {"append_us": mean(map(appends_us, results)),
            "p99_us": mean(r["queues"][0]["write"]["latency_ns"]["p99"] / 1e3 for r in results),
            "programmed": mean(mib / payload_mib(r) for mib, r in zip(programmed, results)),
            "tlc": mean(r["energy"]["operations"]["normal"]["programs"] * UNIT_KIB / 1024 / payload_mib(r) for r in results),
            "written": mean(r["ftl"]["host_write_bytes"] / 2 ** 20 / payload_mib(r) for r in results),
            "copied": mean(copied_mib(r) / payload_mib(r) for r in results),
            "again": mean(r["ftl"]["in_place_bytes"] / r["ftl"]["host_write_bytes"] for r in results),
            "folded_zones": mean(r["ftl"]["update_folds"] for r in results), "resets": mean(r["ftl"]["zone_resets"] for r in results),
            "flash_mib": conzone.flash_mib(results[0]), **conzone.common_figures(results)}


TIME, TAIL, PROGRAMMED, TLC = "a synced write", "p99 of a synced write", "bytes programmed for a byte of payload", "bytes programmed in TLC for a byte of payload"
WRITTEN, COPIED, FOLDED = "bytes written by the host for a byte of payload", "bytes copied for a byte of payload", "zones that moved with what was written in place, or commits"
AGAIN = "share of the writes that replaced a sector in place"
FIGURES = [(TIME, "append_us", "us"), (TAIL, "p99_us", "us"), (PROGRAMMED, "programmed", ""), (TLC, "tlc", ""), (WRITTEN, "written", ""), (COPIED, "copied", ""),
           (FOLDED, "folded_zones", ""), (AGAIN, "again", ""), ("zones reset", "resets", "")]


def figures(args, measured):
    return [report.figure(f"{what}, {load}, {way}", measured.value((load, way), field), unit)
            for load, ways in LOADS.items() for way in ways for what, field, unit in FIGURES]


def is_full(figure):
    """The quick form collects nothing."""
    return figure(f"zones reset, {LOG}, {APPENDED}") > 50


def by_way(figure, what, load):
    return {way: figure(f"{what}, {load}, {way}") for way in LOADS[load]}


def directions(figure):
    for load in LOADS:
        programmed, tlc, copied = (by_way(figure, what, load) for what in (PROGRAMMED, TLC, COPIED))
        yield f"{load}: an area programs less than appends", programmed[AREA] < 0.9 * programmed[APPENDED]
        yield f"{load}: and less than a block device", programmed[AREA] < 0.9 * programmed[BLOCK]
        yield f"{load}: it saves programs in TLC", tlc[AREA] < 0.7 * tlc[APPENDED]
        yield f"{load}: and needs no copies", copied[AREA] == 0
        again = by_way(figure, AGAIN, load)
        yield f"{load}: what it saves was written again in the area", abs(again[AREA] - again[AMPLE]) < 0.01 and again[AREA] > 0.3
        yield f"{load}: a superpage holds many commits", figure(f"{FOLDED}, {load}, {UNITS}") < figure(f"{FOLDED}, {load}, {AREA}") / 4
        yield f"{load}: coarse commits are programmed once", programmed[UNITS] < programmed[AREA] - 0.05 and abs(tlc[UNITS] / tlc[AREA] - 1) < 0.05
        if is_full(figure):
            yield f"{load}: what is in place stays in SLC, whose collector copies it", copied[AMPLE] > 0 and not figure(f"{FOLDED}, {load}, {AMPLE}")
            yield f"{load}: with a small budget zones move", figure(f"{FOLDED}, {load}, {BUDGETED}") > 1
    time, tail, programmed = (by_way(figure, what, LOG) for what in (TIME, TAIL, PROGRAMMED))
    yield "an area without rewrites costs a program for each sector", 7 < programmed[ONCE] - programmed[APPENDED] < 9
    yield "and the time of one", time[ONCE] > time[APPENDED] + 75
    yield "nearly all synced writes take a program in SLC where commits are rare", 75 < tail[UNITS] < 100
    yield "frequent ones are waited for", tail[AREA] > tail[UNITS] + 75
    yield "appends wait for programs in TLC", tail[APPENDED] > 900
    if is_full(figure):
        yield "a block device copies what stays valid beside overwritten blocks", figure(f"{COPIED}, {LOG}, {BLOCK_APPENDED}") < 0.3 < figure(f"{COPIED}, {LOG}, {BLOCK}")
    yield "headers are a part of what an appended parity costs", \
        figure(f"{PROGRAMMED}, {PARITY}, {APPENDED}") - figure(f"{PROGRAMMED}, {PARITY}, {BARE}") > 0.1


def rows(figure):
    for load, ways in LOADS.items():
        for way in ways:
            at = f"{load}, {way}"
            yield (f"{'control, ' if way in CONTROLS[load] else ''}{load}: {way}", "",
                   f"{figure(f'{PROGRAMMED}, {at}'):.2f} bytes programmed for a byte ({figure(f'{TLC}, {at}'):.2f} in TLC, {figure(f'{COPIED}, {at}'):.2f} copied); "
                   f"a synced write {figure(f'{TIME}, {at}'):,.0f} us (p99 {figure(f'{TAIL}, {at}'):,.0f}); {figure(f'zones reset, {at}'):.0f} zones or superblocks reset" +
                   (f"; {figure(f'{FOLDED}, {at}'):,.0f} commits" if way in (AREA, UNITS, ONCE) else ""))


def show(measured):
    report.table(["load", "way", "us", "p99, us", "programmed", "in TLC", "written", "copied", "folded or commits", "again", "resets"],
                 [[load, way, *(p[field] for _, field, _ in FIGURES)] for (load, way), p in measured.items()])



def draw(measured):
    fig, axes = plot.figure(2)
    for ax, (field, unit) in zip(axes, (("programmed", "bytes programmed for a byte of payload"), ("append_us", "us, a synced write"))):
        plot.bars(ax, list(LOADS), {way: [measured.value((load, way), field) for load in LOADS] for way in WAYS}, unit, unit)
    return fig


def facts(args):
    return {"device": "zms", "records": args.records, "stripes": args.stripes}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
