/* The ledger's part about logical locks (libthread's lt/logical.h): how often each was had, who waited for it and for how long.
 *
 * Times had are told by a hint of one instruction, which names the class; a wait, from its begin on, by the address of what waits. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VC_LOGICAL_H
#define VC_LOGICAL_H

#include <stdio.h>

#include "state.h"

/* HZ_VC_HAD. */
void vc_logical_had(const struct vc_hart *h);
/* HZ_VC_LOGICAL_ASKED, HZ_VC_LOGICAL_ENDED. */
void vc_logical_event(const struct vc_hart *h, uint64_t now_ns);
/* What waits goes on doing so, and has waited since it began to. */
void vc_logical_begin_anew(void);
/* Two members of a JSON object, "logical" and "logical_locks". */
void vc_logical_write_json(FILE *out);

#endif
