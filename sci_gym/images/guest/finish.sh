#!/bin/sh
# Run by mmdebstrap when all packages are installed: $1 is the guest's root, the environment tells the rest.
#   OUT    folder to leave disk.raw, kernel.deb and busybox in
#   KERNEL package that depends on the kernel's
#   SIZE   of the disk, as mke2fs reads it
set -eu
root=$1
export DEBIAN_FRONTEND=noninteractive
if ls "$root"/opt/installers/*.deb >/dev/null 2>&1; then
  chroot "$root" sh -c 'apt-get install -y --no-install-recommends /opt/installers/*.deb'
  rm -r "$root/opt/installers"
fi
kernel=$(chroot "$root" apt-cache depends --important "$KERNEL" | sed -n 's/.*Depends: \(linux-image-[0-9]\)/\1/p')
chroot "$root" sh -c "cd /opt && apt-get download $kernel"
cat "$root"/opt/linux-image-*.deb > "$OUT/kernel.deb"
cat "$root/bin/busybox" > "$OUT/busybox"
rm "$root"/opt/linux-image-*.deb

grep -q '^user:' "$root/etc/passwd" || {
  echo 'user:x:1000:1000:user:/home/user:/bin/bash' >> "$root/etc/passwd"
  echo 'user:x:1000:' >> "$root/etc/group"
}
echo sci-gym > "$root/etc/hostname"
echo '127.0.0.1 localhost sci-gym' > "$root/etc/hosts"
echo 5c1c5c1c5c1c5c1c5c1c5c1c5c1c5c1c > "$root/etc/machine-id"
rm -f "$root/etc/resolv.conf" "$root/etc/apt/apt.conf.d/99mmdebstrap"
rm -rf "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/* "$root"/var/log/*
mkdir -p "$root/guest"
chroot "$root" python3 -m compileall -q /opt/sci-gym

# mmdebstrap still needs what it keeps there: without its settings, apt would clean up this host instead.
mv "$root/tmp" "$OUT/tmp"
mkdir -m 1777 "$root/tmp"

# A bind shows the root alone, without what is mounted in it; where mounting is not to be had, nothing is.
view=$OUT/view
mkdir "$view"
mount --bind "$root" "$view" 2>/dev/null || view=$root
mke2fs -q -t ext4 -O ^has_journal -m 0 -d "$view" "$OUT/disk.raw" "$SIZE"
[ "$view" = "$root" ] || umount "$view"
rmdir "$root/tmp"
mv "$OUT/tmp" "$root/tmp"
