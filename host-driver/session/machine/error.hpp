// Errors: one sentence for a person, plus the NVMe status where a command failed.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "dump_report.h"

namespace hz {

class Error : public std::runtime_error {
public:
	using std::runtime_error::runtime_error;
};

// The user pressed Ctrl-C or the process was asked to end.
class Interrupted : public Error {
public:
	explicit Interrupted(const std::string &what = "interrupted") : Error(what) {}
};

// The machine went dark at the operation or device time that its options named.
class PowerCut : public Error {
public:
	PowerCut(const std::string &what, const hz_dump_report &kept, std::string report, std::string greeting)
		: Error(what), kept_(kept), report_(std::move(report)), greeting_(std::move(greeting))
	{
	}
	const hz_dump_report &kept() const { return kept_; }           // report of the capacitors
	const std::string &plugin_report() const { return report_; }   // of the virtual clock, or empty
	const std::string &qemu_greeting() const { return greeting_; } // from Machine

private:
	hz_dump_report kept_;
	std::string report_, greeting_;
};

// The NAND image is damaged, foreign, or of another device.
class ImageError : public Error {
public:
	using Error::Error;
};

// A command came back with a status; status is SCT << 8 | SC, without phase, more and do-not-retry bits.
class NvmeError : public Error {
public:
	NvmeError(const std::string &what, uint16_t code) : Error(what), status_(code) {}
	uint16_t status() const { return status_; }

private:
	uint16_t status_;
};

// "No such file (errno 2)" appended to `what`; errno is read first.
[[noreturn]] void throw_errno(const std::string &what);

// libnvme's text for a status as above, for example "Zone Is Full".
std::string status_text(uint16_t status);

} // namespace hz
