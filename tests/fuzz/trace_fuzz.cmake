# Fuzz targets of the host's text inputs: trace readers, recordings and YAML files.
# SPDX-License-Identifier: BSD-3-Clause
# The folders of readers and of configuration as they are; of the workload's what reads a file.
file(GLOB trace_sources RELATIVE ${CMAKE_SOURCE_DIR} CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/host-driver/trace/*.cpp)
file(GLOB config_sources RELATIVE ${CMAKE_SOURCE_DIR} CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/host-driver/config/*.cpp
	${CMAKE_SOURCE_DIR}/host-driver/workload/spec_*.cpp ${CMAKE_SOURCE_DIR}/host-driver/workload/log_record.cpp)
hz_together(trace_sources ${trace_sources})
hz_together(config_sources ${config_sources})
hz_fuzz(trace_readers tests/fuzz/trace_readers_fuzz.cpp ${trace_sources} RUNS 100000 MAX_BYTES 2048)
hz_fuzz(config_yaml tests/fuzz/config_yaml_fuzz.cpp ${config_sources} ${protocol_sources} RUNS 20000 MAX_BYTES 2048 LINK -lyaml-cpp)
hz_fuzz(recording tests/fuzz/recording_fuzz.cpp host-driver/fabrics/dependencies.cpp host-driver/fabrics/record.cpp host-driver/results/digest.cpp
	${trace_sources} RUNS 20000 MAX_BYTES 1024)
