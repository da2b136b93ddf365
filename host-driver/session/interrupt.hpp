// Interrupt: SIGINT, SIGTERM and SIGHUP become a flag that every wait of the session looks at.
#pragma once

namespace hz {

// Installs the handlers once per process; a library user may do without and keep his own.
void catch_interrupts();
bool interrupted();
// For tests and for programs with handlers of their own.
void set_interrupted(bool value);
// Throws Interrupted if the flag is set.
void check_interrupted();

} // namespace hz
