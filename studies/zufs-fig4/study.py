#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ZUFS, figure 4: how long a MB that is read or written takes, by the fragmentation of the files on a block device."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, cufs, files, frame, plot, report, runs  # noqa: E402
from common.report import mean, percent_more  # noqa: E402
from common.sweep import Point  # noqa: E402

NAME = "zufs-fig4"
MIB = 2 ** 20
SSR, CUFS = "CUFS, SSR", "CUFS"
WAYS = {SSR: (cufs.SLACK,), CUFS: ()}
COLLECTED = "the device's collector moves in an iteration"
LEVELS = {"below 0.4": (0, 0.4), "0.4 to 0.8": (0.4, 0.8), "above 0.8": (0.8, 1.01)}
CLEAN, SEVERE = "below 0.4", "above 0.8"
KINDS = {"read": ("read",), "write": ("write", "durable write")}
LEVEL_FIGURES = (*((f"{kind}, {what}", f"{kind}_{what}", "ms/MB") for kind in KINDS for what in ("mean", "worst")),
                 *((f"{kind}, KiB of a request", f"{kind}_kib", "KiB") for kind in KINDS), ("large file", "large", "MiB/s"), ("device WAF", "waf", ""),
                 (COLLECTED, "collected_mib", "MiB"), ("map misses of an iteration", "missed", ""))


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick")
    arguments.add_number(p, "--superblocks", 64, 4096, 160, f"of {cufs.SUPERBLOCK_MIB} MiB that the host sees")
    arguments.add_update(p)
    args = arguments.parsed(p, words)
    return arguments.quickly(args, superblocks=96)


def words_of(way, seed):
    """Each iteration: 8 MiB in files of 128 KiB, half of them removed, a large one of 2 MiB,
    written and read, and 32 reads of existing files."""
    return ("files", "fragment", "--small-files", 64, "--size", 2, "--reread", 32, "--count", 10000, "--seed", seed, *WAYS[way])


def points(args):
    device = cufs.device(NAME, args.superblocks, cufs.slc(args.superblocks))
    return [Point({"device": way}, way, [files.run(f"{i}-{seed}", device, words_of(way, seed)) for seed in args.seeds]) for i, way in enumerate(WAYS)]


def check(result, folder):
    levels = [files.level(one) for one in result["result"]["iterations"]]
    if any(not any(low <= one < high for one in levels) for low, high in LEVELS.values()):
        raise runs.StudyError(f"the run in {folder} does not come to every level of fragmentation")


def ms_per_mb(one, kind):
    """As counted by the block layer: the time of all requests divided by their data."""
    commands = [one["commands"][name] for name in KINDS[kind]]
    return sum(c["count"] * c["latency_ns"]["mean"] for c in commands) / 1e6 / (sum(c["bytes"] for c in commands) / 1e6)


def kib_of(commands, kind):
    """Of a request."""
    of_kind = [commands[name] for name in KINDS[kind]]
    return sum(c["bytes"] for c in of_kind) / 1024 / sum(c["count"] for c in of_kind)


def of_iteration(one):
    device_ = one["device"]
    return {"level": files.level(one), "read": ms_per_mb(one, "read"), "write": ms_per_mb(one, "write"), "large": one["write_mib_s"],
            **{f"{kind}_kib": kib_of(one["commands"], kind) for kind in KINDS},
            "waf": device_["programmed_bytes"] / device_["host_write_bytes"], "collected_mib": device_["collected_bytes"] / MIB,
            "moved_mib": one["moved_blocks"] / 256, "used_mib": one["used_blocks"] / 256,
            "misses": device_["map_misses"] / max(1, device_["map_lookups"]), "missed": device_["map_misses"]}


def of_level(all_of_them):
    means = ("large", "waf", "collected_mib", "missed", *(f"{kind}_kib" for kind in KINDS))
    return {"iterations": len(all_of_them), **{f"{kind}_{name}": value([one[kind] for one in all_of_them]) for kind in KINDS
                                               for name, value in (("mean", mean), ("worst", max))},
            **{name: mean(one[name] for one in all_of_them) for name in means}}


def summarize(results):
    curve = [of_iteration(one) for r in results for one in r["result"]["iterations"]]
    cleaned = next((one for one in curve if one["moved_mib"]), None)
    return {"levels": {name: of_level([one for one in curve if low <= one["level"] < high]) for name, (low, high) in LEVELS.items()},
            "mean": {kind: mean(one[kind] for one in curve) for kind in KINDS}, "worst": {kind: max(one[kind] for one in curve) for kind in KINDS},
            "cleans_at": cleaned and {"level": cleaned["level"], "used": cleaned["used_mib"] / results[0]["files"]["total_blocks"] * 256},
            "moved_mib": mean(r["files"]["moved_blocks"] / 256 for r in results), "to_dead_mib": mean(r["files"]["slack_blocks"] / 256 for r in results),
            "curve": curve, "digests": [r["digest"] for r in results]}


def figures_of(way, at):
    """For one way; at: its measurements, if any."""
    out = [report.figure(f"{way}, {kind}, {what}", at and at[what][kind], "ms/MB") for kind in KINDS for what in ("mean", "worst")]
    for what, field, unit in LEVEL_FIGURES:
        out += [report.figure(f"{way}, {what}, {name}", at and at["levels"][name][field], unit) for name in LEVELS]
    cleans_at = at and at["cleans_at"]
    out += [report.figure(f"{way}, {kind}, above 0.8 against below 0.4",
                          at and percent_more(at["levels"][SEVERE][f"{kind}_mean"], at["levels"][CLEAN][f"{kind}_mean"]), "%") for kind in KINDS]
    out += [report.figure(f"{way}, moved by hzfs", at and at["moved_mib"], "MiB"), report.figure(f"{way}, written to dead blocks", at and at["to_dead_mib"], "MiB")]
    if way == CUFS:
        out += [report.figure("level at which files are cleaned first", cleans_at and cleans_at["level"], ""),
                report.figure("used then", cleans_at and 100 * cleans_at["used"], "%")]
    return out


def figures(_, measured):
    return [figure for way in WAYS for figure in figures_of(way, measured.get(way))]


def by_level(figure, what, digits):
    return "; ".join(f"{figure(f'{what}, {name}'):.{digits}f}" for name in LEVELS)


def rows_of(figure, way):
    papers = {"read": ("66; 344 (5.2 times)", "spread grows above 0.4"), "write": ("175; about 2000 (11 times)", "rises sharply above 0.8")}
    for kind, (whole, levels) in papers.items():
        average, worst = figure(f"{way}, {kind}, mean"), figure(f"{way}, {kind}, worst")
        yield (f"{way}: {kind}: ms for a MB on average; at worst", whole, f"{average:.1f}; {worst:.1f} ({worst / average:.1f} times)")
        yield (f"{way}: {kind}: level below 0.4; 0.4 to 0.8; above 0.8: average (worst)", levels,
               "; ".join(f"{figure(f'{way}, {kind}, mean, {name}'):.2f} ({figure(f'{way}, {kind}, worst, {name}'):.2f})" for name in LEVELS) + " ms")
    yield (f"{way}: KiB of a request, by level: read, write", "",
           ", ".join(by_level(figure, f"{way}, {kind}, KiB of a request", 0) for kind in KINDS))
    yield (f"{way}: a large file is written: below 0.4; 0.4 to 0.8; above 0.8", "", by_level(figure, f"{way}, large file", 0) + " MiB/s")
    yield (f"{way}: device WAF; moved by the device's collector in an iteration", "",
           by_level(figure, f"{way}, device WAF", 1) + "; " + by_level(figure, f"{way}, {COLLECTED}", 0) + " MiB")
    yield (f"{way}: moved by hzfs; written to dead blocks", "", f"{figure(f'{way}, moved by hzfs'):.0f}; {figure(f'{way}, written to dead blocks'):.0f} MiB")


def rows(figure):
    for way in WAYS:
        yield from rows_of(figure, way)
    yield (f"{CUFS}: files must be cleaned first at", "", f"level {figure('level at which files are cleaned first'):.2f}, {figure('used then'):.0f} % used")


def directions(figure):
    for way in WAYS:
        yield f"{way}: writes take longer on a severely fragmented device", figure(f"{way}, write, above 0.8 against below 0.4") > 20
        yield f"{way}: the worst reads take much longer than the worst of a clean one", \
            figure(f"{way}, read, worst, above 0.8") > 1.5 * figure(f"{way}, read, worst, below 0.4")
        yield f"{way}: it is the device's collector that they meet", figure(f"{way}, {COLLECTED}, above 0.8") > 1
        yield f"{way}: which has nothing to do on a clean one", figure(f"{way}, {COLLECTED}, below 0.4") < 1
    yield "where sections are emptied, writes take no longer before", figure(f"{CUFS}, write, mean, 0.4 to 0.8") < 1.1 * figure(f"{CUFS}, write, mean, below 0.4")
    yield "and a large file waits for it", figure(f"{CUFS}, large file, above 0.8") < 0.5 * figure(f"{CUFS}, large file, below 0.4")
    yield "where dead blocks are filled nothing is moved", figure(f"{SSR}, moved by hzfs") == 0
    yield "requests are smaller", figure(f"{SSR}, read, KiB of a request, above 0.8") < 0.8 * figure(f"{SSR}, read, KiB of a request, below 0.4")
    yield "which they are not where sections are emptied", \
        figure(f"{CUFS}, read, KiB of a request, above 0.8") > 0.95 * figure(f"{CUFS}, read, KiB of a request, below 0.4")
    yield "and reads take longer than where sections are emptied", figure(f"{SSR}, read, mean, above 0.8") > figure(f"{CUFS}, read, mean, above 0.8")


def show(measured):
    for way, at in measured.items():
        print(f"{way}:")
        report.table(["level", "iterations", "read ms/MB", "worst", "write ms/MB", "worst", "large file MiB/s", "device WAF", "collected MiB", "map misses"],
                     [[name, *(one[k] for k in ("iterations", "read_mean", "read_worst", "write_mean", "write_worst", "large", "waf", "collected_mib", "missed"))]
                      for name, one in at["levels"].items()])


def draw(measured):
    fig, axes = plot.figure(2)
    for ax, kind in zip(axes, KINDS):
        for way, at in measured.items():
            ax.scatter([one["level"] for one in at["curve"]], [one[kind] for one in at["curve"]], s=12, label=way)
        ax.legend(frameon=False, fontsize=8)
        ax.set(title=f"Time of a MB, {kind}", xlabel="fragmentation level", ylabel="ms", ylim=(0, None))
    return fig


def facts(_):
    return {"device": "cufs, smaller, with kept data"}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
