"""The preset cufs for file studies: fewer and shorter superblocks, and data that are kept."""
# SPDX-License-Identifier: BSD-3-Clause
from common import runs

SUPERBLOCK_MIB, SPARE, LEAST_OVER = 3, 2, 5
CACHE_PER_BYTE = 2 ** 20 / 2 ** 40 # map cache: 1 MiB for a TiB
SLACK = "--slack" # F2FS fills dead blocks of dirty segments on a block device (SSR), never on zones


def over(superblocks):
    """Superblocks beyond the host-visible ones, in the preset's proportion."""
    preset = runs.load_yaml("devices", "cufs")
    return max(LEAST_OVER, round(superblocks * preset["conventional"]["spare_superblocks"] / preset["zones"]["count"]))


def seen(superblocks):
    """Host-visible superblocks of this total."""
    return next(count for count in range(superblocks, 0, -1) if count + over(count) <= superblocks)


def slc(superblocks):
    """SLC superblocks: room for the staged data of all superblocks, and for the tables."""
    return 24 + superblocks // 4


def device(name, superblocks, staging):
    """With these numbers of host-visible and SLC superblocks, and the preset's proportions of
    over-provisioning and map cache."""
    beside = over(superblocks)
    cache = round(superblocks * SUPERBLOCK_MIB * 2 ** 20 * CACHE_PER_BYTE / 4) * 4
    return runs.merged(runs.load_yaml("devices", "cufs"), {
        "name": name, "geometry": {"media": "store", "pages_per_block": 12, "slc_blocks_per_plane": staging,
                                   "blocks_per_plane": staging + superblocks + beside + SPARE},
        "zones": {"count": superblocks}, "conventional": {"spare_superblocks": beside}, "l2p": {"cache": cache}})
