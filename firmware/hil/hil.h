/* Host interface layer: an NVMe controller with zoned namespace on one hart, between the host's shared memory and the FTL.
 *
 * Control (registers, admin doorbells) comes over a byte stream, I/O queues and data lie in the shared region. Under the virtual
 * clock the host takes part by the horizon protocol of protocol/shm.h. Everything here runs on cfg->hil_hart. */
#ifndef HIL_HIL_H
#define HIL_HIL_H

#include <stddef.h>

#include "device_config.h"
#include "lt/arena.h"
#include "lt/event.h"
#include "shm.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ftl;
struct tsu;
struct hil;

/* What the platform gives: the control byte stream and the two ways to wait for the host and to wake it. All functions are called
 * with the clock frozen, never wait (except host_wait) and take ctx first. */
struct hil_port {
	void *ctx;
	/* Bytes read of the stream (0 = none now), or -1 once when the peer has gone and everything it sent was read. */
	int (*recv)(void *ctx, void *data, size_t bytes);
	/* Bytes accepted, maybe fewer than given (0 = full); -1 = not connected. */
	int (*send)(void *ctx, const void *data, size_t bytes);
	/* The host broke the protocol: drop this connection and listen again. */
	void (*close)(void *ctx);
	/* Sleep until hz_shm_header.host_bell != bell, at most about 1 ms of host time (firmware: HZ_VC_HOST_WAIT), and return true.
	 * False: nothing will come from the host, leave the hook (a test whose host runs in the same thread). */
	bool (*host_wait)(void *ctx, uint32_t bell);
	/* Wake host threads that sleep on queue's `completed`. Firmware: HZ_VC_HOST_WAKE. */
	void (*host_wake)(void *ctx, unsigned queue);
};

/* Before the harts run, after lt_harts_init and ftl_init. region = ivshmem #0 (its struct hz_shm_header first); port, ftl and tsu must
 * outlive the run. Sets the hook of cfg->hil_hart. Does not touch boot_state here: the caller sets HZ_BOOT_READY when the stream
 * listens. The HIL sets HZ_BOOT_STOPPED after a shutdown and calls lt_harts_stop when the host has hung up after that. */
struct hil *hil_init(struct arena *arena, const struct hz_device_config *cfg, void *region, uint64_t region_bytes,
		     struct ftl *ftl, struct tsu *tsu, const struct hil_port *port);

/* Timers that the HIL may have armed at once on its hart: what lt_harts_init must allow beside the other threads'. */
static inline unsigned hil_timers(const struct hz_device_config *cfg) { return cfg->inflight_requests + HZ_MAX_IO_QUEUES + 1; }

#ifdef __cplusplus
}
#endif
#endif
