/* The NAND as a small struct of functions: what flash can do, and what it refuses. Same interface for the image in ivshmem #1
 * (nand_image.c) and for the strict test device that cuts power (tests).
 *
 * What we promise the media: sectors of a block are programmed strictly upward; no sector twice without an erase; normal blocks
 * in whole program units, SLC blocks in slc_program_sectors. The media checks all of it and answers NAND_REFUSED.
 * Timing is the TSU's business: the calls here take effect at once, at the operation's end time.
 * Only the TSU hart that owns the channel may call. */
#ifndef TSU_NAND_H
#define TSU_NAND_H

#include "device_config.h"
#include "nand_image.h"
#include "sgl.h"
#include "tsu/flash_addr.h"

enum nand_status {
	NAND_OK = 0,
	NAND_REFUSED = -1,        /* a rule of flash was broken: a firmware bug, fails the run */
	NAND_PROGRAM_FAILED = -2, /* the block must be retired; sectors of this unit are lost */
	NAND_ERASE_FAILED = -3,   /* the block must be retired */
	NAND_UNCORRECTABLE = -4,  /* read: more errors than ECC corrects, or torn program */
	NAND_POWER_OFF = -5,      /* power was cut: nothing happens any more */
};

struct nand;
struct nand_ops {
	/* Data of `count` sectors from addr.sector on into data at byte `at`, OOB into oob[] (either may be NULL). */
	enum nand_status (*read)(struct nand *nand, struct flash_addr addr, uint32_t count, const struct sgl *data, uint32_t at,
				 struct hz_oob *oob);
	/* data NULL = zeros. oob[].checksum is filled in by the media ("ECC engine"). */
	enum nand_status (*program)(struct nand *nand, struct flash_addr addr, uint32_t count, const struct sgl *data, uint32_t at,
				    const struct hz_oob *oob);
	enum nand_status (*erase)(struct nand *nand, struct flash_addr addr);
	/* Block state for mount and bad-block handling. */
	const struct hz_nand_block *(*block)(struct nand *nand, struct flash_addr addr);
	void (*retire)(struct nand *nand, struct flash_addr addr);
};
struct nand { const struct nand_ops *ops; const struct hz_device_config *cfg; const struct flash_map *map; };

#endif
