# Headers that most C++ sources include, compiled once for many targets: reading headers takes a
# third to a half of the time of a small one.
# SPDX-License-Identifier: BSD-3-Clause
option(HZ_PRECOMPILE "Compile headers that most C++ sources include once" OFF)

if(HZ_PRECOMPILE)
	# ccache finds objects compiled with them only if it compares their content, not their time.
	add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Xclang -fno-pch-timestamp>")
	if(HZ_CCACHE)
		set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros ${HZ_CCACHE}) # there are no dates (-Wdate-time)
	endif()
endif()

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

# hz_include_precompiled_below(FOLDER NAME): all C++ targets added there and below, except those
# that hide their names, as the headers do not. Programs are compiled as libraries are (-fPIC): gcc
# rejects a header compiled for the other kind.
function(hz_include_precompiled_below folder name)
	get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
	foreach(target ${targets})
		get_target_property(type ${target} TYPE)
		get_target_property(sources ${target} SOURCES)
		get_target_property(visibility ${target} CXX_VISIBILITY_PRESET)
		if(NOT type MATCHES "LIBRARY|EXECUTABLE" OR NOT sources MATCHES "\\.cpp" OR visibility OR target STREQUAL name)
			continue()
		elseif(type STREQUAL EXECUTABLE AND TARGET ${name})
			set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
			target_compile_options(${target} PRIVATE -fPIC)
		endif()
		hz_include_precompiled(${target} ${name})
	endforeach()
	get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
	foreach(below ${folders})
		hz_include_precompiled_below(${below} ${name})
	endforeach()
endfunction()

# hz_optimise(TARGET LEVEL): for folders without optimisation; no compiler accepts headers across
# levels.
function(hz_optimise target level)
	target_compile_options(${target} PRIVATE ${level})
	set_target_properties(${target} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
endfunction()
