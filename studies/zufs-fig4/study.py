#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ZUFS, figure 4: how long a MB that is read or written takes, by the fragmentation of the files on a block device."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, files, frame, plot, report, runs  # noqa: E402
from common.report import mean, percent_more  # noqa: E402
from common.sweep import Point  # noqa: E402

NAME = "zufs-fig4"
MIB = 2 ** 20
SUPERBLOCK_MIB, SPARE = 3, 2
CACHE_PER_BYTE = 2 ** 20 / 2 ** 40 # of the map, as in cufs.yaml: 1 MiB for a TiB
COLLECTED = "the device's collector moves in an iteration"
LEVELS = {"below 0.4": (0, 0.4), "0.4 to 0.8": (0.4, 0.8), "above 0.8": (0.8, 1.01)}
CLEAN, SEVERE = "below 0.4", "above 0.8"
KINDS = {"read": ("read",), "write": ("write", "durable write")}


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick")
    arguments.add_number(p, "--superblocks", 64, 4096, 160, f"of {SUPERBLOCK_MIB} MiB that the host sees")
    arguments.add_update(p)
    args = arguments.parsed(p, words)
    if args.quick:
        args.superblocks = 64
    return args


def device(args):
    """cufs.yaml with shorter blocks and fewer of them, whose data are kept; the same parts of it are over-provisioning and cache of the map."""
    preset = runs.load_yaml("devices", "cufs")
    over = max(5, round(args.superblocks * preset["conventional"]["spare_superblocks"] / preset["zones"]["count"]))
    slc = 24 + args.superblocks // 8 # what all may have staged must find room
    cache = round(args.superblocks * SUPERBLOCK_MIB * MIB * CACHE_PER_BYTE / 4) * 4
    return runs.merged(preset, {
        "name": NAME, "geometry": {"media": "store", "pages_per_block": 12, "slc_blocks_per_plane": slc, "blocks_per_plane": slc + args.superblocks + over + SPARE},
        "zones": {"count": args.superblocks}, "conventional": {"spare_superblocks": over}, "l2p": {"cache": cache}})


def words_of(seed):
    """Each iteration: 8 MiB in files of 128 KiB, half of which are removed, a large one of 2 MiB, written and read, and 32 files that are there already, read."""
    return ("files", "fragment", "--small-files", 64, "--size", 2, "--reread", 32, "--count", 10000, "--seed", seed)


def points(args):
    return [Point({"device": "CUFS"}, "CUFS", [files.run(str(seed), device(args), words_of(seed)) for seed in args.seeds])]


def check(result, folder):
    levels = [files.level(one) for one in result["result"]["iterations"]]
    if any(not any(low <= one < high for one in levels) for low, high in LEVELS.values()):
        raise runs.StudyError(f"the run in {folder} does not come to every level of fragmentation")


def ms_per_mb(one, kind):
    """As the block layer counts it: the time of all requests by what they moved."""
    commands = [one["commands"][name] for name in KINDS[kind]]
    return sum(c["count"] * c["latency_ns"]["mean"] for c in commands) / 1e6 / (sum(c["bytes"] for c in commands) / 1e6)


def of_iteration(one):
    device_ = one["device"]
    return {"level": files.level(one), "read": ms_per_mb(one, "read"), "write": ms_per_mb(one, "write"), "large": one["write_mib_s"],
            "waf": device_["programmed_bytes"] / device_["host_write_bytes"], "collected_mib": device_["collected_bytes"] / MIB,
            "moved_mib": one["moved_blocks"] / 256, "used_mib": one["used_blocks"] / 256,
            "misses": device_["map_misses"] / max(1, device_["map_lookups"]), "missed": device_["map_misses"]}


def of_level(all_of_them):
    return {"iterations": len(all_of_them), **{f"{kind}_{name}": value([one[kind] for one in all_of_them]) for kind in KINDS
                                               for name, value in (("mean", mean), ("worst", max))},
            "large_mean": mean(one["large"] for one in all_of_them), "waf": mean(one["waf"] for one in all_of_them),
            "collected_mib": mean(one["collected_mib"] for one in all_of_them), "missed": mean(one["missed"] for one in all_of_them)}


def summarize(results):
    curve = [of_iteration(one) for r in results for one in r["result"]["iterations"]]
    cleaned = next((one for one in curve if one["moved_mib"]), None)
    return {"levels": {name: of_level([one for one in curve if low <= one["level"] < high]) for name, (low, high) in LEVELS.items()},
            "mean": {kind: mean(one[kind] for one in curve) for kind in KINDS}, "worst": {kind: max(one[kind] for one in curve) for kind in KINDS},
            "cleans_at": cleaned and {"level": cleaned["level"], "used": cleaned["used_mib"] / results[0]["files"]["total_blocks"] * 256},
            "kib": {kind: of_all(results[0], kind) for kind in KINDS}, "curve": curve, "digests": [r["digest"] for r in results]}


def of_all(result, kind):
    commands = [result["device"][name] for name in KINDS[kind]]
    return sum(c["bytes"] for c in commands) / 1024 / sum(c["count"] for c in commands)


def figures(args, measured):
    at = measured.get("CUFS")
    out, cleans_at = [], at and at["cleans_at"]
    for kind in KINDS:
        out += [report.figure(f"{kind}, KiB of a request", at and at["kib"][kind], "KiB"), report.figure(f"{kind}, mean", at and at["mean"][kind], "ms/MB"),
                report.figure(f"{kind}, worst", at and at["worst"][kind], "ms/MB")]
        out += [report.figure(f"{kind}, {name}, {what}", at and at["levels"][name][f"{kind}_{what}"], "ms/MB") for name in LEVELS for what in ("mean", "worst")]
    for what, field, unit in (("iterations", "iterations", ""), ("large file", "large_mean", "MiB/s"), ("device WAF", "waf", ""),
                              (COLLECTED, "collected_mib", "MiB"), ("map misses of an iteration", "missed", "")):
        out += [report.figure(f"{what}, {name}", at and at["levels"][name][field], unit) for name in LEVELS]
    return out + [report.figure("level at which files are cleaned first", cleans_at and cleans_at["level"], ""),
                  report.figure("used then", cleans_at and 100 * cleans_at["used"], "%"),
                  *(report.figure(f"{kind}, above 0.8 against below 0.4", at and percent_more(at["levels"][SEVERE][f"{kind}_mean"], at["levels"][CLEAN][f"{kind}_mean"]), "%")
                    for kind in KINDS)]


def rows(figure):
    papers = {"read": ("66; 344 (5.2 times)", "spread grows above 0.4"), "write": ("175; about 2000 (11 times)", "rises sharply above 0.8")}
    for kind, (whole, by_level) in papers.items():
        average, worst = figure(f"{kind}, mean"), figure(f"{kind}, worst")
        yield (f"{kind}: ms for a MB on average; at worst", whole, f"{average:.1f}; {worst:.1f} ({worst / average:.1f} times)")
        yield (f"{kind}: level below 0.4; 0.4 to 0.8; above 0.8: average (worst)", by_level,
               "; ".join(f"{figure(f'{kind}, {name}, mean'):.2f} ({figure(f'{kind}, {name}, worst'):.2f})" for name in LEVELS) + " ms")
    yield ("KiB of a request: read, write", "", ", ".join(f"{figure(f'{kind}, KiB of a request'):.0f}" for kind in KINDS))
    yield ("a large file is written: below 0.4; 0.4 to 0.8; above 0.8", "", "; ".join(f"{figure(f'large file, {name}'):.0f}" for name in LEVELS) + " MiB/s")
    yield ("device WAF; moved by the device's collector in an iteration", "",
           "; ".join(f"{figure(f'device WAF, {name}'):.1f}" for name in LEVELS) + "; " +
           ", ".join(f"{figure(f'{COLLECTED}, {name}'):.0f}" for name in LEVELS) + " MiB")
    yield ("files must be cleaned first at", "", f"level {figure('level at which files are cleaned first'):.2f}, {figure('used then'):.0f} % used")


def directions(figure):
    yield "writes take longer on a severely fragmented device", figure("write, above 0.8 against below 0.4") > 20
    yield "they do not before", figure("write, 0.4 to 0.8, mean") < 1.1 * figure("write, below 0.4, mean")
    yield "the worst reads take much longer than the worst of a clean one", figure("read, above 0.8, worst") > 1.5 * figure("read, below 0.4, worst")
    yield "it is the device's collector that they meet", figure(f"{COLLECTED}, above 0.8") > 1
    yield "which has nothing to do before", figure(f"{COLLECTED}, 0.4 to 0.8") < 1
    yield "a large file waits for cleaning", figure("large file, above 0.8") < 0.5 * figure("large file, below 0.4")


def show(measured):
    for at in measured.values():
        report.table(["level", "iterations", "read ms/MB", "worst", "write ms/MB", "worst", "large file MiB/s", "device WAF", "collected MiB", "map misses"],
                     [[name, *(one[k] for k in ("iterations", "read_mean", "read_worst", "write_mean", "write_worst", "large_mean", "waf", "collected_mib", "missed"))]
                      for name, one in at["levels"].items()])


def draw(measured):
    fig, axes = plot.figure(2)
    for ax, kind in zip(axes, KINDS):
        for at in measured.values():
            ax.scatter([one["level"] for one in at["curve"]], [one[kind] for one in at["curve"]], s=12)
        ax.set(title=f"Time of a MB, {kind}", xlabel="fragmentation level", ylabel="ms", ylim=(0, None))
    return fig


def facts(_):
    return {"device": "cufs, smaller, with kept data"}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
