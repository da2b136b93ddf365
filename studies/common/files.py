"""What the studies share that run files of hzfs in place of a workload: their runs, and F2FS's terms."""
# SPDX-License-Identifier: BSD-3-Clause


def run(folder, device, words):
    """Of a Point. These words of `./hartzone` are all that there is of a workload, for people and --resume."""
    return folder, device, {"command": " ".join(map(str, words))}, *words


def cleaner(scale):
    """F2FS's segments and pauses on a paper's device, so many times smaller, as a study's zones are: what a second cleans is the same."""
    return f"segment={2048 // scale // 4 * 4}KiB,pause={20000 // scale}us,boost_pause={10000 // scale}us"


def level(iteration):
    """The fragmentation level of Kim et al. (FAST 2026)."""
    segments = iteration["segments"]
    return segments["dirty"] / (segments["dirty"] + segments["free"])
