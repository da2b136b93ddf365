/* Each hart: its number in tp, a stack of its own, then program_main(hart). */
/* SPDX-License-Identifier: BSD-3-Clause */
	.section .text.start
	.globl _start
_start:
	csrr tp, mhartid
	la t0, trapped
	csrw mtvec, t0
	la sp, stacks
	addi t0, tp, 1
	slli t0, t0, 12
	add sp, sp, t0
	mv a0, tp
	call program_main
	.balign 4
trapped:
	csrr a0, mcause
	csrr a1, mepc
	call program_trapped

	.bss
	.balign 64
stacks:
	.space 64 * 4096
