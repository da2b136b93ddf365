"""A block device with the same flash as a zoned device, for comparisons of the two."""
# SPDX-License-Identifier: BSD-3-Clause
OVER_PROVISIONING = 0.07 # usual for consumer devices


def of(zoned, count, over, gc_low=2):
    """With `count` superblocks visible to the host, `over` more, and two write buffers."""
    return zoned | {"zones": {"namespace": "block", "count": count, "spare_superblocks": zoned["zones"]["spare_superblocks"]},
                    "conventional": {"spare_superblocks": over, "streams": 1, "buffers": 2, "gc_low": gc_low},
                    "buffers": {"flush_unit_planes": zoned["buffers"]["flush_unit_planes"]}}
