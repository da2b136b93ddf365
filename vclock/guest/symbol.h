/* Names of addresses from the image's ELF symbol table (option elf=). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCLOCK_GUEST_SYMBOL_H
#define VCLOCK_GUEST_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* False with a sentence on stderr if the file is no RV64 ELF with symbols. */
bool vc_symbols_load(const char *path);
/* "name+0x12 (0x80001234)" or, without a symbol, the address alone. */
const char *vc_symbol(uint64_t address, char *text, size_t bytes);
/* Value of the symbol of this name; 0 if there is none. */
uint64_t vc_symbol_value(const char *name);
/* Call visit(address, ctx) for each function. */
void vc_symbols_each_function(void (*visit)(uint64_t address, void *ctx), void *ctx);
/* Content of the file's section; NULL if there is none. */
const uint8_t *vc_section(const char *name, uint64_t *bytes);

/* Names of lock classes, as in results. */

/* Name of a class in protocol/lock_classes.def; "other" beyond the list. */
const char *vc_lock_class_name(uint64_t number);
/* Name of a class in protocol/logical_locks.def. */
const char *vc_logical_class_name(uint64_t number);

#endif
