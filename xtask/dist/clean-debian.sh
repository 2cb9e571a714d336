#!/bin/sh
# Steps in a clean Debian. clean-debian.sh PACKAGE
set -eu
export DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin
list() {
    find / -xdev -path /proc -prune -o -path /tmp -prune -o -path /var/lib/dpkg -prune \
        -o -path /var/log -prune -o -path /var/cache -prune -o -print | sort
}
list > /tmp/before
dpkg --install /tmp/steelbench.deb > /dev/null
steelbench --version
mkdir /tmp/job
cd /tmp/job
steelbench run /usr/share/steelbench/experiments/random-insert-data-files.toml \
    > report.txt 2> progress.txt || { cat progress.txt && exit 1; }
grep --quiet best report.txt
test -s /usr/share/man/man1/steelbench.1.gz
cd /
dpkg --purge "$1" > /dev/null
list > /tmp/after
diff /tmp/before /tmp/after
