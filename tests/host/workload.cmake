# Device and workload files, traces, generators, mappings, replay and results.
# SPDX-License-Identifier: BSD-3-Clause
hz_gtest(host_config config_device_test.cpp config_workload_test.cpp LIBS hz_workload)
target_compile_definitions(host_config PRIVATE HZ_TREE="${CMAKE_SOURCE_DIR}")
hz_gtest(host_trace trace_reader_test.cpp trace_formats_test.cpp trace_detect_test.cpp trace_real_test.cpp LIBS hz_trace)
target_compile_definitions(host_trace PRIVATE HZ_TREE="${CMAKE_SOURCE_DIR}")
hz_gtest(host_inspect inspect_test.cpp LIBS hz_inspect)
hz_gtest(host_replay fake_device.cpp workload_random_test.cpp workload_generator_test.cpp replay_direct_test.cpp replay_log_test.cpp replay_plan_test.cpp
	kept_port_test.cpp prepared_entry_test.cpp replay_recorded_test.cpp
	replay_survey_test.cpp replay_tailor_test.cpp replay_trace_test.cpp replay_thread_test.cpp LIBS hz_keep)
target_compile_definitions(host_replay PRIVATE HZ_TREE="${CMAKE_SOURCE_DIR}")
hz_gtest(host_results results_histogram_test.cpp results_json_test.cpp results_software_test.cpp results_steady_test.cpp results_timeline_test.cpp LIBS hz_results)
target_compile_definitions(host_results PRIVATE HZ_TREE="${CMAKE_SOURCE_DIR}")

# On the real image: in the plain build only, where plugin and firmware are.
if(NOT HZ_SANITIZE)
	add_executable(host_run run_image_test.cpp)
	target_link_libraries(host_run PRIVATE hz_run GTest::gtest GTest::gtest_main)
	hz_include_precompiled(host_run hz_test_headers)
	target_compile_definitions(host_run PRIVATE HZ_TREE="${CMAKE_SOURCE_DIR}" HZ_PROGRAM="$<TARGET_FILE:hartzone>")
	add_dependencies(host_run hartzone)
	foreach(suite RunSmall RunDefault RunPresets RunRaceCheck)
		add_test(NAME host_run.${suite} COMMAND host_run --gtest_filter=${suite}.* --gtest_brief=1)
		set_tests_properties(host_run.${suite} PROPERTIES TIMEOUT ${HZ_HANG_S} LABELS qemu ENVIRONMENT_MODIFICATION
			"HARTZONE_FIRMWARE=set:${HZ_FIRMWARE_DIR}/firmware/main/firmware.elf;HARTZONE_PLUGIN=set:$<TARGET_FILE:hz_vclock>")
		hz_label_slow(host_run.${suite})
	endforeach()
endif()
