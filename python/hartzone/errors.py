"""Errors, each with one sentence."""
# SPDX-License-Identifier: BSD-3-Clause


class HartzoneError(Exception):
    """There is no device to answer, or no library or program, or an argument is impossible."""
