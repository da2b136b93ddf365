# Extension folder (./hartzone build --with DIR, docs/extend.md): adds lines to the list of lock
# kinds, which includes the file that the definition below names, and C files. Its device keys and
# policies are read by device-headers.cmake. C files in DIR/ftl are an FTL (docs/guide/own-ftl.md).
# SPDX-License-Identifier: BSD-3-Clause
if(HZ_WITH)
	if(EXISTS ${HZ_WITH}/lock_kinds.def)
		add_compile_definitions(HZ_WITH_LOCK_KINDS="${HZ_WITH}/lock_kinds.def")
	endif()
	foreach(list device_fields gc_policies)
		if(EXISTS ${HZ_WITH}/${list}.def)
			message(FATAL_ERROR "${HZ_WITH}/${list}.def: keys and policies are in device_keys.yaml now (docs/extend.md): move its lines there")
		endif()
	endforeach()
endif()

# The lists' modules link the C files, as they would their own.
function(hz_with_sources)
	if(HZ_WITH)
		file(GLOB sources CONFIGURE_DEPENDS ${HZ_WITH}/*.c)
	endif()
	if(sources)
		add_library(hz_with STATIC ${sources})
		target_include_directories(hz_with PRIVATE ${PROJECT_SOURCE_DIR}/libthread/locks)
		target_link_libraries(hz_with PUBLIC hz_libthread PRIVATE layer.libthread layer.firmware.ftl.gc)
		target_link_libraries(hz_libthread PUBLIC hz_with)
		target_link_libraries(hz_ftl PUBLIC hz_with)
	endif()
endfunction()

# hz_with_ftl(VARIABLE): the C files of the folder's own FTL. Its image has the folder's name.
function(hz_with_ftl variable)
	set(sources)
	if(HZ_WITH)
		file(GLOB sources CONFIGURE_DEPENDS ${HZ_WITH}/ftl/*.c)
		get_filename_component(name ${HZ_WITH} NAME)
	endif()
	if(sources AND (name STREQUAL firmware OR NOT name MATCHES "^[A-Za-z0-9._-]+$"))
		message(FATAL_ERROR "${HZ_WITH}: the image is named after the folder of the FTL: rename the folder, to letters, digits, dots, dashes and not firmware")
	endif()
	set(${variable} ${sources} PARENT_SCOPE)
endfunction()
