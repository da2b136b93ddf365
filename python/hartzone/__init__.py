"""An emulated multi-core zoned SSD from Python.

Device and Queue wrap libhartzone (hartzone.h): commands on your own device. run() and sweep() call
the hartzone program: whole workloads and traces with many threads, verified; results are
dictionaries, or pandas DataFrames if pandas is installed.
"""
# SPDX-License-Identifier: BSD-3-Clause
from hartzone.device import BLOCK_BYTES, IN_PLACE_BUDGET, Device, InPlace, Info, Queue, StatusError, Zone, ZoneState, Zrwa
from hartzone.errors import HartzoneError
from hartzone.experiments import Result, Sweep, run, sweep

__all__ = ["BLOCK_BYTES", "Device", "HartzoneError", "IN_PLACE_BUDGET", "InPlace", "Info", "Queue", "Result", "StatusError", "Sweep", "Zone",
           "ZoneState", "Zrwa", "run", "sweep"]
