# shellcheck shell=sh
# Checks of the source of a release and of its packages. What this machine cannot check is printed
# as SKIPPED with the reason.

passed() { echo "passed: $*"; }
skipped() { echo "SKIPPED: $*"; }

# Licences and origins of crates, known vulnerabilities, and the oldest Rust that builds it.
check_source() {
    # Also the crates of systems for which nothing is built here.
    cargo fetch --quiet --locked
    cargo deny --offline check licenses bans sources
    passed "licences and origins of all crates"
    if cargo deny check advisories > "$TARGET/dist-tools/advisories" 2>&1; then
        passed "no crate has a known vulnerability"
    elif grep -q "failed to fetch advisory database" "$TARGET/dist-tools/advisories"; then
        skipped "known vulnerabilities: their list cannot be downloaded"
    else
        fail "$(cat "$TARGET/dist-tools/advisories")"
    fi
    rust=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    if ! rustup run "$rust" rustc --version > /dev/null 2>&1; then
        skipped "Rust $rust: rustup toolchain install $rust"
        return
    fi
    # Variables of the cargo that runs this would be used in place of the other's.
    env -u CARGO -u RUSTC -u RUSTUP_TOOLCHAIN rustup run "$rust" cargo check --quiet --locked \
        --package steelbench --features $features --target-dir "$TARGET/dist/oldest-rust"
    passed "Rust $rust compiles it"
}

# A program needs the C library alone, and no newer one than it may. One that was built for this
# machine need not be portable: it is only described.
check_linkage() {
    if ! has readelf; then
        skipped "libraries of the program: readelf is not installed"
        return
    fi
    newest=$(readelf --wide --dyn-syms "$work/steelbench" |
        sed -n 's/.* \([^ ]*\)@*GLIBC_\([0-9]*\.[0-9]*\).*/\2 \1/p' | tr -d @ | sort -V | tail -n 1)
    wrong=$(readelf --wide --dynamic "$work/steelbench" |
        sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
        grep -vE '^(lib(c|m)\.so\.6|libpthread\.so\.0|libdl\.so\.2|lib(rt|util)\.so\.1|ld-linux.*)$' |
        sed 's/^/the program needs /' || true)
    [ "$(printf '%s\n%s\n' "$glibc" "${newest% *}" | sort -V | tail -n 1)" = "$glibc" ] || wrong="$wrong
${newest#* } needs glibc ${newest% *}, newer than $glibc"
    echo "$triple: symbols up to GLIBC_${newest% *} (${newest#* })"
    [ -n "$wrong" ] || return 0
    [ -n "$binary" ] || [ $variant = sqlserver ] || fail "not fit to be handed out: $wrong"
    echo "accepted of a program for this machine: $wrong"
}

check_packages() {
    rm -rf "$work/again"
    mkdir "$work/again"
    pack "$work/again"
    diff -r "$output" "$work/again" || fail "two packings of one binary differ"
    passed "a second packing makes the same files"
    python3 - "$output/$release-$triple.cdx.json" << 'END'
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(sys.argv[1]).read())
sys.exit(str(error) if error else 0)
END
    passed "the bill of materials is valid CycloneDX 1.6"
    deb=$output/${package}_$VERSION-1_$debian.deb
    if has lintian; then
        lintian --allow-root --fail-on error,warning "$deb"
        passed "lintian"
    else
        skipped "lintian is not installed"
    fi
    if [ $variant = usual ] && has rpm; then
        rpm -qlp "$output"/*.rpm | sed 's,^/,,' | LC_ALL=C sort | diff "$work/files" - ||
            fail "the .rpm has other files than were staged"
        passed "rpm -qlp lists the $(wc -l < "$work/files") files"
    elif [ $variant = usual ]; then
        skipped "rpm is not installed"
    fi
    check_in_debian
}

# The package in a Debian that has nothing else: install, run the main job, remove. The list of files
# is the same before and after, apart from those that the package manager keeps of every package.
check_in_debian() {
    what="install, run and remove in a clean Debian"
    [ "$arch" = "$machine" ] || { skipped "$what: the package is for another machine" && return; }
    [ "$(id -u)" = 0 ] || { skipped "$what: only root can enter another root" && return; }
    has mmdebstrap || { skipped "$what: mmdebstrap is not installed" && return; }
    clean=$work/debian
    rm -rf --one-file-system "$clean"
    sources=/etc/apt/sources.list.d/debian.sources
    [ -e $sources ] || sources=/etc/apt/sources.list
    # Packages that every Debian has, and those that the package depends on.
    include=$(dpkg-deb --field "$deb" Depends | sed 's/ ([^)]*)//g; s/ *| *[^,]*//g; s/, */,/g')
    if ! mmdebstrap --quiet --variant=essential --include="$include" \
        "$(. /etc/os-release && echo "${VERSION_CODENAME:-stable}")" "$clean" $sources; then
        rm -rf --one-file-system "$clean"
        skipped "$what: it cannot be made"
        return
    fi
    cp "$deb" "$clean/tmp/steelbench.deb"
    cp "$here/clean-debian.sh" "$clean/tmp/steps"
    # The mount ends with its namespace.
    # shellcheck disable=SC2016 # for the inner shell
    unshare --mount --pid --fork sh -c 'mount -t proc proc "$1/proc" &&
        exec chroot "$1" sh /tmp/steps "$2"' sh "$clean" "$package" || used=failed
    rm -rf --one-file-system "$clean"
    [ -z "${used:-}" ] || fail "$what failed"
    passed "install, main job and removal"
}
