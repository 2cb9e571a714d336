#!/bin/sh
# Takes guests out of a copy of the workspace, each by itself, and builds the program without it:
# its folder goes, and the lines of manifests and of the registry that name it or a crate in its
# folder. For `cargo xtask detach [NAME...]`, which sets $ROOT and $TARGET (the target folder).
# Tests are not copied: they try guests together.
set -eu
export CARGO_TARGET_DIR="$TARGET"
copy=$TARGET/detach
rm -rf "$copy"
mkdir -p "$copy"
cd "$ROOT"
git ls-files -z ':!*/tests/*' ':!xtask' | xargs -0 cp --parents --preserve=timestamps -t "$copy"
cd "$copy"
sed -i 's|"crates/testing", ||; s|, "xtask"||' Cargo.toml
for manifest in Cargo.toml $(find crates -name Cargo.toml); do
    awk '/^\[/ { is_test = /^\[dev-dep|^\[\[(test|bench|example)/ } !is_test' "$manifest" > plain
    mv plain "$manifest"
done
lists="Cargo.toml crates/cli/Cargo.toml crates/cli/src/registry.rs crates/cli/src/commands.rs
    crates/designs/src/lib.rs"
tar -cf lists.tar $lists
# Folders that others are built on are no guests.
guests=$(ls -d crates/engines/* crates/studies/* crates/tools/* |
    grep -v engines/servers; dirname crates/designs/src/*/file.rs crates/designs/*/Cargo.toml)
for name in "$@"; do
    echo "$guests" | grep -q "/$name\$" || { echo "no guest $name among" $guests >&2 && exit 1; }
done
attached=""
for folder in $guests; do
    name=${folder##*/}
    case " ${*:-$name} " in *" $name "*) ;; *) continue ;; esac
    # With the crate of its data plane, if it has one.
    inner=$(sed -n 's/^name = "\(.*\)"/|\1/p' "$folder"/*/Cargo.toml 2> /dev/null | tr -d '\n')
    # A design also has a file beside its folder.
    parts=$(ls -d "$folder" "$folder.rs" 2> /dev/null) || true
    tar -cf guest.tar $parts
    rm -r $parts
    sed -i -E "/(^|[^a-z_:])$name::|^(package\.)?($name$inner)(\.| = \{ path)|engine: \"$name\"|\"$name\/|\/$name[\/\"]|mod $name;/d" $lists
    if cargo check --quiet --package steelbench; then
        echo "detached $folder"
    else
        attached="$attached $name" && echo "ATTACHED $folder"
    fi
    tar -xf guest.tar
    tar -xf lists.tar
done
[ -z "$attached" ] || { echo "the program does not build without$attached" >&2 && exit 1; }
