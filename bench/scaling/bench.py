#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How many reads the firmware serves with more and more workers, on flash that is not the limit, beside the goals."""
import json
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "studies"), str(TOP / "tests" / "support")]
from common import arguments, conzone, report, runs  # noqa: E402
from hztest.needs import qemu_problem  # noqa: E402

# A die's read takes 2 us, so 64 dies serve half as much again as the harts ask for; channels and link have room (at 3200 MiB/s the channels
# that most threads' data lie on were the limit). The first reads of each chunk miss: a thread has four, and enough reads that these do not
# count. The device is prepared and started again: behind a prefill, reads wait for its programs.
DEVICE = {"geometry": {"channels": 32, "blocks_per_plane": 48, "pages_per_block": 24},
          "timing": {"channel_bytes_per_s": "16000 MiB", "normal": {"read": "2us"}}, "zones": {"max_open": 32, "max_active": 32}, "buffers": {"count": 32},
          "l2p": {"cache": "32 MiB", "levels": "chunk", "chunk": "1 MiB", "log_entries": 4096},
          "link": {"bytes_per_s": "128000 MiB"}, "harts": {"tsus": 32, "inflight_requests": 4096}}
WORKLOAD = {"name": "scaling", "mapping": "direct", "verify": False, "prepared": "kept",
            "common": {"read_ratio": 1.0, "pattern": "random", "block": "4 KiB", "queue_depth": 48, "think": "200ns",
                       "think_distribution": "exponential", "prefill": 0.1, "span_bytes": "4 MiB"}}
COMPLETION, PIPELINE = {"architecture": "completion"}, {"hils": 6}
FIRMWARES = {"run to completion": (COMPLETION, "fine"), "pipeline": (PIPELINE, "fine"), "one lock for all": (COMPLETION, "global")}
GOALS = [(12, "times", 10), (24, "times", 20), (16, "KIOPS", 8000)] # of run to completion


def options():
    p = arguments.parser("scaling", __doc__, "--workers 1 --ops 300", word="bench")
    arguments.add_quick(p)
    arguments.add_seed(p)
    arguments.add_numbers(p, "--workers", 1, 24, "1,12,16,24", "FTL worker counts; as many host threads")
    arguments.add_number(p, "--ops", 100, 1000000, 12000, "reads of each host thread")
    args = arguments.parsed(p)
    return arguments.quickly(args, workers=args.workers[:2], ops=1200)


def one_run(args, firmware, workers):
    harts, granularity = FIRMWARES[firmware]
    device = runs.merged(runs.merged(runs.load_yaml("devices", "lock-scaling"), DEVICE), {"harts": {**harts, "workers": workers}})
    device["locks"] = {"kind": {"default": "mcs"}, "granularity": {"default": granularity}, "stats": "all"}
    workload = runs.merged(WORKLOAD, {"seed": args.seed, "threads": workers, "common": {"total_ops": args.ops}})
    # The layout of memory in the caches is drawn, too, as in study lock-scaling: that of one image may move a ratio by a tenth.
    return runs.run(args.out / f"{firmware.replace(' ', '-')}-{workers}", device, workload, runs.plugin_options(f"layout={args.seed}"))


def busiest(result, role):
    shares = [100 * (1 - h["idle_ns"] / h["elapsed_ns"]) for h in result["harts"] if role in h["role"].split("+")]
    return max(shares, default=0.0)


def spun(result):
    harts = [h for h in result["harts"] if "worker" in h["role"]]
    return 100 * sum(sum(h["spin_by_class"].values()) for h in harts) / sum(h["elapsed_ns"] for h in harts)


def flash_busy(result):
    nand = result["nand"]
    return {"dies busy": 100 * conzone.die_busy(result), "channel busy": 100 * max(nand["channel_busy_ns"]) / nand["elapsed_ns"]}


def figures_of(firmware, workers, result):
    return {"firmware": firmware, "workers": workers, "KIOPS": result["totals"]["read"]["ops"] / result["elapsed_ns"] * 1e6,
            "hits": result["l2p"]["hit_ratio"], "spin": spun(result), "digest": result["digest"],
            **{f"{role} busy": busiest(result, role) for role in ("worker", "hil", "tsu")}, **flash_busy(result)}


def compare(rows):
    """Adds to each row how many times one worker it is."""
    one = {r["firmware"]: r["KIOPS"] / r["workers"] for r in reversed(rows)} # the fewest workers come first
    for row in rows:
        row["times"] = row["KIOPS"] / one[row["firmware"]]


def judged(rows):
    """A sentence for each goal that was measured."""
    found = {r["workers"]: r for r in rows if r["firmware"] == "run to completion"}
    return [f"{workers} workers: {found[workers][unit]:,.1f} {unit}, goal {goal:,}: "
            + ("reached" if found[workers][unit] >= goal else "not reached") for workers, unit, goal in GOALS if workers in found]


def show(rows):
    report.table(["firmware", "workers", "KIOPS", "times one worker", "L2P hits %", "spin %", "busiest worker %", "HIL hart %", "TSU hart %",
                  "dies %", "busiest channel %"],
                 [[r["firmware"], r["workers"], round(r["KIOPS"]), r["times"], 100 * r["hits"], r["spin"], r["worker busy"],
                   r["hil busy"], r["tsu busy"], r["dies busy"], r["channel busy"]] for r in rows])
    print()
    for sentence in judged(rows):
        print(sentence)


def bench():
    args = options()
    problem = qemu_problem()
    if problem:
        raise runs.StudyError(problem)
    args.out.mkdir(parents=True, exist_ok=True)
    progress, rows = report.Progress(len(FIRMWARES) * len(args.workers)), []
    for firmware in FIRMWARES:
        for workers in args.workers:
            progress.step(f"{firmware}, {workers} workers")
            rows.append(figures_of(firmware, workers, one_run(args, firmware, workers)))
    progress.end()
    compare(rows)
    (args.out / "bench.json").write_text(json.dumps({"schema": "hartzone-bench-scaling-1", "seed": args.seed, "ops": args.ops,
                                                     "rows": rows, "goals": judged(rows)}, indent=2) + "\n", encoding="utf-8")
    show(rows)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    runs.main(bench, "bench")
