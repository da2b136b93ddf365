// Interrupt: SIGINT, SIGTERM and SIGHUP are counted, and every wait of the session looks at the count.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace hz {

// Installs the handlers once per process; a library user may do without and keep his own. A third signal ends the process at once.
void catch_interrupts();
bool interrupted();
// For tests and for programs with handlers of their own.
void set_interrupted(bool value);
// Throws Interrupted if the waits are to end.
void check_interrupted();

// While one lives, the first signal is a wish, stop_asked(), which whoever issues commands grants by issuing no more; the second one
// interrupts as ever. One at a time.
class GentleStop {
public:
	GentleStop();
	~GentleStop();
	GentleStop(const GentleStop &) = delete;
	GentleStop &operator=(const GentleStop &) = delete;
};
bool stop_asked();

} // namespace hz
