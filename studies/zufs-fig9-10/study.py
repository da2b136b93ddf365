#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ZUFS, figures 9 and 10: throughput and segments while files fragment the device, with zones and as the block device cufs."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, cufs, files, frame, plot, report, runs  # noqa: E402
from common.report import mean  # noqa: E402
from common.sweep import Point  # noqa: E402

NAME = "zufs-fig9-10"
SPARE, CONVENTIONAL_SPARE = 2, 5 # superblocks besides those of zones and of SLC
CLEANER = files.cleaner(32) # our zones have fewer blocks than the paper's
CUFS, SSR, ZUFS, COPIES, UNCLEANED = "CUFS", "CUFS, SSR", "ZUFS", "ZUFS, the device copies", "ZUFS, cleaned when it must"
WAYS = {CUFS: (), SSR: (cufs.SLACK,), ZUFS: ("--cleaner", CLEANER), COPIES: ("--cleaner", CLEANER, "--copy-offload"), UNCLEANED: ()}
COLLECTED = "moved by the device's collector"
VALLEY = 4 # consecutive iterations: their large files together take a few rounds of the cleaner, as
           # one of the paper's takes many
FIGURES = (("write, clean", "write_clean", "MiB/s"), ("write, floor", "write_floor", "MiB/s"), ("write, valley", "write_valley", "MiB/s"),
           ("write, last third", "write_late", "MiB/s"),
           ("read, clean", "read_clean", "MiB/s"), ("read, last third", "read_late", "MiB/s"), ("fragmentation, most", "level_most", ""),
           ("fragmentation, last", "level_last", ""), ("free segments exhausted", "exhausted", ""), ("normal phase", "normal", ""),
           ("boosted phase", "boosted", ""), ("iterations", "iterations", ""), ("moved by the cleaner", "moved_mib", "MiB"),
           ("written to dead blocks", "to_dead_mib", "MiB"), (COLLECTED, "collected_mib", "MiB"), ("map misses", "map_misses", ""),
           ("sections cleaned while the file was written", "cleaned_while_measured", ""), ("device WAF", "device_waf", ""),
           ("read by the host", "host_read_mib", "MiB"))


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick", random=False) # `fragment` draws nothing
    arguments.add_number(p, "--zones", 48, 512, 96, "sequential zones of 3 MiB; the block device has as much flash")
    arguments.add_update(p)
    args = arguments.parsed(p, words)
    args.ways = list(WAYS)
    return arguments.quickly(args, zones=48, ways=[CUFS, SSR, ZUFS])


def device(way, zones):
    """cufs.yaml, or small-zufs.yaml with a conventional zone for checkpoints: so its map has
    entries for sectors, all in RAM. Both have equal numbers of superblocks of 3 MiB, whose data are
    kept, and of SLC."""
    beside, staging = zones + 1 + CONVENTIONAL_SPARE, cufs.slc(zones)
    if way in (CUFS, SSR):
        return cufs.device(NAME, cufs.seen(beside), staging)
    return runs.merged(runs.load_yaml("devices", "small-zufs"), {
        "name": NAME, "geometry": {"slc_blocks_per_plane": staging, "blocks_per_plane": staging + beside + SPARE}, "l2p": {"kind": "sector"},
        "conventional": {"zones": 1, "spare_superblocks": CONVENTIONAL_SPARE, "streams": 1, "buffers": 1, "gc_low": 2}, "zones": {"count": zones + 1}})


def words_of(args, way, seed):
    """Each iteration: 8 MiB in files of 128 KiB and a large one of 2 MiB, four to one as in the paper."""
    return ("files", "fragment", "--small-files", 64, "--size", 2, "--count", 1000, "--seed", seed, *WAYS[way])


def points(args):
    return [Point({"way": way}, way, [files.run(f"{list(WAYS).index(way)}-{seed}", device(way, args.zones), words_of(args, way, seed))
                                      for seed in args.seeds]) for way in args.ways]


def check(result, folder):
    if len(result["result"]["iterations"]) < 10:
        raise runs.StudyError(f"the run in {folder} has no room for ten iterations")


def first(iterations, holds):
    """Number of the first iteration for which this holds; 0: none."""
    return next((i + 1 for i, one in enumerate(iterations) if holds(one)), 0)


def free_share(one):
    return one["segments"]["free"] / sum(one["segments"].values())


def lowest(iterations, together):
    """Throughput of `together` consecutive large files, MiB/s: the minimum."""
    took = [1 / i["write_mib_s"] for i in iterations]
    return together / max(sum(took[at:at + together]) for at in range(len(took) - together + 1))


def of_run(result):
    iterations = result["result"]["iterations"]
    clean = iterations[:5]
    late = iterations[-len(iterations) // 3:]
    return {
        "iterations": len(iterations),
        "write_clean": mean(i["write_mib_s"] for i in clean), "write_late": mean(i["write_mib_s"] for i in late),
        "write_floor": lowest(iterations, 1), "write_valley": lowest(iterations, VALLEY),
        "read_clean": mean(i["read_mib_s"] for i in clean), "read_late": mean(i["read_mib_s"] for i in late),
        "level_most": max(map(files.level, iterations)), "level_last": files.level(iterations[-1]),
        "exhausted": first(iterations, lambda one: free_share(one) < 0.05),
        "normal": first(iterations, lambda one: one["phase"] != "no_gc"), "boosted": first(iterations, lambda one: one["phase"] == "boosted"),
        "moved_mib": iterations[-1]["moved_blocks"] / 256, "to_dead_mib": result["files"]["slack_blocks"] / 256,
        "collected_mib": result["collected_bytes"] / 2 ** 20, "map_misses": result["map_misses"],
        "cleaned_while_measured": sum(i["cleaned_meanwhile"] for i in iterations),
        "device_waf": result["programmed_bytes"] / result["host_write_bytes"],
        "host_read_mib": result["device"]["read"]["bytes"] / 2 ** 20,
        "rounds": result["files"]["rounds"],
    }


def summarize(results):
    found = [of_run(r) for r in results]
    out = {name: found[0][name] if isinstance(found[0][name], dict) else mean(f[name] for f in found) for name in found[0]}
    return out | {"curve": [{"write": i["write_mib_s"], "read": i["read_mib_s"], "level": files.level(i), **i["segments"]}
                            for i in results[0]["result"]["iterations"]], "digests": [r["digest"] for r in results]}


def times(measured, way, field):
    """How many times CUFS's it is on ZUFS."""
    zufs, other = measured.value(ZUFS, field), measured.value(way, field)
    return zufs / other if zufs and other else None


def figures(args, measured):
    out = [report.figure(f"{way}, {what}", measured.value(way, field), unit) for way in args.ways for what, field, unit in FIGURES]
    for way in (CUFS, SSR):
        out += [report.figure(f"floor, ZUFS against {way}", times(measured, way, "write_floor"), "x", 2),
                report.figure(f"valley, ZUFS against {way}", times(measured, way, "write_valley"), "x", 2),
                report.figure(f"last third, ZUFS against {way}", times(measured, way, "write_late"), "x")]
    return out


def at(figure, name):
    return f"{figure(name):.0f}" if figure(name) else "never"


def throughput_rows(figure):
    for way in (CUFS, SSR):
        yield (f"lowest write throughput, ZUFS against {way}", "more than 2x (200 against 100 MB/s)",
               f"{figure(f'floor, ZUFS against {way}'):.1f}x ({figure('ZUFS, write, floor'):.0f} against {figure(f'{way}, write, floor'):.0f} MiB/s); "
               f"of {VALLEY} iterations in a row {figure(f'valley, ZUFS against {way}'):.1f}x ({figure('ZUFS, write, valley'):.0f} against "
               f"{figure(f'{way}, write, valley'):.0f})")
        yield (f"write throughput in the last third of the iterations, ZUFS against {way}", "",
               f"{figure(f'last third, ZUFS against {way}'):.1f}x ({figure('ZUFS, write, last third'):.0f} against "
               f"{figure(f'{way}, write, last third'):.0f} MiB/s)")
    for way, paper in ((CUFS, "about -35 %"), (SSR, "about -35 %"), (ZUFS, "stable")):
        yield (f"read throughput, {way}: last third against clean", paper,
               f"{100 * (figure(f'{way}, read, last third') / figure(f'{way}, read, clean') - 1):+.0f} % ({figure(f'{way}, read, last third'):.0f} against "
               f"{figure(f'{way}, read, clean'):.0f} MiB/s)")


def rows(figure):
    yield from throughput_rows(figure)
    for way, paper in ((CUFS, "90th"), (SSR, "90th"), (ZUFS, "never")):
        yield (f"{way}: iteration at which less than 5 % of the segments are free", paper,
               f"{at(figure, f'{way}, free segments exhausted')} of {figure(f'{way}, iterations'):.0f}")
    yield ("ZUFS: iterations at which Normal-GC, Boosted-GC begin", "40th, about 80th",
           f"{at(figure, 'ZUFS, normal phase')}, {at(figure, 'ZUFS, boosted phase')}")
    yield (f"fragmentation level, most and last: {CUFS}; {SSR}; {ZUFS}", "rises to about 1; falls again in Boosted-GC",
           "; ".join(f"{figure(f'{way}, fragmentation, most'):.2f} and {figure(f'{way}, fragmentation, last'):.2f}" for way in (CUFS, SSR, ZUFS)))
    for way in (CUFS, SSR, ZUFS):
        yield (f"{way}: moved by hzfs; written to dead blocks; moved by the device's collector; device WAF; map misses", "",
               "; ".join(f"{figure(f'{way}, {what}'):.0f}" for what in ("moved by the cleaner", "written to dead blocks", COLLECTED)) +
               f" MiB; {figure(f'{way}, device WAF'):.2f}; {figure(f'{way}, map misses'):,.0f}")
    yield ("the device moves what is cleaned (Copy): lowest, last third; read by the host, with and without", "",
           f"{figure(f'{COPIES}, write, floor'):.0f}, {figure(f'{COPIES}, write, last third'):.0f} MiB/s; "
           f"{figure(f'{COPIES}, read by the host'):.0f}, {figure('ZUFS, read by the host'):.0f} MiB")
    yield ("ZUFS without the background cleaner: lowest, last third", "",
           f"{figure(f'{UNCLEANED}, write, floor'):.0f}, {figure(f'{UNCLEANED}, write, last third'):.0f} MiB/s")


def directions(figure):
    yield "the floor of ZUFS is at least twice that of CUFS", figure(f"valley, ZUFS against {CUFS}") >= 2
    yield "so is its mean when the device is fragmented", figure(f"last third, ZUFS against {CUFS}") >= 2
    yield "CUFS runs out of free segments", figure("CUFS, free segments exhausted") > 0
    yield "ZUFS does not, or later", (figure("ZUFS, free segments exhausted") or 1000) > figure("CUFS, free segments exhausted")
    yield "clean, both write about as fast", 0.5 < figure("ZUFS, write, clean") / figure("CUFS, write, clean") < 2
    yield "the phases follow each other", 1 < figure("ZUFS, normal phase") < figure("ZUFS, boosted phase")
    yield "boosted cleaning takes the fragmentation back", figure("ZUFS, fragmentation, last") < 0.5 * figure("ZUFS, fragmentation, most")
    yield "CUFS's grows nearly to 1", figure("CUFS, fragmentation, most") > 0.9
    yield "where dead blocks are filled no section must be emptied", figure(f"{SSR}, moved by the cleaner") == 0
    yield "so it is written faster than where sections are", figure(f"{SSR}, write, floor") > 2 * figure("CUFS, write, floor")
    yield "but slower than clean, by half in the worst iteration", figure(f"{SSR}, write, floor") < 0.5 * figure(f"{SSR}, write, clean")
    yield "and read slower, which zones are not", figure(f"{SSR}, read, last third") < 0.65 * figure(f"{SSR}, read, clean") and \
        figure("ZUFS, read, last third") > 0.9 * figure("ZUFS, read, clean")
    yield "the device collects what both leave, and nothing below zones", \
        min(figure(f"{way}, {COLLECTED}") for way in (CUFS, SSR)) > 10 and figure(f"ZUFS, {COLLECTED}") == 0


def show(measured):
    report.table(["way", "iterations", "write clean", "floor", "last third", "read clean", "last third", "exhausted", "normal", "boosted", "level most", "last",
                  "moved MiB"],
                 [[way, p["iterations"], p["write_clean"], p["write_floor"], p["write_late"], p["read_clean"], p["read_late"],
                   *(p[k] for k in ("exhausted", "normal", "boosted")), p["level_most"], p["level_last"], p["moved_mib"]]
                  for way, p in measured.items()])


def draw(measured):
    fig, axes = plot.figure(5)
    for way in measured:
        axes[0].plot([one["write"] for one in measured[way]["curve"]], label=way)
    axes[0].set(title="Large file, written", xlabel="iteration", ylabel="MiB/s")
    axes[0].legend(frameon=False, fontsize=8)
    for way in measured:
        axes[1].plot([one["read"] for one in measured[way]["curve"]], label=way)
    axes[1].set(title="… and read", xlabel="iteration", ylabel="MiB/s")
    for ax, way in zip(axes[2:], (way for way in (CUFS, SSR, ZUFS) if way in measured)):
        curve = measured[way]["curve"]
        shares = [[one[state] / (one["free"] + one["dirty"] + one["valid"]) for one in curve] for state in ("free", "dirty", "valid")]
        ax.stackplot(range(len(curve)), *shares, labels=["free", "dirty", "valid"])
        ax.plot([one["level"] for one in curve], "k--", label="fragmentation level")
        ax.set(title=f"Segments, {way}", xlabel="iteration")
        ax.legend(frameon=False, fontsize=8)
    return fig


def facts(_):
    return {"device": "small-zufs, larger; cufs, smaller, with kept data"}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
