/* Figures of the TSU: counters, busy times and the conservation of device time. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "tsu/tsu_report.h"

#include <string.h>

#include "tsu/tsu_state.h"

static void add_all(uint64_t *sum, const uint64_t *part, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		sum[i] += part[i];
}

static void add_counters(struct hz_log_flash *sum, const struct hz_log_flash *part)
{
	add_all(sum->reads, part->reads, 16);
	add_all(sum->programs, part->programs, 16);
	add_all(sum->erases, part->erases, 16);
	add_all(sum->read_sectors, part->read_sectors, 16);
	add_all(sum->program_sectors, part->program_sectors, 16);
	sum->failed_programs += part->failed_programs;
	sum->failed_erases += part->failed_erases;
	sum->failed_reads += part->failed_reads;
	sum->multi_plane_ops += part->multi_plane_ops;
	sum->read_retries += part->read_retries;
}

enum { ENERGY_FIRST = offsetof(struct tsu_energy, reads) / sizeof(uint64_t), ENERGY_END = sizeof(struct tsu_energy) / sizeof(uint64_t) };
HZ_STATIC_ASSERT(sizeof(struct tsu_energy) == offsetof(struct hz_log_energy, held), "a part of the record");

static void add_energy(struct hz_log_energy *sum, const struct tsu_energy *part)
{
	add_all((uint64_t *)sum + ENERGY_FIRST, (const uint64_t *)part + ENERGY_FIRST, ENERGY_END - ENERGY_FIRST);
}

static void add_held(struct hz_log_energy *sum, const struct tsu_held *part)
{
	add_all(sum->held, part->times, 3);
	add_all(sum->held_ns, part->ns, 3);
}

static void channel_at(const struct tsu_channel *channel, uint64_t now_ns, struct tsu_account *out)
{
	usage_at(&channel->usage, UINT64_MAX, now_ns, &out->busy_ns, &out->idle_ns);
	out->elapsed_ns = now_ns - channel->thread->since_ns;
}

static uint64_t busy_since_ns(const struct tsu_die *die)
{
	uint64_t since_ns = UINT64_MAX;

	if (die->op.members)
		since_ns = die->op.began_ns;
	if (die->cached.members && die->cached.began_ns < since_ns)
		since_ns = die->cached.began_ns;
	return latest_ns(since_ns, die->usage.free_ns);
}

static void die_at(const struct tsu_die *die, uint64_t now_ns, struct tsu_account *out)
{
	usage_at(&die->usage, busy_since_ns(die), now_ns, &out->busy_ns, &out->idle_ns);
	out->elapsed_ns = now_ns - die->thread->since_ns;
}

void tsu_channel_account(struct tsu *tsu, uint32_t channel, struct tsu_account *out)
{
	channel_at(&tsu->channels[channel], clock_now_ns(), out);
}

void tsu_die_account(struct tsu *tsu, uint32_t die_index, struct tsu_account *out) { die_at(&tsu->dies[die_index], clock_now_ns(), out); }

/* Store the figures of one thread, its channels and dies, for later reads by other harts. */
static void publish(struct tsu_thread *thread, uint64_t now_ns)
{
	struct tsu *tsu = thread->tsu;
	struct hz_log_flash *out = &thread->published;
	struct tsu_account account;

	*out = thread->counters;
	thread->energy_published = thread->energy;
	thread->limit.published = thread->limit.held;
	out->elapsed_ns = now_ns - thread->since_ns;
	out->die_busy_ns_total = 0;
	for (uint32_t i = 0; i < tsu->cfg->channels; i++) {
		if (tsu->channels[i].thread != thread)
			continue;
		channel_at(&tsu->channels[i], now_ns, &account);
		out->channel_busy_ns[i] = account.busy_ns;
	}
	for (uint32_t i = 0; i < tsu->die_count; i++) {
		if (tsu->dies[i].thread != thread)
			continue;
		die_at(&tsu->dies[i], now_ns, &account);
		out->die_busy_ns_total += account.busy_ns;
	}
}

void tsu_publish(struct tsu *tsu)
{
	uint64_t now_ns = clock_now_ns();

	clock_freeze();
	for (uint32_t i = 0; i < tsu->cfg->tsu_count; i++)
		if (tsu->threads[i].thread.hart == lt_hart_id())
			publish(&tsu->threads[i], now_ns);
	clock_thaw();
}

void tsu_published(struct tsu *tsu, struct hz_log_flash *out)
{
	clock_freeze();
	memset(out, 0, sizeof(*out));
	out->version = 1;
	out->channels = tsu->cfg->channels;
	out->dies = tsu->die_count;
	for (uint32_t i = 0; i < tsu->cfg->tsu_count; i++) {
		const struct hz_log_flash *part = &tsu->threads[i].published;

		add_counters(out, part);
		add_all(out->channel_busy_ns, part->channel_busy_ns, 64);
		out->die_busy_ns_total += part->die_busy_ns_total;
		out->elapsed_ns = latest_ns(out->elapsed_ns, part->elapsed_ns);
	}
	clock_thaw();
}

void tsu_energy_published(struct tsu *tsu, struct hz_log_energy *out)
{
	clock_freeze();
	*out = (struct hz_log_energy){ .version = 1 };
	for (uint32_t i = 0; i < tsu->cfg->tsu_count; i++) {
		add_energy(out, &tsu->threads[i].energy_published);
		add_held(out, &tsu->threads[i].limit.published);
	}
	clock_thaw();
}

void tsu_report(struct tsu *tsu, struct hz_log_flash *out)
{
	uint64_t now_ns = clock_now_ns();

	clock_freeze();
	for (uint32_t i = 0; i < tsu->cfg->tsu_count; i++)
		publish(&tsu->threads[i], now_ns);
	clock_thaw();
	tsu_published(tsu, out);
}

/* Counts up to now no longer count; the differences wrap as they should. */
static void forget_usage(struct tsu_usage *usage, const struct tsu_account *account)
{
	usage->busy_ns -= account->busy_ns;
	usage->idle_ns -= account->idle_ns;
}

static void reset_thread(struct lt_event *event)
{
	struct tsu_thread *thread = TSU_CONTAINER(event, struct tsu_thread, reset);
	struct tsu *tsu = thread->tsu;
	uint64_t now_ns = clock_now_ns();
	struct tsu_account account;

	clock_freeze();
	memset(&thread->counters, 0, sizeof(thread->counters));
	memset(&thread->energy, 0, sizeof(thread->energy));
	memset(&thread->limit.held, 0, sizeof(thread->limit.held));
	for (uint32_t i = 0; i < tsu->cfg->channels; i++) {
		if (tsu->channels[i].thread != thread)
			continue;
		channel_at(&tsu->channels[i], now_ns, &account);
		forget_usage(&tsu->channels[i].usage, &account);
	}
	for (uint32_t i = 0; i < tsu->die_count; i++) {
		if (tsu->dies[i].thread != thread)
			continue;
		die_at(&tsu->dies[i], now_ns, &account);
		forget_usage(&tsu->dies[i].usage, &account);
	}
	thread->since_ns = now_ns;
	clock_thaw();
}

void tsu_stats_reset(struct tsu *tsu)
{
	for (uint32_t i = 0; i < tsu->cfg->tsu_count; i++)
		lt_post(&tsu->threads[i].thread, &tsu->threads[i].reset, reset_thread);
}

void tsu_work_done(struct tsu *tsu, struct tsu_work *out)
{
	*out = (struct tsu_work){ 0, 0 };
	for (uint32_t i = 0; i < tsu->cfg->tsu_count; i++) {
		out->steps += tsu->threads[i].steps + tsu->threads[i].wheel.steps;
		out->transactions += tsu->threads[i].done;
	}
	for (uint32_t i = 0; i < tsu->die_count; i++)
		out->steps += tsu->dies[i].queue.steps;
}
