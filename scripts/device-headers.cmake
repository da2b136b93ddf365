# Headers made of protocol/device_keys.yaml (scripts/device-headers), and of an extension's file of that name: at each configuration, which
# a change of these files starts. They are in HZ_DEVICE_HEADERS, as headers of the layer protocol.
# SPDX-License-Identifier: BSD-3-Clause
set(HZ_DEVICE_HEADERS ${PROJECT_BINARY_DIR}/device/generated)
file(GLOB own CONFIGURE_DEPENDS ${HZ_WITH}/device_keys.yaml)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/protocol/device_keys.yaml
	${PROJECT_SOURCE_DIR}/scripts/device-headers ${PROJECT_SOURCE_DIR}/scripts/device_keys.py ${own})
set(python)
foreach(one /usr/bin/python3 python3) # Debian's modules may be missing in another one
	execute_process(COMMAND ${one} -c "import yaml" RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
	if(failed EQUAL 0)
		set(python ${one})
	endif()
endforeach()
if(NOT python)
	message(FATAL_ERROR "no python3 has the module yaml: run ./hartzone setup")
endif()
set(with)
if(own)
	set(with --with ${HZ_WITH})
endif()
execute_process(COMMAND ${python} -B ${PROJECT_SOURCE_DIR}/scripts/device-headers --out ${HZ_DEVICE_HEADERS} ${with}
	RESULT_VARIABLE failed ERROR_VARIABLE said ERROR_STRIP_TRAILING_WHITESPACE)
if(NOT failed EQUAL 0)
	message(FATAL_ERROR " ${said}") # a line that begins with a blank is not broken into several
endif()
