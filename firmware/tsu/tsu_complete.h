/* The end of a transaction: its effect on the media, the counters, and the way back to its owner. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSU_COMPLETE_H
#define TSU_COMPLETE_H

#include "tsu/tsu.h"

void txn_complete(struct tsu_thread *thread, struct tsu_txn *txn, uint64_t end_ns);

#endif
