/* Layout of ivshmem #1, the NAND: header, block table, OOB record of every sector, then page data (timing-only: of SLC blocks only) and,
 * with protection information, the tuples of sectors of kinds DATA and UPDATE. Everything but data and tuples has two copies, far apart,
 * with checksums. Last, once, the write-buffer memory kept alive by capacitors. A sparse file that survives power cuts.
 *
 * Sector number s of a plane-block: page * page_sectors + sector in page. Flat plane number p: ((channel * chips + chip) * dies + die) *
 * planes + plane. Flat block number b: p * blocks_per_plane + block. OOB record: b * pages_per_block * page_sectors + s. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HZ_PROTOCOL_NAND_IMAGE_H
#define HZ_PROTOCOL_NAND_IMAGE_H

#include "device_config.h"
#include "nvme.h"

#define HZ_NAND_MAGIC 0x30444e414e5a4800ull
/* With protection information, and with capacitors, the same and a part more of each: hz_nand_version_of. */
enum { HZ_NAND_VERSION = 4, HZ_NAND_VERSION_TUPLES = 1, HZ_NAND_VERSION_KEPT = 2, HZ_NAND_VERSION_LAST = 7 };
enum {
	HZ_NAND_HEADER_BYTES = 8192,
	HZ_NAND_NAMESPACES_OFFSET = 2048,
	HZ_NAND_CONTROLLER_OFFSET = 2624,
	HZ_NAND_CONFIG_OFFSET = 4096,
	HZ_NAND_CLEAN_MARK_OFFSET = 4088
};

/* Members of struct hz_shape stored in an image: X(type, member). */
/* clang-format off */
#define HZ_NAND_DERIVED(X) \
	X(uint32_t, zones) X(uint32_t, conventional_zones) X(uint32_t, backing_zones) X(uint32_t, patch_superblocks) \
	X(uint64_t, zone_size_sectors) X(uint64_t, zone_capacity_sectors)
/* clang-format on */

/* At offset 0, and once more in the last HZ_NAND_HEADER_BYTES of the image. Written first copy first; of two good ones the first counts.
 * At HZ_NAND_CONFIG_OFFSET the device config of the last start, at HZ_NAND_CLEAN_MARK_OFFSET the clean mark of the first namespace, each other
 * one's just before its predecessor's, at HZ_NAND_NAMESPACES_OFFSET the record of the namespaces, at HZ_NAND_CONTROLLER_OFFSET that of the
 * controller. */
struct hz_nand_header {
	uint64_t magic; /* 0, in both copies and with nothing behind them: a new image, to be formatted by the media (all blocks erased) */
	uint32_t version, header_bytes;
	uint32_t checksum;   /* of the rest of this record and the device config */
	uint32_t formatting; /* 1: formatting did not end, so it begins again */

	/* Values that a device must have in common with the image: its SHAPE fields, and values derived from others by the firmware. */
#define HZ_SHAPE(type, member) type member;
#define HZ_FREE(type, member)
#define HZ_FIELD(type, member, section, key, echo, unit, least, most, default, image, fault) HZ_##image(type, member)
#define HZ_LIST(...)
#define HZ_RECORD(...)
#define HZ_PART(...)
#include "device_fields.def"
	HZ_NAND_DERIVED(HZ_SHAPE)
#undef HZ_SHAPE
#undef HZ_FREE
	uint64_t image_bytes;
	/* Power history. */
	uint64_t power_cycles;      /* starts on this image, the present one included */
	uint64_t unsafe_shutdowns;  /* starts, except the first, without a shutdown before them */
	uint64_t powered_ns;        /* device time of all runs up to their shutdown */
	uint32_t shut_down;         /* 1: the controller was shut down and not enabled since */
	uint32_t superblock_planes; /* of a normal superblock; 0: all. Must be the same, like the shape above */
};
HZ_ASSERT_SIZE(struct hz_nand_header, 168); /* another size is another HZ_NAND_VERSION */

/* Namespaces. Each copy is next to one of the header, has a checksum of its own, and the first is written first. All zero in both: an
 * older image, with one attached namespace over the whole device. */
enum hz_namespace_state {
	HZ_NAMESPACE_ATTACHED = 1,
	HZ_NAMESPACE_DETACHED, /* it exists, but the controller does not serve it */
	HZ_NAMESPACE_DELETED,  /* its data may still be there */
	HZ_NAMESPACE_FREE,     /* … are gone */
	/* Attached. A Format NVM has begun and not ended: its data may still be there, and no command reaches them. */
	HZ_NAMESPACE_FORMATTING,
	HZ_NAMESPACE_ERASING, /* the same by one that erases user data */
};
struct hz_nand_namespaces {
	uint32_t checksum; /* of the rest of the record */
	uint32_t count;
	uint32_t channels[HZ_MAX_NAMESPACES], chips[HZ_MAX_NAMESPACES], dies[HZ_MAX_NAMESPACES],
		planes[HZ_MAX_NAMESPACES]; /* hz_range_word */
	struct hz_nand_namespace {
		uint64_t sectors; /* size requested by the host; 0 = all of the window */
		uint32_t state;   /* enum hz_namespace_state */
		uint32_t created; /* namespaces ever created here */
	} slot[HZ_MAX_NAMESPACES];
};
HZ_ASSERT_SIZE(struct hz_nand_namespaces, 520);

/* The self-test under way (running.status 0: none), and results of the last ones, newest first. */
struct hz_nand_self_test {
	uint64_t lba;    /* the next one to be read … */
	uint32_t number; /* … of this namespace */
	uint32_t nsid;   /* the host's choice: 0, of a namespace, or all */
	uint32_t results, reserved;
	struct nvme_self_test_result running, result[NVME_SELF_TEST_RESULTS];
	uint32_t reserved612;
};
HZ_ASSERT_SIZE(struct hz_nand_self_test, 616);

/* The controller's persistent state. Copies as of the record of the namespaces; all zero in both: nothing has happened yet. What is
 * reserved is zero. */
enum { HZ_NAND_FEATURES = 32 };
struct hz_nand_controller {
	uint32_t checksum; /* of the rest of the record */
	uint32_t saved;    /* bit = identifier of a feature with a saved value */
	uint32_t feature[HZ_NAND_FEATURES];
	struct hz_nand_self_test self_test;
	uint8_t telemetry_generation; /* of the last telemetry data that a host has created; they are gone themselves */
	uint8_t sanitize;             /* enum nvme_sanitize_state, of the most recent sanitize operation */
	uint8_t failure_exited;       /* it has failed, and the host has left the failure mode */
	uint8_t reserved755;
	uint32_t sanitize_cdw10;
	uint8_t reserved760[264];
};
HZ_ASSERT_SIZE(struct hz_nand_controller, 1024);
HZ_STATIC_ASSERT(HZ_NAND_NAMESPACES_OFFSET + sizeof(struct hz_nand_namespaces) <= HZ_NAND_CONTROLLER_OFFSET &&
			 HZ_NAND_CONTROLLER_OFFSET + sizeof(struct hz_nand_controller) <=
				 HZ_NAND_CLEAN_MARK_OFFSET - (HZ_MAX_NAMESPACES - 1) * sizeof(uint64_t),
		 "the records of a header's page have room");

/* Clean mark, of a namespace: has anything been programmed or erased since the firmware recorded the state of all zones? High half: number of that record,
 * 0 before the first. Low half: one of these words; anything else: this copy of the word is damaged. */
enum { HZ_NAND_CLEAN = 0x52455354, HZ_NAND_CHANGED = 0x43484744 };

enum hz_block_flags {
	HZ_BLOCK_BAD_FACTORY = 1,
	HZ_BLOCK_BAD_GROWN = 2,
	HZ_BLOCK_ERASING = 4 /* cut inside an erase */,
	HZ_BLOCK_FLAGS = 7
};
struct hz_nand_block {
	uint32_t erase_count;
	uint32_t write_sector; /* first sector not programmed since the erase: programs go strictly upward */
	uint32_t flags;        /* enum hz_block_flags */
	uint32_t checksum;     /* of the fields above, program_ns and the block's number */
	uint64_t program_ns;   /* powered time of the image at the first program since the erase: retention */
	/* Neither is in the checksum, and both are true in the first copy only. */
	uint32_t read_count; /* since the erase: read disturb */
	uint32_t ended;      /* programs up to this sector have ended: an unreadable sector below it is not torn. 0: an older image */
};
HZ_ASSERT_SIZE(struct hz_nand_block, 32);

/* Kinds of sectors. lpa is an LBA for user data, a table page number for metadata. */
enum hz_oob_kind {
	HZ_OOB_ERASED = 0,
	HZ_OOB_DATA = 1,
	HZ_OOB_PAD = 2,
	HZ_OOB_ZONE_TABLE = 3,
	HZ_OOB_MAP = 4,
	HZ_OOB_CHECKPOINT = 5,
	HZ_OOB_TRIM = 6,      /* bits of deallocated LBAs */
	HZ_OOB_UPDATE = 7,    /* a sector of a sequential zone, written in place */
	HZ_OOB_DIRECTORY = 8, /* addresses of table pages */
	HZ_OOB_WINDOW = 9,    /* a sector of a zone's random write area */
	HZ_OOB_PARITY = 10,   /* of a row of a superblock (rain): lpa = first LBA of the row plus the sector's number in the parity */
	HZ_OOB_KINDS
};
enum hz_oob_flags {
	HZ_OOB_ZERO = 1,   /* programmed without data: reads as zeros, nothing is stored in the data area; set by the media */
	HZ_OOB_LOST = 2,   /* the sector's data are lost, only the record is known: programmed so by a move, or found so by a read */
	HZ_OOB_MARKED = 4, /* by the host's Write Uncorrectable: a read that does not ask for the record fails */
	HZ_OOB_FLAGS = 7,
};
enum { HZ_OOB_SEQUENCE_BITS = 48 };
/* All zero: erased, or an unfinished program. A sector below write_sector without a good record in either copy is torn or lost. */
struct hz_nand_oob {
	uint64_t sequence : HZ_OOB_SEQUENCE_BITS; /* device-wide program order; larger is newer */
	uint64_t kind : 4;                        /* enum hz_oob_kind */
	uint64_t stream : 4;
	uint64_t flags : 8; /* enum hz_oob_flags */
	uint32_t lpa;
	uint32_t generation;    /* of the zone: raised by every reset, older data are dead. Sectors of backing zones: the LBA they hold */
	uint32_t data_checksum; /* of the sector's data, its tuple, and the fields above but flags */
	uint32_t checksum;      /* of the fields above and the record's number */
};
HZ_ASSERT_SIZE(struct hz_nand_oob, 24);

/* Offsets of the parts of an image, multiples of 4 KiB. Data of the sector at (p, block, s): sector number (p * data_blocks + block) *
 * data_sectors + s of the data part; blocks from data_blocks on have none there. */
struct hz_nand_layout {
	uint64_t blocks_offset, blocks_copy_offset, oob_offset, oob_copy_offset, data_offset;
	uint64_t tuples_offset; /* HZ_TUPLE_BYTES a sector, in the order of the data; 0: none */
	/* Memory kept alive by capacitors; 0 places: none. By place a record (struct hz_nand_oob; checksum 0: empty), and the sector
	 * with room for its tuple. */
	uint64_t kept_offset, kept_data_offset;
	uint32_t kept_places;
	uint64_t header_copy_offset;        /* the last HZ_NAND_HEADER_BYTES */
	uint64_t image_bytes;               /* a power of two: a PCI BAR */
	uint32_t data_blocks, data_sectors; /* all blocks of a plane, or in timing-only mode its SLC blocks */
};

/* Size of the machine's 64-bit PCI window (docs/reference/format.md). */
#define HZ_NAND_IMAGE_MOST (16ull << 30)

#ifdef __cplusplus
extern "C" {
#endif
uint32_t hz_nand_version_of(const struct hz_device_config *cfg);
void hz_nand_layout_of(const struct hz_device_config *cfg, struct hz_nand_layout *layout);
/* layout.image_bytes */
uint64_t hz_nand_image_bytes(const struct hz_device_config *cfg);
#ifdef __cplusplus
}
#endif

#endif
