// Pools: bounded, nothing lost or handed out twice, waiters served in order, remote returns.
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include <random>
#include <set>

#include "bench.hpp"
#include "lt/pool.h"

namespace {

TEST(Pool, IsBoundedAndKeepsShares)
{
	Bench bench;
	std::set<void *> seen;

	bench.simulated(2);
	lt_pool *pool = lt_pool_new(&bench.mem, 2, 3, 100, "things");
	for (unsigned hart = 0; hart < 2; hart++) {
		lt_host_set_hart(hart);
		for (int i = 0; i < 3; i++) {
			void *object = lt_pool_get(pool);
			ASSERT_NE(object, nullptr);
			EXPECT_EQ(reinterpret_cast<uintptr_t>(object) % LT_CACHE_LINE, 0u);
			EXPECT_TRUE(seen.insert(object).second);
			memset(object, 0xff, 100); // all of it is ours
		}
		EXPECT_EQ(lt_pool_get(pool), nullptr);
	}
	// Given back on hart 1, an object of hart 0 is hart 0's again.
	void *first = *seen.begin();
	lt_pool_put(pool, first);
	EXPECT_EQ(lt_pool_get(pool), nullptr);
	lt_host_set_hart(0);
	EXPECT_EQ(lt_pool_get(pool), first);
}

TEST(Pool, GivingBackTwiceFails)
{
	Bench bench;

	bench.simulated(1);
	lt_pool *pool = lt_pool_new(&bench.mem, 1, 2, 8, "things");
	void *object = lt_pool_get(pool);
	lt_pool_put(pool, object);
	EXPECT_DEATH(lt_pool_put(pool, object), "twice");
}

struct Waiter {
	lt_pool_waiter waiter; // first
	int id;
};
std::vector<int> served;
std::vector<void *> objects;

void on_object(lt_pool_waiter *waiter, void *object)
{
	served.push_back(reinterpret_cast<Waiter *>(waiter)->id);
	objects.push_back(object);
}

TEST(Pool, WaitersAreServedInOrderAndNobodyOvertakes)
{
	Bench bench;
	Waiter w[4]{};

	served.clear();
	objects.clear();
	bench.simulated(2);
	lt_pool *pool = lt_pool_new(&bench.mem, 2, 2, 8, "things");
	void *a = lt_pool_get(pool), *b = lt_pool_get(pool);
	for (int i = 0; i < 4; i++) {
		w[i].id = i;
		ASSERT_EQ(lt_pool_get(pool), nullptr);
		lt_pool_wait(pool, &w[i].waiter, on_object);
	}
	lt_pool_put(pool, a);
	EXPECT_TRUE(served.empty()) << "waiters run as events, not inside lt_pool_put";
	EXPECT_EQ(lt_pool_get(pool), nullptr) << "the object belongs to the first waiter";
	lt_host_run_until_idle();
	EXPECT_EQ(served, std::vector<int>{0});
	lt_host_set_hart(1);
	lt_pool_put(pool, b);
	lt_pool_put(pool, a);
	lt_host_set_hart(0);
	lt_host_run_until_idle();
	EXPECT_EQ(served, (std::vector<int>{0, 1, 2}));
	lt_pool_put(pool, objects[1]);
	lt_pool_put(pool, objects[2]);
	lt_host_run_until_idle();
	EXPECT_EQ(served, (std::vector<int>{0, 1, 2, 3}));
	EXPECT_NE(lt_pool_get(pool), nullptr);
}

// The object comes back between the failing get and the wait.
TEST(Pool, WaiterThatComesTooLateForAReturnIsServed)
{
	Bench bench;
	Waiter w{};

	served.clear();
	objects.clear();
	bench.simulated(2);
	lt_pool *pool = lt_pool_new(&bench.mem, 2, 1, 8, "things");
	void *only = lt_pool_get(pool);
	ASSERT_EQ(lt_pool_get(pool), nullptr);
	lt_host_set_hart(1);
	lt_pool_put(pool, only);
	lt_host_set_hart(0);
	lt_pool_wait(pool, &w.waiter, on_object);
	lt_host_run_until_idle();
	EXPECT_EQ(objects, std::vector<void *>{only});
}

// A return from another hart has called for the owner; before that call arrives, a local return is served and a further
// remote one comes. The call must not be posted a second time while it is on its way: events behind it would be lost.
TEST(Pool, OwnerIsCalledOnceAtATime)
{
	Bench bench;
	Waiter w[4]{};
	static lt_pool *pool;
	static void *taken[4];
	static bool behind_ran;
	lt_event other_hart{}, behind{};
	lt_thread owner{"owner", 0};

	served.clear();
	objects.clear();
	behind_ran = false;
	bench.simulated(2);
	pool = lt_pool_new(&bench.mem, 2, 4, 8, "things");
	for (auto &object : taken)
		object = lt_pool_get(pool);
	for (int i = 0; i < 4; i++) {
		w[i].id = i;
		lt_pool_wait(pool, &w[i].waiter, on_object);
	}
	lt_host_set_hart(1);
	lt_pool_put(pool, taken[0]);
	lt_post(&owner, &behind, [](lt_event *) { behind_ran = true; });
	lt_host_set_hart(0);
	lt_pool_put(pool, taken[1]);
	lt_post(&owner, &other_hart, [](lt_event *) {
		lt_host_set_hart(1);
		lt_pool_put(pool, taken[2]);
		lt_host_set_hart(0);
	});
	lt_host_run_until_idle();
	EXPECT_TRUE(behind_ran);
	EXPECT_EQ(served, (std::vector<int>{0, 1, 2}));
	lt_pool_put(pool, taken[3]);
	lt_host_run_until_idle();
	EXPECT_EQ(served, (std::vector<int>{0, 1, 2, 3}));
}

// Every hart takes objects, sends them to a random hart, which gives them back there; harts wait when their share is
// empty.
struct Parcel {
	lt_event ev; // first
	unsigned owner;
	uint64_t payload;
};
struct Station {
	lt_pool_waiter waiter; // first
	lt_event ev;
	lt_thread thread;
	unsigned left;
	bool parked;
	std::mt19937_64 random;
};
std::vector<Station> station;
lt_pool *parcels;
lt_word delivered;
uint64_t parcels_expected;

void on_parcel(lt_event *ev)
{
	auto *p = reinterpret_cast<Parcel *>(ev);

	ASSERT_EQ(p->payload, p->owner * 7u + 1);
	p->payload = 0;
	lt_pool_put(parcels, p);
	if (lt_add(&delivered, 1) + 1 == parcels_expected)
		lt_harts_stop();
}

void send(Station *s, void *object)
{
	auto *p = static_cast<Parcel *>(object);

	ASSERT_EQ(p->payload, 0u) << "handed out while in use";
	p->owner = s->thread.hart;
	p->payload = p->owner * 7u + 1;
	s->left--;
	lt_post(&station[s->random() % station.size()].thread, &p->ev, on_parcel);
}

void work(lt_event *ev)
{
	auto *s = reinterpret_cast<Station *>(reinterpret_cast<char *>(ev) - offsetof(Station, ev));

	for (unsigned i = 0; i < 3 && s->left; i++) {
		void *object = lt_pool_get(parcels);
		if (!object) {
			lt_pool_wait(parcels, &s->waiter, [](lt_pool_waiter *w, void *o) {
				auto *me = reinterpret_cast<Station *>(w);
				send(me, o);
				if (me->left)
					lt_post(&me->thread, &me->ev, work);
			});
			return;
		}
		send(s, object);
	}
	if (s->left)
		lt_post(&s->thread, &s->ev, work);
}

void exchange(Bench &bench, unsigned harts, unsigned each, bool real)
{
	constexpr uint64_t seed = 4711;

	SCOPED_TRACE(testing::Message() << "seed " << seed);
	if (real)
		bench.real(harts);
	else
		bench.simulated(harts);
	parcels = lt_pool_new(&bench.mem, harts, 4, sizeof(Parcel), "parcels");
	station = std::vector<Station>(harts);
	lt_store(&delivered, 0);
	parcels_expected = uint64_t{harts} * each;
	for (unsigned i = 0; i < harts; i++) {
		station[i].thread = {"station", i};
		station[i].left = each;
		station[i].random.seed(seed + i);
		lt_post(&station[i].thread, &station[i].ev, work);
	}
	if (real) {
		lt_host_start_harts();
		lt_host_join_harts();
	} else {
		lt_host_run_until_idle();
	}
	EXPECT_EQ(lt_load(&delivered), parcels_expected);
	// Everything is back where it belongs.
	for (unsigned i = 0; i < harts; i++) {
		lt_host_set_hart(i);
		unsigned objects_left = 0;
		while (lt_pool_get(parcels))
			objects_left++;
		EXPECT_EQ(objects_left, 4u) << "hart " << i;
	}
	lt_host_set_hart(0);
}

TEST(Pool, ExchangeOnRealThreads)
{
	Bench bench;

	exchange(bench, 8, 3000, true);
}

TEST(Pool, ExchangeInSimulatedTime)
{
	Bench bench;

	exchange(bench, 8, 3000, false);
}

} // namespace
