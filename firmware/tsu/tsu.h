/* Transaction scheduling unit: queues of flash transactions per die, scheduled on dies and channels in device time.
 *
 * One TSU thread owns channels c with c mod tsu_count = its index, and everything below them; no locks. FTL workers post
 * transactions; each comes back to its owner thread by event, exactly once, at or after its end time. */
#ifndef TSU_TSU_H
#define TSU_TSU_H

#include "logs.h"
#include "lt/event.h"
#include "tsu/event_wheel.h"
#include "nand/nand.h"

#ifdef __cplusplus
extern "C" {
#endif

enum tsu_op { TSU_READ, TSU_PROGRAM, TSU_ERASE };
enum { TSU_TXN_SECTORS = HZ_MAX_UNIT_SECTORS };  /* most sectors one transaction may carry (a program unit of one plane) */

/* Filled by the caller and owned by the TSU from tsu_submit until done runs on the owner's hart. */
struct tsu_txn {
	struct lt_event event;
	struct tsu_txn *next;           /* caller's list for tsu_submit_list, then die queue */
	struct lt_thread *owner;
	void (*done)(struct tsu_txn *txn);
	uint8_t op;                     /* enum tsu_op */
	uint8_t cause;                  /* enum hz_cause: counters and priority */
	uint16_t sectors;               /* read: 1 … within one flash page; program: one unit; erase: 0 */
	ppa_t ppa;                      /* first sector; erase: any sector of the block on the wanted plane */
	struct flash_addr addr;         /* computed by tsu_submit */
	struct sgl data;                /* read: destination, program: source; page NULL: no data, zeros */
	uint32_t data_at;               /* byte in data of the first sector */
	struct hz_oob *oob;             /* program: one record per sector (kind, lpa, generation, sequence, stream); read: filled, or NULL */
	uint64_t not_before_ns;         /* data is not in the buffer earlier; 0 = at once */
	uint8_t stream;                 /* reads: queue, programs: zone; fair schedule only */
	enum nand_status status;
	uint64_t submit_ns, start_ns, end_ns;   /* device time: queued, die began, data at hand */
	/* private to the TSU */
	struct tsu_thread *thread;
	struct tsu_txn *chain;          /* members of one tsu_submit_list on one thread */
	struct wheel_node ready;        /* fires at not_before_ns */
	uint64_t order;                 /* submission number within its TSU thread */
	uint32_t flat_block;
	uint8_t lane;
	bool follows;                   /* a read that must see a write queued before it */
	bool urgent;                    /* a program may be suspended for it */
	bool lost;                      /* a read with more bit errors than ECC corrects */
};

/* After NAND_PROGRAM_FAILED or NAND_ERASE_FAILED the TSU has retired the block (HZ_BLOCK_BAD_GROWN, also after a restart): programs
 * and erases queued for it fail the same way, sectors programmed before stay readable. */
struct tsu;
struct arena;
struct tsu *tsu_init(struct arena *arena, const struct hz_device_config *cfg, const struct flash_map *map, struct nand *nand);
/* Any hart. Programs and erases of one submitter to one block reach it in submission order, whatever their causes; an erase never
 * passes an earlier read of its block, nor a later read an erase, and a read of a sector whose program is queued waits for it. */
void tsu_submit(struct tsu *tsu, struct tsu_txn *txn);
/* The same for a list linked by `next` (NULL ends it): one post per TSU thread, and no die starts before all of the list has
 * arrived, so that members for different planes of a die become one multi-plane operation. */
void tsu_submit_list(struct tsu *tsu, struct tsu_txn *first);
/* Figures for another hart, in two steps: the TSU threads' harts publish theirs (a hart without one does nothing), then whoever was
 * told so by an event reads the sum. */
void tsu_publish(struct tsu *tsu);
void tsu_published(struct tsu *tsu, struct hz_log_flash *out);
/* Both at once, with the TSU harts idle or stopped. */
void tsu_report(struct tsu *tsu, struct hz_log_flash *out);
/* A new account from now on: posts an event to every TSU thread. Not again before it has run everywhere. */
void tsu_stats_reset(struct tsu *tsu);
/* Synchronous, for one hart while no other runs. Until tsu_mounted the read takes flash time: the call waits until the die is free,
 * begins the read and returns with its data, without waiting for its end; tsu_await_reads does. From then on it takes no time, for
 * checks. Of one block. */
enum nand_status tsu_read_now(struct tsu *tsu, ppa_t ppa, uint32_t sectors, const struct sgl *data, uint32_t at, struct hz_oob *oob);
/* Device time passes until all reads begun so far have ended. */
void tsu_await_reads(struct tsu *tsu);
/* The same, and mount is over: before the other harts run. */
void tsu_mounted(struct tsu *tsu);
/* State of the block that holds ppa, for mount: write_sector, erase_count, flags. No flash time: the media know it. Before the harts run. */
const struct hz_nand_block *tsu_block_now(struct tsu *tsu, ppa_t ppa);

/* The device's power history and rest, kept by the media; what nand_ops says of them. */
void tsu_history(struct tsu *tsu, struct nand_history *out);
void tsu_shut_down(struct tsu *tsu, bool done);
struct nand_rest tsu_rest(struct tsu *tsu);
void tsu_come_to_rest(struct tsu *tsu, uint32_t record);

/* Conservation of device time of one channel's bus or one die: busy + idle = elapsed, each side counted on its own. TSU idle. */
struct tsu_account { uint64_t busy_ns, idle_ns, elapsed_ns; };
void tsu_channel_account(struct tsu *tsu, uint32_t channel, struct tsu_account *out);
void tsu_die_account(struct tsu *tsu, uint32_t die_index, struct tsu_account *out);
/* Loop turns and list steps taken by all scheduling code so far, and transactions done: cost that does not depend on the machine. */
struct tsu_work { uint64_t steps, transactions; };
void tsu_work_done(struct tsu *tsu, struct tsu_work *out);

#ifdef __cplusplus
}
#endif
#endif
