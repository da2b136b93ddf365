/* hartzone.h: the C interface of libhartzone, for programs in any language that want a zoned or a block device without hardware.
 *
 * A device is one emulated controller in a child process. Addresses and lengths are in logical blocks of 4 KiB.
 * Functions return 0, or a positive NVMe status (SCT << 8 | SC) when the device refused the command, or HARTZONE_ERROR when
 * there is no device to answer (died, could not start, wrong argument); hartzone_error_text() then has one sentence. What was refused
 * has changed nothing.
 * Threads: calls on one device must not overlap, except that each hartzone_queue may be used by a thread of its own.
 * Only what says so may be NULL. The library installs no signal handlers; a killed program leaves no process and no file behind. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HARTZONE_H
#define HARTZONE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HARTZONE_ERROR = -1, HARTZONE_BLOCK_BYTES = 4096, HARTZONE_ANY_QUEUE = 0 };

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
	uint64_t blocks; /* of the namespace; with zones: zones * zone_blocks, holes behind their capacity included */
	/* All 0 on a block device, which has no zones: */
	uint64_t zone_blocks;          /* distance of zone starts */
	uint64_t zone_capacity;        /* writable blocks of a zone */
	uint64_t zones;                /* conventional ones, which come first, included */
	uint32_t max_open, max_active; /* 0: no limit */
	uint32_t max_append;           /* blocks per command */
	/* On every device: */
	uint32_t max_transfer; /* blocks per command */
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

/* Launch: boots a device of our own; options may be NULL. Attach: joins one that another process of this user has launched, by its run
 * directory; up to 64 processes may, in turn or at once, each with queues of its own. When one of them ends, however it ends, its queues
 * are closed and the others lose nothing; the device ends with the process that launched it. Under the virtual clock a process whose
 * command is under way holds device time for all, and how the commands of several processes interleave is not repeatable.
 * NULL on failure: see hartzone_error_text(HARTZONE_ERROR). */
hartzone_device *hartzone_launch(const struct hartzone_options *options);
hartzone_device *hartzone_attach(const char *run_directory);
/* Where another process can attach; valid until close. */
const char *hartzone_run_directory(const hartzone_device *device);
/* Shuts a launched device down so that everything is durable, and frees it; an attached one runs on. The handle is gone whatever is
 * returned; queues that are still open answer HARTZONE_ERROR from now on and are closed as ever. NULL is allowed. */
int hartzone_close(hartzone_device *device);
/* Frees a launched device without a shutdown: a power cut. What was not flushed may be lost. An attached one runs on. Queues as with
 * hartzone_close. NULL is allowed. */
void hartzone_kill(hartzone_device *device);

int hartzone_get_info(hartzone_device *device, struct hartzone_info *info);

/* A queue pair; ids 1 … 64, each open once in all processes, or HARTZONE_ANY_QUEUE for the lowest that is free. FTL worker
 * (id - 1) % workers serves it. data_blocks = largest transfer, at most 128 (0: 32 blocks; what the device takes is max_transfer).
 * NULL on failure. Queues of one device are opened and closed by one thread at a time. */
hartzone_queue *hartzone_queue_open(hartzone_device *device, unsigned id, uint32_t data_blocks);
unsigned hartzone_queue_id(const hartzone_queue *queue);
/* Frees the queue whatever is returned. NULL is allowed. */
int hartzone_queue_close(hartzone_queue *queue);

/* Synchronous commands. data: blocks * HARTZONE_BLOCK_BYTES bytes, blocks at least 1. Where zones are, reads and writes follow their
 * rules; a block device answers append and all commands of zones with Invalid Opcode (0x001). */
int hartzone_read(hartzone_queue *queue, uint64_t block, uint32_t blocks, void *data);
int hartzone_write(hartzone_queue *queue, uint64_t block, uint32_t blocks, const void *data);
/* Writes at the zone's write pointer; *block receives where. */
int hartzone_append(hartzone_queue *queue, uint64_t zone_start, uint32_t blocks, const void *data, uint64_t *block);
/* Everything written before is durable afterwards. */
int hartzone_flush(hartzone_queue *queue);
int hartzone_zone_open(hartzone_queue *queue, uint64_t zone_start);
int hartzone_zone_close(hartzone_queue *queue, uint64_t zone_start);
int hartzone_zone_finish(hartzone_queue *queue, uint64_t zone_start);
int hartzone_zone_reset(hartzone_queue *queue, uint64_t zone_start);
int hartzone_reset_all(hartzone_queue *queue);
/* The zone that holds block zone_start. */
int hartzone_report_zone(hartzone_queue *queue, uint64_t zone_start, struct hartzone_zone *zone);
/* Device time of the queue's last command, in ns; host time under the real clock. 0 before the first. */
uint64_t hartzone_latency_ns(const hartzone_queue *queue);

/* Text of a return value: for HARTZONE_ERROR the last sentence of this thread, for 0 "success", for a status of NVMe its name. Valid until
 * the next call of this thread. */
const char *hartzone_error_text(int code);

#ifdef __cplusplus
}
#endif

#endif
