/* The ledger as JSON. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VC_LEDGER_REPORT_H
#define VC_LEDGER_REPORT_H

#include <stdio.h>

#include "histogram.h"
#include "table.h"

/* Keeps what the ledger holds now: from here on the report shows this, until it is kept again. */
void vc_ledger_keep(void);
/* One JSON value: what was kept, else what the ledger holds. */
void vc_ledger_write_json(FILE *out);

/* Parts that the report of logical locks has too: counts of each hart; "name": {count, sum, mean and percentiles}. */
void vc_write_by_hart(FILE *out, const uint64_t *counts);
void vc_write_times(FILE *out, const char *name, const struct vc_histogram *h);
/* The entries of a table in the order of compare: how many, and in *out pointers to them, to be freed. */
unsigned vc_sorted(const struct vc_table *table, int (*compare)(const void *, const void *), const void ***out);
/* For such a compare: more first, ties by tag, which repeats. */
int vc_by_weight(uint64_t a, uint64_t b, uint64_t tag_a, uint64_t tag_b);

#endif
