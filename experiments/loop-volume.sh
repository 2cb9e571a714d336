#!/bin/sh
# Makes a volume out of files: a file system on loop devices, and removes it without a trace.
#
#     loop-volume.sh make DEVICES SIZE mkfs.ext4 [OPTION...]
#     loop-volume.sh remove
#
# For prepare and cleanup of a [[volume]], which say in STEELBENCH_VOLUME_PATH where it is mounted. The
# files of its devices lie beside that directory: PATH.1.img, PATH.2.img, ... They are sparse: only what
# is written takes space. LOOP_VOLUME_OPTIONS are options of its mount: compress=zstd. `remove` needs no complete volume: it undoes whatever part is there.
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

# The loop devices over our files, also over those that are removed already.
devices() {
    losetup --noheadings --output NAME,BACK-FILE | while read -r device file; do
        case $file in
            "$mount_point".[0-9]*.img*) echo "$device" ;;
        esac
    done
}

# Only what is mounted from our devices is unmounted.
unmount() {
    for try in 1 2 3 4 5; do
        source=$(findmnt --noheadings --output SOURCE --mountpoint "$mount_point" | tail -n 1) || return 0
        [ -n "$source" ] || return 0
        devices | grep -qx "$source" || fail "$mount_point is a mount of something else: $source"
        umount "$mount_point" && continue
        sleep "0.$try"
    done
    ! mountpoint -q "$mount_point" || fail "$mount_point cannot be unmounted"
}

remove() {
    unmount
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
    need losetup findmnt mount "$mkfs"
    # What a killed run has left.
    remove
    mkdir -p "$mount_point"
    members=
    for number in $(seq "$count"); do
        truncate --size "$size" "$mount_point.$number.img"
        device=$(losetup --find --show "$mount_point.$number.img")
        # Without the host's page cache in between, where its file system can do that.
        losetup --direct-io=on "$device" 2>/dev/null || true
        members="$members $device"
    done
    # The names of devices have no blanks.
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
