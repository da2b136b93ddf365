/* Transaction scheduling unit: queues of flash transactions per die, scheduled on dies and channels in device time.
 *
 * One TSU thread owns channels c with c mod tsu_count = its index, and everything below them; no locks. FTL workers post
 * transactions; each comes back to its owner thread by event, exactly once, at or after its end time. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSU_TSU_H
#define TSU_TSU_H

#include "logs.h"
#include "lt/event.h"
#include "nand/nand.h"
#include "tsu/event_wheel.h"

#ifdef __cplusplus
extern "C" {
#endif

enum tsu_op { TSU_READ, TSU_PROGRAM, TSU_ERASE };
enum { TSU_TXN_SECTORS = HZ_MAX_UNIT_SECTORS }; /* most sectors one transaction may carry (a program unit of one plane) */

/* Filled by the caller and owned by the TSU from tsu_submit until done runs on the owner's hart. */
struct tsu_txn {
	struct lt_event event;
	struct tsu_txn *next; /* caller's list for tsu_submit_list, then die queue */
	struct lt_thread *owner;
	void (*done)(struct tsu_txn *txn);
	/* Program, or NULL: its data are in the die's register, and are not read again. On the owner's hart, before done. The receiver
	 * sets it to NULL. */
	void (*loaded)(struct tsu_txn *txn);
	uint8_t op;             /* enum tsu_op */
	uint8_t cause;          /* enum hz_cause: counters and priority */
	uint16_t sectors;       /* read: 1 … within one flash page; program: one unit; erase: 0 */
	ppa_t ppa;              /* first sector; erase: any sector of the block on the wanted plane */
	struct flash_addr addr; /* computed by tsu_submit */
	struct sgl data;        /* read: destination; program: source; memory NULL: no data, zeros */
	uint32_t data_at;       /* byte in data of the first sector */
	struct hz_oob *oob;     /* program: one record per sector (kind, lpa, generation, sequence, stream); read: filled, or NULL */
	uint64_t not_before_ns; /* data is not in the buffer earlier; 0 = at once */
	uint8_t stream;         /* reads: queue, programs: zone; fair schedule only */
	enum nand_status status;
	uint64_t submit_ns, start_ns, end_ns; /* device time: queued, start on the die, data ready */
	uint64_t cells_end_ns;                /* read: when the cells had been sensed, and the data waited for the channel */
	/* private to the TSU */
	struct tsu_thread *thread;
	struct tsu_txn *chain;   /* members of one tsu_submit_list on one thread */
	struct wheel_node ready; /* fires at not_before_ns */
	struct lt_event crossed; /* for loaded */
	uint64_t order;          /* submission number within its TSU thread */
	uint32_t flat_block;
	uint8_t lane;
	bool follows; /* a read that must see a write queued before it */
	bool urgent;  /* a program may be suspended for it */
	bool lost;    /* a read with more bit errors than ECC corrects */
	/* From the caller, of a read; else NULL. Its sectors go here instead of to data, in order, on the TSU's hart with its clock frozen, if
	 * all of them could be read: the i-th lies at `sector` until the call returns. Not 0: the verdict, and no more are looked at. */
	uint16_t (*take)(const struct tsu_txn *txn, uint32_t i, const uint8_t *sector);
	uint16_t verdict;
};

/* After NAND_PROGRAM_FAILED or NAND_ERASE_FAILED the TSU has retired the block (HZ_BLOCK_BAD_GROWN, also after a restart): programs
 * and erases queued for it fail the same way, sectors programmed before stay readable. */
struct tsu;
struct arena;
struct tsu *tsu_init(struct arena *arena, const struct hz_device_config *cfg, const struct flash_map *map, struct nand *nand);
/* The same dies and channels for the FTL of a namespace: its addresses are by its own map. Before the harts run. */
struct tsu *tsu_view(struct arena *arena, struct tsu *tsu, const struct flash_map *map, uint32_t window);
/* Programs and erases of one submitter to one block reach it in submission order, whatever their causes; an erase never passes an
 * earlier read of its block, nor a later read an erase, and a read of a sector with a queued program waits for it. Any hart. */
void tsu_submit(struct tsu *tsu, struct tsu_txn *txn);
/* The same for a list linked by `next` (NULL ends it): one post per TSU thread, and no die starts before all of the list has arrived, so
 * that members for different planes of a die become one multi-plane operation. */
void tsu_submit_list(struct tsu *tsu, struct tsu_txn *first);
/* Power has failed: submitted transactions do not come back any more. Any hart. */
bool tsu_is_off(const struct tsu *tsu);

#ifdef __cplusplus
}
#endif
#endif
