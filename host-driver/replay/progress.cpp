/* Progress line with ETA. */
#include "replay/progress.hpp"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

namespace hz::replay {

std::string progress_line(const std::string &title, uint32_t ppm, double seconds)
{
	constexpr size_t width = 30;
	const double part = std::min(ppm, 1000000u) / 1e6;
	const auto full = size_t(part * width);
	char text[160];
	const std::string bar = std::string(full, '#') + std::string(width - full, '.');
	int used = snprintf(text, sizeof(text), "[%s] %3.0f %% %.40s", bar.c_str(), part * 100, title.c_str());
	if (ppm > 10000 && seconds > 0.5)
		snprintf(text + used, sizeof(text) - size_t(used), ", %.0f s left", seconds / part * (1 - part));
	return text;
}

Progress::Progress(std::string title)
	: title_(std::move(title)), terminal_(isatty(STDERR_FILENO)), start_(std::chrono::steady_clock::now())
{
}

Progress::~Progress()
{
	if (terminal_)
		fputs("\r\033[K", stderr);
}

void Progress::show(uint32_t ppm)
{
	if (!terminal_)
		return;
	const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
	fprintf(stderr, "\r%s\033[K", progress_line(title_, ppm, passed.count()).c_str());
}

} // namespace hz::replay
