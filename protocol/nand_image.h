/* Layout of ivshmem #1, the NAND: header, block table, OOB of every sector, then page data (timing-only: of SLC blocks only). A sparse file that survives power cuts.
 *
 * Sector number s of a plane-block: page * page_sectors + sector in page. Flat plane number p: ((channel * chips + chip) * dies
 * + die) * planes + plane. Flat block number b: p * blocks_per_plane + block. OOB record: b * pages_per_block * page_sectors + s. */
#ifndef HZ_PROTOCOL_NAND_IMAGE_H
#define HZ_PROTOCOL_NAND_IMAGE_H

#include "base.h"

#define HZ_NAND_MAGIC 0x30444e414e5a4800ull
enum { HZ_NAND_VERSION = 2, HZ_NAND_HEADER_BYTES = 4096 };

struct hz_nand_header {
	uint64_t magic;          /* 0 on a new image: the media formats it (all blocks erased) */
	uint32_t version, header_bytes;
	uint32_t channels, chips_per_channel, dies_per_chip, planes_per_die;
	uint32_t blocks_per_plane, pages_per_block, page_bytes, slc_blocks_per_plane;
	uint32_t cell, media_mode;
	uint64_t blocks_offset, oob_offset, data_offset, image_bytes;
	/* Power history; zeros in images made before it was kept. */
	uint64_t power_cycles;      /* starts on this image, the present one included */
	uint64_t unsafe_shutdowns;  /* starts, the first one aside, that found no shutdown before them */
	uint64_t powered_ns;        /* device time of all runs up to their shutdown */
	uint32_t shut_down;         /* 1: the controller was shut down and not enabled since */
};

enum hz_block_flags { HZ_BLOCK_BAD_FACTORY = 1, HZ_BLOCK_BAD_GROWN = 2, HZ_BLOCK_ERASING = 4 /* cut inside an erase */ };
struct hz_nand_block {
	uint32_t erase_count;
	uint32_t write_sector;   /* first sector not programmed since the erase: programs go strictly upward */
	uint32_t read_count;     /* since the erase: read disturb */
	uint32_t flags;          /* enum hz_block_flags */
	uint64_t program_ns;     /* powered time of the image at the first program since the erase: retention */
};
HZ_ASSERT_SIZE(struct hz_nand_block, 24);

/* What a sector holds. lpa is an LBA for user data, a table page number for metadata. */
enum hz_oob_kind { HZ_OOB_ERASED = 0, HZ_OOB_DATA = 1, HZ_OOB_PAD = 2, HZ_OOB_ZONE_TABLE = 3, HZ_OOB_MAP = 4, HZ_OOB_CHECKPOINT = 5 };
struct hz_oob {
	uint64_t sequence;       /* device-wide program order; larger is newer */
	uint32_t lpa;
	union {
		uint32_t generation; /* of the zone: raised by every reset, older data are dead */
		uint32_t host_lba;   /* sectors of backing zones, which have no generations but a fence: the LBA they hold */
	};
	uint32_t checksum;       /* of the sector's data and the fields above; wrong = torn program */
	uint8_t kind;            /* enum hz_oob_kind; written last */
	uint8_t stream;
	uint16_t flags;          /* enum hz_oob_flags; set by the media */
};
HZ_ASSERT_SIZE(struct hz_oob, 24);
enum hz_oob_flags { HZ_OOB_ZERO = 1 /* programmed without data: reads as zeros, nothing is stored in the data area */ };

/* Where the parts of an image lie; offsets are multiples of 4 KiB. Data of the sector at (p, block, s): sector number
 * (p * data_blocks + block) * data_sectors + s of the data part; blocks from data_blocks on have none there. */
struct hz_nand_layout {
	uint64_t blocks_offset, oob_offset, data_offset, image_bytes;
	uint32_t data_blocks, data_sectors; /* all blocks of a plane, or in timing-only mode its SLC blocks */
};

#ifdef __cplusplus
extern "C" {
#endif
struct hz_device_config;
void hz_nand_layout_of(const struct hz_device_config *cfg, struct hz_nand_layout *layout);
/* Bytes of an image for this config, rounded up to a power of two (a PCI BAR). */
uint64_t hz_nand_image_bytes(const struct hz_device_config *cfg);
#ifdef __cplusplus
}
#endif

#endif
