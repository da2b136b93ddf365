/* Bulk work in the native image, and the way from it to a function of the guest. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "lt/arch.h"
#include "lt/bulk.h"

void bulk_copy(void *dst, const void *src, size_t bytes) { native_services.copy(dst, src, bytes); }
void bulk_fill(void *dst, uint8_t value, size_t bytes) { native_services.fill(dst, value, bytes); }
void bulk_lanes(struct hz_lanes *lanes, const void *data, size_t bytes) { native_services.lanes(lanes, data, bytes); }

/* Called at the guest's address of a function that has no native copy: "call native_upcall", 5 bytes. The registers of its arguments
 * become an array. */
__asm__(".section .text.native_upcall, \"ax\", @progbits\n"
	".globl native_upcall\n"
	".type native_upcall, @function\n"
	"native_upcall:\n"
	"	pop %rax\n"
	"	sub $8, %rsp\n" /* a call finds the stack aligned to 16 bytes */
	"	push %r9\n"
	"	push %r8\n"
	"	push %rcx\n"
	"	push %rdx\n"
	"	push %rsi\n"
	"	push %rdi\n"
	"	lea -5(%rax), %rdi\n"
	"	mov %rsp, %rsi\n"
	"	mov %r15, %rdx\n"
	"	call *native_services + 80(%rip)\n"
	"	add $56, %rsp\n"
	"	ret\n"
	".size native_upcall, . - native_upcall\n");
HZ_ASSERT_OFFSET(struct hz_native_services, upcall, 80);
