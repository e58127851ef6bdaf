# Sourced by scripts/test and scripts/release/run: programs that they run, installed where that is possible. Needs prepare.sh.

# Takes a command and the Debian package that it is in.
require_program() {
  command -v "$1" >/dev/null || get_program "$1" "$2"
}

# A server that counts, and its command line. Valkey's server will do, too: HOLDFAST_REDIS names it.
require_redis() {
  require_program "${HOLDFAST_REDIS:-redis-server}" redis-server
  require_program redis-cli redis-tools
}

# Python, and what makes environments with pip in them, which Debian has in a package of its own.
require_python() {
  python3 -c 'import ensurepip, venv' 2>/dev/null || get_program 'python3 with venv' python3-venv
}

# The browsers that packages/testing/src/browsers.ts looks for, by the same names.
require_browsers() {
  require_browser HOLDFAST_BROWSER 'a Chromium' chromium chromium-browser google-chrome
  require_browser HOLDFAST_FIREFOX 'Firefox' firefox-esr firefox
}

# Takes the variable that may name the program, what the program is, and the names to look for; the first is Debian's package.
require_browser() {
  local variable=$1 what=$2 name
  shift 2
  if [[ -n ${!variable:-} ]]; then
    [[ -x ${!variable} ]] || fail "$variable names ${!variable}, which is no program."
    return
  fi
  for name; do
    if command -v "$name" >/dev/null; then return; fi
  done
  get_program "$what, or its path in $variable" "$1"
}

# What runs programs for ARM on machines of other kinds, and the libraries that those use.
require_arm() {
  if [[ $(uname -m) == aarch64 ]]; then return; fi
  require_program qemu-aarch64-static qemu-user-static
  [[ -e /usr/aarch64-linux-gnu/lib/libstdc++.so.6 ]] || get_program 'the C++ library for ARM' libstdc++6-arm64-cross
}

# What makes, mounts and checks file systems, and a C compiler.
require_power_cut_programs() {
  require_program losetup mount
  require_program mkfs.ext4 e2fsprogs
  require_program mkfs.xfs xfsprogs
  require_program mkfs.btrfs btrfs-progs
  require_program cc build-essential
}

get_program() {
  if can_install; then
    say "Installing $2 ..."
    install_packages "$2" && return
  fi
  fail "this needs $1: install it (Debian: apt-get install $2) and run this again."
}

can_install() {
  ((EUID == 0)) && command -v apt-get >/dev/null
}

# Installs without starting the services that some packages bring, now or at the next boot: tests need the programs
# only, and no port of this machine opens for them.
install_packages() (
  policy=${policy_file:-/usr/sbin/policy-rc.d}
  if [[ ! -e $policy ]]; then
    # Where Debian's packages ask whether they may start a service; 101 is no.
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod +x "$policy"
    trap 'rm -f "$policy"' EXIT
  fi
  before=$(enabled_units)
  export DEBIAN_FRONTEND=noninteractive
  apt-get update >&2 && apt-get install -y --no-install-recommends "$@" >&2 || exit
  comm -13 <(printf '%s\n' "$before") <(enabled_units) | xargs --no-run-if-empty systemctl --quiet disable >&2
)

enabled_units() {
  command -v systemctl >/dev/null || return 0
  systemctl list-unit-files --state=enabled --no-legend --plain | sed 's/ .*//' | sort
}
