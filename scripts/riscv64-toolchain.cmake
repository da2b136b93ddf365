# Bare-metal RV64 toolchain from Debian (gcc-riscv64-unknown-elf): no libc, libgcc only.
# SPDX-License-Identifier: BSD-3-Clause
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR riscv64)
unset(ENV{CFLAGS}) # meant for host programs; the image must not depend on them
unset(ENV{CXXFLAGS})
unset(ENV{ASMFLAGS})
unset(ENV{LDFLAGS})
set(CMAKE_C_COMPILER riscv64-unknown-elf-gcc)
set(CMAKE_CXX_COMPILER riscv64-unknown-elf-g++)
set(CMAKE_ASM_COMPILER riscv64-unknown-elf-gcc)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
# Address and bit instructions (Zba, Zbb) come with any core that has the Zawrs of the lock waiters (profile RVA23).
set(CMAKE_C_FLAGS_INIT "-march=rv64imac_zba_zbb_zicsr_zifencei -mabi=lp64 -mcmodel=medany -ffreestanding -nostdlib -fno-builtin-printf -fno-common")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O3 -g -DNDEBUG" CACHE STRING "") # CMake's own default is -O2
set(CMAKE_ASM_FLAGS_INIT "-march=rv64imac_zicsr_zifencei -mabi=lp64 -mcmodel=medany")
# 8 bytes for each function: the plugin puts a jump to the native copy, or a call of it, where the guest has it (native_abi.h).
string(APPEND CMAKE_C_FLAGS_INIT " -falign-functions=8")
# The name of a libgcc variant: with the extensions spelt out gcc would silently take the hard-float one.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-march=rv64imac -mabi=lp64 -nostdlib -static")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
