# Runs the script on standard input as root on a copy of this machine: its files as they are, and what the script changes
# in memory, gone afterwards. Takes the Node.js that the machine shall have, a folder, and a script that stands for systemctl.
#
# In a mount namespace of its own, where nothing has to be unmounted whatever happens.
set -euo pipefail
node=$1 folder=$2 systemctl=$3
place=$(mktemp -d)
script=$(cat)

mount -t tmpfs -o size=4g,mode=0755 holdfast-test "$place"
mkdir "$place/changes" "$place/work" "$place/machine"
mount -t overlay -o "lowerdir=/,upperdir=$place/changes,workdir=$place/work" holdfast-test "$place/machine"
for tree in proc sys dev; do mount --rbind "/$tree" "$place/machine/$tree"; done
mkdir -p "$place/machine/usr/local/bin" "$place/machine/run" "$place/machine/root/place"
install -m 0755 "$node" "$place/machine/usr/local/bin/node"
install -m 0755 "$systemctl" "$place/machine/usr/local/bin/systemctl"
# As a mount of its own, the folder's disk may be missing from the copy.
mkdir "$place/machine/root/place/origin"
mount --bind "$folder" "$place/machine/root/place/origin"
# What lies below an overlay must not change, and other processes change these caches meanwhile. Processes may share them, so the copy
# has root's own. Without them it would fetch every package from the registry.
for cache in .npm .cache .local/share/pnpm; do
  mkdir -p "/root/$cache" "$place/machine/root/$cache"
  mount --bind "/root/$cache" "$place/machine/root/$cache"
done
# npm unpacks each tarball there three times before it installs it, which is work for the disk.
mkdir -p "$place/machine/root/.npm/_cacache/tmp"
mount -t tmpfs holdfast-test "$place/machine/root/.npm/_cacache/tmp"
# The place for temporary files may be a mount, too, which is missing from the copy.
unset TMPDIR XDG_CACHE_HOME npm_config_cache
exec chroot "$place/machine" /bin/bash -Eeuo pipefail -c "
  export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
  # pnpm would choose a store on the disk of the clone.
  export pnpm_config_store_dir=/root/.local/share/pnpm/store
  trap 'echo \"ended with \$?: \$BASH_COMMAND\" >&2' ERR
  # A server that a failing script leaves would keep the copy in memory.
  trap '[[ ! -e /run/holdfast-test.pid ]] || kill -KILL \$(</run/holdfast-test.pid) || true' EXIT
  cd /root/place/origin
  $script"
