/* Transaction scheduling unit: queues of flash transactions per die, scheduled on dies and channels in device time.
 *
 * One TSU thread owns channels c with c mod tsu_count = its index, and everything below them; no locks. FTL workers post
 * transactions; each comes back to its owner thread by event, exactly once, at or after its end time. */
#ifndef TSU_TSU_H
#define TSU_TSU_H

#include "logs.h"
#include "lt/event.h"
#include "tsu/nand.h"

enum tsu_op { TSU_READ, TSU_PROGRAM, TSU_ERASE };
enum { TSU_TXN_SECTORS = 64 };  /* most sectors one transaction may carry (a program unit of one plane) */

/* Filled by the caller and owned by the TSU from tsu_submit until done runs on the owner's hart. */
struct tsu_txn {
	struct lt_event event;
	struct tsu_txn *next;           /* die queue */
	struct lt_thread *owner;
	void (*done)(struct tsu_txn *txn);
	uint8_t op;                     /* enum tsu_op */
	uint8_t cause;                  /* enum hz_cause: counters and priority */
	uint16_t sectors;               /* read: 1 … within one flash page; program: one unit; erase: 0 */
	ppa_t ppa;                      /* first sector; erase: any sector of the block on the wanted plane */
	struct flash_addr addr;         /* computed by tsu_submit */
	struct sgl data;                /* read: destination, program: source */
	uint32_t data_at;               /* byte in data of the first sector */
	struct hz_oob *oob;             /* program: one record per sector (kind, lpa, generation, sequence, stream); read: filled, or NULL */
	uint64_t not_before_ns;         /* data is not in the buffer earlier; 0 = at once */
	enum nand_status status;
	uint64_t submit_ns, start_ns, end_ns;   /* device time: queued, die began, data at hand */
};

struct tsu;
struct tsu *tsu_init(struct arena *arena, const struct hz_device_config *cfg, const struct flash_map *map, struct nand *nand);
/* Any hart. Order: transactions of one submitter to one die and block reach the die in submission order. */
void tsu_submit(struct tsu *tsu, struct tsu_txn *txn);
/* Sum of all TSU threads' counters; exact when the TSU harts are idle. */
void tsu_report(struct tsu *tsu, struct hz_log_flash *out);
/* Mount time only, before the harts run: synchronous, no timing. */
enum nand_status tsu_read_now(struct tsu *tsu, ppa_t ppa, uint32_t sectors, const struct sgl *data, uint32_t at, struct hz_oob *oob);

#endif
