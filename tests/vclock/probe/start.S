# Entry of the probe image: every hart gets 16 KiB of stack and calls probe_main(hart).
# SPDX-License-Identifier: BSD-3-Clause
	.section .text.start
	.globl _start
_start:
	csrr a0, mhartid
	la sp, stacks
	addi t0, a0, 1
	slli t0, t0, 14
	add sp, sp, t0
	call probe_main
1:	wfi
	j 1b

	.bss
	.balign 64
stacks:
	.space 64 * 16384
