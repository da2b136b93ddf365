/* Symbol lookup in a 64-bit little-endian ELF file, mapped read-only. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbol.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/state.h"
#include "logical_locks.h"

static const char *image;
static uint64_t image_bytes;
static const Elf64_Sym *symbols;
static uint64_t symbol_count;
static const char *names;
static uint64_t names_bytes;

static bool inside(uint64_t offset, uint64_t bytes) { return offset <= image_bytes && bytes <= image_bytes - offset; }

static void find_table(const Elf64_Ehdr *header)
{
	const Elf64_Shdr *sections = (const void *)(image + header->e_shoff);

	for (unsigned i = 0; i < header->e_shnum; i++) {
		const Elf64_Shdr *table = &sections[i], *strings = &sections[table->sh_link];

		if (table->sh_type != SHT_SYMTAB || table->sh_link >= header->e_shnum)
			continue;
		if (!inside(table->sh_offset, table->sh_size) || !inside(strings->sh_offset, strings->sh_size))
			continue;
		symbols = (const void *)(image + table->sh_offset);
		symbol_count = table->sh_size / sizeof(*symbols);
		names = image + strings->sh_offset;
		names_bytes = strings->sh_size;
	}
}

bool vc_symbols_load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;

	if (fd >= 0 && !fstat(fd, &status) && (size_t)status.st_size >= sizeof(Elf64_Ehdr)) {
		image = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		image_bytes = (uint64_t)status.st_size;
	}
	if (fd >= 0)
		close(fd);
	if (image && image != MAP_FAILED && !memcmp(image, ELFMAG, SELFMAG) && image[EI_CLASS] == ELFCLASS64) {
		const Elf64_Ehdr *header = (const void *)image;

		if (inside(header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr)))
			find_table(header);
	}
	if (!symbols)
		vc_say("option elf=%s names no 64-bit ELF file with symbols", path);
	return symbols != NULL;
}

/* Symbols of functions and objects, and assembler labels, which have no type or size. */
static const Elf64_Sym *nearest(uint64_t address)
{
	const Elf64_Sym *best = NULL;

	for (uint64_t i = 0; i < symbol_count; i++) {
		const Elf64_Sym *s = &symbols[i];

		if (ELF64_ST_TYPE(s->st_info) > STT_FUNC || s->st_shndx == SHN_UNDEF || s->st_shndx >= SHN_LORESERVE)
			continue;
		if (s->st_value > address || (s->st_size && address >= s->st_value + s->st_size) || s->st_name >= names_bytes)
			continue;
		if (!names[s->st_name] || names[s->st_name] == '$' || names[s->st_name] == '.')
			continue;
		if (!best || s->st_value > best->st_value || (s->st_value == best->st_value && s->st_size > best->st_size))
			best = s;
	}
	return best;
}

const char *vc_symbol(uint64_t address, char *text, size_t bytes)
{
	const Elf64_Sym *s = nearest(address);

	if (s && address - s->st_value < 1 << 20)
		snprintf(text, bytes, "%s+0x%llx (0x%llx)", names + s->st_name, (unsigned long long)(address - s->st_value),
			 (unsigned long long)address);
	else
		snprintf(text, bytes, "0x%llx", (unsigned long long)address);
	return text;
}

uint64_t vc_symbol_value(const char *name)
{
	for (uint64_t i = 0; i < symbol_count; i++)
		if (symbols[i].st_name < names_bytes && !strcmp(names + symbols[i].st_name, name))
			return symbols[i].st_value;
	return 0;
}

void vc_symbols_each_function(void (*visit)(uint64_t address, void *ctx), void *ctx)
{
	for (uint64_t i = 0; i < symbol_count; i++)
		if (ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC && symbols[i].st_shndx != SHN_UNDEF)
			visit(symbols[i].st_value, ctx);
}

const uint8_t *vc_section(const char *name, uint64_t *bytes)
{
	const Elf64_Ehdr *header = (const void *)image;
	const Elf64_Shdr *sections = (const void *)(image + (image ? header->e_shoff : 0)), *texts;

	if (!symbols || header->e_shstrndx >= header->e_shnum)
		return NULL;
	texts = &sections[header->e_shstrndx];
	for (unsigned i = 0; i < header->e_shnum && inside(texts->sh_offset, texts->sh_size); i++)
		if (sections[i].sh_name < texts->sh_size && !strcmp((const char *)image + texts->sh_offset + sections[i].sh_name, name) &&
		    inside(sections[i].sh_offset, sections[i].sh_size)) {
			*bytes = sections[i].sh_size;
			return (const uint8_t *)image + sections[i].sh_offset;
		}
	return NULL;
}

/* Names of lock classes. */

static const char *const locks[] = {
#define HZ_LOCK_CLASS(constant, name, ...) #name,
#include "lock_classes.def"
};

static const char *const logical_locks[] = {
#define HZ_LOGICAL_LOCK(constant, name, ...) #name,
#include "logical_locks.def"
};

const char *vc_lock_class_name(uint64_t number) { return number < sizeof(locks) / sizeof(locks[0]) ? locks[number] : "other"; }

const char *vc_logical_class_name(uint64_t number)
{
	return number < sizeof(logical_locks) / sizeof(logical_locks[0]) ? logical_locks[number] : "other";
}
