/* Calls of the native image, and decisions, on bare metal. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "lt/native.h"

typedef uint64_t function(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

/* Inside its hypercall the plugin changes the call. */
HZ_FROZEN bool lt_native_run(struct hz_native_call *call)
{
	const uint64_t *argument = call->argument;

	call->state = HZ_NATIVE_ASKED;
	for (;;) {
		lt_vc_slot()->arg0 = (uintptr_t)call;
		LT_HYPERCALL(HZ_VC_NATIVE);
		if (call->state != HZ_NATIVE_ASKS)
			return call->state == HZ_NATIVE_DONE;
		call->result = ((function *)(uintptr_t)call->function)(argument[0], argument[1], argument[2], argument[3], argument[4],
								       argument[5]);
	}
}

/* Call function(a0, a1, a2, a3) with the stack that ends at `top`. */
uint64_t lt_on_stack(uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t (*function)(uint64_t, uint64_t, uint64_t, uint64_t),
		     uint64_t top);
__asm__(".section .text.frozen, \"ax\", @progbits\n"
	".globl lt_on_stack\n"
	".type lt_on_stack, @function\n"
	"lt_on_stack:\n"
	"	addi a5, a5, -16\n"
	"	sd ra, 8(a5)\n"
	"	sd sp, 0(a5)\n"
	"	mv sp, a5\n"
	"	jalr a4\n"
	"	ld ra, 8(sp)\n"
	"	ld sp, 0(sp)\n"
	"	ret\n"
	".size lt_on_stack, . - lt_on_stack\n"
	".text\n");

static uint64_t lt_decide_thawed(uint64_t decision, uint64_t subject, uint64_t at_ns, uint64_t how)
{
	uint64_t result;

	clock_thaw();
	result = ((lt_decision *)(uintptr_t)decision)(subject, at_ns, how);
	clock_freeze();
	return result;
}

/* The decision stack is the page above the guard (native_abi.h). */
HZ_FROZEN uint64_t lt_decide(lt_decision *decision, uintptr_t subject, uint64_t at_ns, uint64_t how)
{
	uint64_t area = (uintptr_t)__builtin_frame_address(0) & -(uint64_t)HZ_STACK_BYTES;

	return lt_on_stack((uintptr_t)decision, subject, at_ns, how, lt_decide_thawed,
			   area + HZ_STACK_GUARD_BYTES + HZ_DECISION_STACK_BYTES);
}
