"""Open loop: commands come at a given rate whether or not the ones before have ended, so that a queue shows as latency. The rates are shares of
the throughput that the same point has in the closed loop, so that is measured first.

A thread pauses for an exponential time between arrivals, and its queue is so deep that it never holds one back; that this is so is checked. The
commands of a trace arrive at its own times, all of them scaled by one factor."""
# SPDX-License-Identifier: BSD-3-Clause
import scaling
from common import plot, report, runs
from common.elasticity import Interval
from common.report import mean
from common.sweep import Point

SHARES = (50, 80, 95) # per cent of the closed loop's throughput
DEPTH = 1023 # commands that may be under way of a thread: the most of a queue
RANKS = {"p50": "p50", "p90": "p90", "p99": "p99", "p99.9": "p999", "p99.99": "p9999"} # for people → in result.json
KINDS = ("read", "write", "trim", "flush", "zone")
GROWN = 0.05 # of the run's time: a device that is so much slower than the commands come has its last ones wait as long
COMMANDS = 20000 # of a run, or more: enough for a 99.99th percentile
LATE = 0.01 # of a trace's commands: if more are sent later than they arrive, their latencies are not those of the arrivals
SCALES = (1e-6, 1e6) # what time_scale may be
LEAST_READS = 0.1 # part of the commands from which on their latency is that of reads


def commands(result):
    return sum(result["totals"][kind]["ops"] for kind in KINDS)


def commands_a_second(result):
    """All commands of a run, of its steady state if it has one. A trace counts as a whole, since its parts are different loads."""
    steady = result.get("steady", {}).get("iops")
    return steady["mean"] if steady and not result.get("trace") else commands(result) / result["elapsed_ns"] * 1e9


def kiops(result):
    """Reads and writes, over the same time."""
    both = result["totals"]["read"]["ops"] + result["totals"]["write"]["ops"]
    return commands_a_second(result) * both / commands(result) / 1e3


def recorded(results):
    """What the arrivals of a trace are scaled by: its commands here, and its own time from the first record to the latest; None: no trace."""
    trace = results[0].get("trace")
    return {"commands": commands(results[0]), "span_ns": trace["span_ns"]} if trace else None


def scaled(workload, rate, trace):
    """The trace with so many commands a second, at its own times."""
    if not trace["span_ns"]:
        raise runs.StudyError(f"{workload['trace']['file']}: all records have one time, so --load open does not know when they arrive: leave out open, "
                              "or record times (docs/reference/traces.md)")
    factor = trace["commands"] / rate * 1e9 / trace["span_ns"]
    if not SCALES[0] <= factor <= SCALES[1]:
        raise runs.StudyError(f"{workload['trace']['file']}: --load open would take {factor:.2g} of the trace's time, but a replay takes {SCALES[0]:g} to "
                              f"{SCALES[1]:g} of it: cut or scale the trace first (./hartzone trace)")
    return runs.merged(workload, {"trace": {"timing": "open", "time_scale": factor, "queue_depth": DEPTH}})


def opened(workload, rate, commands):
    """The workload with so many commands a second, and that number of them or more, in all."""
    threads, common = workload["threads"], workload.get("common") or {}
    longer = {"total_ops": max(common["total_ops"], -(-commands // threads))} if "total_ops" in common else {}
    return runs.merged(workload, {"common": {**longer, "think": max(1, round(threads / rate * 1e9)), "think_distribution": "exponential", "queue_depth": DEPTH}})


def point_of(point, share, peak, commands=COMMANDS, trace=None):
    """point: of the closed loop, whose threads, seeds and devices these runs have. peak: its commands a second. trace: as `recorded` has it."""
    def at_rate(workload):
        return scaled(workload, peak * share / 100, trace) if trace else opened(workload, peak * share / 100, commands)
    made = [(f"{folder}-open{share}", device, at_rate(workload), *extra) for folder, device, workload, *extra in point.runs]
    return Point({**point.labels, "share": share}, f"{point.name}, {share} % of the peak", made)


def slowest_ns(result):
    return max(result["totals"][kind]["latency_ns"]["max"] for kind in KINDS if result["totals"][kind]["ops"])


def held_back(result):
    """Whether a queue may have been full, so that a command arrived later than drawn: that takes DEPTH arrivals in the time of one command. With a
    trace this is counted."""
    if result.get("trace"):
        return late(result) > LATE
    return slowest_ns(result) > min(thread["think_ns"] for thread in result["workload"]["threads"]) * DEPTH / 2


def late(result):
    """Share of a trace's commands that were sent later than they arrived."""
    return result["totals"]["late_arrivals"] / commands(result) if result.get("trace") else 0.0


def keeps_up(result):
    """Whether no command waited for a queue that grew for as long as the run lasted."""
    return slowest_ns(result) < GROWN * result["elapsed_ns"]


def kind_of(results):
    """The kind whose latencies count: a write ends in a buffer, so reads if there are enough."""
    reads, writes = (results[0]["totals"][kind]["ops"] for kind in ("read", "write"))
    return "read" if reads >= LEAST_READS * (reads + writes) else "write"


def summarize(results):
    kind = kind_of(results)
    def by_seed(value):
        return {"by_seed": [value(r) for r in results], "mean": mean(map(value, results))}
    return {"kind": kind, "kiops": by_seed(kiops), "late": mean(map(late, results)), "keeps_up": all(keeps_up(r) and not held_back(r) for r in results),
            "latency_us": {name: by_seed(lambda r, key=key: r["totals"][kind]["latency_ns"][key] / 1e3) for name, key in {"mean": "mean", **RANKS}.items()},
            "commands": min(r["totals"][kind]["ops"] for r in results), "digests": [r["digest"] for r in results]}


def words(values):
    """A mean with its interval over seeds."""
    interval = Interval(values["by_seed"])
    return report.text(interval.mean) + (f" ±{report.text(interval.half)}" if len(interval.values) > 1 else "")


def table(found):
    """found: (key of the point, share) → figures."""
    header = ["open loop", "% of peak", "KIOPS", "keeps up", "of", "mean µs", *(f"{name} µs" for name in RANKS)]
    return header, [[name_of(key), share, words(p["kiops"]), "yes" if p["keeps_up"] else "not proven", f"{p['kind']}s",
                     *(words(p["latency_us"][name]) for name in ("mean", *RANKS))] for (key, share), p in found.items()]


def name_of(key):
    line, workers = scaling.line_of(key), scaling.Key(*key).workers
    return f"{line.name}, {workers} workers" + (f", costs {line.costs}" if line.costs != "rocket" else "")


def sentences(found):
    """Of each point: its tail at the largest share that it keeps up with, against the smallest, and the shares that it may not keep up with."""
    out = []
    for key in dict.fromkeys(key for key, _ in found):
        shares = {share: p for (of, share), p in found.items() if of == key}
        lost = [f"{share} %" for share, p in shares.items() if not p["keeps_up"]]
        kept = {share: p for share, p in shares.items() if p["keeps_up"]}
        said = [tail(kept)] if kept else []
        said += [f"At {' and '.join(lost)} commands wait for more than {100 * GROWN:.0f} % of the run, or are held back, which proves no "
                 "latency."] * bool(lost)
        by_share = ", ".join(f"{100 * p['late']:.1f} % at {share} %" for share, p in shares.items())
        said += [f"Of the trace's commands {by_share} are sent later than they arrive, "
                 "since a queue is full or data of theirs are under way; the latencies leave that wait out."] * any(p["late"] for p in shares.values())
        out.append(f"{name_of(key)}: {' '.join(said)}")
    return out


def tail(shares):
    """share of the peak → figures"""
    least, most = min(shares), max(shares)
    low, high = shares[least], shares[most]
    if least == most:
        return f"p99.9 of {low['kind']}s is {words(low['latency_us']['p99.9'])} µs at {least} % of its peak."
    ratio = Interval([b / a for a, b in zip(low["latency_us"]["p99.9"]["by_seed"], high["latency_us"]["p99.9"]["by_seed"])])
    proven = f" ({ratio.low:.2f} to {ratio.high:.2f}, 95 % over the seeds)" if len(ratio.values) > 1 else ""
    return (f"p99.9 of {low['kind']}s is {words(low['latency_us']['p99.9'])} µs at {least} % of its peak, and {ratio.mean:.2f} times that{proven} at {most} %.")


def few(found):
    """Warning where p99.99 is the slowest command; None: there are enough."""
    least = min(p["commands"] for p in found.values())
    return None if least >= 10000 else (f"The open loop's shortest run has {least:,} such commands, so its p99.99 is its slowest one (10,000 are the least that "
                                        "have another).")


def curve(ax, key, of_point):
    """Latency by throughput, a line for each percentile."""
    for name in RANKS:
        at = [p for _, p in sorted(of_point.items()) if p["keeps_up"]]
        if at:
            spans = [Interval(p["latency_us"][name]["by_seed"]) for p in at]
            ends = [span.half if len(span.values) > 1 else 0 for span in spans]
            ax.errorbar([p["kiops"]["mean"] for p in at], [span.mean for span in spans], yerr=[[min(end, 0.99 * span.mean) for end, span in zip(ends, spans)], ends],
                        marker="o", capsize=3, linewidth=1.2, label=name)
    ax.set(xlabel="KIOPS that come", ylabel="µs", yscale="log", title=name_of(key))
    if ax.lines:
        ax.legend(frameon=False, fontsize=8)


def show(page, found):
    if not found:
        return
    page.heading("Open loop: latency by throughput")
    keys = list(dict.fromkeys(key for key, _ in found))
    for first in range(0, len(keys), 3):
        fig, axes = plot.figure(min(3, len(keys) - first))
        for ax, key in zip(axes, keys[first:]):
            curve(ax, key, {share: p for (of, share), p in found.items() if of == key})
        page.picture(fig, f"At {', '.join(map(str, SHARES))} % of the closed loop's throughput commands come at random times, whether or not those before have "
                     "ended. Bars are 95 % intervals over seeds. Rates that the device is not proven to keep up with are left out.")
    page.table(*table(found))
