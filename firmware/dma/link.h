/* PCIe link model: one serial resource per direction; computes the end of a transfer that starts now. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DMA_LINK_H
#define DMA_LINK_H

#include "lt/arch.h"

#ifdef __cplusplus
extern "C" {
#endif

struct link {
	lt_word free_ns;
	uint64_t byte_ns; /* of a byte, in parts of 2^-20 ns: a ps would make 3 GB/s 0.3 % too fast */
};
struct link_pair {
	struct link to_host, to_device;
};

void link_init(struct link *link, uint64_t bytes_per_s); /* 0 = infinitely fast */
/* Any hart. Reserves the link for `bytes` from max(now, end of the last transfer) on; returns the end in device ns. Lock-free. */
uint64_t link_transfer(struct link *link, uint64_t now_ns, uint32_t bytes);

#ifdef __cplusplus
}
#endif
#endif
