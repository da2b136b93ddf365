/* The host as this hart reaches it: the platform's port, the head of the shared region, and the sign of life that it is given. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_HOST_H
#define HIL_HOST_H

#include "hil/host/host_memory.h"
#include "hil/seam/hil_port.h"

struct host {
	struct hil_port port;
	struct hz_shm_header *header;
	uint32_t heartbeat;
};

/* At each look at the host; returns the number of looks so far. Clock frozen, as all that follows. */
static inline uint32_t host_beat(struct host *host)
{
	host_store32(&host->header->heartbeat, ++host->heartbeat);
	return host->heartbeat;
}

static inline uint32_t host_bell(const struct host *host) { return host_load32(&host->header->host_bell); }
/* As hil_port.host_wait: false if nothing will come. */
static inline bool host_wait(struct host *host, uint32_t bell) { return host->port.host_wait(host->port.ctx, bell); }
static inline void host_wake(struct host *host, unsigned queue) { host->port.host_wake(host->port.ctx, queue); }

#endif
