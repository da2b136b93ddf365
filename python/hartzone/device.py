"""A device and its queues: commands one at a time, as hartzone.h describes them."""
# SPDX-License-Identifier: BSD-3-Clause
import ctypes
import enum
import typing

from hartzone import binding, places
from hartzone.errors import HartzoneError

BLOCK_BYTES = 4096
NO_POINTER = 2 ** 64 - 1
FUA = 1
DURABLE = 2
DEALLOCATE = 4
IN_PLACE = 8
IN_PLACE_BUDGET = 0x7c0  # status
COMPARE_FAILURE = 0x285


class StatusError(HartzoneError):
    """The device refused a command, which has changed nothing. status: SCT << 8 | SC of NVMe."""

    def __init__(self, status):
        super().__init__(binding.text_of(status))
        self.status = status


class ZoneState(enum.IntEnum):
    CONVENTIONAL = 0
    EMPTY = 1
    IMPLICIT_OPEN = 2
    EXPLICIT_OPEN = 3
    CLOSED = 4
    READ_ONLY = 13
    FULL = 14
    OFFLINE = 15


class Zone(typing.NamedTuple):
    start: int
    capacity: int
    write_pointer: typing.Optional[int]  # None where the state has none
    state: ZoneState


class Info(typing.NamedTuple):
    """In blocks of 4 KiB; zone fields are 0 on a block device; limits: 0 means none."""
    blocks: int
    zone_blocks: int
    zone_capacity: int
    zones: int
    max_open: int
    max_active: int
    max_append: int
    max_transfer: int
    durable_writes: int  # 1: durable=True is honoured, else refused
    protection: int  # 1: every block is checked end to end (status 0x282, 0x284 if it is wrong)
    in_place: int  # limit of overwritten blocks in sequential zones; 0: in_place=True is refused


class InPlace(typing.NamedTuple):
    """Writes in place, in blocks: how many there may be, how many there are; since the start: written, folded to their zones."""
    budget: int
    used: int
    written: int
    refused_writes: int
    folds: int
    folded: int


class Zrwa(typing.NamedTuple):
    """Zone random write areas: how many zones can have one at a time, how long one is, and by multiples of what the write pointer moves."""
    zones: int
    blocks: int
    granularity: int


def flags(fua, durable, in_place=False, handle=0):
    return (FUA if fua else 0) | (DURABLE if durable else 0) | (IN_PLACE if in_place else 0) | handle << 16


def check(code):
    if code == binding.ERROR:
        raise HartzoneError(binding.text_of(code))
    if code:
        raise StatusError(code)


class Handle:
    """A resource that is open until close(), at the latest at the end of a with statement."""
    _handle = None

    def close(self):
        raise NotImplementedError

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    @property
    def handle(self):
        if not self._handle:
            raise HartzoneError(f"the {type(self).__name__.lower()} is closed")
        return self._handle


class Device(Handle):
    """Boots a device, or joins one launched by another process of this user (attach: its run
    directory).

    device: a file, or a name of configs/devices; image: keeps the flash; clock: "virtual" (device
    time) or "real". A device is used by one thread at a time, each of its queues by its own thread.
    """

    def __init__(self, device=None, *, image=None, workers=0, clock="virtual", attach=None):
        if clock not in ("virtual", "real"):
            raise HartzoneError(f"clock is virtual or real, not {clock!r}")
        if attach:
            self._handle = binding.functions().hartzone_attach(str(attach).encode())
        else:
            options = binding.Options(places.device_file(device).encode() if device else None, str(image).encode() if image else None, None,
                                      clock == "real", workers)
            self._handle = binding.functions().hartzone_launch(ctypes.byref(options))
        if not self._handle:
            raise HartzoneError(binding.text_of(binding.ERROR))
        self._queues: set[Queue] = set()

    def close(self):
        """An orderly shutdown: everything is durable. An attached device stays up."""
        if self._handle:
            self._close_queues()
            handle, self._handle = self._handle, None
            check(binding.functions().hartzone_close(handle))

    def kill(self):
        """A power cut: data not flushed may be lost."""
        if self._handle:
            handle, self._handle = self._handle, None
            binding.functions().hartzone_kill(handle)
            self._close_queues(dead=True)

    def _close_queues(self, dead=False):
        for queue in list(self._queues):
            try:
                queue.close()
            except HartzoneError:
                if not dead:
                    raise

    @property
    def run_directory(self):
        return binding.functions().hartzone_run_directory(self.handle).decode()

    def info(self, nsid=1):
        """Of a namespace."""
        info = binding.Info()
        check(binding.functions().hartzone_get_namespace_info(self.handle, nsid, ctypes.byref(info)))
        return Info(*(getattr(info, name) for name, _ in info._fields_))

    def in_place(self):
        """The budget of writes in place, and its use."""
        found = binding.InPlace()
        check(binding.functions().hartzone_get_in_place(self.handle, ctypes.byref(found)))
        return InPlace(*(getattr(found, name) for name, _ in found._fields_))

    def handles(self):
        """How many reclaim unit handles writes may name (flexible data placement); 0: none."""
        found = ctypes.c_uint32()
        check(binding.functions().hartzone_get_handles(self.handle, ctypes.byref(found)))
        return found.value

    def zrwa(self):
        """The limits of zone random write areas; all 0 on a device without."""
        found = binding.Zrwa()
        check(binding.functions().hartzone_get_zrwa(self.handle, ctypes.byref(found)))
        return Zrwa(found.zones, found.blocks, found.granularity)

    def queue(self, number=0, blocks=0, nsid=1):
        """number: 1 … 64, 0 for any that is free; blocks: of the largest transfer, up to 128, 0 for 32; nsid: its namespace."""
        return Queue(self, number, blocks, nsid)

    def identify(self, cns, nsid=0, csi=0):
        """4096 bytes, as the NVMe base specification numbers and describes them."""
        data = ctypes.create_string_buffer(4096)
        check(binding.functions().hartzone_identify(self.handle, cns, nsid, csi, data))
        return data.raw

    def log_page(self, page, length, offset=0, nsid=0xffffffff):
        data = ctypes.create_string_buffer(max(length, 1))
        check(binding.functions().hartzone_log_page(self.handle, page, nsid, offset, data, length))
        return data.raw[:length]


class Queue(Handle):
    """A queue pair; addresses and counts are blocks of 4 KiB, data whole blocks of bytes."""

    def __init__(self, device, number, blocks, nsid=1):
        self._device = device
        self._handle = binding.functions().hartzone_queue_open_in(device.handle, nsid, number, blocks, 1)
        if not self._handle:
            raise HartzoneError(binding.text_of(binding.ERROR))
        device._queues.add(self)

    def close(self):
        if self._handle:
            handle, self._handle = self._handle, None
            self._device._queues.discard(self)
            check(binding.functions().hartzone_queue_close(handle))

    @property
    def number(self):
        return binding.functions().hartzone_queue_id(self.handle)

    @property
    def latency_ns(self):
        """Of the last command, in device time; in host time under the real clock."""
        return binding.functions().hartzone_latency_ns(self.handle)

    def read(self, block, blocks=1):
        if blocks < 1:
            raise HartzoneError(f"{blocks} blocks cannot be read")
        data = ctypes.create_string_buffer(blocks * BLOCK_BYTES)
        check(binding.functions().hartzone_read(self.handle, block, blocks, data))
        return data.raw

    @staticmethod
    def _part(data):
        data = bytes(data)
        return binding.Part(ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p), len(data)), data

    def write(self, block, data, fua=False, durable=False, in_place=False, handle=0):
        """in_place: the blocks may lie before the write pointer of a sequential zone; durable when it returns. handle: the reclaim unit
        handle that the data fill."""
        part, _alive = self._part(data)
        check(binding.functions().hartzone_writev(self.handle, block, ctypes.byref(part), 1, flags(fua, durable, in_place, handle)))

    def append(self, zone_start, data, fua=False, durable=False):
        """Writes at the zone's write pointer; returns the block where the data are."""
        part, _alive = self._part(data)
        block = ctypes.c_uint64()
        check(binding.functions().hartzone_appendv(self.handle, zone_start, ctypes.byref(part), 1, flags(fua, durable), ctypes.byref(block)))
        return block.value

    def write_zeroes(self, block, blocks, fua=False, durable=False, deallocate=False):
        how = flags(fua, durable) | (DEALLOCATE if deallocate else 0)
        check(binding.functions().hartzone_write_zeroes(self.handle, block, blocks, how))

    def deallocate(self, *ranges):
        """Each (block, blocks): outside of sequential zones these read as zeros afterwards, and
        take no space."""
        check(binding.functions().hartzone_deallocate(self.handle, *binding.ranges_of(ranges)))

    def copy(self, block, *ranges, fua=False, durable=False):
        """Each (block, blocks), one behind the other to the block, inside the device."""
        check(binding.functions().hartzone_copy(self.handle, block, *binding.ranges_of(ranges), flags(fua, durable)))

    def copy_append(self, zone_start, *ranges, fua=False, durable=False):
        """The same to the zone's write pointer; returns the block where they are."""
        block = ctypes.c_uint64()
        check(binding.functions().hartzone_copy_append(self.handle, zone_start, *binding.ranges_of(ranges), flags(fua, durable),
                                                       ctypes.byref(block)))
        return block.value

    def verify(self, block, blocks=1):
        """Reads inside the device without data transfer: raises the errors of a read."""
        check(binding.functions().hartzone_verify(self.handle, block, blocks))

    def compare(self, block, data):
        """True: the device holds these data."""
        data = bytes(data)
        if len(data) % BLOCK_BYTES:
            raise HartzoneError(f"{len(data)} bytes are no whole blocks of {BLOCK_BYTES}")
        status = binding.functions().hartzone_compare(self.handle, block, len(data) // BLOCK_BYTES, data)
        if status != COMPARE_FAILURE:
            check(status)
        return status == 0

    def flush(self):
        check(binding.functions().hartzone_flush(self.handle))

    def open_zone(self, start, zrwa=False):
        """zrwa: an empty zone gets a random write area."""
        functions = binding.functions()
        check((functions.hartzone_zone_open_zrwa if zrwa else functions.hartzone_zone_open)(self.handle, start))

    def flush_zrwa(self, block):
        """The write pointer moves behind this block of the zone's random write area."""
        check(binding.functions().hartzone_zone_flush_zrwa(self.handle, block))

    def close_zone(self, start):
        check(binding.functions().hartzone_zone_close(self.handle, start))

    def finish_zone(self, start):
        check(binding.functions().hartzone_zone_finish(self.handle, start))

    def reset_zone(self, start):
        check(binding.functions().hartzone_zone_reset(self.handle, start))

    def reset_all(self):
        check(binding.functions().hartzone_reset_all(self.handle))

    def zones(self, from_block=0, state=None):
        """The zones from the one that holds from_block on, or those of one state."""
        zones, record = binding.Zones(), binding.ZoneRecord()
        binding.functions().hartzone_zones_begin(ctypes.byref(zones), self.handle, from_block, -1 if state is None else int(state))
        while binding.functions().hartzone_zones_next(ctypes.byref(zones), ctypes.byref(record)):
            pointer = None if record.write_pointer == NO_POINTER else record.write_pointer
            yield Zone(record.start, record.capacity, pointer, ZoneState(record.state))
        check(zones.status)
