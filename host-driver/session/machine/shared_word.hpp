// Words of the region that another processor reads or writes concurrently.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

namespace hz {

template <class Word> Word load(const Word &word) { return std::atomic_ref(const_cast<Word &>(word)).load(std::memory_order_acquire); }
template <class Word> void store(Word &word, Word value) { std::atomic_ref(word).store(value, std::memory_order_release); }

} // namespace hz
