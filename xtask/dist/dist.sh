#!/bin/sh
# Builds the program for an old C library and packs it, for `cargo xtask dist`, which sets $ROOT,
# $TARGET (the target folder) and $VERSION.
set -eu
usage="usage: cargo xtask dist [--check] [--target x86_64 | aarch64] [--variant usual | sqlserver] \
[--profile NAME | --binary FILE]"
# The C library that programs must run with: that of Debian 10, RHEL 8 and Ubuntu 20.04 or newer.
glibc=2.28
here=$ROOT/xtask/dist
machine=$(uname -m)
checks="" arch=$machine variant=usual profile=release binary=""
fail() {
    printf '%s\n' "$*" >&2
    exit 1
}
while [ $# -gt 0 ]; do
    case "$1 ${2:-}" in
    --check\ *) checks=yes && shift && continue ;;
    "--target x86_64" | "--target aarch64") arch=$2 ;;
    "--variant usual" | "--variant sqlserver") variant=$2 ;;
    --profile\ ?*) profile=$2 ;;
    --binary\ ?*) binary=$(realpath "$2") ;;
    *) fail "$usage" ;;
    esac
    shift 2
done
# A built program, and one that is linked with the libraries of this machine, are for this machine.
[ -z "$binary" ] && [ "$variant" = usual ] || arch=$machine
case $variant in
usual) package=steelbench other=steelbench-sqlserver features= depends="libc6 (>= $glibc)" ;;
sqlserver) package=steelbench-sqlserver other=steelbench features=sqlserver depends='$auto' ;;
esac
# Features decide which libraries a built program needs.
[ -z "$binary" ] || depends='$auto'
case $arch in x86_64) debian=amd64 ;; aarch64) debian=arm64 ;; esac
triple=$arch-unknown-linux-gnu
release=$package-$VERSION
output=$TARGET/dist/$release
work=$TARGET/dist/work/$triple
cd "$ROOT"
export SOURCE_DATE_EPOCH STEELBENCH_COMMIT TZ=UTC
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
STEELBENCH_COMMIT=$(git log -1 --format=%H | cut -c 1-12)
. "$here/tools.sh"
. "$here/checks.sh"

# Builds the program; sets $built.
build() {
    rustc --print target-libdir --target "$triple" > "$work/libdir" 2> /dev/null || true
    [ -d "$(cat "$work/libdir")" ] || {
        echo "SKIPPED: $triple: Rust's libraries are not installed: rustup target add $triple"
        exit
    }
    # Paths of this machine must not get into the program.
    separator=$(printf '\037')
    remap="--remap-path-prefix=$ROOT=/steelbench"
    remap="$remap$separator--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo"
    case $variant in
    usual) set -- zigbuild --target "$triple.$glibc" ;;
    sqlserver) set -- build --target "$triple" ;;
    esac
    # The program to hand out is optimised as a whole, which takes long.
    export CARGO_PROFILE_RELEASE_OPT_LEVEL=3 CARGO_PROFILE_RELEASE_LTO=thin
    export CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_DEBUG=line-tables-only
    CARGO_ENCODED_RUSTFLAGS=$remap cargo "$@" --locked --package steelbench --features "$features" \
        --profile "$profile"
    case $profile in dev) folder=debug ;; *) folder=$profile ;; esac
    built=$TARGET/$triple/$folder/steelbench
}

# A program of the same source that runs here, which writes pages and completions: sets $runner.
find_runner() {
    runner=$work/steelbench
    [ "$arch" != "$machine" ] || return 0
    runner=$TARGET/dist/work/$machine-unknown-linux-gnu/steelbench
    [ ! -x "$runner" ] || return 0
    cargo build --quiet --locked --package steelbench --features "$features"
    runner=$TARGET/debug/steelbench
}

# Puts all files into the folder `root`, as they lie on a system.
stage() {
    root=$work/root
    doc=$root/usr/share/doc/steelbench
    rm -rf "$root" "$work/pages"
    install -D -m 755 "$work/steelbench" "$root/usr/bin/steelbench"
    "$runner" man "$work/pages" > /dev/null
    for page in "$work/pages"/*; do
        install -D -m 644 "$page" "$root/usr/share/man/man${page##*.}/${page##*/}"
    done
    while read -r shell path; do
        "$runner" completions "$shell" > "$work/completions"
        install -D -m 644 "$work/completions" "$root/usr/share/$path"
    done << END
bash bash-completion/completions/steelbench
zsh zsh/site-functions/_steelbench
fish fish/vendor_completions.d/steelbench.fish
END
    git ls-files docs experiments README.md CHANGELOG.md 'LICENSE-*' > "$work/documents"
    while read -r file; do
        case $file in
        experiments/*) install -D -m 644 "$file" "$root/usr/share/steelbench/$file" ;;
        *) install -D -m 644 "$file" "$doc/$file" ;;
        esac
    done < "$work/documents"
    find "$root" -name '*.sh' -exec chmod 755 {} +
    python3 "$here/materials.py" "$triple" "$features" "$package" "$VERSION" "$STEELBENCH_COMMIT" \
        "$(git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd)" "$doc"
    (cd "$root" && find usr -type f | LC_ALL=C sort) > "$work/files"
}

# A package of cargo whose manifest lists the content, which cargo-deb and cargo-generate-rpm read.
write_project() {
    project=$work/project
    rm -rf "$project"
    mkdir -p "$project/src"
    echo "fn main() {}" > "$project/src/main.rs"
    { cat "$here/copyright" && sed 's/^$/./; s/^/ /' LICENSE-MIT && echo " ." &&
        echo " The text of Apache-2.0 is in /usr/share/common-licenses/Apache-2.0."; } \
        > "$project/copyright"
    { echo "# Packages are for direct installation; no bug of Debian's archive asks for one." &&
        echo "$package: initial-upload-closes-no-bugs"; } > "$project/overrides"
    maintainer="Steelbench authors <steelbench@users.noreply.github.com>"
    printf '%s (%s-1) unstable; urgency=medium\n\n  * %s\n\n -- %s  %s\n' "$package" "$VERSION" \
        "Release $VERSION; CHANGELOG.md lists the changes." "$maintainer" \
        "$(git log -1 --format=%cD)" > "$project/changelog"
    # Debian's own copyright file has the texts of the licences.
    awk -v root="$root" -v deb="$work/deb" -v rpm="$work/rpm" '{
        to = $0
        gsub("zsh/site-functions", "zsh/vendor-completions", to)
        gsub("CHANGELOG.md", "changelog", to)
        mode = /^usr\/bin\/|[.]sh$/ ? 755 : 644
        if (!/\/LICENSE-/) printf "    [\"%s/%s\", \"%s\", \"%s\"],\n", root, $0, to, mode > deb
        printf "    { source = \"%s/%s\", dest = \"/%s\", mode = \"%s\", doc = %s },\n",
            root, $0, $0, mode, /^usr\/share\/doc\/steelbench/ ? "true" : "false" > rpm
    }' "$work/files"
    sed "s/@PACKAGE@/$package/; s/@OTHER@/$other/; s/@VERSION@/$VERSION/; s/@GLIBC@/$glibc/
        s/@MAINTAINER@/$maintainer/; s/@DEPENDS@/$depends/
        /@DEB@/{r $work/deb
        d}
        /@RPM@/{r $work/rpm
        d}" "$here/manifest.toml" > "$project/Cargo.toml"
}

# Writes the packages of the target to a folder; prints their names.
pack() {
    (
        cd "$project"
        cargo deb --no-build --no-strip --offline --quiet --target "$triple" --output "$1" > /dev/null
        [ $variant = sqlserver ] || cargo generate-rpm --auto-req disabled --arch "$arch" \
            --payload-compress xz --output "$1" > /dev/null # all rpm since RHEL 7 read xz
    )
    cp "$doc/steelbench.cdx.json" "$1/$release-$triple.cdx.json"
    if [ $variant = usual ]; then
        # The bytes depend on the number of threads.
        tar --create --format=gnu --sort=name --owner=0 --group=0 --numeric-owner --mode=u+rw,go=rX \
            --mtime="@$SOURCE_DATE_EPOCH" --transform="s,^usr,$release-$triple," \
            --directory "$root" usr | xz --threads=1 > "$1/$release-$triple.tar.xz"
    fi
}

# Recipes for other package managers: generated, and not built here.
write_recipes() {
    mkdir -p "$output/packaging"
    sum=$(sha256sum "$output/$release-$triple.tar.xz" | cut -d ' ' -f 1)
    case $arch in x86_64) condition=on_intel ;; aarch64) condition=on_arm ;; esac
    for recipe in Dockerfile steelbench.rb flake.nix; do
        sed "s/@VERSION@/$VERSION/g; s/@COMMIT@/$STEELBENCH_COMMIT/; s/@CONDITION@/$condition/
            s/@ARCHIVE@/$release-$triple.tar.xz/; s/@SUM@/$sum/" "$here/$recipe" \
            > "$output/packaging/$recipe"
    done
}

install_tools
[ -z "$checks" ] || check_source
rm -rf "$output"
mkdir -p "$output" "$work"
if [ -n "$binary" ]; then built=$binary; else build; fi
# A tool of Rust knows programs of all machines.
sysroot=$(rustc --print sysroot)
LD_LIBRARY_PATH=$sysroot/lib "$sysroot/lib/rustlib/$machine-unknown-linux-gnu/bin/rust-objcopy" \
    --strip-all "$built" "$work/steelbench"
check_linkage
find_runner
stage
write_project
pack "$output"
[ -z "$checks" ] || check_packages
[ $variant = sqlserver ] || write_recipes
cd "$output"
find . -type f -printf '%P\n' | LC_ALL=C sort > "$work/made"
xargs sha256sum < "$work/made" > SHA256SUMS
echo "$output"
xargs stat -c '%s %n' < "$work/made" | awk '{ printf "%12.1f KiB  %s\n", $1 / 1024, $2 }'
