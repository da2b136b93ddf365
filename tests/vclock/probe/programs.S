# The programs image: every hart runs a list of operations that the test has put into RAM (programs.py), one after the other.
#
# An operation is { address of its code below, a0, a1, 0 }, 32 bytes. Its result, if it has one, goes to the hart's log. A program
# ends with op_meet, where the harts wait for each other; hart 0 releases whoever is parked until then. The last one ends with
# op_end. Lists, logs and shared lines: LISTS, LOGS and LINES of programs.py.
# SPDX-License-Identifier: BSD-3-Clause

#define HYPERCALL(n) slti x0, x0, n
#define NOW 0x101
#define LISTS 0x81000000 /* 64 addresses of lists, 64 of logs, number of harts, number of shared lines */
#define LINES 0x80310000

	.section .text.start
	.globl _start
_start:
	csrr s3, mhartid
	li s4, LISTS
	slli t0, s3, 3
	add t0, t0, s4
	ld s0, 0(t0)            # next operation
	ld s1, 512(t0)          # next place in the log
	ld s5, 1024(s4)         # harts
	ld s6, 1032(s4)         # shared lines
	li s2, 0x80200000
	slli t0, s3, 6
	add s2, s2, t0          # slot
	li s7, 0                # programs that are over
	la s8, arrived
	la s9, released
	j go

	.macro NEXT
	ld t0, 0(s0)
	ld a0, 8(s0)
	ld a1, 16(s0)
	addi s0, s0, 32
	jr t0
	.endm
	.macro LOG value
	sd \value, 0(s1)
	addi s1, s1, 8
	NEXT
	.endm
	# Absolute deadline from now and a relative one.
	.macro DEADLINE ns
	HYPERCALL(NOW)
	ld t0, 8(s2)
	add t0, t0, \ns
	sd t0, 16(s2)
	.endm

go:	NEXT

	.globl op_load, op_store, op_straddle, op_divu, op_rem, op_divw, op_remuw, op_release, op_add, op_swap, op_or, op_addw, op_swapw, op_lr, op_sc, op_lrw, op_scw, op_nto, op_sto, op_now, op_wait, op_wake
	.globl op_freeze, op_freeze_again, op_stay, op_thaw, op_sync, op_pause, op_charge, op_take, op_think, op_grab, op_meet, op_end
op_load: ld a2, 0(a0)
	LOG a2
op_store: sd a1, 0(a0)
	NEXT
op_straddle: sd a1, 0(a0)       # may reach into a second line
	ld a2, 0(a0)
	LOG a2
op_divu: divu a2, a0, a1
	LOG a2
op_rem:	rem a2, a0, a1
	LOG a2
op_divw: divw a2, a0, a1
	LOG a2
op_remuw: remuw a2, a0, a1
	LOG a2
op_add:	amoadd.d.aqrl a2, a1, (a0)
	LOG a2
op_swap: amoswap.d.aqrl a2, a1, (a0)
	LOG a2
op_release: amoswap.d.rl zero, a1, (a0)
	NEXT
op_or:	amoor.d a2, a1, (a0)
	LOG a2
op_addw: amoadd.w a2, a1, (a0)
	LOG a2
op_swapw: amoswap.w a2, a1, (a0)
	LOG a2
op_lr:	lr.d.aq a2, (a0)
	LOG a2
op_sc:	sc.d.rl a2, a1, (a0)
	LOG a2
op_lrw:	lr.w a2, (a0)
	LOG a2
op_scw:	sc.w a2, a1, (a0)
	LOG a2
op_nto:	.word 0x00d00073
	NEXT
op_sto:	DEADLINE a0
	.word 0x01d00073
	NEXT
op_now:	HYPERCALL(NOW)
	ld a2, 8(s2)
	LOG a2
op_wait: DEADLINE a0
	HYPERCALL(0x102)
	HYPERCALL(NOW)
	ld a2, 8(s2)
	LOG a2
op_wake: sd a0, 16(s2)
	HYPERCALL(0x103)
	NEXT
op_freeze: HYPERCALL(0x104)
	NEXT
op_freeze_again: HYPERCALL(0x104)
	NEXT
op_stay: HYPERCALL(0x130)
	NEXT
op_thaw: HYPERCALL(0x105)
	NEXT
op_sync: HYPERCALL(0x100)
	NEXT
op_pause: .word 0x0100000f
	NEXT
op_charge: sd a0, 16(s2)
	HYPERCALL(0x107)
	NEXT
op_take: DEADLINE a1
	sd a0, 24(s2)
	HYPERCALL(0x109)
	ld a2, 24(s2)
	LOG a2
op_think: addi a0, a0, -1
	bnez a0, op_think
	NEXT

op_grab: amoswap.d.aqrl a2, a1, (a0) # a test-and-set lock that does not pause
	bnez a2, op_grab
	NEXT

op_meet:
	addi s7, s7, 1
	mul t1, s7, s5          # arrivals when all are here
	li t2, 1
	amoadd.d.aqrl t0, t2, (s8)
	bnez s3, 3f
1:	li t0, LINES            # hart 0: wake whoever is parked
	mv t2, s6
2:	amoadd.d x0, x0, (t0)
	addi t0, t0, 64
	addi t2, t2, -1
	bnez t2, 2b
	.word 0x0100000f
	lr.d.aq t0, (s8)
	bne t0, t1, 1b
	amoswap.d.rl x0, s7, (s9)
	NEXT
3:	lr.d.aq t0, (s9)
	bgeu t0, s7, 4f
	.word 0x00d00073
	j 3b
4:	NEXT

op_end:
	bnez s3, 6f
	HYPERCALL(0x1ff)
	li t0, 0x100000         # finisher of QEMU's virt machine: power off
	li t1, 0x5555
	sw t1, 0(t0)
5:	j 5b
6:	la t0, never
7:	lr.d t1, (t0)
	.word 0x00d00073
	j 7b

	.bss
	.balign 64
arrived: .space 64
released: .space 64
never:	.space 64
