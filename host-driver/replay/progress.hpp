/* Progress with ETA on stderr: a line that changes on a terminal, a line now and then elsewhere. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace hz::replay {

constexpr uint64_t records_per_look = 1024; /* of a trace, between checks for a user's signal */

class Progress {
public:
	/* Where stderr is no terminal: when the first line comes, and the further ones after it. */
	explicit Progress(std::string title, double first_line_s = 10, double next_line_s = 30);
	~Progress(); /* removes the line from a terminal */
	/* As often as the caller likes. */
	void show(uint32_t ppm);
	/* Shown from now on instead of the title. */
	void rename(std::string title) { title_ = std::move(title); }

private:
	std::string title_;
	bool terminal_;
	std::chrono::steady_clock::time_point start_;
	double due_s_, every_s_; /* since the start: time of the next message; and the interval */
};

/* "[#####.....]  50 % title, 3 s left" for a part in ppm after so many seconds; without the bar "hartzone: 50 % title, 3 s left". */
std::string progress_line(const std::string &title, uint32_t ppm, double seconds, bool bar);

} // namespace hz::replay
