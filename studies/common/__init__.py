"""What every study shares: runs of the product, figures as JSON, tables and plots."""
# SPDX-License-Identifier: BSD-3-Clause
