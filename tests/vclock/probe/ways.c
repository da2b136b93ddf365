/* Freezes with branches on random values: compilers like to give each branch its own end there. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "port_arch.h"

uint64_t look(uint64_t i);
void work(uint64_t x);

bool equal(uint64_t count)
{
	bool differs = false;

	clock_freeze();
	for (uint64_t i = 0; i < count; i++)
		differs |= look(i) != 0;
	clock_thaw();
	return !differs;
}

uint64_t first(uint64_t count)
{
	uint64_t status = 0;

	clock_freeze();
	for (uint64_t i = 0; i < count && !status; i++)
		status = look(i);
	clock_thaw();
	return status;
}

void either(uint64_t a)
{
	uint64_t found = 0;

	clock_freeze();
	if (look(a))
		found = 1;
	clock_thaw();
	if (found)
		work(a);
}

uint64_t three(uint64_t a)
{
	uint64_t how = 5;

	clock_freeze();
	if (look(a) == 1)
		how = 7;
	else if (look(a + 1) == 2)
		how = 9;
	clock_thaw();
	return how == 7 ? a : how == 9 ? look(9) + 3 : 0;
}
