// Interrupt: SIGINT, SIGTERM and SIGHUP are counted, and every wait of the session checks the
// count.
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

// While one exists, the first signal is a request, stop_asked(); threads then issue no more
// commands. The second signal interrupts as usual. One at a time.
class GentleStop {
public:
	GentleStop();
	~GentleStop();
	GentleStop(const GentleStop &) = delete;
	GentleStop &operator=(const GentleStop &) = delete;
};
bool stop_asked();

} // namespace hz
