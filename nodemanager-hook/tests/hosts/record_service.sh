#!/bin/sh
# Prints what a NodeManager sees that runs as a service of systemd: its groups, the controllers of version 2, and the
# mounts of the hierarchies. Leaves nothing behind. As root, in the guest of `make test-systemd`:
#
#   cd tests; ../target/venv/bin/python -m guest --boot systemd -- sh ../nodemanager-hook/tests/hosts/record_service.sh
set -eu
exec systemd-run --quiet --wait --pipe --unit=hadoop-nodemanager sh -c '
    for file in cgroup mountinfo; do
        echo "== $file"
        grep -E "cgroup|:/" /proc/self/$file
    done
    echo "== cgroup.controllers"
    cat /sys/fs/cgroup/cgroup.controllers /sys/fs/cgroup/unified/cgroup.controllers 2>/dev/null || true'
