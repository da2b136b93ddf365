# Installation: the program, libhartzone with its header and pkg-config file, and the files of a
# run: firmware, plugin, the vsock daemon (if scripts/setup built one), devices, workloads and
# traces. session/machine/locate.cpp finds these relative to the program.
# SPDX-License-Identifier: BSD-3-Clause
include(GNUInstallDirs)
set(parts lib/hartzone)
set(data share/hartzone)

install(TARGETS hartzone libhartzone) # the header with it
install(TARGETS hz_vclock hz_nvme_device LIBRARY DESTINATION ${parts})
if(HZ_FIO_CONFIGURED)
	install(TARGETS hz_fio_engine LIBRARY DESTINATION ${parts})
endif()
if(HZ_ROCKSDB_LIBRARY AND HZ_ROCKSDB_INCLUDE)
	install(TARGETS hz_rocksdb RUNTIME DESTINATION ${parts})
endif()
if(HZ_SQLITE_INCLUDE)
	install(TARGETS hz_sqlite LIBRARY DESTINATION ${parts})
endif()
install(FILES ${HZ_FIRMWARE_DIR}/firmware/main/firmware.elf DESTINATION ${parts})
install(PROGRAMS ${CMAKE_SOURCE_DIR}/build/tools/bin/vhost-device-vsock DESTINATION ${parts} OPTIONAL)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/configs ${CMAKE_SOURCE_DIR}/traces DESTINATION ${data})
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/docs/device.schema.json DESTINATION ${data})
install(FILES ${CMAKE_SOURCE_DIR}/docs/reference/hartzone.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${CMAKE_SOURCE_DIR}/docs/reference/hartzone.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME hartzone)
install(FILES ${CMAKE_SOURCE_DIR}/docs/reference/hartzone.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _hartzone)

file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /) # so that any prefix will do, and the installed tree can move
string(REGEX REPLACE "/$" "" up ${up})
configure_file(${CMAKE_CURRENT_LIST_DIR}/libhartzone.pc.in ${CMAKE_BINARY_DIR}/libhartzone.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/libhartzone.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The Debian package: `cpack` in the build folder. Nothing is stripped, since results name the
# plugin by its hash.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON) # installed files are built; tests need not be
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME hartzone)
set(CPACK_PACKAGE_CONTACT "The Hartzone authors <hartzone@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "solid-state drive whose firmware runs on emulated RISC-V harts")
set(CPACK_PACKAGE_DESCRIPTION "Firmware of a multi-core zoned-flash SSD, a virtual clock for QEMU that times it, and a host driver that
replays workloads and recorded traces on it. One firmware image gives the same result, bit for bit, on any host.")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION misc)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/lib)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "qemu-system-riscv (>= 1:10) | qemu-system-misc (>= 1:10)")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "xz-utils, gzip, zstd, nvme-cli, fio, sqlite3")
set(CPACK_DEBIAN_COMPRESSION_TYPE gzip)
include(CPack)
