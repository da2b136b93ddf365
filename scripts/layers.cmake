# The layers of the sources, guarded by the compiler: the sources of a folder are compiled with paths to the headers of those folders
# only that it may use, so a forbidden include does not compile. The list is at the end.
# SPDX-License-Identifier: BSD-3-Clause
#
# hz_layer(FOLDER [PUBLIC layers…] [PRIVATE layers…]) declares a folder, without the folders below it, and what it may use. PUBLIC and
# PRIVATE are CMake's: PUBLIC is what the folder's headers include, so the folder's users see it too; PRIVATE is for its sources. A word
# names a layer declared above, by its folder beside this one or beside one above it. So includes go in no circle.
#
# hz_library(NAME TYPE sources…) is add_library, with a target for each folder of the sources if there are several (NAME.FOLDER, with dots
# for slashes). Each is compiled as its folder's.
# hz_in_layer(TARGET FOLDER) compiles the sources of a target as this folder's.
# hz_see_all_layers() shows every header to the sources of the calling CMakeLists.txt: tests and benches look inside.
#
# A layer is two interface targets: layer.FOLDER is what its users see, inside.FOLDER what its own sources see. Libraries carry neither:
# to link one shows no headers.
#
# A layer's headers are links in build/PRESET/layers/FOLDER, under the names that includes have: paths without the first of these roots.
# Compilers' messages name the links, debug information the headers.
set(HZ_INCLUDE_ROOTS protocol firmware/boot firmware/dma firmware/ftl firmware vclock host-driver/include host-driver)

# An include in quotes is first looked for in the folder of the including file, whatever the paths are. tests/build/layers_test.py refuses
# those that leave it so ("../x.h", "below/x.h").

# hz_show_headers(FOLDER VARIABLE) makes the links and sets VARIABLE to their place.
function(hz_show_headers folder variable)
	foreach(root ${HZ_INCLUDE_ROOTS})
		if("${folder}/" MATCHES "^(${root}/)(.*)$")
			set(top ${CMAKE_MATCH_1})
			set(below "${CMAKE_MATCH_2}")
			break()
		endif()
	endforeach()
	string(REPLACE / . name ${folder})
	set(place ${PROJECT_BINARY_DIR}/layers/${name})
	file(REMOVE_RECURSE ${place})
	file(MAKE_DIRECTORY ${place}/${below})
	file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.h ${PROJECT_SOURCE_DIR}/${folder}/*.hpp
		${PROJECT_SOURCE_DIR}/${folder}/*.def)
	if(folder STREQUAL protocol)
		file(GLOB made ${HZ_DEVICE_HEADERS}/*)
		list(APPEND headers ${made})
	endif()
	foreach(header ${headers})
		cmake_path(GET header FILENAME file)
		file(CREATE_LINK ${header} ${place}/${below}${file} SYMBOLIC)
	endforeach()
	foreach(path ${place} layers/${name}) # as ccache names it
		target_compile_options(layer.${name} INTERFACE "$<$<COMPILE_LANGUAGE:C,CXX>:-ffile-prefix-map=${path}/=${top}>")
	endforeach()
	set(${variable} ${place} PARENT_SCOPE)
endfunction()

# The layer that a word in the declaration of FOLDER means.
function(hz_named_layer folder word variable)
	set(parent ${folder})
	while(NOT parent STREQUAL "")
		cmake_path(GET parent PARENT_PATH parent)
		cmake_path(APPEND parent ${word} OUTPUT_VARIABLE name)
		string(REPLACE / . name ${name})
		if(TARGET layer.${name})
			set(${variable} layer.${name} PARENT_SCOPE)
			return()
		endif()
	endwhile()
	message(FATAL_ERROR "${folder} may not use ${word}: no layer declared above it has that name")
endfunction()

function(hz_layer folder)
	cmake_parse_arguments(arg "" "" "HEADERS;PUBLIC;PRIVATE" ${ARGN})
	string(REPLACE / . name ${folder})
	foreach(kind PUBLIC PRIVATE)
		set(seen_${kind})
		foreach(word ${arg_${kind}})
			hz_named_layer(${folder} ${word} used)
			list(APPEND seen_${kind} ${used})
		endforeach()
	endforeach()
	add_library(layer.${name} INTERFACE)
	add_library(inside.${name} INTERFACE)
	if(NOT arg_HEADERS)
		hz_show_headers(${folder} arg_HEADERS)
	endif()
	target_include_directories(layer.${name} INTERFACE ${arg_HEADERS})
	target_link_libraries(layer.${name} INTERFACE ${seen_PUBLIC})
	target_link_libraries(inside.${name} INTERFACE layer.${name} ${seen_PRIVATE})
endfunction()

function(hz_in_layer target folder)
	string(REPLACE / . name ${folder})
	target_link_libraries(${target} PRIVATE inside.${name})
endfunction()

function(hz_library name type)
	set(layers)
	foreach(source ${ARGN})
		cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE layer)
		cmake_path(GET layer PARENT_PATH layer)
		cmake_path(RELATIVE_PATH layer BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
		list(APPEND layers ${layer})
		list(APPEND ${layer} ${source})
	endforeach()
	list(REMOVE_DUPLICATES layers)
	if(layers MATCHES ";")
		set(objects)
		foreach(layer ${layers})
			string(REPLACE / . part ${name}.${layer})
			add_library(${part} OBJECT ${${layer}})
			hz_in_layer(${part} ${layer})
			list(APPEND objects $<TARGET_OBJECTS:${part}>)
		endforeach()
		add_library(${name} ${type} ${objects})
	else()
		add_library(${name} ${type} ${ARGN})
		hz_in_layer(${name} ${layers})
	endif()
endfunction()

# hz_see_all_layers(): every header, for the sources of the calling folder.
function(hz_see_all_layers)
	list(TRANSFORM HZ_INCLUDE_ROOTS PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE roots)
	include_directories(${roots} ${HZ_DEVICE_HEADERS} ${HZ_LIBTHREAD_HEADERS})
endfunction()

# The layers, lowest first.
if(HZ_FIRMWARE)
	set(HZ_LIBTHREAD_HEADERS ${PROJECT_SOURCE_DIR}/libthread/include ${PROJECT_SOURCE_DIR}/libthread/port/riscv)
else()
	set(HZ_LIBTHREAD_HEADERS ${PROJECT_SOURCE_DIR}/libthread/include ${PROJECT_SOURCE_DIR}/libthread/port/host)
endif()
hz_layer(protocol)
hz_layer(libthread HEADERS ${HZ_LIBTHREAD_HEADERS} PUBLIC protocol)

hz_layer(firmware/boundary PUBLIC protocol libthread)
hz_layer(firmware/dma PUBLIC protocol libthread PRIVATE boundary)
hz_layer(firmware/nand PUBLIC protocol libthread dma)
hz_layer(firmware/tsu PUBLIC protocol libthread nand PRIVATE boundary)
hz_layer(firmware/patterns PUBLIC protocol libthread tsu)
hz_layer(firmware/port PUBLIC protocol libthread dma nand tsu)
hz_layer(firmware/ftl/base PUBLIC protocol libthread dma nand tsu port)
hz_layer(firmware/ftl/request PUBLIC protocol port base PRIVATE boundary)
hz_layer(firmware/ftl/gc PRIVATE protocol)
hz_layer(firmware/ftl/block PUBLIC base)
hz_layer(firmware/ftl/slc PUBLIC protocol libthread tsu base gc)
hz_layer(firmware/ftl/places PUBLIC protocol base)
hz_layer(firmware/ftl/map PUBLIC protocol libthread nand base request slc places)
hz_layer(firmware/ftl/buffer PUBLIC libthread base request slc places PRIVATE boundary map)
hz_layer(firmware/ftl/zone PUBLIC protocol libthread nand tsu base request slc buffer PRIVATE boundary block map)
hz_layer(firmware/ftl/conventional PUBLIC libthread port base request places zone PRIVATE block map)
hz_layer(firmware/ftl/cache PUBLIC libthread request PRIVATE conventional)
hz_layer(firmware/ftl/mount PUBLIC base buffer PRIVATE block map zone conventional)
hz_layer(firmware/ftl PUBLIC port ftl/base ftl/request
	PRIVATE boundary ftl/block ftl/slc ftl/places ftl/map ftl/buffer ftl/zone ftl/conventional ftl/cache ftl/mount)
hz_layer(firmware/hil/ports PUBLIC protocol port)
hz_layer(firmware/hil/host PUBLIC protocol dma ports)
hz_layer(firmware/hil/queue PUBLIC protocol libthread port ports host PRIVATE boundary)
hz_layer(firmware/hil/controller PUBLIC protocol libthread port ports queue)
hz_layer(firmware/hil PUBLIC protocol libthread hil/ports PRIVATE hil/controller)
hz_layer(firmware/platform PUBLIC protocol libthread)
hz_layer(firmware/boot PRIVATE platform)
hz_layer(firmware/main PUBLIC protocol libthread nand tsu port hil/ports hil platform PRIVATE boundary boot)
hz_layer(firmware/images PRIVATE protocol libthread nand tsu patterns platform boot)

hz_layer(vclock/base PUBLIC protocol)
hz_layer(vclock/guest PUBLIC base)
hz_layer(vclock/schedule PUBLIC base PRIVATE guest)
hz_layer(vclock/cost PUBLIC base PRIVATE guest schedule)
hz_layer(vclock/race PUBLIC base PRIVATE guest)
hz_layer(vclock/profile PUBLIC protocol base PRIVATE guest schedule)
hz_layer(vclock PUBLIC vclock/base vclock/schedule PRIVATE vclock/guest vclock/cost vclock/race vclock/profile)

hz_layer(host-driver/include)
hz_layer(host-driver/config PUBLIC protocol PRIVATE libthread)
hz_layer(host-driver/session/machine PUBLIC protocol PRIVATE config)
hz_layer(host-driver/session/nvme PUBLIC protocol machine)
hz_layer(host-driver/session/share PUBLIC machine nvme)
hz_layer(host-driver/session PUBLIC protocol session/machine session/nvme PRIVATE session/share)
hz_layer(host-driver/session/capi PUBLIC protocol include machine nvme session PRIVATE config)
hz_layer(host-driver/apps/fio PRIVATE include)
hz_layer(host-driver/storage)
hz_layer(host-driver/apps/rocksdb/store PUBLIC storage)
hz_layer(host-driver/apps/hzfs PUBLIC storage)
hz_layer(host-driver/apps/nvme PRIVATE include)
hz_layer(host-driver/trace)
hz_layer(host-driver/workload PUBLIC config)
hz_layer(host-driver/results PUBLIC protocol session PRIVATE config)
hz_layer(host-driver/report)
hz_layer(host-driver/replay PUBLIC protocol session/machine session/nvme session trace workload results)
hz_layer(host-driver/keep PUBLIC protocol session/machine session/nvme session workload replay)
hz_layer(host-driver/image PUBLIC protocol libthread firmware/dma firmware/nand firmware/port PRIVATE firmware/ftl config session/machine)
hz_layer(host-driver/storage/queue PUBLIC session storage trace results)
hz_layer(host-driver/apps/hzfs/stack PUBLIC storage hzfs storage/queue)
hz_layer(host-driver/apps/rocksdb PUBLIC session/machine rocksdb/store storage/queue)
hz_layer(host-driver/apps/sqlite PUBLIC session/machine hzfs trace storage/queue hzfs/stack)
hz_layer(host-driver/apps/files PUBLIC session hzfs storage/queue hzfs/stack)
hz_layer(host-driver/inspect PUBLIC trace results)
hz_layer(host-driver/fabrics PUBLIC protocol session/machine session/nvme session results PRIVATE trace)
hz_layer(host-driver/cli PUBLIC session/machine session/nvme session trace workload results replay keep apps/hzfs/stack fabrics
	PRIVATE report image apps/rocksdb apps/sqlite apps/files inspect)
