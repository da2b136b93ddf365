/* The ledger as JSON. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VC_LEDGER_REPORT_H
#define VC_LEDGER_REPORT_H

#include <stdio.h>

/* Keeps what the ledger holds now: from here on the report shows this, until it is kept again. */
void vc_ledger_keep(void);
/* One JSON value: what was kept, else what the ledger holds. */
void vc_ledger_write_json(FILE *out);

#endif
