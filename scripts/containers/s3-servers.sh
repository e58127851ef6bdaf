# Sourced by scripts/test: the S3 servers that packages/testing runs. They are kept beside the user's caches, from run
# to run and for every clone, each version in a folder of its own. Needs prepare.sh and programs.sh.

s3_versions=$root/packages/testing/s3-server-versions
s3_programs=

ensure_s3_servers() {
  s3_programs=${XDG_CACHE_HOME:-$HOME/.cache}/holdfast/s3-servers
  ensure_go_program versitygw github.com/versity/versitygw/cmd/versitygw
  ensure_go_program rclone github.com/rclone/rclone
}

# Takes the name of the program and its Go package. Built elsewhere and moved, so that what is there is whole.
ensure_go_program() {
  local version folder built
  version=$(<"$s3_versions/$1")
  folder=$s3_programs/$1-$version
  [[ ! -x $folder/$1 ]] || return 0
  require_go "$1"
  say "Building $1 $version from its source (only the first time: one to five minutes) ..."
  mkdir -p "$folder"
  built=$(mktemp -d "$folder/build-XXXXXX")
  CGO_ENABLED=0 GOBIN=$built go install -trimpath -ldflags '-s -w' "$2@$version" >&2 ||
    fail "$1 could not be built; the reason is above. The build needs the Go module proxy (go env GOPROXY)."
  mv "$built/$1" "$folder/$1"
  rm -rf "$built"
}

require_go() {
  local version
  version=$(go env GOVERSION 2>/dev/null) || version=none
  [[ $version =~ ^go1\.([0-9]+) ]] && ((BASH_REMATCH[1] >= 26)) ||
    fail "the tests on other S3 servers need Go 1.26 or newer to build $1, and there is ${version#go}: install it," \
      'or run scripts/test without --all, or with --without-containers.'
}
