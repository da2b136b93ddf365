#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the virtual clock costs on this host: hand-overs, instructions, and simulated I/Os per wall-clock second."""
import json
import os
import pathlib
import resource
import statistics
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "studies"), str(TOP / "tests" / "support"), str(TOP / "tests" / "vclock")]
from common import arguments, report, runs  # noqa: E402
import probe_image  # noqa: E402
from lockbench import Lockbench  # noqa: E402
from hztest.needs import qemu_problem  # noqa: E402

LONGEST_S = 3600     # of one QEMU run
ATTEMPTS, CLEARLY = 4, 5 # tries of a difference of two runs, and its required ratio to the spread
OPERATIONS = {
    "random read": {"mapping": "direct", "common": {"read_ratio": 1.0, "prefill": 0.5}},
    "random write": {"mapping": "log", "over_provisioning": 0.25, "common": {"read_ratio": 0.0, "prefill": 0.25}},
}


def options():
    p = arguments.parser("vclock", __doc__, "--quick --workers 1", word="bench")
    arguments.add_quick(p)
    arguments.add_seed(p)
    arguments.add_numbers(p, "--workers", 1, 16, "1,4,12", "FTL worker counts; as many host threads, at least 4")
    arguments.add_number(p, "--ops", 200, 10000000, 10000, "I/Os of the measured run; counts are its difference to a run of half of it")
    args = arguments.parsed(p)
    return arguments.quickly(args, workers=args.workers[:1], ops=400)


def built(variable, default):
    path = pathlib.Path(os.environ.get(variable, TOP / "build" / default))
    if not path.exists():
        raise runs.StudyError(f"{path} is not built: start benches with ./hartzone bench")
    return str(path)


def cpu_seconds(machine):
    """CPU time of a whole QEMU run: other load on the host affects it little, unlike wall-clock
    time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    if machine.run(timeout=LONGEST_S):
        raise runs.StudyError(f"QEMU failed: {machine.output.strip()}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def hand_over_ns(plugin, image, quick, switch):
    """Nanoseconds per hand-over: two harts pass a ticket lock to and fro, pinned to one core. Median of three runs."""
    rows = []
    for _ in range(1 if quick else 3):
        with Lockbench(image, 2, "ticket", 20, 20, duration_ns=200_000 if quick else 4_000_000, plugin=plugin, pin="auto",
                       options=[f"switch={switch}"]) as m:
            cpu_seconds(m)
            rows.append((m.report()["host"]["wall_ns"], m.report()["host"]["hand_overs"], m.report()["switches"]["total"]))
    if len({switches for _, _, switches in rows}) != 1:
        raise runs.StudyError("equal runs had different numbers of switches")
    return statistics.median(wall / count for wall, count, _ in rows), rows[0][1]


def slope(measure, short, long):
    """(more work, more seconds) between a short and a long run, each the best of three; measure(count) gives work and seconds. Until the
    difference stands out from the spread of equal runs, the long run is made longer; None if that does not help."""
    for _ in range(ATTEMPTS):
        low, high = ([measure(count) for _ in range(3)] for count in (short, long))
        seconds = [sorted(s for _, s in rows) for rows in (low, high)]
        noise = max(some[-1] - some[0] for some in seconds)
        more = seconds[1][0] - seconds[0][0]
        if more > CLEARLY * noise and more > 0:
            return high[0][0] - low[0][0], more
        long *= 4
    return None


def rate(elf, plugin, quick):
    """Million turns of a loop of compiled code per second of CPU time on one hart, and the plugin's
    count; None if not measurable."""
    counted = []

    def measure(rounds):
        with probe_image.Probe(elf, "speed", 1, rounds=rounds, plugin=plugin) as m:
            seconds = cpu_seconds(m)
            if plugin:
                counted.append((rounds, m.report()["host"]["retired"]))
        return rounds, seconds

    found = slope(measure, *((1_000_000, 21_000_000) if quick else (2_000_000, 42_000_000)))
    return found and found[0] / found[1] / 1e6, counted


def speed(plugin, quick):
    """Million instructions per second of CPU time, with the plugin and without."""
    with tempfile.TemporaryDirectory(prefix="hz-bench-") as folder:
        elf = probe_image.build(folder)
        (with_plugin, counted), (without, _) = (rate(elf, one, quick) for one in (plugin, None))
    (least, few), (most, many) = min(counted), max(counted)
    per_turn = (many - few) / (most - least)
    return {name: turns and turns * per_turn for name, turns in (("with_plugin", with_plugin), ("without", without))}


def one_run(args, name, workers, ops, *options):
    device = runs.merged(runs.load_yaml("devices", "default"), {"harts": {"workers": workers}, "zones": {"max_open": 32, "max_active": 32},
                          "buffers": {"count": 32}}) # two zones for each of 12 writing threads
    threads = max(4, workers)
    workload = runs.merged({"name": name, "seed": args.seed, "threads": threads,
                            "common": {"pattern": "random", "block": "4 KiB", "queue_depth": 8, "total_ops": ops // threads}},
                           OPERATIONS[name])
    out = args.out / "-".join([name.replace(" ", "-"), str(workers), str(ops), *options])
    return runs.run(out, device, workload, extra=[word for option in options for word in ("--vclock", option)])


def done(result):
    return result["totals"]["read"]["ops"] + result["totals"]["write"]["ops"]


def counted_in(result):
    return sum(h["counted"] for h in result["vclock"]["harts"])


def frozen_per_io(args, name, workers):
    """Only count=insn counts the instructions of code that always runs frozen (HZ_FROZEN)."""
    half, full = (one_run(args, name, workers, ops, "count=insn") for ops in (args.ops // 2, args.ops))
    retired = full["vclock"]["host"]["retired"] - half["vclock"]["host"]["retired"]
    return (retired - counted_in(full) + counted_in(half)) / (done(full) - done(half))


def io_cost(args, name, workers):
    """Counts per I/O as the difference of two runs, in which boot, mount, preparation and shutdown
    cancel out."""
    half, full = (one_run(args, name, workers, ops) for ops in (args.ops // 2, args.ops))
    more = done(full) - done(half)

    def per_io(key):
        return (full["vclock"][key] - half["vclock"][key]) / more

    kinds = sorted(set(full["vclock"]["switches"]) - {"total"})
    causes = {k: (full["vclock"]["switches"][k] - half["vclock"]["switches"].get(k, 0)) / more for k in kinds}
    host = {k: (full["vclock"]["host"][k] - half["vclock"]["host"][k]) / more for k in ("hand_overs", "host_waits", "host_wakes", "retired", "bulk_bytes")}
    counted = counted_in(full) - counted_in(half)
    return {"operation": name, "workers": workers, "ios": done(full), "ios_per_wall_s": done(full) / full["replay_wall_s"],
            "orders_per_io": per_io("orders"), "parks_per_io": per_io("parks"), "switches_per_io": sum(causes.values()),
            "switches_by_cause": {k: v for k, v in causes.items() if abs(v) >= 0.005}, "host_per_io": host,
            "instructions_per_io": counted / more, "frozen_instructions_per_io": frozen_per_io(args, name, workers),
            "device_kiops": done(full) / full["elapsed_ns"] * 1e6}


def show(figures):
    print(f"hand-over, two harts pinned to one core: {figures['hand_over_ns']:,.0f} ns (over {figures['hand_overs']:,} of them), "
          f"{figures['futex_hand_over_ns']:,.0f} ns by waking threads")
    m = figures["mips"]
    if all(m.values()):
        print(f"straight code on one hart: {m['with_plugin']:,.0f} million instructions per second of CPU time with the plugin, "
              f"{m['without']:,.0f} without ({100 * m['with_plugin'] / m['without']:.0f} %)\n")
    else:
        print("straight code on one hart: not measurable, equal runs differ too much on this host now\n")
    report.table(["4 KiB, queue depth 8", "workers", "I/Os per wall s", "switches/IO", "orders/IO", "parks/IO", "hand-overs/IO",
                  "host waits/IO", "host wakes/IO", "instructions/IO", "frozen/IO", "switches by cause"],
                 [[r["operation"], r["workers"], round(r["ios_per_wall_s"]), r["switches_per_io"], r["orders_per_io"],
                   r["parks_per_io"], r["host_per_io"]["hand_overs"], r["host_per_io"]["host_waits"],
                   r["host_per_io"]["host_wakes"], round(r["instructions_per_io"]), round(r["frozen_instructions_per_io"]),
                   ", ".join(f"{k} {v:.2f}" for k, v in sorted(r["switches_by_cause"].items(), key=lambda i: -i[1]))]
                  for r in figures["io"]])
    print(f"\nload of the host before and after: {figures['load'][0]:.1f}, {figures['load'][1]:.1f} on {os.cpu_count()} cores; "
          "counts per I/O do not depend on it, except hand-overs, host waits, host wakes and "
          "frozen instructions (looks at the host)")


def bench():
    args = options()
    problem = qemu_problem()
    if problem:
        raise runs.StudyError(problem)
    plugin = built("HARTZONE_PLUGIN", "host/vclock/libvclock.so")
    image = built("HARTZONE_LOCKBENCH", "firmware/firmware/images/lockbench.elf")
    args.out.mkdir(parents=True, exist_ok=True)
    progress = report.Progress(2 + len(OPERATIONS) * len(args.workers))
    figures = {"schema": "hartzone-bench-vclock-1", "load": [os.getloadavg()[0]]}
    progress.step("hand-overs")
    figures["hand_over_ns"], figures["hand_overs"] = hand_over_ns(plugin, image, args.quick, "auto")
    figures["futex_hand_over_ns"], _ = hand_over_ns(plugin, image, args.quick, "futex")
    progress.step("instructions")
    figures["mips"] = speed(plugin, args.quick)
    figures["io"] = []
    for name in OPERATIONS:
        for workers in args.workers:
            progress.step(f"{name}, {workers} workers")
            figures["io"].append(io_cost(args, name, workers))
    progress.end()
    figures["load"].append(os.getloadavg()[0])
    (args.out / "bench.json").write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    show(figures)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    runs.main(bench, "bench")
