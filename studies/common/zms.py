"""The device of ZMS's paper (ATC 2024) for file studies."""
# SPDX-License-Identifier: BSD-3-Clause
from common import runs

ZONE_MIB, SPARE, CONVENTIONAL_SPARE = 6, 2, 5


def device(zones, slc, over=CONVENTIONAL_SPARE, in_place=None):
    """zms.yaml with this number of zones of 6 MiB, whose data are kept, and a conventional zone for
    checkpoints: so its map has entries for sectors, in RAM. slc, over: superblocks of SLC, and
    spares of the conventional zone; in_place: of the zones, if any."""
    base = runs.load_yaml("devices", "zms")
    for key in ("size", "capacity", "in_place"):
        del base["zones"][key]
    return runs.merged(base, {
        "geometry": {"media": "store", "pages_per_block": 48, "slc_blocks_per_plane": slc, "blocks_per_plane": slc + zones + 1 + over + SPARE},
        "zones": {"count": zones + 1, "spare_superblocks": SPARE} | ({"in_place": in_place} if in_place else {}), "l2p": {"kind": "sector"},
        "conventional": {"zones": 1, "spare_superblocks": over, "streams": 1, "buffers": 1, "gc_low": 2}})
