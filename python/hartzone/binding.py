"""libhartzone.so by ctypes: the records and functions of hartzone.h that this package uses."""
# SPDX-License-Identifier: BSD-3-Clause
import ctypes
import functools
from ctypes import POINTER, c_char_p, c_int, c_uint8, c_uint32, c_uint64, c_void_p

from hartzone import places
from hartzone.errors import HartzoneError

ERROR = -1
ZONES_PER_REPORT = 63


class Options(ctypes.Structure):
    _fields_ = [("device_file", c_char_p), ("image_file", c_char_p), ("firmware", c_char_p), ("real_clock", c_int), ("workers", c_uint32)]


class Info(ctypes.Structure):
    _fields_ = [("blocks", c_uint64), ("zone_blocks", c_uint64), ("zone_capacity", c_uint64), ("zones", c_uint64), ("max_open", c_uint32),
                ("max_active", c_uint32), ("max_append", c_uint32), ("max_transfer", c_uint32),
                ("durable_writes", c_uint32), ("protection", c_uint32), ("in_place", c_uint64)]


class InPlace(ctypes.Structure):
    """struct hartzone_in_place"""
    _fields_ = [(name, c_uint64) for name in ("budget", "used", "written", "refused_writes", "folds", "folded")]


class ZoneRecord(ctypes.Structure):
    _fields_ = [("start", c_uint64), ("capacity", c_uint64), ("write_pointer", c_uint64), ("state", c_int)]


class Zones(ctypes.Structure):
    _fields_ = [("status", c_int), ("queue", c_void_p), ("next", c_uint64), ("state", c_int), ("have", c_uint32), ("taken", c_uint32),
                ("zone", ZoneRecord * ZONES_PER_REPORT)]


class Part(ctypes.Structure):
    """struct iovec"""
    _fields_ = [("base", c_void_p), ("length", ctypes.c_size_t)]


class Zrwa(ctypes.Structure):
    """struct hartzone_zrwa"""
    _fields_ = [("zones", c_uint32), ("blocks", c_uint32), ("granularity", c_uint32)]


class Range(ctypes.Structure):
    """struct hartzone_range"""
    _fields_ = [("block", c_uint64), ("blocks", ctypes.c_uint32)]


def ranges_of(ranges):
    """Pairs (block, blocks) as the library wants them: the array and how many."""
    return (Range * len(ranges))(*ranges), len(ranges)


FUNCTIONS = {
    "hartzone_launch": (c_void_p, [POINTER(Options)]),
    "hartzone_attach": (c_void_p, [c_char_p]),
    "hartzone_run_directory": (c_char_p, [c_void_p]),
    "hartzone_close": (c_int, [c_void_p]),
    "hartzone_kill": (None, [c_void_p]),
    "hartzone_get_namespace_info": (c_int, [c_void_p, c_uint32, POINTER(Info)]),
    "hartzone_get_in_place": (c_int, [c_void_p, POINTER(InPlace)]),
    "hartzone_get_handles": (c_int, [c_void_p, POINTER(c_uint32)]),
    "hartzone_get_zrwa": (c_int, [c_void_p, POINTER(Zrwa)]),
    "hartzone_identify": (c_int, [c_void_p, c_uint8, c_uint32, c_uint8, c_void_p]),
    "hartzone_log_page": (c_int, [c_void_p, c_uint8, c_uint32, c_uint64, c_void_p, c_uint32]),
    "hartzone_queue_open_in": (c_void_p, [c_void_p, c_uint32, ctypes.c_uint, c_uint32, ctypes.c_uint]),
    "hartzone_queue_id": (ctypes.c_uint, [c_void_p]),
    "hartzone_queue_close": (c_int, [c_void_p]),
    "hartzone_read": (c_int, [c_void_p, c_uint64, c_uint32, c_void_p]),
    "hartzone_writev": (c_int, [c_void_p, c_uint64, POINTER(Part), c_int, ctypes.c_uint]),
    "hartzone_appendv": (c_int, [c_void_p, c_uint64, POINTER(Part), c_int, ctypes.c_uint, POINTER(c_uint64)]),
    "hartzone_write_zeroes": (c_int, [c_void_p, c_uint64, c_uint32, ctypes.c_uint]),
    "hartzone_deallocate": (c_int, [c_void_p, POINTER(Range), ctypes.c_uint]),
    "hartzone_copy": (c_int, [c_void_p, c_uint64, POINTER(Range), ctypes.c_uint, ctypes.c_uint]),
    "hartzone_copy_append": (c_int, [c_void_p, c_uint64, POINTER(Range), ctypes.c_uint, ctypes.c_uint, POINTER(c_uint64)]),
    "hartzone_verify": (c_int, [c_void_p, c_uint64, c_uint32]),
    "hartzone_compare": (c_int, [c_void_p, c_uint64, c_uint32, c_void_p]),
    "hartzone_flush": (c_int, [c_void_p]),
    "hartzone_zone_open": (c_int, [c_void_p, c_uint64]),
    "hartzone_zone_open_zrwa": (c_int, [c_void_p, c_uint64]),
    "hartzone_zone_flush_zrwa": (c_int, [c_void_p, c_uint64]),
    "hartzone_zone_close": (c_int, [c_void_p, c_uint64]),
    "hartzone_zone_finish": (c_int, [c_void_p, c_uint64]),
    "hartzone_zone_reset": (c_int, [c_void_p, c_uint64]),
    "hartzone_reset_all": (c_int, [c_void_p]),
    "hartzone_zones_begin": (None, [POINTER(Zones), c_void_p, c_uint64, c_int]),
    "hartzone_zones_next": (c_int, [POINTER(Zones), POINTER(ZoneRecord)]),
    "hartzone_latency_ns": (c_uint64, [c_void_p]),
    "hartzone_error_text": (c_char_p, [c_int]),
}


@functools.cache
def functions():
    path = places.libhartzone()
    try:
        loaded = ctypes.CDLL(path)
        for name, (result, arguments) in FUNCTIONS.items():
            function = getattr(loaded, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        raise HartzoneError(f"{path} cannot be used: {error}; rebuild it with ./hartzone build") from error
    return loaded


def text_of(code):
    return functions().hartzone_error_text(code).decode()
