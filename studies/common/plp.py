"""Shared by the studies of selective power-loss protection (Yang, Lee and Ahn, Electronics 2022):
its device, RocksDB's load, variants."""
# SPDX-License-Identifier: BSD-3-Clause
import random

from common import arguments, runs
from common.report import mean, percent_more

MIB = 2 ** 20
# The part of a device's buffers that survives a power cut, and whether the load requests it.
# db_bench does not sync its log, so on a device without protection the log is as volatile as the
# rest until a Flush; FUA gives such a device the guarantee of the others.
MODES = {
    "none": {"plp": {"mode": "none", "bytes": 0}},
    "none, FUA": {"plp": {"mode": "none", "bytes": 0}},
    "selective": {"plp": {"mode": "selective"}},
    "full": {"plp": {"mode": "full"}},
}
FULL_LEAVES = 1  # MiB not protected under `full`: the device needs a flush unit of each buffer
                 # there
QUICK_RECORDS = 1200


def device(mode, total, protected=32, **plp):
    """total, protected: MiB of write buffers, and the part that survives in mode `selective`."""
    kept = {"selective": protected, "full": total - FULL_LEAVES}.get(mode)
    changes = {"buffers": {"pool": f"{total} MiB"}, "plp": {**MODES[mode]["plp"], **({"bytes": f"{kept} MiB"} if kept else {}), **plp}}
    return runs.merged(runs.load_yaml("devices", "plp"), changes)


def workload(name, load, seed, mode, records):
    trace = {"file": str(runs.TOP / "traces" / f"rocksdb-{load}.hzt.xz"), "threads": 1, "queue_depth": 1, "durable": mode != "none",
             "max_ops": records}
    return {"name": name, "mapping": "direct", "seed": seed, "verify": False, "trace": trace}


def add_records(p):
    arguments.add_number(p, "--records", 1, 10 ** 9, 10 ** 6, "records of the trace that are replayed, at most")


def check(result, folder):
    if result["violations"] or result["failed_commands"]["count"]:
        raise runs.StudyError(f"the run in {folder} broke its own rules, or commands failed")


def summarize(results):
    """For runs that ended by themselves."""
    def programs(r):
        return sum(cause["program_bytes"] for cause in r["nand"]["by_cause"].values())
    return {
        "write_mib_s": mean(r["totals"]["write"]["bytes"] / MIB / (r["elapsed_ns"] / 1e9) for r in results),
        "flush_part": mean(r["totals"]["flush"]["latency_ns"]["mean"] * r["totals"]["flush"]["ops"] / r["elapsed_ns"]
                           if r["totals"]["flush"]["ops"] else 0.0 for r in results),
        "programmed_mib": mean(programs(r) / MIB for r in results),
        "dropped_mib": mean(r["ftl"]["dropped_bytes"] / MIB for r in results),
        "write_p99_us": mean(r["totals"]["write"]["latency_ns"]["p99"] / 1e3 for r in results),
        "digests": [r["digest"] for r in results],
    }


def more_than_none(measured, key):
    """In %, of the point at `key` (mode, size) against none with the same size."""
    return percent_more(measured.value(key, "write_mib_s"), measured.value(("none", *key[1:]), "write_mib_s"))


def instants(seed, count, first_ms, last_ms):
    """Device times of power cuts, in ms: uniformly distributed, as with the paper's thread."""
    draw = random.Random(seed)
    return sorted(round(draw.uniform(first_ms, last_ms), 3) for _ in range(count))


def cut_runs(name, seed, mode, records, at_ms, device_of):
    """Runs with power cuts at these times. device_of: (device, part of the folder's name)"""
    shape, label = device_of
    return [(f"{label}-{at}ms-{seed}", shape, workload(name, "fillseq", seed, mode, records), "--power-cut-at", f"{round(at * 1000)}us")
            for at in at_ms]


def check_cut(result, folder):
    if "power_cut" not in result:
        raise runs.StudyError(f"the run in {folder} ended before its power was cut: replay more --records, or cut earlier")
    if "kept" not in result["power_cut"] or result["power_cut"]["kept"]["capacitors_empty"]:
        raise runs.StudyError(f"the capacitors of the run in {folder} kept nothing, or not all")


def summarize_cuts(results):
    kept = [r["power_cut"]["kept"] for r in results]
    return {
        "took_ms": mean(k["took_ns"] / 1e6 for k in kept),
        "took_ms_each": [k["took_ns"] / 1e6 for k in kept],
        "energy_mj": mean(k["energy_uj"] / 1e3 for k in kept),
        "energy_mj_most": max(k["energy_uj"] / 1e3 for k in kept),
        "worst_case_mj": kept[0]["worst_case_uj"] / 1e3,
        "kept_mib": mean(k["bytes"] / MIB for k in kept),
        "kept_bytes_each": [k["bytes"] for k in kept],
        "programs_in_place": mean(k["programs_in_place"] / max(1, k["programs"]) for k in kept),
        "digests": [r["digest"] for r in results],
    }
