/* Progress line with ETA on stderr; silent when stderr is no terminal. */
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace hz::replay {

class Progress {
public:
	explicit Progress(std::string title);
	~Progress(); /* removes the line */
	void show(uint32_t ppm);

private:
	std::string title_;
	bool terminal_;
	std::chrono::steady_clock::time_point start_;
};

/* "[#####.....]  50 % title, 3 s left" for a part in ppm after so many seconds. */
std::string progress_line(const std::string &title, uint32_t ppm, double seconds);

} // namespace hz::replay
