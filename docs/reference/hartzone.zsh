#compdef hartzone ./hartzone
# Completion of zsh for hartzone, written by scripts/update-cli from the texts of --help.
# SPDX-License-Identifier: BSD-3-Clause
local command= choices= files= folder
local -a entries names
(( CURRENT < 3 )) || command=${words[2]}
case $command in
	image|trace) (( CURRENT < 4 )) || [[ ${words[3]} == -* ]] || command+=" ${words[3]}" ;;
esac
case "$command ${words[CURRENT - 1]}" in
		"run --workload") files=workloads ;;
		"run --trace") files=1 ;;
		"run --threads") files=0 ;;
		"run --namespaces") files=0 ;;
		"run --queue-depth") files=0 ;;
		"run --mapping") choices='log direct' ;;
		"run --iotailor") files=0 ;;
		"run --prepared") choices='anew kept' ;;
		"run --ahead") files=0 ;;
		"run --format") choices='auto native fio2 fio3 mqsim msr alibaba tencent spc vscsi disksim fiu systor thesios blkparse blktrace blktrace2 vscsi1 vscsi2 oracle-general' ;;
		"run --time-unit") files=0 ;;
		"run --skip-bad") files=0 ;;
		"run --max-ops") files=0 ;;
		"run --split") choices='auto address stream' ;;
		"run --record") files=1 ;;
		"run --time-scale") files=0 ;;
		"run --power-cut-at") files=0 ;;
		"run --clock-jitter") files=0 ;;
		"run --timeline") files=1 ;;
		"run --out") files=1 ;;
		"run --device") files=devices ;;
		"run --workers") files=0 ;;
		"run --clock") choices='virtual real' ;;
		"run --vclock") choices='preset= mhz= insn= local= remote= far= memory= occupancy= wake= pause= ipi= data= reads= cluster= cache_bytes= cache_ways= load= store= mul= div= branch= csr= store_buffer= clean= busy= dispatch= arbiter= loop_exit= lr= pause_multiple= div_bit= l2_bytes= l2_ways= l2=' ;;
		"run --image") files=1 ;;
		"run --seed") files=0 ;;
		"run --firmware") files=1 ;;
		"run --console") files=1 ;;
		"run --attach") files=1 ;;
		"info --device") files=devices ;;
		"info --workers") files=0 ;;
		"info --clock") choices='virtual real' ;;
		"info --vclock") choices='preset= mhz= insn= local= remote= far= memory= occupancy= wake= pause= ipi= data= reads= cluster= cache_bytes= cache_ways= load= store= mul= div= branch= csr= store_buffer= clean= busy= dispatch= arbiter= loop_exit= lr= pause_multiple= div_bit= l2_bytes= l2_ways= l2=' ;;
		"info --image") files=1 ;;
		"info --seed") files=0 ;;
		"info --firmware") files=1 ;;
		"info --console") files=1 ;;
		"info --attach") files=1 ;;
		"trace detect --format") choices='auto native fio2 fio3 mqsim msr alibaba tencent spc vscsi disksim fiu systor thesios blkparse blktrace blktrace2 vscsi1 vscsi2 oracle-general' ;;
		"trace detect --time-unit") files=0 ;;
		"trace detect --skip-bad") files=0 ;;
		"trace summary --format") choices='auto native fio2 fio3 mqsim msr alibaba tencent spc vscsi disksim fiu systor thesios blkparse blktrace blktrace2 vscsi1 vscsi2 oracle-general' ;;
		"trace summary --time-unit") files=0 ;;
		"trace summary --skip-bad") files=0 ;;
		"trace convert --format") choices='auto native fio2 fio3 mqsim msr alibaba tencent spc vscsi disksim fiu systor thesios blkparse blktrace blktrace2 vscsi1 vscsi2 oracle-general' ;;
		"trace convert --time-unit") files=0 ;;
		"trace convert --skip-bad") files=0 ;;
		"trace convert --out") files=1 ;;
		"trace cut --format") choices='auto native fio2 fio3 mqsim msr alibaba tencent spc vscsi disksim fiu systor thesios blkparse blktrace blktrace2 vscsi1 vscsi2 oracle-general' ;;
		"trace cut --time-unit") files=0 ;;
		"trace cut --skip-bad") files=0 ;;
		"trace cut --out") files=1 ;;
		"trace cut --from") files=0 ;;
		"trace cut --to") files=0 ;;
		"trace cut --skip") files=0 ;;
		"trace cut --records") files=0 ;;
		"trace scale --format") choices='auto native fio2 fio3 mqsim msr alibaba tencent spc vscsi disksim fiu systor thesios blkparse blktrace blktrace2 vscsi1 vscsi2 oracle-general' ;;
		"trace scale --time-unit") files=0 ;;
		"trace scale --skip-bad") files=0 ;;
		"trace scale --out") files=1 ;;
		"trace scale --time") files=0 ;;
		"trace scale --addresses") files=0 ;;
		"image check --device") files=devices ;;
		"verify --image") files=1 ;;
		"verify --device") files=devices ;;
		"verify --firmware") files=1 ;;
		"verify --console") files=1 ;;
		"nvme --device") files=devices ;;
		"nvme --workers") files=0 ;;
		"nvme --clock") choices='virtual real' ;;
		"nvme --vclock") choices='preset= mhz= insn= local= remote= far= memory= occupancy= wake= pause= ipi= data= reads= cluster= cache_bytes= cache_ways= load= store= mul= div= branch= csr= store_buffer= clean= busy= dispatch= arbiter= loop_exit= lr= pause_multiple= div_bit= l2_bytes= l2_ways= l2=' ;;
		"nvme --image") files=1 ;;
		"nvme --seed") files=0 ;;
		"nvme --firmware") files=1 ;;
		"nvme --console") files=1 ;;
		"nvme --attach") files=1 ;;
		"serve --device") files=devices ;;
		"serve --workers") files=0 ;;
		"serve --clock") choices='virtual real' ;;
		"serve --vclock") choices='preset= mhz= insn= local= remote= far= memory= occupancy= wake= pause= ipi= data= reads= cluster= cache_bytes= cache_ways= load= store= mul= div= branch= csr= store_buffer= clean= busy= dispatch= arbiter= loop_exit= lr= pause_multiple= div_bit= l2_bytes= l2_ways= l2=' ;;
		"serve --image") files=1 ;;
		"serve --seed") files=0 ;;
		"serve --firmware") files=1 ;;
		"serve --console") files=1 ;;
		"serve --power-cut-at") files=0 ;;
		"serve --allow-host") files=0 ;;
		"serve --dhchap-secret") files=1 ;;
		"serve --dhchap-ctrl-secret") files=1 ;;
		"serve --name") files=0 ;;
		"serve --lanes") files=0 ;;
		"serve --transport") files=0 ;;
		"serve --slow-down") files=0 ;;
		"serve --record") files=1 ;;
		"fio --device") files=devices ;;
		"fio --workers") files=0 ;;
		"fio --clock") choices='virtual real' ;;
		"fio --vclock") choices='preset= mhz= insn= local= remote= far= memory= occupancy= wake= pause= ipi= data= reads= cluster= cache_bytes= cache_ways= load= store= mul= div= branch= csr= store_buffer= clean= busy= dispatch= arbiter= loop_exit= lr= pause_multiple= div_bit= l2_bytes= l2_ways= l2=' ;;
		"fio --image") files=1 ;;
		"fio --seed") files=0 ;;
		"fio --firmware") files=1 ;;
		"fio --console") files=1 ;;
		"fio --attach") files=1 ;;
		"files --device") files=devices ;;
		"files --workers") files=0 ;;
		"files --clock") choices='virtual real' ;;
		"files --vclock") choices='preset= mhz= insn= local= remote= far= memory= occupancy= wake= pause= ipi= data= reads= cluster= cache_bytes= cache_ways= load= store= mul= div= branch= csr= store_buffer= clean= busy= dispatch= arbiter= loop_exit= lr= pause_multiple= div_bit= l2_bytes= l2_ways= l2=' ;;
		"files --image") files=1 ;;
		"files --seed") files=0 ;;
		"files --firmware") files=1 ;;
		"files --console") files=1 ;;
		"files --size") files=0 ;;
		"files --count") files=0 ;;
		"files --small-files") files=0 ;;
		"files --reread") files=0 ;;
		"files --hold") files=0 ;;
		"files --warm-up") files=0 ;;
		"files --sync-every") files=0 ;;
		"files --namespace") files=0 ;;
		"files --cleaner") files=0 ;;
		"files --page-cache") files=0 ;;
		"files --aged") files=0 ;;
		"files --out") files=1 ;;
		"rocksdb --device") files=devices ;;
		"rocksdb --workers") files=0 ;;
		"rocksdb --clock") choices='virtual real' ;;
		"rocksdb --vclock") choices='preset= mhz= insn= local= remote= far= memory= occupancy= wake= pause= ipi= data= reads= cluster= cache_bytes= cache_ways= load= store= mul= div= branch= csr= store_buffer= clean= busy= dispatch= arbiter= loop_exit= lr= pause_multiple= div_bit= l2_bytes= l2_ways= l2=' ;;
		"rocksdb --image") files=1 ;;
		"rocksdb --seed") files=0 ;;
		"rocksdb --firmware") files=1 ;;
		"rocksdb --console") files=1 ;;
		"rocksdb --attach") files=1 ;;
		"rocksdb --power-cut-at") files=0 ;;
		"rocksdb --namespace") files=0 ;;
		"rocksdb --keys") files=0 ;;
		"rocksdb --sync-every") files=0 ;;
		"rocksdb --memtable") files=0 ;;
		"rocksdb --out") files=1 ;;
		"rocksdb --record") files=1 ;;
		"rocksdb --acked") files=1 ;;
		"sqlite --device") files=devices ;;
		"sqlite --workers") files=0 ;;
		"sqlite --clock") choices='virtual real' ;;
		"sqlite --vclock") choices='preset= mhz= insn= local= remote= far= memory= occupancy= wake= pause= ipi= data= reads= cluster= cache_bytes= cache_ways= load= store= mul= div= branch= csr= store_buffer= clean= busy= dispatch= arbiter= loop_exit= lr= pause_multiple= div_bit= l2_bytes= l2_ways= l2=' ;;
		"sqlite --image") files=1 ;;
		"sqlite --seed") files=0 ;;
		"sqlite --firmware") files=1 ;;
		"sqlite --console") files=1 ;;
		"sqlite --attach") files=1 ;;
		"sqlite --power-cut-at") files=0 ;;
		"sqlite --compute") files=0 ;;
		"sqlite --namespace") files=0 ;;
		"sqlite --cleaner") files=0 ;;
		"sqlite --page-cache") files=0 ;;
		"sqlite --aged") files=0 ;;
		"sqlite --out") files=1 ;;
		"sqlite --record") files=1 ;;
		"test --filter") files=0 ;;
		"explain --device") files=devices ;;
		"explain --workload") files=workloads ;;
		"explain --workers") files=0 ;;
		"explain --threads") files=0 ;;
		"explain --commands") files=0 ;;
		"explain --seeds") files=0 ;;
		"explain --change") files=0 ;;
		"explain --costs") choices='groups all' ;;
		"explain --jobs") files=0 ;;
		"explain --out") files=1 ;;
		"calibrate --out") files=1 ;;
		"calibrate --device") files=devices ;;
		"calibrate --cpus") files=0 ;;
		"calibrate --threads") files=0 ;;
		"calibrate --repeats") files=0 ;;
		"calibrate --cases") files=0 ;;
		"calibrate --locks") files=0 ;;
		"calibrate --seed") files=0 ;;
		"record-trace --out") files=1 ;;
		"build --with") files=1 ;;
		"linux --kernel") files=0 ;;
		"linux --memory") files=0 ;;
		"linux --accel") choices='auto kvm tcg' ;;
esac
case $files in
	0) return ;;
	devices | workloads) # files, and the names of those that come with the program
		folder=${${commands[${words[1]}]:-${words[1]}}:h}
		names=($folder/configs/$files/*.yaml(N:t:r) $folder/../share/hartzone/configs/$files/*.yaml(N:t:r))
		compadd -a names
		_files; return ;;
	1) _files; return ;;
esac
if [[ -n $choices ]]; then
	names=(${=choices})
	if [[ $choices == *= ]]; then compadd -S '' -a names; else compadd -a names; fi
	return
fi
case $command in
		'') entries=('run:Boot a device, replay a workload or a recorded trace on it, read everything back, and report' 'info:Describe a device: a new one that is booted, or a running one' 'compare:Show two results side by side, and the settings that differ' 'trace:Look at a trace of any format, convert, cut or scale it' 'image:Look at a NAND image without booting a device on it' 'verify:Boot the device of an image and check the data that earlier runs got acknowledged as durable' 'nvme:Run a command of nvme-cli on a device' 'serve:Keep a device up for other commands and programs' 'fio:Run jobs of fio on a device' 'files:Update files, or fragment a device with them, and report the cost' 'rocksdb:Run RocksDB on the zones of a device' 'sqlite:Run SQLite'\''s shell on files in a device' '-h:Print this help message and exit' '--help:Print this help message and exit' '--version:Versions of the program, of libhartzone and of the schema of result.json') ;;
		'run') entries=('-h:Print this help message and exit' '--help:Print this help message and exit' '--workload:What to do: a YAML file, or the name of one in configs/workloads (docs/reference/config.md has every key)' '--trace:Replay this recording instead, plain or compressed by xz, gzip or zstd (docs/reference/traces.md)' '--threads:Host threads, one NVMe queue pair each' '--namespaces:Namespaces of the device that the threads are dealt to in turn: each thread works on one' '--queue-depth:Commands under way per thread' '--mapping:direct: commands go to the device as they are' '--iotailor:Split and group the writes to each sequential zone into superpages, of the device'\''s size or this one, as IOTailor of ZMS does' '--prepared:anew: this run writes the workload'\''s prefill or preload' '--quick:A smaller run for a first look: an eighth of a workload, 2000 records of a trace' '--no-verify:Write zeros instead of a pattern, and check nothing that is read: less work for the host' '--ahead:Commands that a thread gives the device before they arrive, where they depend on nothing that is under way: less waiting of device and host for each other, and the same figures unless a write fails' '--format:Format of the trace' '--time-unit:What one unit of the trace'\''s times is, where it is not the format'\''s usual one' '--skip-bad:Skip up to N unreadable lines (counted and listed)' '--max-ops:Replay at most N records' '--split:How records are divided among the threads' '--timestamps:Replay by the trace'\''s timestamps' '--as-recorded:The file of --trace is a recording of ./hartzone serve --record: each of its commands is repeated in its queue, at its arrival' '--by-dependencies:The same, but each command arrives as long after the completions that it waited for as when it was recorded: on the same device at its arrival, on a faster one earlier, on a slower one later (docs/linux.md)' '--record:With --by-dependencies: write the recording with the times and answers of this device to this file, which can be repeated in turn' '--time-scale:Device time per trace time, with --timestamps: 0.1 is ten times as fast as recorded' '--power-cut-at:Cut the device'\''s power in this flash operation, counted from 1, or at this device time' '--race-check:Report unsynchronised accesses of two harts to the same word, and fail if there are any' '--clock-jitter:Perturb the schedule: delay each hart at random by 100 (PERMILLE) thousandths of its own time on average' '--timeline:Write what each hart, each die and each command did when, for ui.perfetto.dev and other viewers of trace events' '--out:Write result.json there (docs/reference/results.md) and report.html, a page with pictures of it, and make the folder if it is missing' '--device:Device to build: a YAML file, or the name of one in configs/devices (docs/reference/config.md has every key)' '--workers:FTL worker harts instead of the device file'\''s, each on a hart of its own' '--clock:virtual: device time, the same on any host' '--vclock:Change the virtual clock'\''s costs for this run (docs/internals/clock-costs.md has the keys)' '--image:Keep the flash in this file, which is made if it is missing' '--seed:Seed of everything random, instead of those of device and workload files (there: 1)' '--firmware:Firmware image to boot (an ELF file), or the folder of an FTL that build --with took' '--console:Write the firmware'\''s console output to this file' '--format-image:Begin with an empty image: what earlier runs left in the file of --image is erased' '--attach:Use the device that ./hartzone serve keeps up, by its run folder, instead of one of our own' '--overwrite:On a running device: overwrite blocks and conventional zones even if they hold data') ;;
		'info') entries=('-h:Print this help message and exit' '--help:Print this help message and exit' '--device:Device to build: a YAML file, or the name of one in configs/devices (docs/reference/config.md has every key)' '--workers:FTL worker harts instead of the device file'\''s, each on a hart of its own' '--clock:virtual: device time, the same on any host' '--vclock:Change the virtual clock'\''s costs for this run (docs/internals/clock-costs.md has the keys)' '--image:Keep the flash in this file, which is made if it is missing' '--seed:Seed of everything random, instead of those of device and workload files (there: 1)' '--firmware:Firmware image to boot (an ELF file), or the folder of an FTL that build --with took' '--console:Write the firmware'\''s console output to this file' '--attach:Use the device that ./hartzone serve keeps up, by its run folder, instead of one of our own' '--zones:List the zones that are not empty: state and write pointer, in 4 KiB sectors' '--memory:List the firmware'\''s memory allocations: memory, bytes, owner, and purpose') ;;
		'compare') entries=('-h:Print this help message and exit' '--help:Print this help message and exit' '--json:Print JSON instead of a table') ;;
		'trace') entries=('detect:Say what format a trace has, and what its first records mean' 'summary:Summarize a trace: operations, sizes, times, footprint and skew' 'convert:Write a trace of any format in the native one' 'cut:Keep a part of a trace, by time, by number, or both' 'scale:Stretch or shrink the times of a trace, or its addresses' '-h:Print this help message and exit' '--help:Print this help message and exit') ;;
		'trace detect') entries=('-h:Print this help message and exit' '--help:Print this help message and exit' '--format:Format of the trace' '--time-unit:What one unit of the trace'\''s times is, where it is not the format'\''s usual one' '--skip-bad:Skip up to N unreadable lines (counted and listed)' '--json:Print JSON instead of a table') ;;
		'trace summary') entries=('-h:Print this help message and exit' '--help:Print this help message and exit' '--format:Format of the trace' '--time-unit:What one unit of the trace'\''s times is, where it is not the format'\''s usual one' '--skip-bad:Skip up to N unreadable lines (counted and listed)' '--json:Print JSON instead of a table') ;;
		'trace convert') entries=('-h:Print this help message and exit' '--help:Print this help message and exit' '--format:Format of the trace' '--time-unit:What one unit of the trace'\''s times is, where it is not the format'\''s usual one' '--skip-bad:Skip up to N unreadable lines (counted and listed)' '--out:The new trace, in the native format') ;;
		'trace cut') entries=('-h:Print this help message and exit' '--help:Print this help message and exit' '--format:Format of the trace' '--time-unit:What one unit of the trace'\''s times is, where it is not the format'\''s usual one' '--skip-bad:Skip up to N unreadable lines (counted and listed)' '--out:The new trace, in the native format' '--from:Drop records before this time' '--to:Drop records at this time or later' '--skip:Drop the first N records' '--records:Keep at most N records') ;;
		'trace scale') entries=('-h:Print this help message and exit' '--help:Print this help message and exit' '--format:Format of the trace' '--time-unit:What one unit of the trace'\''s times is, where it is not the format'\''s usual one' '--skip-bad:Skip up to N unreadable lines (counted and listed)' '--out:The new trace, in the native format' '--time:New time per old time, from the first record on: 0.1 is ten times as fast' '--addresses:New address per old address: 0.25 fits a trace to a quarter of the space') ;;
		'image') entries=('check:List the contents of the image and its unreadable parts' '-h:Print this help message and exit' '--help:Print this help message and exit') ;;
		'image check') entries=('-h:Print this help message and exit' '--help:Print this help message and exit' '--device:Device of the image, as of run' '--json:Print JSON instead of text') ;;
		'verify') entries=('-h:Print this help message and exit' '--help:Print this help message and exit' '--image:The image, as given to run' '--device:Device of the image, as of run' '--firmware:Firmware image to boot (an ELF file), or the folder of an FTL that build --with took' '--console:Write the firmware'\''s console output to this file') ;;
		'nvme') entries=('-h:Print this help message and exit' '--help:Print this help message and exit' '--device:Device to build: a YAML file, or the name of one in configs/devices (docs/reference/config.md has every key)' '--workers:FTL worker harts instead of the device file'\''s, each on a hart of its own' '--clock:virtual: device time, the same on any host' '--vclock:Change the virtual clock'\''s costs for this run (docs/internals/clock-costs.md has the keys)' '--image:Keep the flash in this file, which is made if it is missing' '--seed:Seed of everything random, instead of those of device and workload files (there: 1)' '--firmware:Firmware image to boot (an ELF file), or the folder of an FTL that build --with took' '--console:Write the firmware'\''s console output to this file' '--attach:Use the device that ./hartzone serve keeps up, by its run folder, instead of one of our own') ;;
		'serve') entries=('-h:Print this help message and exit' '--help:Print this help message and exit' '--device:Device to build: a YAML file, or the name of one in configs/devices (docs/reference/config.md has every key)' '--workers:FTL worker harts instead of the device file'\''s, each on a hart of its own' '--clock:virtual: device time, the same on any host' '--vclock:Change the virtual clock'\''s costs for this run (docs/internals/clock-costs.md has the keys)' '--image:Keep the flash in this file, which is made if it is missing' '--seed:Seed of everything random, instead of those of device and workload files (there: 1)' '--firmware:Firmware image to boot (an ELF file), or the folder of an FTL that build --with took' '--console:Write the firmware'\''s console output to this file' '--power-cut-at:Cut the device'\''s power in this flash operation, counted from 1, or at this device time' '--nvme-tcp:Show the device as an NVMe/TCP target, which Linux attaches as disks' '--open:Whoever reaches the address may read and write' '--allow-host:The name of a host that may connect, as its /etc/nvme/hostnqn has it' '--dhchap-secret:The key that hosts must have (DH-HMAC-CHAP), as nvme gen-dhchap-key makes it, or a file with it' '--dhchap-ctrl-secret:The key of the target, for hosts that want it to authenticate too' '--name:The last part of the target'\''s name, and of its disks'\'' ids' '--lanes:Queue pairs of the device that the hosts'\'' queues share, each of 128 slots' '--transport:Modelled transport delay of a command to the device, in microseconds' '--slow-down:Factor by which device time is slower than the wall clock, so that an emulation on a slow host is in time' '--record:Write each command and its arrival to this file, which ./hartzone run --as-recorded or --by-dependencies repeats' '--list:Print the run folders of this user'\''s devices that are up, one a line, and boot none') ;;
		'fio') entries=('-h:Print this help message and exit' '--help:Print this help message and exit' '--device:Device to build: a YAML file, or the name of one in configs/devices (docs/reference/config.md has every key)' '--workers:FTL worker harts instead of the device file'\''s, each on a hart of its own' '--clock:virtual: device time, the same on any host' '--vclock:Change the virtual clock'\''s costs for this run (docs/internals/clock-costs.md has the keys)' '--image:Keep the flash in this file, which is made if it is missing' '--seed:Seed of everything random, instead of those of device and workload files (there: 1)' '--firmware:Firmware image to boot (an ELF file), or the folder of an FTL that build --with took' '--console:Write the firmware'\''s console output to this file' '--attach:Use the device that ./hartzone serve keeps up, by its run folder, instead of one of our own') ;;
		'files') entries=('-h:Print this help message and exit' '--help:Print this help message and exit' '--device:Device to build: a YAML file, or the name of one in configs/devices (docs/reference/config.md has every key)' '--workers:FTL worker harts instead of the device file'\''s, each on a hart of its own' '--clock:virtual: device time, the same on any host' '--vclock:Change the virtual clock'\''s costs for this run (docs/internals/clock-costs.md has the keys)' '--image:Keep the flash in this file, which is made if it is missing' '--seed:Seed of everything random, instead of those of device and workload files (there: 1)' '--firmware:Firmware image to boot (an ELF file), or the folder of an FTL that build --with took' '--console:Write the firmware'\''s console output to this file' '--size:Size in MiB of the updated file (update), or of the large file of each iteration (fragment)' '--count:Number of updates, or most iterations' '--small-files:fragment: files of 128 KiB that each iteration creates' '--reread:fragment: how many of the remaining files of 128 KiB each iteration reads at its end' '--hold:fragment: before an iteration remove files drawn at random, until with its files this percentage of the space is full' '--warm-up:update: as many updates come first and are not measured' '--sync-every:update: updates between two syncs' '--namespace:Namespace of the device to work on' '--in-place:A sync of up to 8 blocks overwrites them where they lie, as F2FS does: on a block device, or on zones with a budget for it (zones.in_place)' '--slack:Where few sections are empty, data go to dead blocks of full ones instead of having those emptied, as F2FS does (SSR): on a block device' '--cleaner:Clean in the background, in the phases of ZUFS, with the knobs of Linux: gc_no_zoned_gc_percent (60), gc_boost_zoned_gc_percent (25), gc_valid_thresh_ratio (95), migration_window_granularity (3 segments), gc_boost_gc_multiple (5), gc_boost_gc_greedy (1), and segment (2MiB), pause (20ms), boost_pause (10ms)' '--iotailor:On zones: what is written to each waits in host memory until it is a superpage, or is synced, as IOTailor of ZMS does' '--page-cache:Keep the blocks last read or written in host memory, as the page cache of a kernel does: 4 KiB to 64 GiB' '--aged:First age an empty device: make files of 128 KiB and remove every second one, until files have this percentage of the space, the file that `files update` writes included' '--copy-offload:On zones: the device itself moves what is cleaned (NVMe Copy)' '--out:Write DIR/files.json') ;;
		'rocksdb') entries=('-h:Print this help message and exit' '--help:Print this help message and exit' '--device:Device to build: a YAML file, or the name of one in configs/devices (docs/reference/config.md has every key)' '--workers:FTL worker harts instead of the device file'\''s, each on a hart of its own' '--clock:virtual: device time, the same on any host' '--vclock:Change the virtual clock'\''s costs for this run (docs/internals/clock-costs.md has the keys)' '--image:Keep the flash in this file, which is made if it is missing' '--seed:Seed of everything random, instead of those of device and workload files (there: 1)' '--firmware:Firmware image to boot (an ELF file), or the folder of an FTL that build --with took' '--console:Write the firmware'\''s console output to this file' '--attach:Use the device that ./hartzone serve keeps up, by its run folder, instead of one of our own' '--power-cut-at:Cut the device'\''s power in this flash operation, counted from 1, or at this device time' '--namespace:Namespace of the device to work on' '--keys:Keys of 100 bytes, with values of 800' '--sync-every:Sync every N-th write, which makes it and all earlier ones durable' '--memtable:MiB that RocksDB gathers before it writes a table' '--out:Write DIR/rocksdb.json' '--record:Write the commands to the device as a native trace, which run --trace FILE --mapping direct replays' '--acked:Record acknowledged durable writes in this file') ;;
		'sqlite') entries=('-h:Print this help message and exit' '--help:Print this help message and exit' '--device:Device to build: a YAML file, or the name of one in configs/devices (docs/reference/config.md has every key)' '--workers:FTL worker harts instead of the device file'\''s, each on a hart of its own' '--clock:virtual: device time, the same on any host' '--vclock:Change the virtual clock'\''s costs for this run (docs/internals/clock-costs.md has the keys)' '--image:Keep the flash in this file, which is made if it is missing' '--seed:Seed of everything random, instead of those of device and workload files (there: 1)' '--firmware:Firmware image to boot (an ELF file), or the folder of an FTL that build --with took' '--console:Write the firmware'\''s console output to this file' '--attach:Use the device that ./hartzone serve keeps up, by its run folder, instead of one of our own' '--power-cut-at:Cut the device'\''s power in this flash operation, counted from 1, or at this device time' '--compute:What SQLite'\''s own work takes of device time: nothing, so much for each call to its files, or the processor time that it took, which is another in each run' '--namespace:Namespace of the device to work on' '--in-place:A sync of up to 8 blocks overwrites them where they lie, as F2FS does: on a block device, or on zones with a budget for it (zones.in_place)' '--slack:Where few sections are empty, data go to dead blocks of full ones instead of having those emptied, as F2FS does (SSR): on a block device' '--cleaner:Clean in the background, in the phases of ZUFS, with the knobs of Linux: gc_no_zoned_gc_percent (60), gc_boost_zoned_gc_percent (25), gc_valid_thresh_ratio (95), migration_window_granularity (3 segments), gc_boost_gc_multiple (5), gc_boost_gc_greedy (1), and segment (2MiB), pause (20ms), boost_pause (10ms)' '--iotailor:On zones: what is written to each waits in host memory until it is a superpage, or is synced, as IOTailor of ZMS does' '--page-cache:Keep the blocks last read or written in host memory, as the page cache of a kernel does: 4 KiB to 64 GiB' '--aged:First age an empty device: make files of 128 KiB and remove every second one, until files have this percentage of the space, the file that `files update` writes included' '--copy-offload:On zones: the device itself moves what is cleaned (NVMe Copy)' '--stats:Print the device'\''s counters at the end' '--out:Write DIR/sqlite.json' '--record:Write the commands to the device as a native trace') ;;
		'test') entries=('--all:every test, in 30 to 60 minutes on two cores' '--strict:takes a compiler'\''s warnings for errors, in this folder from now on until ./hartzone clean' '--filter:of all tests those with a matching name, e.g' '--list:builds, lists all tests with their labels, and runs none') ;;
		'bench') entries=('fabrics:4 KiB reads a second of the NVMe/TCP target: on blocks in memory, and on the device with its clock virtual and real' 'ftl:Instructions per 4 KiB read and write by stage, compared with the committed baseline' 'nand:The flash model against its configuration: fixed devices, or one device'\''s flash, in a host program'\''s memory and on the machine' 'rtl:libthread'\''s locks on the RTL of a real multi-core, and under the virtual clock with costs measured there: curves, errors, ranks' 'scaling:How many reads the firmware serves with more and more workers, on flash that is not the limit, beside the goals' 'trace:How many records a second ./hartzone trace reads, counts and converts, by format, and in how much memory' 'vclock:What the virtual clock costs on this host: hand-overs, instructions, and simulated I/Os per wall-clock second' 'walk:How far a reader has to walk who follows one command by its calls: files entered and left, on the development machine') ;;
		'study') entries=('conzone-contention:ConZone'\''s three shared structures, zone map, L2P cache and write buffers, from 1 to 12 workers: which contends, under which lock?' 'conzone-f2fs:F2FS'\''s metadata on conventional zones beside its logs on sequential ones: what each costs alone, and what they take from each other' 'conzone-fig6a:ConZone, figure 6 (a): sequential bandwidth of zoned flash against a legacy device of the same media' 'conzone-fig6b:ConZone, figure 6 (b): what it costs when two writers'\'' zones share one write buffer' 'conzone-fig7:ConZone, figure 7: random reads over growing ranges, with a page map and with a hybrid map' 'conzone-fig8:ConZone, figure 8: what a miss of the L2P cache costs when its level is known, searched for, or pinned' 'conzone-l2p-log:What it costs to bring the map to flash: size of its log, written in the background or blocking, and who waits for it' 'conzone-readings:ConZone, figure 6: writers that share buffers, under each reading of what the paper leaves open' 'conzone-sensitivity:What ConZone'\''s figures do when a parameter that the paper does not give is halved and doubled' 'conzone-slc-gc:What collecting the SLC region costs: victim policies and sizes of the region, against write amplification and tail latency' 'conzone-zone-size:Zones of TLC: a power of two whose ends lie in SLC (patched), against what a superblock holds (native)' 'energy:What energy a byte costs by medium and policy, and what a limit of the flash'\''s power costs: throughput, tails, and energy per byte' 'explain-presets:What limits ten devices, by experiment, and whether the elasticities of each one add up: a record of explain' 'fdp-locks:What placement by the host is worth to locks: writes of many workers to a block device, where each thread names a reclaim unit handle of its own (FDP)' 'fdp-waf:What placement by the host is worth: write amplification of a block device whose writes name a reclaim unit handle (FDP), against none' 'hardware-boundary:Which conclusions about locks depend on what is hardware, on the instructions in a cycle, and on the costs of synchronisation?' 'linux-fio:fio on Linux'\''s F2FS on ConZone'\''s device, from a recording of what F2FS sent: sizes, places and Flushes of its commands, next to our model of F2FS' 'linux-fragments:Fragments of a file on Linux'\''s F2FS that files have fragmented, on zones and on a block device, from recordings, next to hzfs and ZUFS'\''s Table 2' 'linux-rocksdb:RocksDB on Linux'\''s F2FS, from recordings of what it sent to the device, next to our own store of RocksDB'\''s files' 'linux-sqlite:SQLite'\''s inserts (write-ahead log) on Linux'\''s F2FS and ext4, from recordings of what they sent to the device, next to hzfs, our model of F2FS' 'lock-scaling:How far does the firmware scale with FTL workers, and which lock takes the rest?' 'mcmq-fig5:MCMQ, figure 5: throughput and latency of each flow as FTL threads are added, one namespace' 'mcmq-fig6:MCMQ, figure 6: what MQSim leaves out' 'mcmq-fig7:MCMQ, figure 7: four flows on one namespace, on namespaces that share the flash, and on namespaces with channels of their own' 'mcmq-table1:MCMQ, Table I: how long flash operations take on the device under load, beside real flash and MCMQ'\''s emulator' 'papers-side-by-side:The devices of all papers under one workload: bandwidth, latency, write amplification, memory, and what the firmware spends' 'plp-capacitance:Selective power-loss protection: the energy that capacitors must hold, selective against full' 'plp-fig10:Selective power-loss protection, figure 10: RocksDB'\''s fillseq over the size of the write buffers' 'plp-fig11:Selective power-loss protection, figure 11: RocksDB'\''s overwrite over the size of the write buffers' 'plp-fig12:Selective power-loss protection, figure 12: RocksDB'\''s fillseq over the size of the protected buffer' 'plp-fig13:Selective power-loss protection, figure 13: how long capacitors must last, in-place against balanced flush' 'plp-overlap:Selective power-loss protection: RocksDB'\''s threads beside each other, over where a zone lies and how long the host computes' 'rain-uber:What parity over the dies (RAIN) is worth and costs: unreadable sectors before and after, bytes programmed, throughput, latency, and locks' 'trim-waf:What trims are worth: write amplification of a block device'\''s collector against zones that the host collects, on the same media' 'zms-multizone:ZMS, writing to three zones at once: what IOTailor saves of SLC, and what it costs the host' 'zms-random-read:ZMS, random reads over 8 GiB: a map of zones against a map of pages whose cache misses, by the size of that cache' 'zms-random-write:ZMS, random overwrites through a log-structured host: how much is programmed and how fast, on zones and on a block device' 'zms-sync-update:ZMS, synchronous updates: 4 KiB and a sync, and SQLite'\''s inserts, in place, appended, and in place within a budget' 'zrwa-log:What zone random write areas are worth: a log'\''s half full block, and the partial parity of RAID over zones, written again or appended' 'zufs-fig4:ZUFS, figure 4: how long a MB that is read or written takes, by the fragmentation of the files on a block device' 'zufs-fig7:ZUFS, figure 7: throughput of zoned and of conventional UFS, by range and by request size of random reads' 'zufs-fig8:ZUFS, figure 8: write throughput by how much is flushed at once, and whether zones share the memory of their buffers' 'zufs-fig9-10:ZUFS, figures 9 and 10: throughput and segments while files fragment the device, with zones and as the block device cufs' 'zufs-population:ZUFS, figure 4, over a population: block devices of drawn use and age, how fragmented they are, and how long a MB takes on each') ;;
		'explain') entries=('-h:show this help message and exit' '--help:show this help message and exit' '--device:the device, default lock-scaling: a YAML file, or the name of one in configs/devices' '--workload:the workload, default lock-scaling: a YAML file, or the name of one in configs/workloads' '--workers:FTL workers' '--threads:host threads' '--commands:commands of each thread' '--seeds:comma-separated seeds, the same ones for each cost (default: 1,2,3,4,5)' '--change:per cent by which each cost is made cheaper and dearer (default: 10)' '--costs:groups: seven costs, of which each is a group of those of all' '--jobs:runs at a time' '--out:folder for explain.json and each run (default: results/explain)' '--resume:keep the runs that an earlier call left in --out, if files and programs are the same' '--quick:groups of costs and three seeds, but for what other options say') ;;
		'calibrate') entries=('-h:show this help message and exit' '--help:show this help message and exit' '--out:the file with the costs, for --device and --costs (default: results/calibrate/clock.yml)' '--device:put the costs into this device: --out is a copy of it then: a YAML file, or the name of one in configs/devices' '--cpus:CPUs to measure, such as 0-3 or 0,2,4' '--threads:the most of these CPUs to use (default: 64)' '--repeats:how often each figure is measured (default: 15)' '--cases:lock benchmarks: L1, L2, L3 (default: L1,L2,L3)' '--locks:kinds of locks: tas, ttas, ticket, mcs, clh, backoff, rw, cohort, seq, combine (default: tas,ttas,ticket,mcs,clh,backoff)' '--seed:seed of everything random (default: 1)' '--json:print all figures, costs, remarks and curves as JSON, not tables' '--quick:three repeats, case L1 and three kinds, but for what other options say') ;;
		'record-trace') entries=('-h:show this help message and exit' '--help:show this help message and exit' '--out:file to write, compressed by xz if it ends in .xz (default: traces/NAME.hzt.xz)') ;;
		'setup') entries=('--check:only say what is missing' '--to-build:only what building takes' '--rest:only what else runs, tests and plots take, and QEMU' '--daemon:only build the daemon, where one must be built and there is a cargo' '--snakemake:only install snakemake, which nothing needs but studies with --engine snakemake' '--verilator:only install Verilator, which nothing needs but ./hartzone bench rtl' '--linux:only install QEMU for x86, which nothing needs but ./hartzone linux') ;;
		'build') entries=('--with:adds what lies in DIR, from now on: lock kinds, policies of garbage collection and device keys (lock_kinds.def, device_keys.yaml, *.c), and by their names devices/*.yaml, workloads/*.yaml, studies/NAME/study.py' '--without:leaves it out again') ;;
		'linux') entries=('--kernel:Debian'\''s package of the kernel' '--memory:of the guest' '--accel:How the guest runs: by KVM where that works, else emulated, which takes ten to twenty seconds to boot' '--help:This') ;;
		'clean') entries=() ;;
esac
[[ -n $command || ! -e ${words[1]:h}/CMakePresets.json ]] || entries+=('test:of a source tree' 'bench:of a source tree' 'study:of a source tree' 'explain:of a source tree' 'calibrate:of a source tree' 'record-trace:of a source tree' 'setup:of a source tree' 'build:of a source tree' 'linux:of a source tree' 'clean:of a source tree')
_describe hartzone entries
[[ $PREFIX == -* || -z $command ]] || case $command in image|trace) ;; *) _files ;; esac
