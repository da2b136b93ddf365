#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""fio on Linux's F2FS on ConZone's device, from a recording of what F2FS sent: sizes, places and Flushes of its commands, next to our model of F2FS."""
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "studies"), str(TOP / "linux")]
from common import arguments, conzone, frame, plot, recorded, report, runs  # noqa: E402
from common.sweep import Point  # noqa: E402

NAME = "linux-fio"
RECORDING, DEVICE = "fio-f2fs-zones", "conzone-f2fs-patched"
JOBS = ("written by one thread", "written by four", "read by one thread", "read by four", "read at random in 1 MiB", "read at random in the file",
        "4 KiB and a sync")
ONE, FOUR, READ_ONE, READ_FOUR, NEAR, FAR, SYNCED = JOBS
SLOWER = 10 # times
AS_RECORDED, DEPENDENT = "--as-recorded", "--by-dependencies"
OPEN, CLOSED = "slow flash", "slow flash, by dependencies"


def slow_flash():
    timing = runs.load_yaml("devices", DEVICE)["timing"]
    return {"timing": {cells: {op: re.sub(r"[\d.]+", lambda number: f"{SLOWER * float(number[0]):g}", time) for op, time in timing[cells].items()}
                       for cells in ("slc", "normal")}}


# Changes of the device, options, and how it is repeated.
REPEATS = {"as recorded": ({}, (), AS_RECORDED), "1 worker": ({}, ("--workers", 1), AS_RECORDED),
           "mcs locks": ({"locks": {"kind": {"default": "mcs"}}}, (), AS_RECORDED), OPEN: (slow_flash(), (), AS_RECORDED),
           CLOSED: (slow_flash(), (), DEPENDENT)}
ZONE_MIB, BLOCKS_A_MIB = 16, 256
MAIN_ZONE = 4 # where mkfs.f2fs lets the logs begin: in the fifth of six conventional zones
RAW = {ONE: ("write", 1), FOUR: ("write", 4), READ_ONE: ("read", 1), READ_FOUR: ("read", 4)}
MODEL = "f2fs-like" # configs/workloads
WRITES = (recorded.WRITE, recorded.APPEND)
SHOWN = (("device rate", "mib_s", "MiB/s"), ("KiB of a command", "kib", "KiB"), ("commands at a time", "depth", ""), ("writes of metadata", "meta", "%"),
         ("writes of logs in conventional zones", "conventional", "%"), ("writes for a Flush", "writes_a_flush", ""))


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick", random=False) # a recording draws nothing
    arguments.add_number(p, "--space", 64, 1024, 128, "MiB that threads without a file system write and read, a multiple of 64")
    arguments.add_update(p)
    args = arguments.parsed(p, words)
    if args.space % 64:
        p.error(f"argument --space: '{args.space}' is not a multiple of 64")
    args.repeats = list(REPEATS)
    return arguments.quickly(args, space=64, repeats=["as recorded", "1 worker", OPEN, CLOSED])


def device(changes=None):
    return runs.merged(runs.load_yaml("devices", DEVICE), changes or {})


def raw_workload(args, kind, threads):
    share = args.space // threads
    common = {"read_ratio": float(kind == "read"), "pattern": "sequential", "block": "512 KiB", "zones": share // ZONE_MIB, "total_bytes": f"{share} MiB"}
    return conzone.workload(NAME, 1, threads=threads, common=common | ({"prefill": 1.0} if kind == "read" else {}))


def points(args):
    repeats = [Point({"what": name}, f"F2FS, {name}", [recorded.run(f"f2fs-{i}", device(changes), RECORDING, options=options_, way=way)])
               for i, (name, (changes, options_, way)) in enumerate(REPEATS.items()) if name in args.repeats]
    return repeats + [Point({"what": job}, f"no file system, {job}", [(f"raw-{i}", device(), raw_workload(args, *RAW[job]))]) for i, job in enumerate(RAW)]


def check(result, folder):
    if result.get("as_recorded"):
        if result["failed_commands"]["count"]:
            raise runs.StudyError(f"a command of the recording failed in {folder}")
    else:
        conzone.check(result, folder)


def summarize(results):
    result, = results
    again = result.get("as_recorded")
    means = {f"{kind}_us": one["latency_ns"]["mean"] / 1e3 for kind in ("read", "write", "flush") if (one := result["totals"][kind])["ops"]}
    rates = {kind: result["totals"][kind]["mib_s"] for kind in ("read", "write") if result["totals"][kind]["ops"]}
    return {"means": means, "s": result["elapsed_ns"] / 1e9 if again else None, "rate": None if again else max(rates.values()), "waf": result["waf"], "digests": [again["digest"] if again else result["digest"]]}


def of_job(number):
    """Of the recording, as it was recorded."""
    commands, writes = recorded.of(RECORDING).phase(number), JOBS[number] in (ONE, FOUR, SYNCED)
    data = [c for c in commands if c.blocks and (c.kind in WRITES if writes else c.kind == recorded.READ)]
    flushes, busy = sum(c.kind == recorded.FLUSH for c in commands), recorded.busy_ns(commands)
    main, sequential = (zone * ZONE_MIB * BLOCKS_A_MIB for zone in (MAIN_ZONE, device()["conventional"]["zones"]))
    return {"mib_s": sum(c.blocks for c in data) / BLOCKS_A_MIB / (busy / 1e9), "kib": 4 * sum(c.blocks for c in data) / len(data),
            "depth": sum(c.done - c.arrival for c in commands) / busy, "meta": 100 * sum(c.at < main for c in data) / len(data),
            "conventional": 100 * sum(main <= c.at < sequential for c in data) / len(data), "writes_a_flush": len(data) / flushes if flushes else None}


def model():
    """What configs/workloads/f2fs-like.yaml sends in all: metadata among its writes, %, and writes for a Flush."""
    loads, count, flushes, metadata = runs.load_yaml("workloads", MODEL)["each"], 0, 0, 0
    for load in loads:
        sizes = load.get("blocks", [{"size": load.get("block"), "weight": 1}])
        kib = sum(int(one["size"].split()[0]) * one["weight"] for one in sizes) / sum(one["weight"] for one in sizes)
        commands = load["total_ops"] if "total_ops" in load else int(load["total_bytes"].split()[0]) * 1024 / kib
        writes = commands * (1 - load["read_ratio"])
        count, flushes = count + writes, flushes + (writes / load["flush_every"] if "flush_every" in load else 0)
        metadata += writes if load.get("area") == "conventional" else 0
    return 100 * metadata / count, count / flushes


def shown(job):
    """What a job has: reads are of files' data, and only syncs have Flushes."""
    without = {SYNCED: (), ONE: ("writes_a_flush",), FOUR: ("writes_a_flush",)}.get(job, ("meta", "conventional", "writes_a_flush"))
    return [row for row in SHOWN if row[1] not in without]


def figures(args, measured):
    out = []
    for number, job in enumerate(JOBS):
        found = of_job(number)
        out += [report.figure(f"{what}, {job}", found[field], unit) for what, field, unit in shown(job)]
    out += [report.figure(f"{kind}, {name}", measured[name]["means"][f"{kind}_us"] if name in measured else None, "us")
            for name in args.repeats for kind in ("read", "write", "flush")]
    out += [report.figure(f"time of the session, {name}", measured.value(name, "s"), "s") for name in args.repeats]
    out += [report.figure(f"without a file system, {job}", measured.value(job, "rate"), "MiB/s") for job in RAW]
    return out + [report.figure(f"model, {what}", value, unit) for what, value, unit in zip(("metadata", "writes for a Flush"), model(), ("%", ""))]


def means(figure, name):
    return ", ".join(f"{figure(f'{kind}, {name}'):,.0f}" for kind in ("read", "write", "flush"))


def rows(figure):
    for job in RAW:
        yield (f"{job}, 512 KiB: MiB/s of device time; without a file system", "", f"{figure(f'device rate, {job}'):,.0f} (commands of "
               f"{figure(f'KiB of a command, {job}'):.0f} KiB, {figure(f'commands at a time, {job}'):.1f} at a time); {figure(f'without a file system, {job}'):,.0f}")
    for job in (NEAR, FAR):
        yield (f"{job}, 4 KiB", "", f"{figure(f'device rate, {job}'):.0f} MiB/s of device time (commands of {figure(f'KiB of a command, {job}'):.0f} KiB)")
    yield ("4 KiB and a sync: KiB of a write; writes for a Flush; the model's", "", f"{figure(f'KiB of a command, {SYNCED}'):.1f}; "
           f"{figure(f'writes for a Flush, {SYNCED}'):.2f}; {figure('model, writes for a Flush'):.0f}")
    for what, of_model in (("writes of metadata", figure("model, metadata")), ("writes of logs in conventional zones", 0)):
        yield (f"{what}: in order by one thread, by four, 4 KiB and a sync; the model's", "",
               ", ".join(f"{figure(f'{what}, {job}'):.1f}" for job in (ONE, FOUR, SYNCED)) + f"; {of_model:.0f} %")
    yield ("mean of a read, a write, a Flush: as recorded; 1 worker; mcs locks", "",
           "; ".join(means(figure, name) for name in (*REPEATS,)[:3]) + " us")
    yield (f"the same on flash that is {SLOWER} times slower: at the recorded arrivals; by dependencies", "",
           "; ".join(f"{means(figure, name)} us in {figure(f'time of the session, {name}'):.2f} s" for name in (OPEN, CLOSED)))


def directions(figure):
    yield "F2FS sends metadata rarely, the model often", figure(f"writes of metadata, {SYNCED}") < 0.2 * figure("model, metadata")
    yield "its log of nodes lies in conventional zones", figure(f"writes of logs in conventional zones, {SYNCED}") > 30
    yield "F2FS flushes after each sync, the model rarely", figure(f"writes for a Flush, {SYNCED}") < 0.2 * figure("model, writes for a Flush")
    yield "what is written in order is sent in large commands", figure(f"KiB of a command, {ONE}") > 256
    yield "a sync sends small ones", figure(f"KiB of a command, {SYNCED}") < 16
    yield "reads that lie near are no slower than far ones", figure(f"device rate, {NEAR}") > 0.9 * figure(f"device rate, {FAR}")
    yield "on slow flash commands wait longer if they come at the recorded arrivals", figure(f"write, {OPEN}") > 1.5 * figure(f"write, {CLOSED}")
    yield "by dependencies the session takes longer there", figure(f"time of the session, {CLOSED}") > 1.05 * figure(f"time of the session, {OPEN}")
    yield "one worker is no faster", figure("read, 1 worker") > 0.98 * figure("read, as recorded")


def show(measured):
    report.table(["job", *(what for what, _, _ in SHOWN)], [[job, *(of_job(number)[field] for _, field, _ in SHOWN)] for number, job in enumerate(JOBS)])
    report.table(["device", "read, us", "write, us", "flush, us", "MiB/s", "WAF"],
                 [[name, *(p["means"].get(f"{kind}_us") for kind in ("read", "write", "flush")), p["rate"], p["waf"]] for name, p in measured.items()])


def draw(measured):
    fig, axes = plot.figure(2)
    plot.bars(axes[0], ["in order, one", "in order, four", "read, one", "read, four"],
              {"F2FS": [of_job(n)["mib_s"] for n in range(4)], "no file system": [measured.value(job, "rate") for job in RAW]}, "Rate of the device", "MiB/s")
    plot.bars(axes[1], ["one", "four", "sync"], {"KiB of a write": [of_job(n)["kib"] for n in (0, 1, 6)]}, "Size of a write", "KiB")
    return fig


def facts(_):
    return {"device": DEVICE, "recording": f"traces/{RECORDING}.hzr.xz"}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
