"""What the studies of ConZone's paper (DATE 2025, section IV) share: its device, its client, and the comparison with its figures."""
from common import report, runs

# What the paper's client costs between two commands: fio with synchronous direct I/O, the kernel's block layer and a wake-up on a 2.2 GHz
# Xeon Silver 4114, which our device does not contain. Its 20.2 K random reads per second without a cache miss (section IV-D) are
# 49.5 us each; our device needs 39.6 us for such a read (32 us of flash, 3.8 us of transfers, 2 us of link costs, the rest firmware).
# The difference, rounded, is the host's, in every study. It is the only figure that the paper's own measurements were used for.
TURNAROUND = "10us"


# The paper's cache is one list in the order of use. Sharded by zone, as devices with many workers have it, it would not be.
ONE_CACHE = {"locks": {"shards": {"l2p": 1}}}


def device(changes=None, name="conzone-paper"):
    return runs.merged(runs.merged(runs.load_yaml("devices", name), ONE_CACHE), changes or {})


def workload(name, seed, **keys):
    """fio's defaults, as the paper names no others: each job is a thread with one command at a time, data verified."""
    return runs.merged({"name": name, "mapping": "direct", "seed": seed, "verify": True, "turnaround": TURNAROUND,
                        "common": {"queue_depth": 1}}, keys)


def host_us(result, kind, percentile):
    """What a client measures: the device's latency and the client's own share."""
    return result["totals"][kind]["latency_ns"][percentile] / 1e3 + turnaround_us(result)


def turnaround_us(result):
    return result["workload"]["turnaround_ns"] / 1e3


def require_verified(result, where):
    if result["violations"] or not result["verified_bytes"]:
        raise runs.StudyError(f"the run in {where} verified nothing or broke its own rules")


def run(out, device_spec, workload_spec, extra=()):
    result = runs.run(out, device_spec, workload_spec, extra)
    require_verified(result, out)
    return result


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def percent_more(a, b):
    """How much a is more than b, in %."""
    return 100 * (a / b - 1)


def compare(figures):
    """The table: the paper's figure beside ours, where it gives one."""
    report.table(["", "paper", "measured", "unit", "note"],
                 [[f["name"], f["paper"], float(f["measured"]), f["unit"], f.get("note", "")] for f in figures])


def flash_mib(result, what="program_bytes"):
    """MiB by cause, where there are any."""
    return {cause: row[what] / 2 ** 20 for cause, row in result["nand"]["by_cause"].items() if row[what]}


def die_busy(result):
    return result["nand"]["die_busy_ns_total"] / (result["nand"]["dies"] * result["elapsed_ns"])


def hart_busy(result):
    """role → busy part of the measurement, of the busiest hart of that role"""
    out = {}
    for h in result["harts"]:
        busy = (h["work_ns"] + h["spin_ns"]) / h["elapsed_ns"]
        out[h["role"]] = max(out.get(h["role"], 0), busy)
    return out
