"""Makes devices of different papers comparable: zone contents, an equal share of flash to
overwrite, and the ledger of memory."""
# SPDX-License-Identifier: BSD-3-Clause
import functools
import math
import re
import subprocess

from common import runs

SUPERBLOCKS, HELD, SPARES = 24, 18, 5  # of a queue's share; the part filled with data; spares of a
                                       # block device, over all
SIZES = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def size(text):
    number, unit = text.split()
    return int(number) * SIZES[unit]


def is_block(device):
    return device["zones"].get("namespace") == "block"


def planes(device):
    g = device["geometry"]
    return g.get("superblock_planes") or g["channels"] * g["chips_per_channel"] * g["dies_per_chip"] * g["planes_per_die"]


def superblock(device):
    """Bytes of a zone, or of a block device's unit of collection."""
    return planes(device) * device["geometry"]["pages_per_block"] * size(device["geometry"]["page_bytes"])


def equal_share(device, queues, capacity):
    """The device with blocks so small that a superblock has this capacity, and with as many as the queues share. Its SLC region stays as
    large as it is, and grows where there are more zones to stage data for; a data cache shrinks as the device does, or it would hold all."""
    geometry, block, count = device["geometry"], is_block(device), queues * SUPERBLOCKS
    pages = capacity // planes(device) // size(geometry["page_bytes"])
    staged = geometry["slc_blocks_per_plane"] * geometry["pages_per_block"] * max(1.0, count / device["zones"]["count"])
    slc = math.ceil(staged / pages)
    data = math.ceil((count + device["zones"].get("spare_superblocks", 0)) * planes(device) / all_planes(device))
    return runs.merged(device, {
        "geometry": {"pages_per_block": pages, "slc_blocks_per_plane": slc, "blocks_per_plane": slc + data},
        "zones": {"count": count - SPARES * block}
        | ({"capacity": f"{capacity >> 10} KiB", "size": f"{1 << (capacity - 1).bit_length() >> 10} KiB"} if "capacity" in device["zones"] else {}),
        **({"conventional": {"spare_superblocks": SPARES}} if block else {}), **smaller_cache(device, count * capacity)})


def smaller_cache(device, capacity):
    if "data_cache" not in device:
        return {}
    part = min(1.0, capacity / (device["zones"]["count"] * superblock(device)))
    return {"data_cache": {"bytes": f"{max(256, int(size(device['data_cache']['bytes']) * part) >> 10)} KiB"}}


def all_planes(device):
    return planes({"geometry": device["geometry"] | {"superblock_planes": 0}})


def overwriting(device, whole, common):
    """Data fill three quarters of the share, and half as many bytes are overwritten. On zones by a
    log on the host."""
    held = HELD * superblock(device)
    common = common | {"prefill": 1.0, "total_bytes": f"{held // 2 // 1024} KiB"}
    if is_block(device):
        return whole | {"common": common | {"span_bytes": f"{held // 1024} KiB"}}
    return whole | {"mapping": "log", "over_provisioning": 1 - HELD / SUPERBLOCKS, "common": common}


@functools.cache
def memory(name):
    """KiB that the firmware's ledger charges to each memory of the preset; one without DRAM has all
    in SRAM."""
    command = [str(runs.driver()), "info", "--memory", "--device", str(runs.TOP / "configs" / "devices" / f"{name}.yaml")]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        raise runs.StudyError(f"{' '.join(command)}: {run.stderr.strip()}")
    return {"SRAM": 0.0, "DRAM": 0.0} | {memory: float(kib) for memory, kib in re.findall(r"^(SRAM|DRAM) +([\d.]+) KiB\b", run.stdout, re.MULTILINE)}
