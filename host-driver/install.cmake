# Installation: the program, libhartzone with its header and pkg-config file, and what a run needs: firmware, plugin, the vsock daemon
# (where scripts/setup had to build one), devices, workloads and traces. session/locate.cpp finds these from the program.
# SPDX-License-Identifier: BSD-3-Clause
include(GNUInstallDirs)
set(parts lib/hartzone)
set(data share/hartzone)

install(TARGETS hartzone libhartzone) # the header with it
install(TARGETS hz_vclock hz_nvme_device LIBRARY DESTINATION ${parts})
if(HZ_FIO_CONFIGURED)
	install(TARGETS hz_fio_engine LIBRARY DESTINATION ${parts})
endif()
install(FILES ${HZ_FIRMWARE_DIR}/firmware/main/firmware.elf DESTINATION ${parts})
install(PROGRAMS ${CMAKE_SOURCE_DIR}/build/tools/bin/vhost-device-vsock DESTINATION ${parts} OPTIONAL)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/configs ${CMAKE_SOURCE_DIR}/traces DESTINATION ${data})
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${data})

file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /) # so that any prefix will do, and the installed tree can move
string(REGEX REPLACE "/$" "" up ${up})
configure_file(${CMAKE_CURRENT_LIST_DIR}/libhartzone.pc.in ${CMAKE_BINARY_DIR}/libhartzone.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/libhartzone.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
