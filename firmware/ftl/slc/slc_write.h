/* A program of the SLC log, as its owner makes it. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_SLC_WRITE_H
#define FTL_SLC_WRITE_H

#include "lt/event.h"
#include "slc_log_size.h"
#include "tsu/tsu.h"

enum slc_stream { SLC_STAGE, SLC_MAP, SLC_COLLECT, SLC_STREAMS };
HZ_STATIC_ASSERT((int)SLC_STREAMS == (int)HZ_SLC_HEADS, "hz_slc_log_least counts the heads");

/* One program of slc_program_sectors sectors; the caller owns it, and its memory and OOB, until done runs on txn.owner's hart. */
struct slc_write {
	struct tsu_txn txn;
	struct slc_write *next; /* waits for room, or in its lane */
	uint32_t column;        /* lane */
	/* Programmed at ppa; failed programs are repeated elsewhere unseen. PPA_NONE: it is not, the log is worn out. */
	void (*done)(struct slc_write *write);
	void *context;
	ppa_t ppa;
	struct lt_event refused;
	uint8_t stream;   /* enum slc_stream */
	uint8_t cause;    /* enum hz_cause */
	uint8_t **memory; /* slc_program_sectors of them */
	struct hz_oob *oob;
};

#endif
