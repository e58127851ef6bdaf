#!/bin/bash
# Stands for systemctl where no systemd runs: does with the unit what it says of program, user, directories and environment.
set -euo pipefail
unit=/etc/systemd/system/holdfast.service
# A package's.
[[ -e $unit && ! -L $unit ]] || unit=/usr/lib/systemd/system/holdfast.service
pid_file=/run/holdfast-test.pid

said() { sed -n "s/^$1=//p" "$unit"; }

start() {
  local user
  user=$(said User)
  install -d -o "$user" -g "$(said Group)" -m "$(said StateDirectoryMode)" "/var/lib/$(said StateDirectory)"
  if [[ -n $(said CacheDirectory) ]]; then
    install -d -o "$user" -g "$(said Group)" -m "$(said CacheDirectoryMode)" "/var/cache/$(said CacheDirectory)"
  fi
  # shellcheck disable=SC2046
  (
    umask "$(said UMask)"
    cd /
    exec setpriv --reuid "$user" --regid "$(said Group)" --clear-groups --no-new-privs \
      env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin $(said Environment) $(said ExecStart)
  ) >>/root/place/journal 2>&1 &
  echo $! >"$pid_file"
}

stop() {
  local pid
  pid=$(<"$pid_file")
  kill -TERM "$pid"
  while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
  rm "$pid_file"
}

case $1 in
  daemon-reload) systemd-analyze verify --man=no "$unit" ;;
  enable) start ;;
  restart) stop; start ;;
  disable) stop ;;
  # Asked by a package's scripts; it changes links only, for which no systemd has to run.
  --*) exec /usr/bin/systemctl "$@" ;;
  *) exit 1 ;;
esac
