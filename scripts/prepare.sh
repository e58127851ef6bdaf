# Sourced by scripts/start and scripts/test: everything they need before they can run, and nothing twice.
# Speaks on stderr only, and only when there is something to do.

root=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
node=$root/node_modules/.bin/node
install_stamp=$root/node_modules/.holdfast-installed

say() { printf '%s\n' "$*" >&2; }

fail() {
  say "${0##*/}: $*"
  exit 1
}

# The machine's own Node only has to be able to run the package manager; the rest runs on the npm package `node`.
require_machine_node() {
  local remedy='install Node.js 20 or newer, with npm, and run this again'
  command -v node >/dev/null || fail "Node.js is not installed: $remedy."
  command -v npx >/dev/null || fail "npx, a part of npm, is not installed: $remedy."
  local version
  version=$(node --version) || fail "node does not start: $remedy."
  local major=${version#v}
  major=${major%%.*}
  ((major >= 20)) || fail "Node.js $version is too old: $remedy."
}

# What an installation depends on. Contents, not times: a checkout and a copy change times and nothing else.
install_fingerprint() {
  (
    cd "$root"
    uname -sm
    cksum package.json pnpm-workspace.yaml pnpm-lock.yaml packages/*/package.json
  )
}

install_dependencies() {
  local fingerprint
  fingerprint=$(install_fingerprint)
  [[ -x $node && -f $install_stamp && $(<"$install_stamp") == "$fingerprint" ]] && return

  require_machine_node
  say 'Installing dependencies (the first time: about a minute) ...'
  SECONDS=0
  trap 'say "Interrupted. The next start goes on from here."; exit 130' INT TERM
  package_manager install --frozen-lockfile --config.confirm-modules-purge=false ||
    fail 'the dependencies could not be installed; the reason is above.' \
      'The first start needs the npm registry: check network and proxy (npm ping), then run this again.'
  # An installation that was interrupted may have left this one package without its program, and pnpm counts it as done.
  "$node" --version >/dev/null 2>&1 || package_manager rebuild node || true
  "$node" --version >/dev/null ||
    fail 'the npm package "node" has no program for this machine: remove node_modules and run this again.'
  trap - INT TERM
  # Written last: what was interrupted is done again.
  printf '%s\n' "$fingerprint" >"$install_stamp"
  say "Installed in $SECONDS s."
}

# pnpm, which need not be installed.
package_manager() {
  (
    cd "$root"
    # Retries within seconds instead of npm's minutes: without a network the answer should not take that long.
    export npm_config_fetch_retry_mintimeout=1000 npm_config_fetch_retry_maxtimeout=5000
    export npm_config_update_notifier=false
    exec npx -y pnpm@12.21.0 "$@" </dev/null >&2
  )
}

# Takes the TypeScript project to build. Where nothing has changed, nothing is written.
build() {
  cd "$root"
  local waited=
  if [[ $("$node" node_modules/@typescript/native/bin/tsc --build --dry "$1") == *'would build'* ]]; then
    say 'Building (the first time: a few seconds) ...'
    waited=yes
    SECONDS=0
  fi
  "$node" scripts/build-packages.ts "$1" >&2 || fail 'the build failed; the errors are above.'
  [[ -z $waited ]] || say "Built in $SECONDS s."
  "$node" packages/web/build/build-page.ts >&2 || fail 'the page could not be built; the errors are above.'
}
