"""What tests and benches in Python share: whether what they need is there, and machines to run images on."""
# SPDX-License-Identifier: BSD-3-Clause
