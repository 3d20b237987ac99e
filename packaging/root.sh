#!/usr/bin/env bash
# Makes the file system of the container: what the server and the commands of its sandboxes need, from Debian's
# packages.
#
#   packaging/root.sh FILE.tar [PACKAGE...]
#
# The packages and what they depend on are downloaded with apt, from the release that this machine is set up for, and
# unpacked. Nothing of them is run, and no rights are needed. PACKAGEs are further ones, such as git or pandoc, that
# commands are to have.
set -euo pipefail
out=$(realpath -m "${1:?the file to write, such as packaging/root.tar}")
shift
packages=(bash coreutils python3 bubblewrap ca-certificates findutils grep sed gawk tar gzip procps libc-bin "$@")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/debs" "$work/root"

# Every package that they need, without recommendations, each once. A name in <> is provided by another one, which is
# listed beside it.
apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances \
	"${packages[@]}" |
	grep -E '^[a-z0-9]' | grep -Ev ':[a-z0-9]+$' | sort -u >"$work/names"
# What only the installation of packages needs is left out.
unneeded='debconf(-.*)?|cdebconf|dpkg|perl.*|libperl.*|install-info|mailcap|systemd.*|libpam-.*'
grep -Evx "$unneeded|mawk|original-awk|busybox.*" "$work/names" >"$work/needed"
cd "$work/debs"
mapfile -t needed <"$work/needed"
apt-get -qq -o APT::Sandbox::User=root download "${needed[@]}"

cd "$work/root"
mkdir -p usr/{bin,sbin,lib,lib64} etc/ssl/certs proc sys dev run tmp home/pudu var/lib/pudu
for dir in bin sbin lib lib64; do ln -s "usr/$dir" "$dir"; done
chmod 1777 tmp
for deb in "$work"/debs/*.deb; do
	dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink --no-same-owner
done
# What the packages would do when they are installed.
[[ -e usr/bin/awk ]] || ln -s gawk usr/bin/awk
cat usr/share/ca-certificates/mozilla/*.crt >etc/ssl/certs/ca-certificates.crt
printf '%s\n' root:x:0:0:root:/root:/bin/bash pudu:x:1000:1000:pudu:/home/pudu:/bin/bash \
	nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin >etc/passwd
printf 'root:x:0:\npudu:x:1000:\nnogroup:x:65534:\n' >etc/group
printf 'passwd: files\ngroup: files\nhosts: files dns\n' >etc/nsswitch.conf
rm -rf usr/share/{doc,man,info,locale,lintian,bug} var/cache/apt
tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --exclude=./home/pudu --exclude=./var/lib/pudu \
	-cf "$out.part" .
tar --mtime=@0 --owner=1000 --group=1000 --numeric-owner -rf "$out.part" ./home/pudu ./var/lib/pudu
mv "$out.part" "$out"
echo "$out: ${#needed[@]} packages, $(($(stat -c %s "$out") >> 20)) MiB" >&2
