/* hartzone.h: the C interface of libhartzone, for programs in any language that need a zoned or a
 * block device without hardware.
 *
 * A device is one emulated controller in a child process. Addresses and lengths are in logical
 * blocks of 4 KiB. Functions return 0, or a positive NVMe status (SCT << 8 | SC) if the device
 * refused the command, or HARTZONE_ERROR if there is no device to answer (died, could not start,
 * wrong argument); hartzone_error_text() then returns one sentence. A refused call has changed
 * nothing. Threads: calls on one device must not overlap, except that each hartzone_queue may be
 * used by its own thread. Only arguments documented so may be NULL. The library installs no signal
 * handlers; a killed program leaves no process and no file behind. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HARTZONE_H
#define HARTZONE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HARTZONE_ERROR = -1, HARTZONE_BLOCK_BYTES = 4096, HARTZONE_ANY_QUEUE = 0 };
enum hartzone_flags {
	HARTZONE_FUA = 1,     /* force unit access: the write is durable when it ends */
	HARTZONE_DURABLE = 2, /* the same by the device's power-loss protection; refused (0x002) where durable_writes is 0 */
	HARTZONE_IN_PLACE =
		8, /* of writes only: they may lie before the write pointer of a sequential zone; refused (0x002) where in_place is 0 */
	HARTZONE_DEALLOCATE = 4, /* of hartzone_write_zeroes only: outside of sequential zones the blocks are deallocated */
};
/* A flag of writes and copies, not of appends: the reclaim unit handle that they fill, 0 to hartzone_handles() - 1. Without it: handle 0. */
#define HARTZONE_HANDLE(number) ((unsigned)(number) << 16)

typedef struct hartzone_device hartzone_device;
typedef struct hartzone_queue hartzone_queue;

struct hartzone_options {
	const char *device_file; /* YAML device description; NULL: the built-in shape */
	const char *image_file;  /* NAND image, made if missing, kept; NULL: a temporary one */
	const char *firmware;    /* NULL: $HARTZONE_FIRMWARE, or found beside the library's build */
	int real_clock;          /* 0: virtual clock, latencies in device time; 1: plain emulation */
	uint32_t workers;        /* FTL worker harts, 1 to 60, each hart with one role; 0: as the device file says */
};

struct hartzone_info {
	uint64_t blocks; /* of the namespace; with zones: zones * zone_blocks, including holes behind their capacity */
	/* All 0 on a block device, which has no zones: */
	uint64_t zone_blocks;          /* distance of zone starts */
	uint64_t zone_capacity;        /* writable blocks of a zone */
	uint64_t zones;                /* including conventional ones, which come first */
	uint32_t max_open, max_active; /* 0: no limit */
	uint32_t max_append;           /* blocks per command */
	/* On every device: */
	uint32_t max_transfer;   /* blocks per command */
	uint32_t durable_writes; /* 1: HARTZONE_DURABLE is honoured (`plp: {mode: selective}` or `full` in the device file) */
	/* 1: end-to-end data protection (`protection: type1`): every block is written with its CRC
	 * and its number, which are checked on the way and on a read. Wrong data are answered with
	 * 0x282 (guard) or 0x284 (another block's); the program has nothing to do for it. */
	uint32_t protection;
	uint64_t in_place; /* limit of overwritten blocks in sequential zones at a time; 0: none, HARTZONE_IN_PLACE is refused */
};

enum hartzone_zone_state {
	HARTZONE_CONVENTIONAL = 0, /* read and written anywhere; has no other state */
	HARTZONE_EMPTY = 1,
	HARTZONE_IMPLICIT_OPEN = 2,
	HARTZONE_EXPLICIT_OPEN = 3,
	HARTZONE_CLOSED = 4,
	HARTZONE_READ_ONLY = 13,
	HARTZONE_FULL = 14,
	HARTZONE_OFFLINE = 15
};
struct hartzone_zone {
	uint64_t start, capacity;
	uint64_t write_pointer; /* UINT64_MAX where the state has none */
	enum hartzone_zone_state state;
};

/* Launch: boots our own device; options may be NULL. Attach: joins a device launched by another
 * process of this user, by its run directory; up to 64 processes may, in turn or at once, each with
 * its own queues. When one of them ends, in any way, its queues are closed and the others lose
 * nothing; the device ends with the process that launched it. Under the virtual clock a process
 * with a command under way holds device time for all, and the interleaving of several processes'
 * commands is not repeatable. NULL on failure: see hartzone_error_text(HARTZONE_ERROR). */
hartzone_device *hartzone_launch(const struct hartzone_options *options);
hartzone_device *hartzone_attach(const char *run_directory);
/* Where another process can attach; valid until close. */
const char *hartzone_run_directory(const hartzone_device *device);
/* Shuts a launched device down so that everything is durable, and frees it; an attached one runs
 * on. The handle is invalid after any return value; open queues return HARTZONE_ERROR from now on
 * and are closed as usual. NULL is allowed. */
int hartzone_close(hartzone_device *device);
/* Frees a launched device without a shutdown: a power cut. Data not flushed may be lost. An
 * attached one runs on. Queues as with hartzone_close. NULL is allowed. */
void hartzone_kill(hartzone_device *device);

int hartzone_get_info(hartzone_device *device, struct hartzone_info *info);
/* The same for any namespace; the function above is for namespace 1. */
int hartzone_get_namespace_info(hartzone_device *device, uint32_t nsid, struct hartzone_info *info);

/* Writes in place (HARTZONE_IN_PLACE). They go to SLC and are durable when they end; each block that has been written so counts, until its
 * zone is reset or has been folded: finished ones are, and full ones when little is left. A write that needs more than is left ends with
 * 0x7c0, and has changed nothing. In blocks: */
struct hartzone_in_place {
	uint64_t budget, used;
	uint64_t written, refused_writes, folds, folded; /* since the start, or since statistics were reset */
};
int hartzone_get_in_place(hartzone_device *device, struct hartzone_in_place *in_place);

/* Reclaim unit handles (flexible data placement: `fdp` in the device file); 0: writes name none, HARTZONE_HANDLE is refused. */
int hartzone_get_handles(hartzone_device *device, uint32_t *handles);

/* Zone random write areas (ZRWA; `zrwa` in the device file). */
struct hartzone_zrwa {
	uint32_t zones;       /* that can have one at a time; 0: none, hartzone_zone_open_zrwa is refused with 0x1b6 */
	uint32_t blocks;      /* from the write pointer on, in which the zone is written in any order, and again */
	uint32_t granularity; /* in blocks: the write pointer moves by multiples of it */
};
int hartzone_get_zrwa(hartzone_device *device, struct hartzone_zrwa *zrwa);

/* A queue pair; ids 1 … 64, each open once over all processes, or HARTZONE_ANY_QUEUE for the lowest
 * free one. FTL worker (id - 1) % workers serves it. data_blocks = largest transfer, at most 128
 * (0: 32 blocks; the device's limit is max_transfer). NULL on failure. One thread at a time may
 * open and close queues of a device. */
hartzone_queue *hartzone_queue_open(hartzone_device *device, unsigned id, uint32_t data_blocks);
/* The same for up to `depth` requests under way at once, 1 … 1023. */
hartzone_queue *hartzone_queue_open_deep(hartzone_device *device, unsigned id, uint32_t data_blocks, unsigned depth);
/* The same for a namespace other than 1: all commands of the queue address it. */
hartzone_queue *hartzone_queue_open_in(hartzone_device *device, uint32_t nsid, unsigned id, uint32_t data_blocks, unsigned depth);
unsigned hartzone_queue_id(const hartzone_queue *queue);
/* Waits for commands under way, and frees the queue after any return value. NULL is allowed. */
int hartzone_queue_close(hartzone_queue *queue);

/* Synchronous commands. data: blocks * HARTZONE_BLOCK_BYTES bytes, blocks at least 1. In zones,
 * reads and writes follow the rules of zones; a block device answers append and all zone commands
 * with Invalid Opcode (0x001). */
int hartzone_read(hartzone_queue *queue, uint64_t block, uint32_t blocks, void *data);
int hartzone_write(hartzone_queue *queue, uint64_t block, uint32_t blocks, const void *data);
/* Writes at the zone's write pointer; *block receives where. */
int hartzone_append(hartzone_queue *queue, uint64_t zone_start, uint32_t blocks, const void *data, uint64_t *block);
/* The same with several buffers, whose lengths add up to whole blocks. flags: of hartzone_flags;
 * block may be NULL. */
int hartzone_readv(hartzone_queue *queue, uint64_t block, const struct iovec *parts, int count);
int hartzone_writev(hartzone_queue *queue, uint64_t block, const struct iovec *parts, int count, unsigned flags);
int hartzone_appendv(hartzone_queue *queue, uint64_t zone_start, const struct iovec *parts, int count, unsigned flags, uint64_t *block);
/* Up to 65,536 blocks, which read as zeros afterwards; transfers no data. Other writes need not
 * wait for all of them. */
int hartzone_write_zeroes(hartzone_queue *queue, uint64_t block, uint32_t blocks, unsigned flags);
/* Deallocates 1 to 256 ranges: outside of sequential zones their blocks read as zeros afterwards,
 * and take no space. In sequential zones nothing changes. */
struct hartzone_range {
	uint64_t block;
	uint32_t blocks;
};
int hartzone_deallocate(hartzone_queue *queue, const struct hartzone_range *ranges, unsigned count);
/* Copies 1 to 128 ranges, 128 blocks in all (0x183: more), in order to `block`, inside the device:
 * no data cross the link. Outside of sequential zones source and destination may overlap. With
 * append they go to the zone's write pointer, all or none of them; *block receives the address, and
 * may be NULL. */
int hartzone_copy(hartzone_queue *queue, uint64_t block, const struct hartzone_range *ranges, unsigned count, unsigned flags);
int hartzone_copy_append(hartzone_queue *queue, uint64_t zone_start, const struct hartzone_range *ranges, unsigned count, unsigned flags,
			 uint64_t *block);
/* Reads up to max_transfer blocks inside the device and moves none: 0, or why they cannot be read (0x281). */
int hartzone_verify(hartzone_queue *queue, uint64_t block, uint32_t blocks);
/* 0: the device holds these data; 0x285 (Compare Failure): it holds others. */
int hartzone_compare(hartzone_queue *queue, uint64_t block, uint32_t blocks, const void *data);
/* Everything written before is durable afterwards. */
int hartzone_flush(hartzone_queue *queue);
int hartzone_zone_open(hartzone_queue *queue, uint64_t zone_start);
/* Opens an empty zone with a random write area; 0x1b7: `zones` zones have one. */
int hartzone_zone_open_zrwa(hartzone_queue *queue, uint64_t zone_start);
/* The write pointer moves behind this block of the zone's random write area. */
int hartzone_zone_flush_zrwa(hartzone_queue *queue, uint64_t block);
int hartzone_zone_close(hartzone_queue *queue, uint64_t zone_start);
int hartzone_zone_finish(hartzone_queue *queue, uint64_t zone_start);
int hartzone_zone_reset(hartzone_queue *queue, uint64_t zone_start);
int hartzone_reset_all(hartzone_queue *queue);
/* A read-only zone becomes offline: its data are lost. */
int hartzone_zone_offline(hartzone_queue *queue, uint64_t zone_start);
/* The zone that holds block zone_start. */
int hartzone_report_zone(hartzone_queue *queue, uint64_t zone_start, struct hartzone_zone *zone);
/* Zones one after the other, from the one that holds from_block on; of one state only, or HARTZONE_ANY_STATE.
 *
 *	hartzone_zones_begin(&zones, queue, 0, HARTZONE_FULL);
 *	while (hartzone_zones_next(&zones, &zone))
 *		…
 *	if (zones.status) … it ended early, by this status or HARTZONE_ERROR
 *
 * A report is asked for every HARTZONE_ZONES_PER_REPORT zones: zones that change meanwhile are shown as they were then. */
enum { HARTZONE_ANY_STATE = -1, HARTZONE_ZONES_PER_REPORT = 63 };
struct hartzone_zones {
	int status;
	/* The library's own: */
	hartzone_queue *queue;
	uint64_t next;
	int state;
	uint32_t have, taken;
	struct hartzone_zone zone[HARTZONE_ZONES_PER_REPORT];
};
void hartzone_zones_begin(struct hartzone_zones *zones, hartzone_queue *queue, uint64_t from_block, int state);
/* 1: *zone is the next one; 0: there is none. */
int hartzone_zones_next(struct hartzone_zones *zones, struct hartzone_zone *zone);

/* Requests that are under way while the program does something else.
 *
 *	submit … submit, commit, then wait (blocks until at least one has ended) or reap (never blocks): how many completions were stored,
 *	or HARTZONE_ERROR. A completion brings the request's token; block: of an append, where it went.
 *
 * What is written is copied by submit; buffers that are read into must stay until the completion is taken. wait commits by itself.
 * event_fd: becomes readable when there are completions to reap, and once in a while without any, so that reap can tell of a device that
 * died; it belongs to the queue. The other calls on a queue answer HARTZONE_ERROR ("busy") while requests are under way on it.
 *
 * Under the virtual clock device time passes from commit until a completion is taken: what is submitted in between is refused, and each
 * request arrives a turnaround (4 us) after the completion that was taken last. */
enum hartzone_operation {
	HARTZONE_READ,
	HARTZONE_WRITE,
	HARTZONE_APPEND,
	HARTZONE_FLUSH,
	HARTZONE_ZONE_OPEN,
	HARTZONE_ZONE_CLOSE,
	HARTZONE_ZONE_FINISH,
	HARTZONE_ZONE_RESET,
	HARTZONE_COMPARE,
	HARTZONE_VERIFY
};
struct hartzone_request {
	uint64_t token; /* the caller's */
	enum hartzone_operation operation;
	unsigned flags;            /* of writes and appends */
	uint64_t block;            /* or the start of the zone */
	const struct iovec *parts; /* of reads, writes, appends and compares */
	int count;
	uint32_t blocks; /* of verifies, which have no parts */
};
struct hartzone_completion {
	uint64_t token;
	int status;
	uint64_t block, latency_ns;
};
int hartzone_submit(hartzone_queue *queue, const struct hartzone_request *request);
int hartzone_commit(hartzone_queue *queue);
int hartzone_reap(hartzone_queue *queue, struct hartzone_completion *out, unsigned most);
int hartzone_wait(hartzone_queue *queue, struct hartzone_completion *out, unsigned most);
int hartzone_event_fd(hartzone_queue *queue);

/* Admin commands. identify: 4096 bytes of any structure (cns, nsid and csi as the base
 * specification numbers them). log_page: `bytes`, a multiple of 4, from `offset` on; nsid:
 * UINT32_MAX for the controller, or the namespace of the page. Features: select 0 current, 1
 * default, 2 saved, 3 capabilities. */
int hartzone_identify(hartzone_device *device, uint8_t cns, uint32_t nsid, uint8_t csi, void *data);
int hartzone_log_page(hartzone_device *device, uint8_t page, uint32_t nsid, uint64_t offset, void *data, uint32_t bytes);
int hartzone_get_feature(hartzone_device *device, uint8_t feature, uint8_t select, uint32_t *value);
int hartzone_set_feature(hartzone_device *device, uint8_t feature, uint32_t value);

/* Any command, by its dwords; the library adds the id and the data pointer. An admin opcode's
 * lowest two bits are the data direction (1: to the device, 2: from it), at most 512 KiB; an I/O
 * command moves the bytes that its fields define, and data must have room for all of them. *result,
 * which may be NULL: dwords 0 and 1 of the completion. Refused with HARTZONE_ERROR: admin commands
 * that create or delete queues or set their number, move doorbells, or wait for events; the library
 * reserves these. */
struct hartzone_command {
	uint8_t opcode, flags;
	uint16_t reserved;
	uint32_t nsid, cdw2, cdw3, cdw10, cdw11, cdw12, cdw13, cdw14, cdw15;
};
int hartzone_admin(hartzone_device *device, const struct hartzone_command *command, void *data, uint32_t bytes, uint64_t *result);
int hartzone_io(hartzone_queue *queue, const struct hartzone_command *command, void *data, uint32_t bytes, uint64_t *result);

/* Device time of the queue's last command, in ns; host time under the real clock. 0 before the first. */
uint64_t hartzone_latency_ns(const hartzone_queue *queue);

/* Text of a return value: for HARTZONE_ERROR the last sentence of this thread, for 0 "success", for
 * an NVMe status its name. Valid until the next call of this thread. */
const char *hartzone_error_text(int code);

#ifdef __cplusplus
}
#endif

#endif
