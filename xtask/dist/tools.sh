# shellcheck shell=sh
# Tools of the packing, installed into the target folder where they are missing.

# A C compiler for C libraries of any version, cargo with it, and a validator of bills of materials.
python_packages="ziglang==0.17.1 cargo-zigbuild==0.24.1
    cyclonedx-python-lib[json-validation]==11.12.0"

has() { command -v "$1" > /dev/null; }

# Installs a package of the system for a program, where that is possible.
install_program() {
    has "$1" || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
        --no-install-recommends "$2"; } || echo "some checks will be SKIPPED: $1 is not installed"
}

# Builds a program from its crate, little optimised: it runs once.
install_crate() {
    has "${1%@*}" || CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_LTO=false \
        CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 cargo install --quiet --locked "$1" \
        --root "$tools" --target-dir "$tools/build"
}

install_tools() {
    tools=$TARGET/dist-tools
    marker=$tools/python/installed-$(echo "$python_packages" | cksum | tr -d ' ')
    if [ ! -e "$marker" ]; then
        python3 -m venv "$tools/python"
        # shellcheck disable=SC2086 # several packages
        "$tools/python/bin/pip" install --quiet --disable-pip-version-check $python_packages
        touch "$marker"
    fi
    PATH=$tools/python/bin:$tools/bin:$PATH
    install_crate cargo-deb@3.8.0
    install_crate cargo-generate-rpm@0.21.1
    install_program xz xz-utils
    [ -n "$checks" ] || return 0
    install_crate cargo-deny@0.20.2
    install_program readelf binutils
    install_program lintian lintian
    install_program rpm rpm
    install_program mmdebstrap mmdebstrap
}
