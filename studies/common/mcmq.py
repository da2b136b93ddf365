"""What the studies of MCMQ's paper (section IV) share: its device, its flows, and figures of their runs."""
# SPDX-License-Identifier: BSD-3-Clause
from common import conzone, runs
from common.report import mean

# The preset, of 512 GB, with fewer and smaller blocks. Channels, chips and planes stay.
SLC, DATA, SPARES, BAD = 16, 120, 9, 2  # superblocks; data can be dealt to up to six flows at page boundaries
PAGES = 32                              # of a block, so that the device has 2 GiB
SPACE_MIB, CACHE_MIB, DEPTH = 64, 4, 4  # of all flows; of the device; commands of a flow. The paper gives none of them
# Locks, and lines that move between harts, cost nothing; instructions cost what they do by default.
FREE: dict = {"clock": {"data": "free", "busy": "occupancy", "arbiter": "arrival",
                  **dict.fromkeys(("local", "remote", "far", "memory", "clean", "dispatch", "occupancy", "ipi"), 0)}}
NO_FIRMWARE = {"clock": {"preset": "ideal", "mhz": 100000}} # … nor does the firmware's work: a
                                                            # hundredth of its time
# Flash and channels that flows do not share, since they are busy for next to no time. They do not exist.
UNSHARED = {"timing": {"slc": {"read": "1us", "program": "1us", "erase": "10us"}, "normal": {"read": "1us", "program": "1us", "erase": "10us"},
                       "channel_bytes_per_s": 0, "command": 0},
            "link": {"bytes_per_s": "64000 MiB", "doorbell": "100ns", "fetch": "100ns", "completion": "100ns", "interrupt": "1us"}}
FLASH = {"MCMQ's flash": {}, "unshared flash": UNSHARED}


def device(workers, *changes):
    """With its whole map in RAM: the preset's cache would hold the part used by the flows."""
    out = runs.load_yaml("devices", "mcmq")
    del out["l2p"]
    cut = {"geometry": {"pages_per_block": PAGES, "blocks_per_plane": SLC + DATA + SPARES + BAD, "slc_blocks_per_plane": SLC},
           "zones": {"count": DATA, "spare_superblocks": BAD}, "conventional": {"spare_superblocks": SPARES, "gc_low": 2},
           "data_cache": {"bytes": f"{CACHE_MIB} MiB"}, "harts": {"workers": workers}}
    for change in (cut, *changes):
        out = runs.merged(out, change)
    return out


def flows(name, seed, count, ops):
    """Uniform 8 KiB, aligned to pages. Each flow is a host thread with a queue; together they have
    the space, in equal parts, written before. The space is so small that nothing is collected: a
    fresh device of 512 GB would not collect either."""
    return {"name": name, "mapping": "direct", "seed": seed, "verify": False, "threads": count, "common": {
        "read_ratio": 0.5, "pattern": "random", "block": "8 KiB", "queue_depth": DEPTH, "span_bytes": f"{SPACE_MIB * 128 // count * 8} KiB",
        "prefill": 1.0, "total_ops": ops}}


def check(result, folder):
    if result["violations"] or result["totals"]["errors"] or result["ftl"]["unmapped_read_bytes"]:
        raise runs.StudyError(f"the run in {folder} broke its own rules, had errors, or read what was never written")
    if result["ftl"]["conventional_gc_runs"]:
        raise runs.StudyError(f"the run in {folder} collected: it is too long")


def workers(result):
    return [h for h in result["harts"] if "worker" in h["role"]]


def busy(h):
    return 1 - h["idle_ns"] / h["elapsed_ns"]


def part(harts, field):
    return sum(h[field] for h in harts) / sum(h["elapsed_ns"] for h in harts)


def spin_by_class(result):
    """class → part of the workers' time"""
    harts = workers(result)
    classes = {name for h in harts for name in h["spin_by_class"]}
    return {name: sum(h["spin_by_class"].get(name, 0) for h in harts) / sum(h["elapsed_ns"] for h in harts) for name in sorted(classes)}


def hits(result):
    found = [result["data_cache"][kind] for kind in ("reads", "writes")]
    return sum(of["hits"] for of in found) / sum(sum(of.values()) for of in found)


def summarize(results):
    """Latencies cover reads and writes together; `queued` is the mean number of commands that wait
    for a logical lock, by its class."""
    totals = [[r["totals"][kind] for kind in ("read", "write")] for r in results]
    waits = {c["class"] for r in results for c in r["vclock"]["locks"]["logical"]}
    return {
        "kiops": mean(sum(t["iops"] for t in both) / len(r["queues"]) / 1e3 for both, r in zip(totals, results)),
        "mean_us": mean(sum(t["latency_ns"]["mean"] * t["ops"] for t in both) / sum(t["ops"] for t in both) / 1e3 for both in totals),
        "read_p99_us": mean(both[0]["latency_ns"]["p99"] / 1e3 for both in totals),
        "write_p99_us": mean(both[1]["latency_ns"]["p99"] / 1e3 for both in totals),
        "spin": mean(part(workers(r), "spin_ns") for r in results), "spin_by_class": spin_by_class(results[0]),
        "work_us": mean(sum(h["work_ns"] for h in workers(r)) / sum(t["ops"] for t in both) / 1e3 for both, r in zip(totals, results)),
        "idle": mean(part(workers(r), "idle_ns") for r in results), "busiest_worker": mean(max(map(busy, workers(r))) for r in results),
        "queued": {name: mean(conzone.logical_wait_ns(r, name) / r["elapsed_ns"] for r in results) for name in sorted(waits)},
        "channel_busy": mean(map(conzone.channel_busy, results)),
        "cache_hits": mean(map(hits, results)), "write_backs": mean(sum(r["data_cache"]["write_backs"].values()) for r in results),
        **conzone.common_figures(results),
    }


def table(measured):
    """For points with tuples as keys: (header beyond the keys, rows)."""
    header = ["KIOPS/flow", "mean us", "p99 read", "p99 write", "spin %", "work us", "idle %", "busiest %", "HIL %", "TSU %", "dies %", "channels %",
              "cache hits %", "queued"]
    return header, [[*key, p["kiops"], p["mean_us"], p["read_p99_us"], p["write_p99_us"], 100 * p["spin"], p["work_us"], 100 * p["idle"],
                     100 * p["busiest_worker"], 100 * p["harts_busy"]["hil"], 100 * p["harts_busy"]["tsu"], 100 * p["die_busy"],
                     100 * p["channel_busy"], 100 * p["cache_hits"], sum(p["queued"].values())] for key, p in measured.items()]
