// Where a second document begins in YAML text.
// SPDX-License-Identifier: BSD-3-Clause
#include "config/yaml_documents.hpp"

#include <sstream>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

namespace hz::conf {

namespace {

// Remembers where the last document began, and nothing else.
struct DocumentStart : YAML::EventHandler {
	int line = 0;

	void OnDocumentStart(const YAML::Mark &mark) override { line = mark.line; }
	void OnDocumentEnd() override {}
	void OnNull(const YAML::Mark &, YAML::anchor_t) override {}
	void OnAlias(const YAML::Mark &, YAML::anchor_t) override {}
	void OnScalar(const YAML::Mark &, const std::string &, YAML::anchor_t, const std::string &) override {}
	void OnSequenceStart(const YAML::Mark &, const std::string &, YAML::anchor_t, YAML::EmitterStyle::value) override {}
	void OnSequenceEnd() override {}
	void OnMapStart(const YAML::Mark &, const std::string &, YAML::anchor_t, YAML::EmitterStyle::value) override {}
	void OnMapEnd() override {}
};

} // namespace

std::optional<int> second_document_line(const std::string &text)
{
	std::istringstream in(text);
	YAML::Parser parser(in);
	DocumentStart start;
	if (!parser.HandleNextDocument(start) || !parser.HandleNextDocument(start))
		return std::nullopt;
	return start.line;
}

} // namespace hz::conf
