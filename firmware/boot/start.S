/* Entry of every hart: QEMU jumps to 0x80000000 with a0 = mhartid, a1 = flattened device tree, M-mode, interrupts off.
 *
 * Sets gp, tp = mhartid, stack, trap vector and stack guard, waits until hart 0 has cleared .bss, then calls
 * hart_main(hart, device tree). All waiting is LR + WRS.NTO, which the virtual clock parks and plain QEMU spins on. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "memory_map.h"

#define MHART_LIMIT 64
#define PMP_LOCKED_NAPOT 0x98        /* L | A = NAPOT, no R, W, X: binds M-mode too (privileged spec 3.7.1) */
#define PMP_NAPOT_4K 0x1ff
#define WRS_NTO .word 0x00d00073     /* Zawrs, not known to binutils 2.40 */
#define HYPERCALL_SYNC slti x0, x0, 0x100 /* HZ_VC_SYNC: lets the plugin fill this hart's slot before any C code runs */

	.section .text.start, "ax", @progbits
	.globl _start
_start:
	csrci mstatus, 8
	csrw mie, zero
	csrr tp, mhartid
	li t0, MHART_LIMIT
	bgeu tp, t0, .Lpark
	.option push
	.option norelax
	la gp, __global_pointer$
	.option pop

	/* t0 = this hart's stack area; sp below the trap stack, mscratch = top of the trap stack */
	la t0, boot_stacks
	slli t1, tp, BOOT_STACK_SHIFT
	add t0, t0, t1
	li t1, BOOT_STACK_BYTES
	add t1, t0, t1
	csrw mscratch, t1
	li t2, BOOT_TRAP_STACK_BYTES
	sub sp, t1, t2
	la t1, trap_entry
	csrw mtvec, t1

	/* A stack overflow reaches the guard page and traps at once, instead of writing into a neighbour. */
	srli t1, t0, 2
	ori t1, t1, PMP_NAPOT_4K & 0x7ff
	csrw pmpaddr0, t1
	li t1, PMP_LOCKED_NAPOT
	csrw pmpcfg0, t1

	HYPERCALL_SYNC
	la t0, boot_bss_clear
	bnez tp, .Lwait_bss

	la t1, boot_bss
	la t2, boot_bss_end
1:	bgeu t1, t2, 2f
	sd zero, 0(t1)
	addi t1, t1, 8
	j 1b
2:	li t1, 1
	fence rw, w
	amoswap.d.rl zero, t1, (t0)
	j .Lgo

.Lwait_bss:
	lr.d.aq t1, (t0)
	bnez t1, .Lgo
	WRS_NTO
	j .Lwait_bss

.Lgo:
	mv a0, tp
	call hart_main

/* A hart without a stack of its own, or after hart_main has returned. */
.Lpark:
	wfi
	j .Lpark

/* Every trap is fatal: no register is saved, the report runs on the hart's trap stack. */
	.balign 4
	.globl trap_entry
trap_entry:
	csrrw sp, mscratch, sp
	csrr a3, mscratch
	mv a4, ra
	la t0, trap_again
	csrw mtvec, t0
	.option push
	.option norelax
	la gp, __global_pointer$
	.option pop
	csrr tp, mhartid
	csrr a0, mcause
	csrr a1, mepc
	csrr a2, mtval
	call trap_report

/* The report itself trapped: end the run silently, on a fresh trap stack. */
	.balign 4
trap_again:
	csrr tp, mhartid
	la sp, boot_stacks + BOOT_STACK_BYTES
	slli t0, tp, BOOT_STACK_SHIFT
	add sp, sp, t0
	call power_abort

	.data
	.balign 64
boot_bss_clear:
	.dword 0
	.balign 64
