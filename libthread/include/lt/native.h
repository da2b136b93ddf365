/* Hardware that runs on the host's processor: see native_abi.h. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LT_NATIVE_H
#define LT_NATIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "native_abi.h"

/* A function of hardware begins with `if (LT_NATIVE(call, itself, its arguments…)) return …(call.result)`: true if the plugin has run it
 * instead. Call with the clock frozen, once. Each such function is listed in firmware/native/functions.txt.
 *
 * LT_NATIVE_DECIDING: the same for one that may ask the guest for a decision, which costs instructions.
 *
 * LT_CODE(function): its address for the guest. What code of hardware keeps in memory is that one. */
#ifdef HZ_NATIVE_IMAGE
#define LT_NATIVE(native_call, itself, ...) ((void)sizeof(native_call), false)
#define LT_NATIVE_DECIDING LT_NATIVE
#define LT_CODE(code) \
	({ \
		extern const char guest_##code[]; \
		(void)sizeof(&(code)); \
		(__typeof__(&(code)))(uintptr_t)guest_##code; \
	})
#elif defined(__riscv)
#include "lt/arch.h"
#define LT_NATIVE_AT(level, native_call, itself, ...) \
	(lt_vc_slot()->native >= (level) && \
	 ((native_call) = (struct hz_native_call){ .function = (uintptr_t)(itself), .argument = { __VA_ARGS__ } }, \
	  lt_native_run(&(native_call))))
#define LT_CODE(code) (code)
#define LT_NATIVE(...) LT_NATIVE_AT(HZ_NATIVE_HARDWARE, __VA_ARGS__)
#define LT_NATIVE_DECIDING(...) LT_NATIVE_AT(HZ_NATIVE_ALL, __VA_ARGS__)
bool lt_native_run(struct hz_native_call *call);
#else
#define LT_NATIVE(native_call, itself, ...) ((void)sizeof(native_call), false)
#define LT_NATIVE_DECIDING LT_NATIVE
#define LT_CODE(code) (code)
#endif

#endif
