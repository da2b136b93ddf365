/* Each hart's use of time. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "account.h"

/* A hart's published account, as the 64-bit words in which it is shared. */
union record {
	struct {
		struct hz_hart_times times;
		uint64_t at_ns;
	};
	uint64_t word[sizeof(struct hz_hart_times) / 8 + 1];
};
HZ_ASSERT_SIZE(union record, sizeof(struct hz_hart_times) + 8);
enum { RECORD_WORDS = sizeof(union record) / 8 };

struct account {
	/* Written by the owner only. Publication number n goes into snapshot n % 2, and then into `publications`. So no hart waits for
	 * another: there is always a whole one to read, and a reader overtaken twice by the owner sees it and reads again. */
	LT_OWN_LINE lt_word publications;
	LT_OWN_LINE lt_word snapshot[2][RECORD_WORDS];

	LT_OWN_LINE struct hz_hart_times own; /* elapsed and work are computed on reading */
	uint64_t start_ns;
	uint64_t spin_ns; /* sum of own.spin_ns */
};

static struct account accounts[HZ_MAX_HARTS];

static void settle(const struct account *a, uint64_t now_ns, struct hz_hart_times *out)
{
	*out = a->own;
	out->elapsed_ns = now_ns - a->start_ns;
	out->work_ns = out->elapsed_ns - out->idle_ns - a->spin_ns;
}

static void start_account(unsigned hart, uint32_t roles, uint64_t now_ns)
{
	struct account *a = &accounts[hart];

	a->own = (struct hz_hart_times){ .hart = hart, .roles = roles };
	a->start_ns = now_ns;
	a->spin_ns = 0;
	account_publish(hart, now_ns);
}

void account_init(unsigned hart, uint64_t start_ns) { start_account(hart, 0, start_ns); }

void account_restart(unsigned hart) { start_account(hart, accounts[hart].own.roles, clock_now_ns()); }

void account_roles(unsigned hart, uint32_t roles)
{
	accounts[hart].own.roles = roles;
	account_publish(hart, accounts[hart].start_ns);
}

struct hz_hart_times *account_own(unsigned hart) { return &accounts[hart].own; }

void account_spin(unsigned hart, unsigned lock_class, uint64_t ns)
{
	accounts[hart].own.spin_ns[lock_class] += ns;
	accounts[hart].spin_ns += ns;
}

void account_publish(unsigned hart, uint64_t now_ns)
{
	struct account *a = &accounts[hart];
	uint64_t number = lt_peek(&a->publications) + 1;
	union record record = { .at_ns = now_ns };

	settle(a, now_ns, &record.times);
	for (unsigned i = 0; i < RECORD_WORDS; i++)
		lt_store(&a->snapshot[number % 2][i], record.word[i]);
	lt_store(&a->publications, number);
}

static void read_published(const struct account *a, union record *record)
{
	uint64_t number;

	do {
		number = lt_load(&a->publications);
		for (unsigned i = 0; i < RECORD_WORDS; i++)
			record->word[i] = lt_load(&a->snapshot[number % 2][i]);
	} while (lt_load(&a->publications) != number);
}

/* After its publication a hart is taken for idle. */
static void read_other(const struct account *a, struct hz_hart_times *out)
{
	uint64_t now_ns = clock_now_ns();
	union record record;

	read_published(a, &record);
	*out = record.times;
	if (now_ns > record.at_ns) {
		out->idle_ns += now_ns - record.at_ns;
		out->elapsed_ns += now_ns - record.at_ns;
	}
}

void account_read(unsigned hart, struct hz_hart_times *out)
{
	if (hart == lt_hart_id())
		settle(&accounts[hart], clock_now_ns(), out);
	else
		read_other(&accounts[hart], out);
}
