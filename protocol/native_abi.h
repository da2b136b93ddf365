/* Contract between the firmware, its native image and the plugin: code of hardware that runs on the host's processor.
 *
 * The native image has the same sources as the firmware, compiled for the host's processor. Both work on the same memory: the plugin maps
 * the guest's RAM and files in QEMU's process where the guest has them, so that a pointer is valid on both sides. A pointer to a function
 * is the guest's: the plugin puts a jump to the native copy at that address, or else a call of upcall(). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HZ_PROTOCOL_NATIVE_ABI_H
#define HZ_PROTOCOL_NATIVE_ABI_H

#include "base.h"

#define HZ_NATIVE_CODE 0x30000000ull               /* of the native image: no guest memory is there */
#define HZ_NATIVE_SERVICES (HZ_NATIVE_CODE - 4096) /* struct hz_native_services */
#define HZ_NATIVE_CONSTANTS 0x801c0000ull          /* its constants, in guest RAM: both sides may keep pointers to them */
#define HZ_NATIVE_CONSTANTS_BYTES (256u << 10)
#define HZ_NATIVE_MAGIC 0x31564954414e5a48ull /* "HZNATIV1" */
#define HZ_NATIVE_SECTION ".hz.native"        /* of firmware.elf, not loaded: the native image, an ELF file */

enum { HZ_NATIVE_ARGUMENTS = 6 };

/* A hart's stack area, aligned to its size, from low to high: guard, decision stack (lt/native.h), stack, trap stack. */
#define HZ_STACK_BYTES 32768
#define HZ_STACK_GUARD_BYTES 4096
#define HZ_DECISION_STACK_BYTES 4096

/* A call, either way; in guest RAM. Arguments and results are integers or pointers. */
enum hz_native_state {
	HZ_NATIVE_ASKED = 1, /* the guest asks for `function` */
	HZ_NATIVE_DONE,      /* `result` is its result */
	HZ_NATIVE_ASKS,      /* it asks for `function` of the guest, and goes on with its `result` */
};
struct hz_native_call {
	uint64_t state; /* enum hz_native_state */
	uint64_t function, result;
	uint64_t argument[HZ_NATIVE_ARGUMENTS];
};

/* The entry of the native image. */
struct hz_native_header {
	uint64_t magic;
	uint64_t upcall; /* jumped to by a call of a guest function: its address + 5 is on the stack */
	uint64_t copies; /* how many follow */
	struct {
		uint64_t guest, native;
	} copy[];
};

/* What instructions do for the guest: the plugin's calls for the native image. `hart` is the caller's. */
struct hz_native_services {
	uint64_t (*load)(uint64_t hart, const uint64_t *word);
	uint64_t (*swap)(uint64_t hart, uint64_t *word, uint64_t value);
	uint64_t (*add)(uint64_t hart, uint64_t *word, uint64_t value);
	uint64_t (*set)(uint64_t hart, uint64_t *word, uint64_t bits);
	uint64_t (*mask)(uint64_t hart, uint64_t *word, uint64_t bits);
	uint64_t (*compare_and_swap)(uint64_t hart, uint64_t *word, uint64_t old, uint64_t value); /* the value found */
	void (*hypercall)(uint64_t hart, uint64_t hypercall);
	void (*copy)(void *to, const void *from, uint64_t bytes);
	void (*fill)(void *to, uint64_t value, uint64_t bytes);
	void (*lanes)(void *lanes, const void *data, uint64_t bytes);
	uint64_t (*upcall)(uint64_t function, const uint64_t *argument, uint64_t hart);
};

#endif
