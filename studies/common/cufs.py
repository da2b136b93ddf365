"""The preset cufs for studies that write files on it: with fewer and shorter superblocks, whose data are kept."""
# SPDX-License-Identifier: BSD-3-Clause
from common import runs

SUPERBLOCK_MIB, SPARE, LEAST_OVER = 3, 2, 5
CACHE_PER_BYTE = 2 ** 20 / 2 ** 40 # of the map: 1 MiB for a TiB
SLACK = "--slack" # F2FS fills dead blocks of dirty segments on a block device (SSR), on zones never


def over(superblocks):
    """Superblocks beside so many that the host sees: the preset's part of them."""
    preset = runs.load_yaml("devices", "cufs")
    return max(LEAST_OVER, round(superblocks * preset["conventional"]["spare_superblocks"] / preset["zones"]["count"]))


def seen(superblocks):
    """Of so many, those that the host sees."""
    return next(count for count in range(superblocks, 0, -1) if count + over(count) <= superblocks)


def slc(superblocks):
    """Superblocks of SLC: what all of so many may have staged, and the tables, must find room."""
    return 24 + superblocks // 4


def device(name, superblocks, staging):
    """With so many that the host sees, so many of SLC, and the preset's parts of over-provisioning and of cache for the map."""
    beside = over(superblocks)
    cache = round(superblocks * SUPERBLOCK_MIB * 2 ** 20 * CACHE_PER_BYTE / 4) * 4
    return runs.merged(runs.load_yaml("devices", "cufs"), {
        "name": name, "geometry": {"media": "store", "pages_per_block": 12, "slc_blocks_per_plane": staging,
                                   "blocks_per_plane": staging + superblocks + beside + SPARE},
        "zones": {"count": superblocks}, "conventional": {"spare_superblocks": beside}, "l2p": {"cache": cache}})
