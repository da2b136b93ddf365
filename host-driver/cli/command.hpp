// Command: one subcommand of the program. Each has a file of its own that adds it; callbacks throw on failure.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

namespace hz::cli {

void add_compare(CLI::App &app);
void add_fio(CLI::App &app);
void add_image(CLI::App &app);
void add_info(CLI::App &app);
void add_nvme(CLI::App &app);
void add_files(CLI::App &app);
void add_rocksdb(CLI::App &app);
void add_run(CLI::App &app);
void add_serve(CLI::App &app);
void add_sqlite(CLI::App &app);
void add_trace(CLI::App &app);
void add_verify(CLI::App &app);

} // namespace hz::cli
