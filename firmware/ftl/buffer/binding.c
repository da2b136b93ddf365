/* Policies that bind superpage buffers to zones. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "buffer/binding.h"

#include "buffer/superpage.h"

static uint32_t choose_modulo(const struct superpage_pool *pool, const struct extent *ext) { return pool->home[ext->index]; }

static uint32_t choose_free_or(const struct superpage_pool *pool, bool (*better)(struct bank *, struct bank *))
{
	uint32_t best = 0;

	for (uint32_t i = 0; i < pool->shared; i++) {
		if (!pool->bank[i].owner && !pool->bank[i].queue.head)
			return i;
		if (better(&pool->bank[i], &pool->bank[best]))
			best = i;
	}
	return best;
}

/* Who already has waiters gives way anyway: spread the waiting first. */
static bool fuller(struct bank *a, struct bank *b)
{
	uint64_t waiting_a = lt_load(&a->waiting), waiting_b = lt_load(&b->waiting);

	return waiting_a != waiting_b ? waiting_a < waiting_b : lt_load(&a->fill) > lt_load(&b->fill);
}

static bool fewer_waiting(struct bank *a, struct bank *b) { return lt_load(&a->waiting) < lt_load(&b->waiting); }

static uint32_t choose_first_free(const struct superpage_pool *pool, const struct extent *ext)
{
	(void)ext;
	return choose_free_or(pool, fuller);
}

/* As many buffers as active zones: only a zone that is FULL and still being programmed can be in the way. */
static uint32_t choose_per_zone(const struct superpage_pool *pool, const struct extent *ext)
{
	(void)ext;
	return choose_free_or(pool, fewer_waiting);
}

binding_fn *const binding_policies[HZ_BINDINGS] = {
	[HZ_BIND_MODULO] = choose_modulo,
	[HZ_BIND_FIRST_FREE] = choose_first_free,
	[HZ_BIND_PER_ZONE] = choose_per_zone,
};
