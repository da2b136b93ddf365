/* The common start (scenes.h), for the main file of each machine: RTL and virtual clock, and host. */
/* SPDX-License-Identifier: BSD-3-Clause */
static struct {
	LT_OWN_LINE lt_word go;
	LT_OWN_LINE lt_word arrived;
} start;

uint64_t begin_together(unsigned harts)
{
	uint64_t at;

	if (lt_add(&start.arrived, 1) + 1 == harts)
		lt_store(&start.go, cycles() + START_CYCLES);
	await_at_least(&start.go, 1);
	at = lt_load(&start.go);
	while (cycles() < at)
		;
	machine_begun(at);
	return at;
}
