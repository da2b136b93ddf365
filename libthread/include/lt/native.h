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
 * LT_CODE(function): its address for the guest. What code of hardware keeps in memory is that one.
 *
 * lt_decide(decision, …) runs a decision amid such code: it costs the hart instructions, so the clock, frozen once, is thawed meanwhile.
 * On bare metal it runs on the hart's decision stack, from a fixed address: which lines its locals touch does not depend on what runs
 * natively. A decision asks for no other one. */
typedef uint64_t lt_decision(uintptr_t subject, uint64_t at_ns, uint64_t how);

#ifdef HZ_NATIVE_IMAGE
#define LT_NATIVE(native_call, itself, ...) ((void)sizeof(native_call), false)
#define LT_CODE(code) \
	({ \
		extern const char guest_##code[]; \
		(void)sizeof(&(code)); \
		(__typeof__(&(code)))(uintptr_t)guest_##code; \
	})
#elif defined(__riscv)
#include "lt/arch.h"
#define LT_NATIVE(native_call, itself, ...) \
	(lt_vc_slot()->native && ((native_call) = (struct hz_native_call){ .function = (uintptr_t)(itself), .argument = { __VA_ARGS__ } }, \
				  lt_native_run(&(native_call))))
#define LT_CODE(code) (code)
bool lt_native_run(struct hz_native_call *call);
uint64_t lt_decide(lt_decision *decision, uintptr_t subject, uint64_t at_ns, uint64_t how);
#else
#include "lt/arch.h"
#define LT_NATIVE(native_call, itself, ...) ((void)sizeof(native_call), false)
#define LT_CODE(code) (code)
static inline uint64_t lt_decide(lt_decision *decision, uintptr_t subject, uint64_t at_ns, uint64_t how)
{
	uint64_t result;

	clock_thaw();
	result = decision(subject, at_ns, how);
	clock_freeze();
	return result;
}
#endif

#endif
