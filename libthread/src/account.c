/* Where each hart's time goes. */
#include "account.h"

struct account {
	/* Guards the snapshot; taken by its owner when it publishes, by others when they read; always with the
	 * clock frozen. */
	LT_OWN_LINE lt_word lock;
	struct hz_hart_times published;
	uint64_t published_ns;

	LT_OWN_LINE struct hz_hart_times own; /* elapsed and work are computed on reading */
	uint64_t start_ns;
};

static struct account accounts[HZ_MAX_HARTS];

static void lock(struct account *a)
{
	while (lt_swap(&a->lock, 1))
		lt_spin_until_not(&a->lock, 1);
}

static void unlock(struct account *a)
{
	lt_store(&a->lock, 0);
}

static void settle(const struct account *a, uint64_t now_ns, struct hz_hart_times *out)
{
	uint64_t spin = 0;

	*out = a->own;
	for (unsigned c = 0; c < HZ_LOCK_CLASSES; c++)
		spin += out->spin_ns[c];
	out->elapsed_ns = now_ns - a->start_ns;
	out->work_ns = out->elapsed_ns - out->idle_ns - spin;
}

static void start(unsigned hart, uint32_t roles, uint64_t now_ns)
{
	struct account *a = &accounts[hart];

	a->own = (struct hz_hart_times){ .hart = hart, .roles = roles };
	a->start_ns = now_ns;
	account_publish(hart, now_ns);
}

void account_init(unsigned hart, uint64_t start_ns)
{
	start(hart, 0, start_ns);
}

void account_restart(unsigned hart)
{
	start(hart, accounts[hart].own.roles, clock_now_ns());
}

void account_roles(unsigned hart, uint32_t roles)
{
	accounts[hart].own.roles = roles;
	account_publish(hart, accounts[hart].start_ns);
}

void account_events(unsigned hart, unsigned events)
{
	accounts[hart].own.events += events;
}

void account_spin(unsigned hart, unsigned lock_class, uint64_t ns)
{
	accounts[hart].own.spin_ns[lock_class] += ns;
}

void account_idle(unsigned hart, uint64_t ns)
{
	accounts[hart].own.idle_ns += ns;
}

void account_publish(unsigned hart, uint64_t now_ns)
{
	struct account *a = &accounts[hart];

	lock(a);
	settle(a, now_ns, &a->published);
	a->published_ns = now_ns;
	unlock(a);
}

/* A hart that published is taken to have been idle since. */
static void read_other(struct account *a, struct hz_hart_times *out)
{
	uint64_t now_ns = clock_now_ns();

	lock(a);
	*out = a->published;
	if (now_ns > a->published_ns) {
		out->idle_ns += now_ns - a->published_ns;
		out->elapsed_ns += now_ns - a->published_ns;
	}
	unlock(a);
}

void account_read(unsigned hart, struct hz_hart_times *out)
{
	if (hart == lt_hart_id())
		settle(&accounts[hart], clock_now_ns(), out);
	else
		read_other(&accounts[hart], out);
}
