/* Scenes in which harts want one line at a time, for the micro.c of each machine: RTL, virtual clock and host. That file has `common`,
 * `acked`, `finished`, `own` and `of`, one of each hart. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* --- when all harts of a scene have left it --- */
static void leave(unsigned hart, unsigned harts)
{
	if (hart) {
		lt_add(&finished.value, 1);
		machine_rest();
	}
	await_at_least(&finished.value, harts - 1);
}

static void tell_times(unsigned harts)
{
	for (unsigned h = 0; h < harts; h++) {
		tell(of[h].begin);
		tell(of[h].end);
	}
}

/* --- all harts access one line repeatedly: [0] access, [1] number of each; reports each hart's
 * begin and end --- */
void scene_stream(unsigned hart, unsigned harts)
{
	enum access how = (enum access)BLOCK->of_scene[0];
	uint64_t count = BLOCK->of_scene[1];

	access_once(how, own[hart].word);
	of[hart].end = 0;
	begin_together(harts);
	of[hart].begin = cycles();
	for (uint64_t i = 0; i < count; i++)
		access_once(how, common.word);
	of[hart].end = cycles();
	leave(hart, harts);
	tell_times(harts);
}

/* --- two harts hand a word to and fro: [0] how often --- */
void scene_handover(unsigned hart, unsigned harts)
{
	lt_word *w = (lt_word *)common.word;

	of[hart].end = 0;
	begin_together(harts);
	of[hart].begin = cycles();
	for (uint64_t i = 0; i < BLOCK->of_scene[0]; i++) {
		uint64_t mine = 2 * i + hart, seen = lt_load(w);

		while (seen != mine)
			seen = lt_spin_while(w, seen);
		lt_store(w, mine + 1);
	}
	of[hart].end = cycles();
	leave(hart, harts);
	tell_times(harts);
}

/* --- hart 0 writes, all others wait by reading: [0] rounds; for each the time of the write, and
 * when each hart saw it --- */
static void fanout_writes(lt_word *w, unsigned harts, uint64_t round)
{
	uint64_t begin, end;

	spend(600);
	begin = cycles();
	lt_store(w, round);
	end = cycles();
	spend(600);
	await_at_least(&acked.value, (harts - 1) * round);
	tell(end - begin);
	for (unsigned h = 1; h < harts; h++)
		tell(lt_load(&of[h].seen) - begin);
}

static void fanout_reads(const lt_word *w, unsigned hart, uint64_t round)
{
	uint64_t seen = lt_load(w);

	while (seen != round)
		seen = lt_spin_while(w, seen);
	lt_store(&of[hart].seen, cycles());
	lt_add(&acked.value, 1);
}

void scene_fanout(unsigned hart, unsigned harts)
{
	lt_word *w = (lt_word *)common.word;

	begin_together(harts);
	for (uint64_t round = 1; round <= BLOCK->of_scene[0]; round++) {
		if (hart)
			fanout_reads(w, hart, round);
		else
			fanout_writes(w, harts, round);
	}
	leave(hart, harts);
}
