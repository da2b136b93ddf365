"""Parameters that ConZone's paper does not give: each with its value here, its source, and how to
halve and double it."""
# SPDX-License-Identifier: BSD-3-Clause
import dataclasses
import typing

PUBLISHED = "ConZone's published configuration"
ASSUMED, FITTED = "assumed", "fitted"
ROCKET = "measured on the RTL of a Rocket (`bench rtl`)"
ALL = ("conzone-fig6a", "conzone-fig6b", "conzone-fig7", "conzone-fig8")


@dataclasses.dataclass
class Parameter:
    """`change(figure, device, workload, factor)` alters both in place; it returns False where the factor makes no sense."""
    name: str
    text: str
    value: str
    source: str
    change: typing.Callable
    figures: tuple = ALL


def number(text):
    """'10us' → (10.0, 'us')"""
    digits = len(text) - len(text.lstrip("0123456789."))
    return float(text[:digits]), text[digits:]


def scaled(value, factor):
    """A number, or a text of number and unit, times the factor."""
    if isinstance(value, str):
        amount, unit = number(value)
        return f"{amount * factor:g}{unit}"
    return int(value * factor)


def key(section, *names):
    """A change of keys of one section of the device."""
    def change(_, device, __, factor):
        part = device.setdefault(section, {})
        for name in names:
            part[name] = scaled(part[name], factor)
    return change


def preset(section, **values):
    """The same where the device file leaves the keys at their defaults, given here."""
    def change(_, device, __, factor):
        device.setdefault(section, {}).update({name: scaled(value, factor) for name, value in values.items()})
    return change


def turnaround(_, __, workload, factor):
    workload["turnaround"] = scaled(workload["turnaround"], factor)


def volume(_, __, workload, factor):
    """A client that writes stops where its zones are full."""
    if not workload["common"]["read_ratio"]:
        return False
    workload["common"]["total_bytes"] = scaled(workload["common"]["total_bytes"], factor)
    return None


def queue_depth(_, __, workload, factor):
    if factor < 1:
        return False
    workload["common"]["queue_depth"] = scaled(workload["common"]["queue_depth"], factor)
    return None


def erase(_, device, __, factor):
    for cell in ("slc", "normal"):
        device["timing"][cell]["erase"] = scaled(device["timing"][cell]["erase"], factor)


def slc_blocks(_, device, __, factor):
    """Half of them could not stage all open zones: the firmware refuses to mount."""
    if factor < 1:
        return False
    geometry = device["geometry"]
    more = scaled(geometry["slc_blocks_per_plane"], factor) - geometry["slc_blocks_per_plane"]
    geometry["slc_blocks_per_plane"] += more
    geometry["blocks_per_plane"] += more
    return None


def spares(_, device, __, factor):
    more = scaled(device["zones"]["spare_superblocks"], factor) - device["zones"]["spare_superblocks"]
    device["zones"]["spare_superblocks"] += more
    device["geometry"]["blocks_per_plane"] += more


def over_provisioning(_, device, __, factor):
    if "conventional" in device:
        more = scaled(device["conventional"]["spare_superblocks"], factor) - device["conventional"]["spare_superblocks"]
        device["conventional"]["spare_superblocks"] += more
        device["geometry"]["blocks_per_plane"] += more


def legacy_buffers(_, device, __, factor):
    if "conventional" in device:
        device["conventional"]["buffers"] = scaled(device["conventional"]["buffers"], factor)


def page(_, device, __, factor):
    """The program unit of 96 KiB is the paper's: larger pages lie on fewer planes."""
    geometry = device["geometry"]
    geometry["page_bytes"] = f"{int(16 * factor)} KiB"
    geometry["planes_per_die"] = device["buffers"]["flush_unit_planes"] = int(2 / factor)


LEAST_SLC = 6 # blocks of each plane, of twice as many pages: with fewer the legacy device is
              # refused


def zone_size(figure, device, workload, factor):
    """Blocks of more or fewer pages; capacities, and the data read and written, stay. A thread of
    figure 6 (b) fills a zone."""
    geometry, zones, legacy = device["geometry"], device["zones"], device.get("conventional", {"spare_superblocks": 0})
    counts = [(geometry, "slc_blocks_per_plane"), (zones, "count"), (legacy, "spare_superblocks")]
    fixed = geometry["blocks_per_plane"] - sum(part[name] for part, name in counts)
    geometry["pages_per_block"] = scaled(geometry["pages_per_block"], factor)
    for part, name in counts:
        part[name] = scaled(part[name], 1 / factor)
    geometry["slc_blocks_per_plane"] = max(LEAST_SLC, geometry["slc_blocks_per_plane"])
    geometry["blocks_per_plane"] = fixed + sum(part[name] for part, name in counts)
    if figure == "conzone-fig6b":
        workload["common"]["total_bytes"] = scaled(workload["common"]["total_bytes"], factor)
        return
    for part in [workload["common"], *workload["each"]]:
        if "zones" in part:
            part["zones"] = max(1, int(part["zones"] / factor))
        if "first_zone" in part:
            part["first_zone"] = int(part["first_zone"] / factor)


def buckets(figure, device, _, factor):
    device["l2p"]["buckets"] = scaled(32 if figure == "conzone-fig8" else 1024, factor)


def workers(_, device, __, factor):
    device["harts"]["workers"] = scaled(device["harts"]["workers"], factor)


def tsus(_, device, __, factor):
    if factor < 1:
        return False
    device["harts"]["tsus"] = scaled(device["harts"]["tsus"], factor)
    return None


PARAMETERS = [
    Parameter("turnaround", "client's time between a completion and its next command", "10 us",
              f"{FITTED}: to the 20.2 KIOPS of figure 7 at 1 MiB", turnaround),
    Parameter("cache", "L2P cache of figure 8 (the paper's 12 KiB would hold every entry)", "344 bytes",
              f"{FITTED}: to the 27.4 % misses of figure 8", key("l2p", "cache"), ("conzone-fig8",)),
    Parameter("zone-size", "zone and superblock", "12 MiB", f"{PUBLISHED} (block of 3072 KiB, 4 chips)", zone_size,
              ("conzone-fig6a", "conzone-fig6b", "conzone-fig7")),
    Parameter("page", "flash page; planes of a die that are programmed together", "16 KiB, 2",
              f"{ASSUMED}: the page of section II-A ({PUBLISHED}: 32 KiB, 1)", page),
    Parameter("slc-blocks", "blocks of each plane that work as SLC (half are too few to mount)", "10", f"{ASSUMED} ({PUBLISHED}: 36)", slc_blocks),
    Parameter("spares", "spare superblocks", "2", ASSUMED, spares),
    Parameter("over-provisioning", "superblocks that the legacy device has beyond its capacity", "9 (7 %)",
              f"{PUBLISHED} (7 %, of its block device)", over_provisioning, ("conzone-fig6a",)),
    Parameter("legacy-buffers", "write buffers of the legacy device", "2", f"{ASSUMED}: as many as the zoned device has", legacy_buffers,
              ("conzone-fig6a",)),
    Parameter("erase", "erase of a block", "3.5 ms", PUBLISHED, erase),
    Parameter("command", "command and address on the channel", "200 ns", ASSUMED, key("timing", "command")),
    Parameter("link-bandwidth", "bandwidth of the host link", "3000 MiB/s", f"{PUBLISHED} (in MB/s)", key("link", "bytes_per_s")),
    Parameter("link-costs", "doorbell, fetch, completion, interrupt", "0.2, 0.5, 0.3, 1 us", ASSUMED,
              key("link", "doorbell", "fetch", "completion", "interrupt")),
    Parameter("log", "changed map entries that are collected in RAM", "1024 (figure 8: 256)",
              f"{ASSUMED}: ConZone does not write its map", key("l2p", "log_entries"), ("conzone-fig6a", "conzone-fig6b", "conzone-fig7")),
    Parameter("buckets", "hash buckets of the L2P cache", "1024 (figure 8: 32)", f"{ASSUMED}: one for 4 entries ({PUBLISHED}: 3)",
              buckets),
    Parameter("workers", "harts that run the translation layer", "2", ASSUMED, workers),
    Parameter("tsus", "harts that schedule the flash", "1", ASSUMED, tsus),
    Parameter("frequency", "clock of every hart", "1000 MHz", ASSUMED, preset("clock", mhz=1000)),
    Parameter("coherence", "cycles of a shared line from another hart: changed there, only held there", "69, 41", ROCKET,
              preset("clock", remote=69, clean=41)),
    Parameter("requests", "commands inside the device at a time", "512", ASSUMED, key("harts", "inflight_requests")),
    Parameter("queue-depth", "commands of a client at a time", "1", f"{ASSUMED}: fio's default", queue_depth),
    Parameter("volume", "what a run reads or, in figure 6 (a), writes", "64 MiB; figure 6 (a): reads 960, writes 240 MiB", ASSUMED, volume,
              ("conzone-fig6a", "conzone-fig7", "conzone-fig8")),
]
