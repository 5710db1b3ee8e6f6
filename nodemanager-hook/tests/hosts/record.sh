#!/bin/sh
# Records the files of a group whose process has computed, allocated memory and written to a disk under
# limits, and the host's hierarchies, for tests that need no root.
#
#   record.sh FOLDER DIRECTORY-ON-A-DISK      as root; makes the group elastane-record and removes it
set -eu
folder=$1 directory=$2 name=elastane-record
mkdir -p "$folder/group"

work() {
    python3 - "$directory/elastane-record.data" <<'PYTHON'
import os, sys, time
held = bytearray(48 << 20)
for page in range(0, len(held), 4096):
    held[page] = 1
until = time.process_time() + 1.5
while time.process_time() < until:
    pass
file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_DIRECT)
block = memoryview(__import__("mmap").mmap(-1, 1 << 20))
for _ in range(8):
    os.write(file, block)
os.close(file)
os.unlink(sys.argv[1])
print("ready", flush=True)
time.sleep(60)
PYTHON
}

if grep -q cgroup_no_v1=all /proc/cmdline; then
    places=/sys/fs/cgroup/$name
    echo "+cpu +memory +io" >/sys/fs/cgroup/cgroup.subtree_control
else
    places="/sys/fs/cgroup/cpu/$name /sys/fs/cgroup/cpuacct/$name /sys/fs/cgroup/memory/$name
        /sys/fs/cgroup/blkio/$name"
fi
disk=$(stat -c %d "$directory")
device=$((disk >> 8 & 0xfff)):$((disk & 0xff))
mkdir $places
put_back() {
    for place in $places; do
        while pids=$(cat "$place/cgroup.procs") && [ -n "$pids" ]; do
            kill -9 $pids 2>/dev/null || sleep 0.1
        done
        rmdir "$place"
    done
}
trap put_back EXIT
set_to() {
    for place in $places; do
        [ ! -e "$place/$1" ] || echo "$2" >"$place/$1"
    done
}
set_to cpu.shares 2048
set_to cpu.weight 200
set_to cpu.cfs_quota_us 50000
set_to cpu.max "50000 100000"
set_to memory.limit_in_bytes 268435456
set_to memory.high 234881024
set_to memory.max 268435456
set_to blkio.throttle.write_bps_device "$device 16777216"
set_to io.max "$device wbps=16777216"
(
    for place in $places; do
        sh -c 'echo $PPID' >"$place/cgroup.procs"
    done
    work >"$folder/ready"
) &
until grep -q ready "$folder/ready" 2>/dev/null; do
    sleep 0.1
done
rm "$folder/ready"
# The files that the agent reads or writes.
for file in cgroup.procs cpu.stat cpuacct.usage cpu.shares cpu.cfs_quota_us cpu.cfs_period_us cpu.weight \
    cpu.max memory.stat memory.usage_in_bytes memory.limit_in_bytes memory.current memory.high memory.max \
    memory.events io.stat io.max blkio.throttle.read_bps_device blkio.throttle.write_bps_device; do
    for place in $places; do
        [ ! -f "$place/$file" ] || cat "$place/$file" >"$folder/group/$file"
    done
done
pid=$(tail -n 1 "$folder/group/cgroup.procs")
cp "/proc/$pid/cgroup" "$folder/cgroup"
for file in stat statm status io; do
    cat "/proc/$pid/$file" >"$folder/$file"
done
grep cgroup /proc/self/mountinfo >"$folder/mountinfo"
