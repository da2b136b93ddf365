"""Shared by tests and benches in Python: checks of their needs, and machines to run images on."""
# SPDX-License-Identifier: BSD-3-Clause
