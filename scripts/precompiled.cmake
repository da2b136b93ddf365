# What most C++ sources include, compiled once for many targets: half of the time of a small one is the reading of headers.
# SPDX-License-Identifier: BSD-3-Clause
option(HZ_PRECOMPILE "Compile headers that most C++ sources include once" OFF)

# hz_precompiled(NAME LIBS libs… HEADERS headers…): headers for targets that are compiled as this folder's are.
function(hz_precompiled name)
	cmake_parse_arguments(arg "" "" "LIBS;HEADERS" ${ARGN})
	if(NOT HZ_PRECOMPILE)
		return()
	endif()
	file(CONFIGURE OUTPUT ${name}.cpp CONTENT "")
	add_library(${name} OBJECT EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
	target_link_libraries(${name} PRIVATE ${arg_LIBS})
	list(TRANSFORM arg_HEADERS REPLACE "(.+)" "<\\1>")
	target_precompile_headers(${name} PRIVATE ${arg_HEADERS})
endfunction()

# hz_include_precompiled(TARGET NAME)
function(hz_include_precompiled target name)
	if(NOT TARGET ${name})
		return()
	endif()
	target_precompile_headers(${target} REUSE_FROM ${name})
	get_target_property(sources ${target} SOURCES)
	list(FILTER sources INCLUDE REGEX "\\.c$")
	set_source_files_properties(${sources} TARGET_DIRECTORY ${target} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()
