"""An emulated multi-core zoned SSD from Python.

Device and Queue are libhartzone's (hartzone.h): commands on a device of one's own. run() and sweep() call the hartzone program: whole
workloads and traces with many threads, verified, whose results come back as dictionaries, or as pandas DataFrames where pandas is there.
"""
# SPDX-License-Identifier: BSD-3-Clause
from hartzone.device import BLOCK_BYTES, IN_PLACE_BUDGET, Device, InPlace, Info, Queue, StatusError, Zone, ZoneState
from hartzone.errors import HartzoneError
from hartzone.experiments import Result, Sweep, run, sweep

__all__ = ["BLOCK_BYTES", "Device", "HartzoneError", "IN_PLACE_BUDGET", "InPlace", "Info", "Queue", "Result", "StatusError", "Sweep", "Zone",
           "ZoneState", "run", "sweep"]
