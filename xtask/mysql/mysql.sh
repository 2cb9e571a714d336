#!/bin/sh
# Makes the folder $1 with the programs of a MySQL server to test on. Debian has it in its unstable
# release alone, whose libraries are newer than the system's: it is unpacked with them and started by
# their loader. Nothing of the system changes.
set -eu
folder=$1 made=$1.unfinished
root=$made/root state=$made/apt
rm -rf "$made"
mkdir -p "$root" "$state/lists/partial" "$state/cache/archives/partial"
: > "$state/status"

# The mirror of Debian that the system's own packages come from.
mirror() {
    apt-get indextargets --format '$(REPO_URI)|$(ORIGIN)|$(LABEL)' 'Identifier: Packages' |
        sed -n 's/|Debian|Debian$//p' | head -n 1
}
mirror=$(mirror)
if [ -z "$mirror" ]; then
    # Without package lists, the mirrors of Debian cannot be recognised.
    apt-get update -qq
    mirror=$(mirror)
fi
[ -n "$mirror" ] || { echo "no mirror of Debian is among the sources of packages" >&2 && exit 1; }
keys=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb [signed-by=$keys] $mirror sid main" > "$state/sources.list"
# A copy of the mirror that stands still is past its date; what it has is signed nevertheless.
export APT_CONFIG="$state/apt.conf"
cat > "$APT_CONFIG" <<END
Dir::State "$state"; Dir::State::status "$state/status"; Dir::Cache "$state/cache";
Dir::Etc::sourcelist "$state/sources.list"; Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferencesparts "/dev/null"; Acquire::Check-Valid-Until "false";
Acquire::Languages "none"; Acquire::Retries "3"; APT::Install-Recommends "false";
APT::Sandbox::User "root";
END
fetch() {
    apt-get update -qq && apt-get install -y -qq --download-only mysql-server-core mysql-client-core
}
# Mirrors change while they are read.
fetch || fetch || fetch
for package in "$state"/cache/archives/*.deb; do
    case ${package##*/} in
    # Only for scripts, which are not run.
    perl* | libperl*) ;;
    *) dpkg-deb -x "$package" "$root" ;;
    esac
done
rm -rf "$state"

# A script that starts a program with the libraries that it was built for. Its process is named after
# the program, and finds its files wherever the folder is.
loader=$(cd "$root" && ls usr/lib64/ld-linux-* usr/lib/ld-linux-* 2> /dev/null | head -n 1)
[ -n "$loader" ] || { echo "$root: there is no loader in it" >&2 && exit 1; }
libraries=usr/lib/$(uname -m)-linux-gnu
start() {
    cat > "$made/$1" <<END
#!/bin/bash
root=\$(dirname "\$(readlink -f "\$0")")/root
exec -a $1 "\$root/$loader" --library-path "\$root/$libraries:\$root/$libraries/private" \\
    "\$root/usr/$2/$1" "\$@" $3
END
    chmod 755 "$made/$1"
}
# Behind what the caller says, which may have to come first.
start mysqld sbin '--basedir="$root/usr" --lc-messages-dir="$root/usr/share/mysql" \
    --plugin-dir="$root/usr/lib/mysql/plugin" \
    --character-sets-dir="$root/usr/share/mysql/charsets" --secure-file-priv=NULL --mysqlx=OFF'
start mysql bin ''
start mysqldump bin ''
mv "$made" "$folder"
