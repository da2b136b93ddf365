/* hartzone.h: the C interface of libhartzone, for programs in any language that want a zoned device without hardware.
 *
 * A device is one emulated controller in a child process. Addresses and lengths are in logical blocks of 4 KiB.
 * Functions return 0, or a positive NVMe status (SCT << 8 | SC) when the device refused the command, or HARTZONE_ERROR when
 * there is no device to answer (died, could not start, wrong argument); hartzone_error_text() then has one sentence.
 * Threads: calls on one device must not overlap, except that each hartzone_queue may be used by a thread of its own.
 * The library installs no signal handlers; a killed program leaves no process and no file behind. */
#ifndef HARTZONE_H
#define HARTZONE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HARTZONE_ERROR = -1, HARTZONE_BLOCK_BYTES = 4096 };

typedef struct hartzone_device hartzone_device;
typedef struct hartzone_queue hartzone_queue;

struct hartzone_options {
	const char *device_file;  /* YAML device description; NULL: the built-in shape */
	const char *image_file;   /* NAND image, made if missing, kept; NULL: a temporary one */
	const char *firmware;     /* NULL: found beside the library's build, or $HARTZONE_FIRMWARE */
	int real_clock;           /* 0: virtual clock, latencies in device time; 1: plain emulation */
	uint32_t workers;         /* FTL worker harts; 0: as the device file says */
};

struct hartzone_info {
	uint64_t blocks;          /* of the namespace: zones * zone_blocks */
	uint64_t zone_blocks;     /* distance of zone starts */
	uint64_t zone_capacity;   /* writable blocks of a zone */
	uint64_t zones;
	uint32_t max_open, max_active;      /* 0: no limit */
	uint32_t max_transfer, max_append;  /* blocks per command */
};

enum hartzone_zone_state {
	HARTZONE_EMPTY = 1, HARTZONE_IMPLICIT_OPEN = 2, HARTZONE_EXPLICIT_OPEN = 3, HARTZONE_CLOSED = 4,
	HARTZONE_READ_ONLY = 13, HARTZONE_FULL = 14, HARTZONE_OFFLINE = 15
};
struct hartzone_zone {
	uint64_t start, capacity;
	uint64_t write_pointer;   /* UINT64_MAX where the state has none */
	enum hartzone_zone_state state;
};

/* Launch: boots a device of our own; options may be NULL. Attach: joins a running one by its run directory, whose owner must not
 * drive it at the same time. NULL on failure: see hartzone_error_text(HARTZONE_ERROR). */
hartzone_device *hartzone_launch(const struct hartzone_options *options);
hartzone_device *hartzone_attach(const char *run_directory);
/* Where another process can attach; valid until close. */
const char *hartzone_run_directory(const hartzone_device *device);
/* Shuts a launched device down so that everything is durable, and frees it. Queues must be closed before. NULL is allowed. */
int hartzone_close(hartzone_device *device);
/* The same without a shutdown: a power cut. What was not flushed may be lost. */
void hartzone_kill(hartzone_device *device);

int hartzone_get_info(hartzone_device *device, struct hartzone_info *info);

/* A queue pair; ids 1 … 64, data_blocks = largest transfer (0: 32 blocks). NULL on failure. */
hartzone_queue *hartzone_queue_open(hartzone_device *device, unsigned id, uint32_t data_blocks);
int hartzone_queue_close(hartzone_queue *queue);

/* Synchronous commands. data: blocks * HARTZONE_BLOCK_BYTES bytes. */
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
int hartzone_report_zone(hartzone_queue *queue, uint64_t zone_start, struct hartzone_zone *zone);
/* Device time of the queue's last command, in ns; host time under the real clock. */
uint64_t hartzone_latency_ns(const hartzone_queue *queue);

/* Text of a return value: for HARTZONE_ERROR the last sentence of this thread, else the NVMe status by name. */
const char *hartzone_error_text(int code);

#ifdef __cplusplus
}
#endif

#endif
