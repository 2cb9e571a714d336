#!/bin/sh
# Creates a volume from files: a file system on loop devices. Removes it completely.
#
#     loop-volume.sh make DEVICES SIZE mkfs.ext4 [OPTION...]
#     loop-volume.sh remove
#
# For prepare and cleanup of a [[volume]]. STEELBENCH_VOLUME_PATH is the mount point; the sparse
# files of the devices are beside it: PATH.1.img, PATH.2.img, ... LOOP_VOLUME_OPTIONS are mount
# options, for example compress=zstd. LOOP_VOLUME_ARRAY are options of mdadm that make one array of
# the devices: --level=0 --chunk=64. `remove` also removes an incomplete volume.
set -eu

mount_point=$(realpath -m "${STEELBENCH_VOLUME_PATH:?is set by steelbench; the volume is mounted there}")

fail() {
    echo "loop-volume.sh: $*"
    exit 1
}

need() {
    [ "$(id -u)" = 0 ] || fail "needs root for loop devices and mounts"
    for program in "$@"; do
        command -v "$program" >/dev/null || fail "$program is missing; install the package that has it"
    done
}

# The loop devices over these files, removed ones included.
devices() {
    losetup --noheadings --output NAME,BACK-FILE | while read -r device file; do
        case $file in
            "$mount_point".[0-9]*.img*) echo "$device" ;;
        esac
    done
}

# The arrays of these devices.
arrays() {
    for device in $(devices); do
        for holder in "/sys/block/${device#/dev/}/holders"/md*; do
            if [ -e "$holder" ]; then echo "/dev/${holder##*/}"; fi
        done
    done | sort -u
}

# Unmount only these devices and arrays.
unmount() {
    for try in 1 2 3 4 5; do
        source=$(findmnt --noheadings --output SOURCE --mountpoint "$mount_point" | tail -n 1) || return 0
        [ -n "$source" ] || return 0
        { devices; arrays; } | grep -qx "$source" || fail "$mount_point is a mount of something else: $source"
        umount "$mount_point" && continue
        sleep "0.$try"
    done
    ! mountpoint -q "$mount_point" || fail "$mount_point cannot be unmounted"
}

remove() {
    unmount
    for array in $(arrays); do mdadm --quiet --stop "$array"; done
    for device in $(devices); do
        # The kernel remembers the devices of a btrfs that is no longer mounted.
        btrfs device scan --forget "$device" >/dev/null 2>&1 || true
        losetup --detach "$device"
    done
    rm -f "$mount_point".[0-9]*.img
    if [ -d "$mount_point" ]; then
        rmdir "$mount_point"
    fi
}

make() {
    count=$1 size=$2 mkfs=$3
    shift 3
    need losetup findmnt mount "$mkfs" ${LOOP_VOLUME_ARRAY:+mdadm}
    # Leftovers of a killed run.
    remove
    mkdir -p "$mount_point"
    members=
    for number in $(seq "$count"); do
        truncate --size "$size" "$mount_point.$number.img"
        device=$(losetup --find --show "$mount_point.$number.img")
        # Bypass the host's page cache where its file system permits it.
        losetup --direct-io=on "$device" 2>/dev/null || true
        members="$members $device"
    done
    if [ -n "${LOOP_VOLUME_ARRAY:-}" ]; then
        number=0
        while [ -e "/dev/md$number" ]; do number=$((number + 1)); done
        # Options and device names have no blanks. Without --run it asks about old contents.
        # shellcheck disable=SC2086
        mdadm --quiet --create "/dev/md$number" --run $LOOP_VOLUME_ARRAY --raid-devices="$count" $members
        device=/dev/md$number members=$device count=1
    fi
    # Device names have no blanks.
    # shellcheck disable=SC2086
    "$mkfs" "$@" $members
    options=noatime${LOOP_VOLUME_OPTIONS:+,$LOOP_VOLUME_OPTIONS}
    if [ "$count" -gt 1 ]; then
        for device in $members; do options="$options,device=$device"; done
    fi
    mount -o "$options" "$device" "$mount_point"
    findmnt --noheadings --output FSTYPE,SOURCE,OPTIONS --mountpoint "$mount_point"
}

case ${1:-} in
    make) shift && [ $# -ge 3 ] || fail "make wants DEVICES SIZE MKFS"; make "$@" ;;
    remove) need losetup findmnt umount; remove ;;
    *) fail "make or remove?" ;;
esac
