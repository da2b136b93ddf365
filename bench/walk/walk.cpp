// Walks: which functions of the firmware one command enters, in order, on the development machine. Its C is compiled with
// -finstrument-functions; all harts run in one thread.
// hz-walk FOLDER: writes a file for each trip, of 64-bit words: the address of a function that is entered, 0 where one is left.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <cstdlib>
#include <string>

#include "l2p_rig.hpp"

using namespace ftl_rig;

static std::vector<uint64_t> walked;
static bool walking;

extern "C" void __cyg_profile_func_enter(void *function, void *)
{
	if (walking)
		walked.push_back(reinterpret_cast<uint64_t>(function));
}

extern "C" void __cyg_profile_func_exit(void *, void *)
{
	if (walking)
		walked.push_back(0);
}

namespace {

void give_up(const std::string &why)
{
	std::fprintf(stderr, "hz-walk: %s\n", why.c_str());
	std::exit(1);
}

// Runs `request`, and what follows from it until the device is at rest; keeps the walk.
void trip(const std::string &folder, const std::string &name, Rig &rig, Request &request)
{
	walked.clear();
	walking = true;
	const uint16_t status = rig.run(request);
	lt_host_run_until(clock_now_ns() + 20000000);
	walking = false;
	if (status)
		give_up(name + " ended with status " + std::to_string(status));
	std::FILE *file = std::fopen((folder + "/" + name).c_str(), "wb");
	if (!file || std::fwrite(walked.data(), sizeof walked[0], walked.size(), file) != walked.size() || std::fclose(file))
		give_up(folder + "/" + name + " cannot be written");
}

void trip(const std::string &folder, const std::string &name, Rig &rig, ftl_op op, uint64_t lba, uint32_t sectors, uint8_t flags = 0)
{
	Request request(op, lba, sectors, flags);
	for (uint32_t i = 0; request.brings_data() && i < sectors; i++)
		fill_sector(request.pages[i], lba + i + 1);
	trip(folder, name, rig, request);
}

void expect(uint16_t status)
{
	if (status)
		give_up("preparation ended with status " + std::to_string(status));
}

void boot(Rig &rig)
{
	if (!rig.boot())
		give_up(rig.error);
}

void zones(const std::string &folder)
{
	Rig rig(ftl_config());
	boot(rig);
	const uint32_t unit = 6; // sectors, of the rig's flash
	expect(rig.write(0, 0, 4 * unit, 1));
	trip(folder, "write-unit", rig, FTL_WRITE, rig.lba_of(0, 4 * unit), unit);
	trip(folder, "write-fua", rig, FTL_WRITE, rig.lba_of(0, 5 * unit), 1, FTL_FUA);
	trip(folder, "append", rig, FTL_APPEND, rig.lba_of(0), 1);
	trip(folder, "read-buffered", rig, FTL_READ, rig.lba_of(0, 5 * unit + 1), 1);
	trip(folder, "read-flash", rig, FTL_READ, rig.lba_of(0), 1);
	trip(folder, "flush", rig, FTL_FLUSH, 0, 0);
	trip(folder, "reset", rig, FTL_ZONE_RESET, rig.lba_of(0), 0);
}

// The map is in flash, and none of it in the cache.
void map_in_flash(const std::string &folder)
{
	Rig rig(map_config());
	boot(rig);
	for (uint32_t zone : {0u, 1u, 2u})
		expect(rig.write(zone, 0, 96, 1));
	expect(rig.shut_down_cleanly());
	boot(rig);
	trip(folder, "map-miss", rig, FTL_READ, rig.lba_of(0), 1);
	trip(folder, "map-hit", rig, FTL_READ, rig.lba_of(0), 1);
}

} // namespace

int main(int count, char **words)
{
	if (count != 2)
		give_up("usage: hz-walk FOLDER");
	zones(words[1]);
	map_in_flash(words[1]);
	return testing::Test::HasFailure();
}
