"""Shared by studies that run hzfs file jobs instead of a workload"""
# SPDX-License-Identifier: BSD-3-Clause


def run(folder, device, words):
    """Of a Point. These words of `./hartzone` replace the workload, for people and --resume."""
    return folder, device, {"command": " ".join(map(str, words))}, *words


def cleaner(scale):
    """F2FS's segments and pauses scaled to the study's smaller zones: the cleaning rate stays the
    same."""
    return f"segment={2048 // scale // 4 * 4}KiB,pause={20000 // scale}us,boost_pause={10000 // scale}us"


def level(iteration):
    """The fragmentation level of Kim et al. (FAST 2026)."""
    segments = iteration["segments"]
    return segments["dirty"] / (segments["dirty"] + segments["free"])
