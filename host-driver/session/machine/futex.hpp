// Futex: sleep on and wake a 32-bit word that several processes map.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>

namespace hz {

// Returns when woken, when *word != expected, on a signal (true), or after the timeout (false).
bool futex_wait(const uint32_t *word, uint32_t expected, std::chrono::milliseconds timeout);
void futex_wake_all(const uint32_t *word);

} // namespace hz
