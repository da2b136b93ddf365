// The stores of free slots with harts interleaved at any access to a shared word: a slot that leaves and comes back between another hart's
// load and swap (ABA) must not harm the list without a lock, and real threads hardly ever meet it.
// SPDX-License-Identifier: BSD-3-Clause
#include "slots_bench.hpp"

#include "lt/event.h"

namespace {

constexpr uint32_t harts = 4;

/* Each hart in turn has few slots of a small store: takes two or three, gives one back, then the others. */
struct Game {
	Slots slots;
	std::array<lt_event, harts> event{};
	static inline Game *now;
	static inline uint32_t wrong;

	Game(uint32_t kind, uint64_t seed) : slots(kind, 4096, harts, 0, 6)
	{
		now = this;
		wrong = 0;
		lt_host_interleave(seed, 4);
		for (uint32_t i = 0; i < harts; i++) {
			lt_thread there{"t", i};
			lt_post(&there, &event[i], [](lt_event *) { now->play(lt_hart_id()); });
		}
		lt_host_run_until_idle();
	}
	void play(uint32_t who)
	{
		for (uint32_t round = 0; round < 20; round++) {
			std::vector<uint8_t *> mine = slots.take(who, 2 + (who + round) % 2);
			for (uint8_t *slot : mine)
				wrong += std::exchange(*slot, 1); // is it owned already?
			while (!mine.empty()) {
				*mine.back() = 0;
				slots.put(who, {mine.back()});
				mine.pop_back();
			}
		}
	}
};

} // namespace

TEST(InterleavedSlots, NoneHasTwoOwnersAndNoneIsLost)
{
	for (uint32_t kind = HZ_SLOTS_LOCKED; kind < HZ_BUFFER_SLOTS_KINDS; kind++)
		for (uint64_t seed = 0; seed < 60; seed++) {
			SCOPED_TRACE(testing::Message() << "kind " << kind << " seed " << seed);
			Game game(kind, seed);
			ASSERT_EQ(Game::wrong, 0u);
			ASSERT_EQ(slots_count(game.slots.store), 6u);
		}
}
