"""Shared by all studies: runs of the product, figures as JSON, tables and plots."""
# SPDX-License-Identifier: BSD-3-Clause
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1") # plots compute next to nothing; its threads
                                                   # would spin during the runs
