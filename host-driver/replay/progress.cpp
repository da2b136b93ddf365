/* Progress with ETA. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/progress.hpp"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

namespace hz::replay {
namespace {

/* In seconds up to three minutes, then in minutes, from three hours on in hours. */
std::string rounded(double seconds)
{
	char text[32];
	if (seconds < 180)
		snprintf(text, sizeof(text), "%.0f s", seconds);
	else if (seconds < 3 * 3600)
		snprintf(text, sizeof(text), "%.0f min", seconds / 60);
	else
		snprintf(text, sizeof(text), "%.1f h", seconds / 3600);
	return text;
}

} // namespace

std::string progress_line(const std::string &title, uint32_t ppm, double seconds, bool bar)
{
	constexpr size_t width = 30;
	const double part = std::min(ppm, 1000000u) / 1e6;
	const auto full = size_t(part * width);
	const std::string head = bar ? "[" + std::string(full, '#') + std::string(width - full, '.') + "]" : "hartzone:";
	char text[160];
	int used = snprintf(text, sizeof(text), "%s %3.0f %% %.40s", head.c_str(), part * 100, title.c_str());
	if (seconds > 0.5 && (ppm > 10000 || (ppm >= 1000 && seconds > 10)))
		snprintf(text + used, sizeof(text) - size_t(used), ", %s left", rounded(seconds / part * (1 - part)).c_str());
	return text;
}

Progress::Progress(std::string title, double first_line_s, double next_line_s)
	: title_(std::move(title)), terminal_(isatty(STDERR_FILENO)), start_(std::chrono::steady_clock::now()),
	  due_s_(terminal_ ? 0 : first_line_s), every_s_(terminal_ ? 0.2 : next_line_s)
{
}

Progress::~Progress()
{
	if (terminal_)
		fputs("\r\033[K", stderr);
}

void Progress::show(uint32_t ppm)
{
	const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
	if (passed.count() < due_s_)
		return;
	due_s_ = passed.count() + every_s_;
	const std::string line = progress_line(title_, ppm, passed.count(), terminal_);
	fprintf(stderr, terminal_ ? "\r%s\033[K" : "%s\n", line.c_str());
}

} // namespace hz::replay
