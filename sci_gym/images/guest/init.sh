#!/bin/busybox sh
# The first process: loads the drivers, mounts the disk, and hands over to the keeper.
export PATH=/bin
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
while read -r module; do insmod "/modules/$module"; done < /modules/order
hostname sci-gym
ip link set lo up
mount -t ext4 -o noatime,nodev,nosuid /dev/vda /disk
mkdir -p /dev/pts /dev/shm
mount -t devpts -o gid=5,mode=620 devpts /dev/pts
mount -t tmpfs -o nosuid,nodev shm /dev/shm
for link in fd:fd stdin:fd/0 stdout:fd/1 stderr:fd/2; do ln -s "/proc/self/${link#*:}" "/dev/${link%%:*}"; done
mount -t tmpfs -o nosuid,nodev,mode=755 run /disk/run
for folder in proc sys dev; do mount --move /$folder /disk/$folder; done
export PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8 HOME=/guest
export PYTHONPATH=/opt/sci-gym:/opt/sci-gym/packages PYTHONDONTWRITEBYTECODE=1
exec switch_root /disk /usr/bin/tini -- /usr/bin/python3 -S -m sci_gym_vm_agent.keeper /dev/ttyS1
