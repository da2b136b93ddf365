/* Layout of ivshmem #0, the emulated host memory: header, device config, per-queue clock records, then the host's heap.
 *
 * All NVMe "bus addresses" (queue bases, PRPs, doorbell buffers) are byte offsets into this region. Little-endian.
 * The host creates and fills the region before it starts QEMU; the firmware changes only the fields marked [fw]. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HZ_PROTOCOL_SHM_H
#define HZ_PROTOCOL_SHM_H

#include "base.h"
#include "dump_report.h"
#include "memory_ledger.h"
#include "mount_report.h"

#define HZ_SHM_MAGIC 0x304d4853454e5a48ull /* "HZNESHM0" */
enum {
	HZ_SHM_VERSION = 1,
	HZ_SHM_HEADER_OFFSET = 0,
	HZ_SHM_CONFIG_OFFSET = 4096,    /* struct hz_device_config */
	HZ_SHM_QUEUES_OFFSET = 16384,   /* struct hz_queue_clock [HZ_MAX_IO_QUEUES + 1], index = queue id */
	HZ_SHM_LEDGER_OFFSET = 3 << 20, /* [fw] struct hz_memory_ledger */
	HZ_SHM_HEAP_OFFSET = 4 << 20,   /* first byte the host may hand out; everything below is refused as a PRP */
	HZ_CONTROL_PORT = 5000,         /* vsock port the firmware listens on */
};

/* No command arrives later than this, and no promise but "never" (UINT64_MAX) reaches further: 26 days of device time. A later one
 * breaks its queue. The virtual clock compares cycles << 6 | hart, so it counts 2^58 cycles; at the highest frequency a fifth of them is
 * left after this moment for the device's remaining work. */
#define HZ_ARRIVAL_MOST_NS (1ull << 51)
HZ_STATIC_ASSERT(HZ_ARRIVAL_MOST_NS < UINT64_MAX / HZ_MAX_HARTS / (HZ_MAX_MHZ / 1000) / 5 * 4,
		 "device time must fit into the clock's keys");

/* A command may be placed before its arrival is known: it follows a completion. Counting commands and completions of a queue from its
 * creation, command n that goes `back` back arrives turnaround_ns after completion n - back, or with command n - 1 if that arrives
 * later, and think_ns after that. The HIL replaces the rule by the time before it fetches the command. */
#define HZ_ARRIVAL_FOLLOWS (1ull << 63)
enum { HZ_ARRIVAL_BACK_SHIFT = 52, HZ_ARRIVAL_BACK_MOST = HZ_MAX_QUEUE_DEPTH - 1 };
HZ_STATIC_ASSERT(HZ_ARRIVAL_MOST_NS < 1ull << HZ_ARRIVAL_BACK_SHIFT && HZ_ARRIVAL_BACK_MOST < 1 << (63 - HZ_ARRIVAL_BACK_SHIFT),
		 "a rule must fit into an arrival");

/* back: 1 to HZ_ARRIVAL_BACK_MOST; think_ns: at most HZ_ARRIVAL_MOST_NS. */
static inline uint64_t hz_arrival_following(uint32_t back, uint64_t think_ns)
{
	return HZ_ARRIVAL_FOLLOWS | (uint64_t)back << HZ_ARRIVAL_BACK_SHIFT | think_ns;
}
static inline uint32_t hz_arrival_back(uint64_t rule) { return (uint32_t)((rule & ~HZ_ARRIVAL_FOLLOWS) >> HZ_ARRIVAL_BACK_SHIFT); }
static inline uint64_t hz_arrival_think_ns(uint64_t rule) { return rule & ((1ull << HZ_ARRIVAL_BACK_SHIFT) - 1); }

/* Firmware life cycle as the host sees it; only ever moves forward within one boot. */
enum hz_boot_state {
	HZ_BOOT_NONE = 0,      /* host wrote the region, firmware has not looked yet */
	HZ_BOOT_STARTED = 1,   /* config accepted, mounting */
	HZ_BOOT_READY = 2,     /* listening on HZ_CONTROL_PORT */
	HZ_BOOT_STOPPED = 3,   /* clean shutdown: everything durable */
	HZ_BOOT_FAILED = 4,    /* see error: trap, failed assertion, illegal config */
	HZ_BOOT_BAD_IMAGE = 5, /* see error: the NAND image is damaged, foreign, or of another shape */
};

/* Exit code of QEMU, by the firmware's own doing. */
enum hz_power_code {
	HZ_POWER_OK = 0,      /* the host asked for it */
	HZ_POWER_FAILED = 1,  /* see boot_state and error */
	HZ_POWER_ABORTED = 2, /* a trap inside the report of a failure: no sentence */
	HZ_POWER_CUT = 9,     /* power_cut_op or power_cut_ns was reached: the device went dark at once */
};

struct hz_shm_header {
	uint64_t magic;
	uint32_t version;
	uint32_t header_bytes;
	uint64_t region_bytes;
	uint32_t virtual_clock;       /* host's intent: 1 = the plugin is loaded; firmware fails the boot if the slots disagree */
	uint32_t boot_state;          /* [fw] enum hz_boot_state */
	uint32_t heartbeat;           /* [fw] HIL loop count, so that a host can distinguish a stuck firmware from a slow one */
	uint32_t host_bell;           /* host adds 1 after every change the HIL may be waiting for; futex word of HZ_VC_HOST_WAIT */
	uint64_t mount_ns;            /* [fw] device time spent mounting, flash time of its reads included */
	uint64_t power_cut_op;        /* fault injection: cut power at this flash operation number, 0 = never */
	uint64_t power_cut_ns;        /* fault injection: cut power at this device time, 0 = never */
	char error[256];              /* [fw] one sentence, NUL-terminated, set before HZ_BOOT_FAILED or HZ_BOOT_BAD_IMAGE */
	struct hz_dump_report kept;   /* [fw] after a power cut: the power-loss dump */
	struct hz_mount_report mount; /* [fw] parts of mount_ns */
};
HZ_ASSERT_OFFSET(struct hz_shm_header, host_bell, 36);
HZ_ASSERT_OFFSET(struct hz_shm_header, error, 64);
HZ_STATIC_ASSERT(sizeof(struct hz_shm_header) <= HZ_SHM_CONFIG_OFFSET, "the header must end before the config");

/* Time contract of one queue pair, one page each, so that host threads never share a line.
 *
 * Host side (written by the queue's own thread only):
 *   submitted   commands ever placed in the SQ (monotonic; the shadow tail doorbell is this modulo depth)
 *   seen        completions ever consumed from the CQ
 *   horizon_ns  promise: every command that arrives before this device time is already submitted, given the `seen`
 *               completions. UINT64_MAX: none will come until a further completion is seen, or ever.
 *   open        1 while a thread replays on the queue: device time stands still unless at least one queue is open
 *   turnaround_ns  a command caused by completion c arrives no earlier than completed_ns(c) + this
 *   arrival_ns[SQ slot]    device time at which the command rings the doorbell (ignored under the real clock), or the rule by which the
 *                          HIL finds it (HZ_ARRIVAL_FOLLOWS)
 *   wake_at     completions that must have been posted before the HIL wakes the host, unless device time stands for this queue; stored
 *               before `waiters`
 * Device side [fw]:
 *   completed      completions ever posted
 *   waiters        host sets 1 before it sleeps on `completed`; HIL answers with HZ_VC_HOST_WAKE
 *   broken         1: a doorbell, a count or a time of the host was impossible; no command is taken until the queue is deleted
 *   opened_ns      latest arrival that would have been at the HIL when it first saw the queue open; a command that arrived before counts
 *                  from here, since its host thread may have come to a device that was at work already
 *   completed_ns[CQ slot]  device time at which the CQE is visible to the host, interrupt cost included; it may lie ahead
 *
 * HIL may pass device time t only if for every open queue t < horizon_ns and t < completed_ns(first unseen) + turnaround_ns.
 * Order: the host stores commands and submitted, then horizon_ns, then seen, then open, each with release; so the HIL loads
 * seen before horizon_ns before submitted, each with acquire. Closing stores horizon_ns = last completion + turnaround first:
 * with no queue open, device time runs on to the largest horizon_ns of a closed queue and stands there, so that the moment at
 * which a run ends does not depend on how quickly the host noticed. A fresh queue has horizon_ns = 0.
 * A command that arrives at t reaches the HIL at t + doorbell_ns + fetch_ns, so the HIL adds these two to every limit above.
 * Open all queues of a run before the first command is submitted and the first horizon moves: the HIL looks for newly opened queues
 * with no queue open, and each time that a queue it waited for has moved; a command that is due is no wait. */
struct hz_queue_clock {
	uint64_t submitted;
	uint64_t seen;
	uint64_t horizon_ns;
	uint32_t open;
	uint32_t turnaround_ns;
	uint64_t wake_at;
	uint64_t pad_host[3];
	uint64_t completed; /* [fw] */
	uint32_t waiters;   /* written by both: host 1, fw 0 */
	uint32_t broken;    /* [fw] */
	uint64_t opened_ns; /* [fw] */
	uint64_t pad_fw[5];
	uint64_t arrival_ns[HZ_MAX_QUEUE_DEPTH];
	uint64_t completed_ns[HZ_MAX_QUEUE_DEPTH]; /* [fw] */
	uint64_t pad_page[496];
};
HZ_ASSERT_OFFSET(struct hz_queue_clock, completed, 64);
HZ_ASSERT_OFFSET(struct hz_queue_clock, arrival_ns, 128);
HZ_ASSERT_SIZE(struct hz_queue_clock, 20480);
HZ_STATIC_ASSERT(HZ_SHM_QUEUES_OFFSET + (HZ_MAX_IO_QUEUES + 1) * sizeof(struct hz_queue_clock) <= HZ_SHM_LEDGER_OFFSET,
		 "queue clocks must end before the ledger");
HZ_STATIC_ASSERT(HZ_SHM_LEDGER_OFFSET + sizeof(struct hz_memory_ledger) <= HZ_SHM_HEAP_OFFSET, "the ledger must end before the heap");

#endif
