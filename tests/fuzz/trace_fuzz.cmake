# Fuzz targets of the host's text inputs: trace readers and YAML files.
# SPDX-License-Identifier: BSD-3-Clause
set(trace_sources host-driver/trace/line_source.cpp host-driver/trace/field_scanner.cpp host-driver/trace/csv_formats.cpp
	host-driver/trace/space_formats.cpp host-driver/trace/native_format.cpp host-driver/trace/formats.cpp
	host-driver/trace/time_unit.cpp host-driver/trace/dialect.cpp host-driver/trace/reader.cpp)
set(config_sources host-driver/config/yaml_documents.cpp host-driver/config/yaml_fields.cpp host-driver/config/quantity.cpp host-driver/config/device_yaml.cpp
	host-driver/config/device_names.cpp host-driver/config/device_json.cpp host-driver/config/placement.cpp host-driver/config/rule_sentence.cpp
	host-driver/workload/spec_yaml.cpp host-driver/workload/spec_json.cpp ${protocol_sources})
hz_fuzz(trace_readers tests/fuzz/trace_readers_fuzz.cpp ${trace_sources} RUNS 100000 MAX_BYTES 2048 INCLUDES host-driver)
hz_fuzz(config_yaml tests/fuzz/config_yaml_fuzz.cpp ${config_sources} RUNS 20000 MAX_BYTES 2048 INCLUDES host-driver libthread/include LINK -lyaml-cpp)
