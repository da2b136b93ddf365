# Completion of bash for hartzone, written by scripts/update-cli from the texts of --help.
# SPDX-License-Identifier: BSD-3-Clause
_hartzone() {
	local cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command= words= files= folder
	[ "$COMP_CWORD" -lt 2 ] || command=${COMP_WORDS[1]}
	case $command in
		image|trace) [ "$COMP_CWORD" -lt 3 ] || [[ ${COMP_WORDS[2]} == -* ]] || command+=" ${COMP_WORDS[2]}" ;;
	esac
	case "$command $previous" in
		"run --workload") files=workloads ;;
		"run --trace") files=1 ;;
		"run --threads") files=0 ;;
		"run --namespaces") files=0 ;;
		"run --queue-depth") files=0 ;;
		"run --mapping") words='log direct' ;;
		"run --iotailor") files=0 ;;
		"run --prepared") words='anew kept' ;;
		"run --ahead") files=0 ;;
		"run --format") words='auto native fio2 fio3 mqsim msr alibaba tencent spc vscsi disksim fiu systor thesios blkparse blktrace blktrace2 vscsi1 vscsi2 oracle-general' ;;
		"run --time-unit") files=0 ;;
		"run --skip-bad") files=0 ;;
		"run --max-ops") files=0 ;;
		"run --split") words='auto address stream' ;;
		"run --record") files=1 ;;
		"run --time-scale") files=0 ;;
		"run --power-cut-at") files=0 ;;
		"run --clock-jitter") files=0 ;;
		"run --timeline") files=1 ;;
		"run --out") files=1 ;;
		"run --device") files=devices ;;
		"run --workers") files=0 ;;
		"run --clock") words='virtual real' ;;
		"run --vclock") words='preset= mhz= insn= local= remote= far= memory= occupancy= wake= pause= ipi= data= reads= cluster= cache_bytes= cache_ways= load= store= mul= div= branch= csr= store_buffer= clean= busy= dispatch= arbiter= loop_exit= lr= pause_multiple= div_bit= l2_bytes= l2_ways= l2=' ;;
		"run --image") files=1 ;;
		"run --seed") files=0 ;;
		"run --firmware") files=1 ;;
		"run --console") files=1 ;;
		"run --attach") files=1 ;;
		"info --device") files=devices ;;
		"info --workers") files=0 ;;
		"info --clock") words='virtual real' ;;
		"info --vclock") words='preset= mhz= insn= local= remote= far= memory= occupancy= wake= pause= ipi= data= reads= cluster= cache_bytes= cache_ways= load= store= mul= div= branch= csr= store_buffer= clean= busy= dispatch= arbiter= loop_exit= lr= pause_multiple= div_bit= l2_bytes= l2_ways= l2=' ;;
		"info --image") files=1 ;;
		"info --seed") files=0 ;;
		"info --firmware") files=1 ;;
		"info --console") files=1 ;;
		"info --attach") files=1 ;;
		"trace detect --format") words='auto native fio2 fio3 mqsim msr alibaba tencent spc vscsi disksim fiu systor thesios blkparse blktrace blktrace2 vscsi1 vscsi2 oracle-general' ;;
		"trace detect --time-unit") files=0 ;;
		"trace detect --skip-bad") files=0 ;;
		"trace summary --format") words='auto native fio2 fio3 mqsim msr alibaba tencent spc vscsi disksim fiu systor thesios blkparse blktrace blktrace2 vscsi1 vscsi2 oracle-general' ;;
		"trace summary --time-unit") files=0 ;;
		"trace summary --skip-bad") files=0 ;;
		"trace convert --format") words='auto native fio2 fio3 mqsim msr alibaba tencent spc vscsi disksim fiu systor thesios blkparse blktrace blktrace2 vscsi1 vscsi2 oracle-general' ;;
		"trace convert --time-unit") files=0 ;;
		"trace convert --skip-bad") files=0 ;;
		"trace convert --out") files=1 ;;
		"trace cut --format") words='auto native fio2 fio3 mqsim msr alibaba tencent spc vscsi disksim fiu systor thesios blkparse blktrace blktrace2 vscsi1 vscsi2 oracle-general' ;;
		"trace cut --time-unit") files=0 ;;
		"trace cut --skip-bad") files=0 ;;
		"trace cut --out") files=1 ;;
		"trace cut --from") files=0 ;;
		"trace cut --to") files=0 ;;
		"trace cut --skip") files=0 ;;
		"trace cut --records") files=0 ;;
		"trace scale --format") words='auto native fio2 fio3 mqsim msr alibaba tencent spc vscsi disksim fiu systor thesios blkparse blktrace blktrace2 vscsi1 vscsi2 oracle-general' ;;
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
		"nvme --clock") words='virtual real' ;;
		"nvme --vclock") words='preset= mhz= insn= local= remote= far= memory= occupancy= wake= pause= ipi= data= reads= cluster= cache_bytes= cache_ways= load= store= mul= div= branch= csr= store_buffer= clean= busy= dispatch= arbiter= loop_exit= lr= pause_multiple= div_bit= l2_bytes= l2_ways= l2=' ;;
		"nvme --image") files=1 ;;
		"nvme --seed") files=0 ;;
		"nvme --firmware") files=1 ;;
		"nvme --console") files=1 ;;
		"nvme --attach") files=1 ;;
		"serve --device") files=devices ;;
		"serve --workers") files=0 ;;
		"serve --clock") words='virtual real' ;;
		"serve --vclock") words='preset= mhz= insn= local= remote= far= memory= occupancy= wake= pause= ipi= data= reads= cluster= cache_bytes= cache_ways= load= store= mul= div= branch= csr= store_buffer= clean= busy= dispatch= arbiter= loop_exit= lr= pause_multiple= div_bit= l2_bytes= l2_ways= l2=' ;;
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
		"fio --clock") words='virtual real' ;;
		"fio --vclock") words='preset= mhz= insn= local= remote= far= memory= occupancy= wake= pause= ipi= data= reads= cluster= cache_bytes= cache_ways= load= store= mul= div= branch= csr= store_buffer= clean= busy= dispatch= arbiter= loop_exit= lr= pause_multiple= div_bit= l2_bytes= l2_ways= l2=' ;;
		"fio --image") files=1 ;;
		"fio --seed") files=0 ;;
		"fio --firmware") files=1 ;;
		"fio --console") files=1 ;;
		"fio --attach") files=1 ;;
		"files --device") files=devices ;;
		"files --workers") files=0 ;;
		"files --clock") words='virtual real' ;;
		"files --vclock") words='preset= mhz= insn= local= remote= far= memory= occupancy= wake= pause= ipi= data= reads= cluster= cache_bytes= cache_ways= load= store= mul= div= branch= csr= store_buffer= clean= busy= dispatch= arbiter= loop_exit= lr= pause_multiple= div_bit= l2_bytes= l2_ways= l2=' ;;
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
		"rocksdb --clock") words='virtual real' ;;
		"rocksdb --vclock") words='preset= mhz= insn= local= remote= far= memory= occupancy= wake= pause= ipi= data= reads= cluster= cache_bytes= cache_ways= load= store= mul= div= branch= csr= store_buffer= clean= busy= dispatch= arbiter= loop_exit= lr= pause_multiple= div_bit= l2_bytes= l2_ways= l2=' ;;
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
		"sqlite --clock") words='virtual real' ;;
		"sqlite --vclock") words='preset= mhz= insn= local= remote= far= memory= occupancy= wake= pause= ipi= data= reads= cluster= cache_bytes= cache_ways= load= store= mul= div= branch= csr= store_buffer= clean= busy= dispatch= arbiter= loop_exit= lr= pause_multiple= div_bit= l2_bytes= l2_ways= l2=' ;;
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
		"explain --costs") words='groups all' ;;
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
		"linux --accel") words='auto kvm tcg' ;;
	esac
	case $files in
		0) return ;;
		devices | workloads) # files, and the names of those that come with the program
			folder=$(dirname "$(type -P -- "$1" || echo "$1")")
			words=$(for file in "$folder"/configs/$files/*.yaml "$folder"/../share/hartzone/configs/$files/*.yaml; do
				[ ! -e "$file" ] || basename "$file" .yaml
			done) ;;
	esac
	if [ -z "$files$words" ]; then
		case $command in
		'') words='run info compare trace image verify nvme serve fio files rocksdb sqlite -h --help --version' ;;
		'run') words='-h --help --workload --trace --threads --namespaces --queue-depth --mapping --iotailor --prepared --quick --no-verify --ahead --format --time-unit --skip-bad --max-ops --split --timestamps --as-recorded --by-dependencies --record --time-scale --power-cut-at --race-check --clock-jitter --timeline --out --device --workers --clock --vclock --image --seed --firmware --console --format-image --attach --overwrite' ;;
		'info') words='-h --help --device --workers --clock --vclock --image --seed --firmware --console --attach --zones --memory' ;;
		'compare') words='-h --help --json' ;;
		'trace') words='detect summary convert cut scale -h --help' ;;
		'trace detect') words='-h --help --format --time-unit --skip-bad --json' ;;
		'trace summary') words='-h --help --format --time-unit --skip-bad --json' ;;
		'trace convert') words='-h --help --format --time-unit --skip-bad --out' ;;
		'trace cut') words='-h --help --format --time-unit --skip-bad --out --from --to --skip --records' ;;
		'trace scale') words='-h --help --format --time-unit --skip-bad --out --time --addresses' ;;
		'image') words='check -h --help' ;;
		'image check') words='-h --help --device --json' ;;
		'verify') words='-h --help --image --device --firmware --console' ;;
		'nvme') words='-h --help --device --workers --clock --vclock --image --seed --firmware --console --attach' ;;
		'serve') words='-h --help --device --workers --clock --vclock --image --seed --firmware --console --power-cut-at --nvme-tcp --open --allow-host --dhchap-secret --dhchap-ctrl-secret --name --lanes --transport --slow-down --record --list' ;;
		'fio') words='-h --help --device --workers --clock --vclock --image --seed --firmware --console --attach' ;;
		'files') words='-h --help --device --workers --clock --vclock --image --seed --firmware --console --size --count --small-files --reread --hold --warm-up --sync-every --namespace --in-place --slack --cleaner --iotailor --page-cache --aged --copy-offload --out' ;;
		'rocksdb') words='-h --help --device --workers --clock --vclock --image --seed --firmware --console --attach --power-cut-at --namespace --keys --sync-every --memtable --out --record --acked' ;;
		'sqlite') words='-h --help --device --workers --clock --vclock --image --seed --firmware --console --attach --power-cut-at --compute --namespace --in-place --slack --cleaner --iotailor --page-cache --aged --copy-offload --stats --out --record' ;;
		'test') words='--all --strict --filter --list' ;;
		'bench') words='fabrics ftl nand rtl scaling trace vclock walk' ;;
		'study') words='conzone-contention conzone-f2fs conzone-fig6a conzone-fig6b conzone-fig7 conzone-fig8 conzone-l2p-log conzone-readings conzone-sensitivity conzone-slc-gc conzone-zone-size energy explain-presets fdp-locks fdp-waf hardware-boundary linux-fio linux-fragments linux-rocksdb linux-sqlite lock-scaling mcmq-fig5 mcmq-fig6 mcmq-fig7 mcmq-table1 papers-side-by-side plp-capacitance plp-fig10 plp-fig11 plp-fig12 plp-fig13 plp-overlap rain-uber trim-waf zms-multizone zms-random-read zms-random-write zms-sync-update zrwa-log zufs-fig4 zufs-fig7 zufs-fig8 zufs-fig9-10 zufs-population' ;;
		'explain') words='-h --help --device --workload --workers --threads --commands --seeds --change --costs --jobs --out --resume --quick' ;;
		'calibrate') words='-h --help --out --device --cpus --threads --repeats --cases --locks --seed --json --quick' ;;
		'record-trace') words='-h --help --out' ;;
		'setup') words='--check --to-build --rest --daemon --snakemake --verilator --linux' ;;
		'build') words='--with --without' ;;
		'linux') words='--kernel --memory --accel --help' ;;
		'clean') words='' ;;
		esac
		[ -n "$command" ] || [ ! -e "$(dirname "$1")/CMakePresets.json" ] || words+=' test bench study explain calibrate record-trace setup build linux clean'
		[[ $cur == -* || -z $command ]] || case $command in image|trace) ;; *) files=1 ;; esac
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur"; [ -z "$files" ] || compgen -f -- "$cur")
	[ -z "$files" ] || compopt -o filenames
	[[ $words != *= ]] || compopt -o nospace
}
complete -F _hartzone hartzone ./hartzone
