/* The NAND as a small struct of functions: flash operations and their rules. Implemented by nand_media.c on an image in ivshmem #1 or in
 * a test's memory.
 *
 * Our promise to the media: a program begins exactly at its block's write_sector (no gaps, no sector twice without an erase); normal
 * blocks in whole program units, SLC blocks in multiples of slc_program_sectors; bad and half-erased blocks are neither programmed nor
 * erased (half-erased: erased first). The media checks all of it and answers NAND_REFUSED. On a device with protection information a
 * sector of kind DATA has its tuple, and room for it, behind its 4 KiB in every memory that data are programmed from or read into.
 * Timing is the TSU's business: the calls here take effect at once, at the operation's end time. Only the TSU hart that owns the channel
 * may call. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NAND_H
#define NAND_H

#include <stdbool.h>

#include "device_config.h"
#include "nand_image.h"
#include "sgl.h"
#include "nand/flash_addr.h"

#ifdef __cplusplus
extern "C" {
#endif

enum nand_status {
	NAND_OK = 0,
	NAND_REFUSED = -1,        /* a rule of flash was broken: a firmware bug, fails the run */
	NAND_PROGRAM_FAILED = -2, /* the block must be retired; sectors of this unit are lost */
	NAND_ERASE_FAILED = -3,   /* the block must be retired */
	NAND_UNCORRECTABLE = -4,  /* read: more errors than ECC corrects, or torn program */
	NAND_POWER_OFF = -5,      /* power was cut: nothing happens any more */
	NAND_POWER_WENT = -6,     /* … from outside, while this was done; capacitors keep flash and controller alive */
	NAND_MARKED = -7,         /* read without OOB: nothing is lost, but a sector is marked by the host (HZ_OOB_MARKED) */
};

/* A sector's record as exchanged between firmware and media; its form in the image is struct hz_nand_oob. */
struct hz_oob {
	uint64_t sequence; /* device-wide program order; larger is newer; below 2^HZ_OOB_SEQUENCE_BITS */
	uint32_t lpa;
	union {
		uint32_t generation; /* of the zone: raised by every reset, older data are dead */
		uint32_t host_lba;   /* sectors of backing zones, with a fence instead of generations: their LBA */
	};
	uint8_t kind; /* enum hz_oob_kind */
	uint8_t stream;
	uint16_t flags; /* enum hz_oob_flags */
};

/* Meanings: struct hz_nand_header; powered_ns up to now. */
struct nand_history {
	uint64_t power_cycles, unsafe_shutdowns, powered_ns;
};
/* record: number of the firmware's last record of the state of all zones of a namespace, 0 = none; clean: nothing was programmed or erased since. */
struct nand_clean_mark {
	uint32_t record;
	bool clean;
};

/* Meanings: struct hz_nand_namespace. */
struct nand_namespace {
	uint64_t sectors;
	uint32_t state; /* enum hz_namespace_state */
	uint32_t created;
};

struct nand;
struct nand_ops {
	/* Data of `count` sectors of one block from addr.sector on into data at byte `at`, OOB into oob[] (either may be NULL).
	 * An erased sector reads as zeros with kind ERASED and NAND_OK. NAND_UNCORRECTABLE: at least one sector is lost, and reads as
	 * zeros. If its data alone are (the record has an ECC of its own and is there twice), the record says so with HZ_OOB_LOST; if
	 * the record is lost too (torn program, dead die), its kind is ERASED. The other sectors are good. A sector with HZ_OOB_MARKED
	 * reads as zeros: with oob, NAND_OK and the mark in its record, so that whoever moves it carries the mark along; without,
	 * NAND_MARKED. */
	enum nand_status (*read)(struct nand *nand, struct flash_addr addr, uint32_t count, const struct sgl *data, uint32_t at,
				 struct hz_oob *oob);
	/* The records alone of `count` sectors of one block: as read, but without the data, so that only a program's HZ_OOB_LOST shows. */
	void (*records)(struct nand *nand, struct flash_addr addr, uint32_t count, struct hz_oob *oob);
	/* data NULL = zeros. A sector with HZ_OOB_LOST in its record reads as one with lost data; HZ_OOB_MARKED is kept. */
	enum nand_status (*program)(struct nand *nand, struct flash_addr addr, uint32_t count, const struct sgl *data, uint32_t at,
				    const struct hz_oob *oob);
	enum nand_status (*erase)(struct nand *nand, struct flash_addr addr);
	/* Block state for mount and bad-block handling. */
	const struct hz_nand_block *(*block)(struct nand *nand, struct flash_addr addr);
	void (*retire)(struct nand *nand, struct flash_addr addr);
	/* Number of retries for a read of `count` sectors of one page that senses at at_ns; each costs another read time. *lost: ECC
	 * fails even so. Repeated calls give the same result. */
	uint32_t (*read_retries)(struct nand *nand, struct flash_addr addr, uint32_t count, uint64_t at_ns, bool *lost);
	/* A program of this block ended at at_ns: the first one since its erase begins its retention time. */
	void (*programmed)(struct nand *nand, struct flash_addr addr, uint64_t at_ns);
	/* Power failed in the middle of this program (count > 0) or erase (count 0): leaves the content of half-written cells. */
	void (*tear)(struct nand *nand, struct flash_addr addr, uint32_t count, const struct sgl *data, uint32_t at,
		     const struct hz_oob *oob);
	/* The HIL's hart only. shut_down: done, or no longer true because the controller was enabled again. */
	void (*history)(struct nand *nand, struct nand_history *out);
	void (*shut_down)(struct nand *nand, bool done);
	/* State of a namespace, by the number of its window. Written atomically with respect to power cuts. One hart writes. */
	struct nand_namespace (*namespace_state)(struct nand *nand, uint32_t window);
	void (*set_namespace)(struct nand *nand, uint32_t window, struct nand_namespace to);
	/* State of the controller, written in the same way. The HIL's hart only. */
	void (*controller)(struct nand *nand, struct hz_nand_controller *out);
	void (*set_controller)(struct nand *nand, const struct hz_nand_controller *to);
	/* The same for its clean mark. Any hart, with no program or erase of it in flight: everything is as in the record just
	 * programmed. The first program or erase clears the mark, before it changes anything. */
	struct nand_clean_mark (*clean_mark)(struct nand *nand, uint32_t window);
	void (*mark_clean)(struct nand *nand, uint32_t window, uint32_t record);
	/* No power from here on: every further call answers NAND_POWER_OFF, and nothing is kept any more. Any hart; more than once is fine. */
	void (*power_off)(struct nand *nand);
	/* Memory kept alive by capacitors: the image has its content, by place, at each instant, so that after a killed run the next
	 * start completes the dump. Costs no time. The memory of a place is one hart's. sector NULL: the place is empty. */
	void (*keep)(struct nand *nand, uint32_t place, const uint8_t *sector, const struct hz_oob *oob);
	/* Content of a place, its tuple behind it; NULL: empty. Places are numbers below kept_places. */
	uint8_t *(*kept)(struct nand *nand, uint32_t place, struct hz_oob *oob);
	/* Nothing at all. */
	void (*keep_nothing)(struct nand *nand);
};
struct nand {
	const struct nand_ops *ops;
	const struct hz_device_config *cfg;
	const struct flash_map *map;
	uint64_t power_cut_ns; /* device time of the TSU's power cut; 0 = never */
	bool capacitors;       /* operations go on after a cut in one of them, with status NAND_POWER_WENT */
	uint32_t kept_places;  /* of the memory kept alive */
	bool belated;          /* the present program belongs to an earlier power cut: it has no number, and no injected fault */
};

#ifdef __cplusplus
}
#endif
#endif
