# Device and workload files, traces, generators, mappings, replay and results.
hz_gtest(host_config config_device_test.cpp config_workload_test.cpp LIBS hz_workload)
target_compile_definitions(host_config PRIVATE HZ_TREE="${CMAKE_SOURCE_DIR}")
hz_gtest(host_trace trace_reader_test.cpp trace_detect_test.cpp trace_real_test.cpp LIBS hz_trace)
target_compile_definitions(host_trace PRIVATE HZ_TREE="${CMAKE_SOURCE_DIR}")
hz_gtest(host_replay fake_device.cpp workload_random_test.cpp workload_generator_test.cpp replay_log_test.cpp replay_trace_test.cpp
	replay_thread_test.cpp LIBS hz_replay)
target_compile_definitions(host_replay PRIVATE HZ_TREE="${CMAKE_SOURCE_DIR}")
hz_gtest(host_results results_histogram_test.cpp results_json_test.cpp LIBS hz_results)
target_compile_definitions(host_results PRIVATE HZ_TREE="${CMAKE_SOURCE_DIR}")
