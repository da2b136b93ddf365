/* Host interface layer: an NVMe controller with zoned namespace, between the host's shared memory and the FTL.
 *
 * Control (registers, admin doorbells) comes over a byte stream, I/O queues and data lie in the shared region. Under the virtual
 * clock the host takes part by the horizon protocol of protocol/shm.h. The controller lives on cfg->hil_hart[0];
 * the other harts of that list serve queue pairs (queue/relay.h). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_HIL_H
#define HIL_HIL_H

#include "device_config.h"
#include "hil/ports/ports.h"
#include "lt/arena.h"
#include "lt/event.h"
#include "shm.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hil;

/* Before the harts run, after lt_harts_init and mount. region = ivshmem #0 (its struct hz_shm_header first); cfg and the ctx of device
 * and port must outlive the run. Sets the hooks of cfg->hil_hart. Does not touch boot_state here: the caller sets HZ_BOOT_READY when the
 * stream listens. The HIL sets HZ_BOOT_STOPPED after a shutdown and calls lt_harts_stop when the host has hung up after that. */
struct hil *hil_init(struct arena *arena, const struct hz_device_config *cfg, void *region, uint64_t region_bytes,
		     const struct controller_ops *device, const struct hil_port *port);

/* Timers that the HIL may have armed at once on its hart: an addend of the limit for lt_harts_init. */
static inline unsigned hil_timers(const struct hz_device_config *cfg) { return cfg->inflight_requests + HZ_MAX_IO_QUEUES + 1; }

#ifdef __cplusplus
}
#endif
#endif
