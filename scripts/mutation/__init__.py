"""Mutation of the sources: finding mutants, planting them in a copy, and running the tests against each."""
# SPDX-License-Identifier: BSD-3-Clause
