#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Instructions per 4 KiB read and write by stage, compared with the committed baseline."""
import collections
import json
import os
import pathlib
import sys

sys.dont_write_bytecode = True
TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "studies"), str(TOP / "tests" / "support"), str(TOP / "bench" / "ftl")]
from common import arguments, report, runs  # noqa: E402
import profile  # noqa: E402
from hztest.needs import qemu_problem  # noqa: E402

BASELINE = TOP / "bench" / "ftl" / "baseline.json"
LIMIT = 1.05
# No coherence costs and nothing for a pause: a nanosecond of hart time is one instruction.
COUNT_ONLY = "preset=ideal,pause=0,mhz=1000"
STAGES = [  # first match wins: part of the source path
    ("HIL fetch and decode", ("hil/queue/fetch", "hil/queue/io_command", "hil/queue/horizon", "hil/queue/tournament",
                              "hil/queue/doorbells", "hil/host/", "hil/hil.c", "hil_port")),
    ("HIL completion", ("hil/",)),
    ("FTL L2P", ("ftl/map/",)),
    ("FTL SLC and buffers", ("ftl/slc/", "ftl/buffer/", "ftl/zone/settle", "ftl/block/")),
    ("FTL", ("ftl/",)),
    ("TSU queues", ("tsu/die_queue", "tsu/event_wheel")),
    ("flash addresses", ("nand/flash_addr",)),
    ("flash media", ("nand/",)),
    ("TSU", ("tsu/",)),
    ("link and DMA", ("dma/",)),
    ("events and timers", ("libthread/",)),
    ("memory and text functions", ("platform/string", "platform/")),
]
OTHER = "start, traps"
# 96 sectors of 4 KiB fill a superpage of the device: both writing runs program whole ones, and
# their difference is a whole number.
RANDOM_READS = {"read_ratio": 1.0, "pattern": "random", "prefill": 0.1}
# Zone-aware buffer management over a map of zones (ZUFS).
ZONE_MAP = {"l2p": {"kind": "zone", "cache": 0}}


def slots(kind):
    return {**ZONE_MAP, "buffers": {"count": 6, "binding": "per-zone", "pool": "2 MiB", "flush": "unit", "slots": kind}}


# The block device of the ZUFS paper: a page map in flash; a contiguous run takes one entry of the
# cache.
COMPRESSED = {"l2p": {"compress": "on", "shards": 1}}

# A data cache that holds all that is asked for.
CACHED = {**COMPRESSED, "data_cache": {"bytes": "32 MiB"}}

OPERATIONS = {
    "read, map in RAM": {"ops": 400, "device": {"l2p": {"cache": 0}}, "thread": RANDOM_READS},
    "read, L2P hit": {"ops": 400, "device": {}, "thread": RANDOM_READS, "misses": (0, 0)},
    "read, L2P miss": {"ops": 400, "device": {"l2p": {"levels": "page", "cache": 64}}, "thread": RANDOM_READS, "misses": (1, 1)},
    "write, map in RAM": {"ops": 1920, "device": {"l2p": {"cache": 0}}, "thread": {"read_ratio": 0.0}},
    "write": {"ops": 1920, "device": {}, "thread": {"read_ratio": 0.0}},
    "read, zone map": {"ops": 400, "device": ZONE_MAP, "thread": RANDOM_READS},
    "write, zone map": {"ops": 1920, "device": ZONE_MAP, "thread": {"read_ratio": 0.0}},
    "write, slots": {"ops": 1920, "device": slots("locked"), "thread": {"read_ratio": 0.0}},
    "write, slots, lock-free": {"ops": 1920, "device": slots("lock-free"), "thread": {"read_ratio": 0.0}},
    "read, compressed map": {"ops": 400, "base": "legacy", "device": COMPRESSED, "misses": (0, 0),
                             "thread": {"read_ratio": 1.0, "pattern": "random", "prefill": 1.0, "span_bytes": "12 MiB"}},
    "write, block device": {"ops": 1920, "base": "legacy", "device": COMPRESSED, "thread": {"read_ratio": 0.0}},
    "read, data cache hit": {"ops": 400, "base": "legacy", "device": CACHED, "cached": "reads",
                             "thread": {"read_ratio": 1.0, "pattern": "random", "prefill": 1.0, "span_bytes": "12 MiB"}},
    "write, data cache hit": {"ops": 1920, "base": "legacy", "device": CACHED, "cached": "writes",
                              "thread": {"read_ratio": 0.0, "pattern": "random", "prefill": 1.0, "span_bytes": "12 MiB"}},
    "write, accounts": {"ops": 1920, "device": slots("accounts"), "thread": {"read_ratio": 0.0}},
}


def options():
    p = arguments.parser("ftl", __doc__, "--only miss --functions 5", word="bench")
    arguments.add_seed(p)
    p.add_argument("--update", action="store_true", help="make the measured figures the baseline")
    arguments.add_path(p, "--baseline", BASELINE, "FILE", "figures to compare with")
    p.add_argument("--only", metavar="write|miss|...", help="operations whose name contains this text")
    arguments.add_number(p, "--functions", 0, 1000, 12, "how many functions of each operation to print")
    args = p.parse_args()
    args.operations = {name: spec for name, spec in OPERATIONS.items() if args.only is None or args.only and args.only in name}
    if not args.operations:
        p.error(f"--only: '{args.only}' is in no name of: {'; '.join(OPERATIONS)}")
    if args.update and args.only is not None:
        p.error("--update writes the whole baseline: leave out --only")
    return args


def built(variable, default):
    path = pathlib.Path(os.environ.get(variable, TOP / "build" / default))
    if not path.exists():
        raise runs.StudyError(f"{path} is not built: start benches with ./hartzone bench")
    return path


def one_run(args, name, spec, ops, image):
    """One client, one command at a time: every command takes the same way, and nothing waits for a lock."""
    device = runs.merged(runs.load_yaml("devices", spec.get("base", "conzone-paper")), runs.merged({"harts": {"tsus": 1, "workers": 1}}, spec["device"]))
    workload = {"name": name, "mapping": "direct", "seed": args.seed, "verify": False, "threads": 1,
                "common": {"block": "4 KiB", "queue_depth": 1, "total_ops": ops, **spec["thread"]}}
    out = args.out / f"{''.join(c if c.isalnum() else '-' for c in name)}-{ops}"
    result = runs.run(out, device, workload, extra=["--vclock", f"{COUNT_ONLY},profile={(out / 'profile').resolve()}"])
    counts = profile.read(out / "profile", image)
    if sum(counts.values()) != sum(h["counted"] for h in result["vclock"]["harts"]):
        raise runs.StudyError(f"the profile in {out} does not have every counted instruction")
    return result, counts


def done(result):
    return result["totals"]["read"]["ops"] + result["totals"]["write"]["ops"]


def roles(result):
    """hart → its role"""
    return {h["id"]: h["role"] for h in result["harts"]}


def require_misses(name, spec, half, full):
    """The measured operation matches its name: the added ones hit, or miss, except by chance in the
    last per cent."""
    if "cached" in spec:
        hits = full["data_cache"][spec["cached"]]["hits"] - half["data_cache"][spec["cached"]]["hits"]
        if hits != done(full) - done(half):
            raise runs.StudyError(f"'{name}': {hits} of {done(full) - done(half)} hit the data cache")
    if "misses" not in spec:
        return
    low, high = (part + slack for part, slack in zip(spec["misses"], (-0.02, 0.02)))
    missed = sum(full["l2p"]["misses"].values()) - sum(half["l2p"]["misses"].values())
    if not low <= missed / (done(full) - done(half)) <= high:
        raise runs.StudyError(f"'{name}': {missed} of {done(full) - done(half)} reads missed the L2P cache")


def measure(args, name, spec, image):
    """Instructions per operation by hart and address, as the difference of two runs: boot, mount
    and preparation cancel out."""
    half, full = (one_run(args, name, spec, ops, image) for ops in (spec["ops"] // 2, spec["ops"]))
    more = done(full[0]) - done(half[0])
    require_misses(name, spec, half[0], full[0])
    per_op = {place: (full[1][place] - half[1][place]) / more for place in full[1].keys() | half[1].keys()
              if full[1][place] != half[1][place]}
    return {"operation": name, "roles": roles(full[0]), "l2p": full[0]["l2p"], **grouped(per_op, image, roles(full[0]))}


def stage_of(file):
    return next((stage for stage, parts in STAGES if any(part in file for part in parts)), OTHER)


def grouped(per_op, image, role):
    chains = profile.frames(image, sorted({pc for _, pc in per_op}))
    stages, functions, harts = (collections.Counter() for _ in range(3))
    for (hart, pc), count in per_op.items():
        stages[stage_of(profile.source_of(chains[pc]))] += count
        functions[f"{chains[pc][0][0]} on {role[hart]}"] += count
        harts[role[hart]] += count
    return {"total": rounded(sum(per_op.values())), "stages": ordered(stages), "harts": ordered(harts), "functions": ordered(functions)}


def rounded(value):
    return round(value, 3)


def ordered(counter):
    return {key: rounded(value) for key, value in counter.most_common() if abs(value) >= 0.005}


def show(args, rows, baseline):
    stages = [stage for stage, _ in STAGES] + [OTHER]
    report.table(["instructions per 4 KiB"] + [r["operation"] for r in rows],
                 [[stage, *(r["stages"].get(stage, 0.0) for r in rows)] for stage in stages if any(stage in r["stages"] for r in rows)] +
                 [["total", *(r["total"] for r in rows)],
                  ["baseline", *(baseline.get(r["operation"], {}).get("total") for r in rows)]])
    for r in rows:
        print(f"\n{r['operation']}: by hart " + ", ".join(f"{hart} {count:,.0f}" for hart, count in r["harts"].items()))
        for name, count in list(r["functions"].items())[:args.functions]:
            print(f"  {count:10,.1f}  {name}")


def regressions(rows, baseline):
    """Sentences about operations that exceed the baseline's tolerance."""
    for r in rows:
        old = baseline.get(r["operation"])
        if old is None:
            yield f"'{r['operation']}' is not in the baseline: --update adds it"
        elif r["total"] > LIMIT * old["total"]:
            grown = {s: n - old["stages"].get(s, 0) for s, n in r["stages"].items()}
            worst = max(grown, key=grown.get)
            yield (f"'{r['operation']}' takes {r['total']:,.0f} instructions, {100 * (r['total'] / old['total'] - 1):.1f} % more than the "
                   f"baseline's {old['total']:,.0f}; most of it in {worst} (+{grown[worst]:,.0f})")


def bench():
    args = options()
    problem = qemu_problem()
    if problem:
        raise runs.StudyError(problem)
    image = profile.Image(built("HARTZONE_FIRMWARE", "firmware/firmware/main/firmware.elf"))
    progress = report.Progress(len(args.operations))
    rows = []
    for name, spec in args.operations.items():
        progress.step(name)
        rows.append(measure(args, name, spec, image))
    progress.end()
    baseline = json.loads(args.baseline.read_text(encoding="utf-8"))["operations"] if args.baseline.exists() else {}
    show(args, rows, baseline)
    facts = {"schema": "hartzone-bench-ftl-1", "operations": {r["operation"]: r for r in rows}}
    (args.out / "bench.json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    if args.update:
        brief = {r["operation"]: {"total": r["total"], "stages": r["stages"]} for r in rows}
        args.baseline.write_text(json.dumps({"schema": facts["schema"], "operations": brief}, indent=2) + "\n", encoding="utf-8")
        return
    worse = list(regressions(rows, baseline))
    if worse:
        raise runs.StudyError("; ".join(worse))


if __name__ == "__main__":
    runs.main(bench, "bench")
