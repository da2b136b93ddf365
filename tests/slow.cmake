# What quick rounds (./hartzone test, ctest -LE slow) leave out: everything that takes more than some three seconds, measured
# on the development host. A test that is not named here is quick, so a new one that takes long belongs here too.
# SPDX-License-Identifier: BSD-3-Clause

# Of GoogleTest programs: HZ_SLOW_<program> is a filter, as for --gtest_filter.
set(HZ_SLOW_ftl_cancel_test "*/CancelKind.*:*/CancelConventional.*")
set(HZ_SLOW_ftl_conventional_test "*/ConventionalProperty.*:ConventionalFaults.*:*/ConventionalLayoutFaults.*:ConventionalWaf.*")
set(HZ_SLOW_ftl_damage_test "*/Damage.*")
set(HZ_SLOW_ftl_data_cache_test "DataCache.AnyOneOperationMayFail")
set(HZ_SLOW_ftl_kill_test "*.AtEachInstant*")
set(HZ_SLOW_image_check_test "*/Killed.*")
set(HZ_SLOW_ftl_interleave_test "*/Interleaved*")
set(HZ_SLOW_ftl_mount_test "*")
set(HZ_SLOW_ftl_powercut_test "*")
set(HZ_SLOW_ftl_update_test "*.PowerCutsAtEveryOperation*:*.ChainsOfPowerCuts*")
set(HZ_SLOW_ftl_rain_test "RainCollected.*")
set(HZ_SLOW_ftl_refresh_test "*.PowerMayGo*:RefreshConventional.*")
set(HZ_SLOW_ftl_test "*/PatchProperty.*:*/Property.*:*/SmallestSlc.*:PatchFaults.*:Faults.*:*/MapFaults.*")
set(HZ_SLOW_ftl_threads_test "*")
set(HZ_SLOW_ftl_worn_slc_test "*")
set(HZ_SLOW_host_replay "*/LogShimSeeds.*:*/ZoneGeneratorAhead.*:DirectBlocks.*")
set(HZ_SLOW_hzfs_test "*/Cut.AtAny*")
set(HZ_SLOW_l2p_test "*L2pPowerCut*:*/L2pProperty.*")
set(HZ_SLOW_libthread_test "*/Readers.SeeWholeWrites*:*/Locks.FairnessReport*")
set(HZ_SLOW_platform_test "Stream.RandomTraffic*")
set(HZ_SLOW_rocksdb_store_test "StoreTest.APowerCutAtAnyStep*")
set(HZ_SLOW_session_heap_test "QueueTable.AMillionLives")
set(HZ_SLOW_session_machine_test "*.AStoppedMachine*:*.AFirmwareThatSpins*")
set(HZ_SLOW_sqlite_vfs_test "*/SqliteCut.*")
set(HZ_SLOW_tsu_test "*/EveryOption.*")

# All slow cases of a program run in one process under sanitizers, but where that takes more than some 30 seconds.
set(HZ_PROCESSES_ftl_interleave_test 2)
set(HZ_PROCESSES_ftl_powercut_test 4)
set(HZ_PROCESSES_ftl_rain_test 2)
set(HZ_PROCESSES_ftl_test 2)
set(HZ_PROCESSES_ftl_threads_test 4) # TSan takes longest
set(HZ_PROCESSES_host_replay 2)

# Single-threaded tests of a program with multi-threaded ones: a race detector would only slow them
# down.
set(HZ_ONE_THREAD_session_heap_test "QueueTable.AMillionLives")

# Of the others, by name.
set(HZ_SLOW_TESTS
	bench.fabrics bench.ftl bench.scaling bench.vclock build.bare_root build.reproducible build.site build.tidy commands.reference commands.script studies
	conformance.presets conformance.registers
	e2e.block e2e.cached_map e2e.command e2e.data e2e.dead_peer e2e.determinism e2e.files e2e.fio e2e.fio_zbd e2e.image e2e.killed e2e.linux e2e.linux_cuts e2e.lock_hold e2e.nvme_tcp e2e.perturbed e2e.placement e2e.power_cut e2e.report e2e.rocksdb e2e.spread e2e.sqlite e2e.trace e2e.trace_tools e2e.wakeup
	fuzz.config_yaml fuzz.device_tree fuzz.hil_link fuzz.hil_sqe fuzz.nvme_tcp fuzz.recording fuzz.trace_readers fuzz.vsock_stream
	host_run.RunDefault host_run.RunPresets host_run.RunRaceCheck own_ftl plants python
	vclock.accuracy vclock.determinism vclock.stopping vclock.waiting
	vclock.futex.determinism vclock.futex.programs vclock.futex.stopping vclock.futex.waiting)

# Those that take minutes, one command after the other: they begin first, so that none is left alone at the end.
set(HZ_LONGEST_TESTS commands.studies.lock-scaling plants studies)

# hz_label_slow(TEST): for a test that was just added, in the folder that added it.
function(hz_label_slow name)
	set(cost 100) # begins before quick ones
	if(name IN_LIST HZ_LONGEST_TESTS)
		set(cost 1000)
	endif()
	if(name IN_LIST HZ_SLOW_TESTS OR name MATCHES "^commands\\.")
		set_property(TEST ${name} APPEND PROPERTY LABELS slow)
		set_property(TEST ${name} PROPERTY COST ${cost})
	endif()
endfunction()
