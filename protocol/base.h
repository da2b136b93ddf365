/* Fixed-width types and compile-time layout checks shared by firmware (C) and host driver (C++). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HZ_PROTOCOL_BASE_H
#define HZ_PROTOCOL_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define HZ_STATIC_ASSERT(cond, text) static_assert(cond, text)
#else
#define HZ_STATIC_ASSERT(cond, text) _Static_assert(cond, text)
#endif

/* Every record across the host/firmware border has its size asserted, and the offsets of important fields. */
#define HZ_ASSERT_SIZE(type, bytes) HZ_STATIC_ASSERT(sizeof(type) == (bytes), #type " must be " #bytes " bytes")
#define HZ_ASSERT_OFFSET(type, field, bytes) HZ_STATIC_ASSERT(offsetof(type, field) == (bytes), #type "." #field " must be at " #bytes)

/* A function of the firmware that runs only while its hart's clock is frozen (protocol/vclock_abi.h). The image has all of them together,
 * and the plugin does not count their instructions. */
#if defined(__riscv)
#define HZ_FROZEN __attribute__((section(".text.frozen")))
#elif defined(HZ_NATIVE_IMAGE)
#define HZ_FROZEN __attribute__((used))
#else
#define HZ_FROZEN
#endif

enum {
	HZ_SECTOR_BYTES = 4096, /* mapping unit, logical block and flash sector are all 4 KiB */
	HZ_SECTOR_SHIFT = 12,
	HZ_MAX_HARTS = 64,
	HZ_MAX_MHZ = 100000,   /* of a hart under the virtual clock */
	HZ_MAX_IO_QUEUES = 64, /* I/O queue pairs; queue id 0 is the admin pair */
	HZ_MAX_QUEUE_DEPTH = 1024,
	HZ_MAX_TRANSFER_SECTORS = 128, /* MDTS: 512 KiB */
	HZ_COPY_SECTORS = 128,         /* of a Copy, in all */
	HZ_COPY_RANGES = 128,          /* of a Copy */
};

#endif
