"""Shared by the studies of ConZone's paper (DATE 2025, section IV): its device, its client, and
common figures."""
# SPDX-License-Identifier: BSD-3-Clause
from common import runs
from common.report import mean

# Cost of the paper's client between two commands: fio with synchronous direct I/O, the kernel's
# block layer and a wake-up on a 2.2 GHz Xeon Silver 4114, which our device does not contain.
# Fitted: the paper's 20.2 K random reads per second without a cache miss (section IV-D) are 49.5 us
# each, and our device takes 39.3 us for such a read. The difference, rounded, is the client's in
# every study.
TURNAROUND = "10us"


# The paper's cache is one LRU list. Devices with many workers shard it by zone; then it would not
# be.
ONE_CACHE = {"l2p": {"shards": 1}}


def device(changes=None, name="conzone-paper"):
    return runs.merged(runs.merged(runs.load_yaml("devices", name), ONE_CACHE), changes or {})


def workload(name, seed, **keys):
    """fio's defaults, as the paper names no others: each job is a thread with one command at a time, data verified."""
    return runs.merged({"name": name, "mapping": "direct", "seed": seed, "verify": True, "turnaround": TURNAROUND,
                        "common": {"queue_depth": 1}}, keys)


def host_us(result, kind, percentile):
    """Latency at the client: the device's and the client's own share."""
    return (result["totals"][kind]["latency_ns"][percentile] + result["workload"]["turnaround_ns"]) / 1e3


def check(result, folder):
    if result["violations"] or not result["verified_bytes"]:
        raise runs.StudyError(f"the run in {folder} verified nothing or broke its own rules")


def flash_mib(result, what="program_bytes"):
    """MiB by cause, where there are any."""
    return {cause: row[what] / 2 ** 20 for cause, row in result["nand"]["by_cause"].items() if row[what]}


def misses(result):
    """Share of map look-ups that miss the cache."""
    hits, missed = (sum(result["l2p"][k].values()) for k in ("hits", "misses"))
    return missed / (hits + missed)


def logical_wait_ns(result, name):
    """Of all that waited in a queue for what this logical lock stands for (docs/reference/locks.md)."""
    return sum(c["wait"]["ns"] for c in result["vclock"]["locks"]["logical"] if c["class"] == name)


def die_busy(result):
    return result["nand"]["die_busy_ns_total"] / (result["nand"]["dies"] * result["nand"]["elapsed_ns"])


def channel_busy(result):
    """A mean over the channels."""
    return mean(result["nand"]["channel_busy_ns"]) / result["nand"]["elapsed_ns"]


def hart_busy(result):
    """role → busy share of the measurement, of the busiest hart of that role"""
    out = {}
    for h in result["harts"]:
        busy = (h["work_ns"] + h["spin_ns"]) / h["elapsed_ns"]
        out[h["role"]] = max(out.get(h["role"], 0), busy)
    return out


def common_figures(results):
    """Figures recorded at each point of each study, besides its own."""
    return {"die_busy": mean(die_busy(r) for r in results), "harts_busy": hart_busy(results[0]), "digests": [r["digest"] for r in results]}
