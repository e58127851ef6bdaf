# Sourced by scripts/test: images made of what this machine has, for tests that run where no registry answers. They stand for
# the public ones that Dockerfile and compose.yaml name: the same programs in the same places, and little else. Needs
# prepare.sh, programs.sh, minio-image.sh and an engine.

certificates=/etc/ssl/certs/ca-certificates.crt
mc_source=$root/packages/testing/mc-image
mc_version=$(<"$mc_source/version")

# They are made once, until something that goes into them is another.
ensure_local_images() {
  require_program busybox busybox-static
  require_program nginx nginx
  require_program haproxy haproxy
  require_program redis-server redis-server
  docker compose version >/dev/null 2>&1 || require_program docker-compose docker-compose
  local fingerprint image
  fingerprint=$(local_images_fingerprint)
  for image in base nginx haproxy valkey mc; do
    if [[ $(docker image inspect --format '{{.Config.Labels.fingerprint}}' "holdfast/local-$image" 2>/dev/null) != "$fingerprint" ]]; then
      make_local_image "$image" "$fingerprint"
    fi
  done
}

local_images_fingerprint() {
  {
    cat "$root/scripts/containers/local-images.sh" "$(command -v busybox)" "$(command -v nginx)" "$(command -v haproxy)" \
      "$(command -v redis-server)" "$certificates"
    cat "$(npm_folder)/package.json"
    echo "$mc_version"
    "$node" --version
    npm_network
  } | cksum
}

# Takes the last part of the image's name, and the fingerprint.
make_local_image() {
  local image=holdfast/local-$1 folder output
  say "Making the image $image of programs of this machine ..."
  folder=$(mktemp -d)
  mkdir -p "$folder"/{etc,tmp,var/lib}
  chmod 1777 "$folder/tmp"
  (cd "$folder" && set -e && "fill_$1") || fail "the files of the image $image cannot be put together; the reason is above."
  output=$(DOCKER_BUILDKIT=0 docker build --quiet --label "fingerprint=$2" --tag "$image" "$folder" 2>&1) || {
    say "$output"
    fail "the engine could not make the image $image. The reason is above."
  }
  rm -rf "$folder"
}

# These run in the folder that becomes the root of the image.

# For node:24-bookworm-slim: Node.js with npm, a shell and its tools. It gets at the npm registry as this machine does.
fill_base() {
  local npm=usr/local/lib/node_modules/npm
  take_program "$node" usr/local/bin/node
  # pnpm wants one more than Node.js.
  cp -L --parents "$(ldd "$node" | grep -o '/[^ ]*/libc.so.6' | xargs dirname)/librt.so.1" .
  take_program "$(command -v busybox)" bin/busybox
  ln -s busybox bin/sh
  take_certificates
  mkdir -p "$npm" usr/bin
  cp -R "$(npm_folder)/." "$npm"
  ln -s ../lib/node_modules/npm/bin/npx-cli.js usr/local/bin/npx
  ln -s ../../bin/busybox usr/bin/env
  {
    printf '%s\n' 'FROM scratch' 'COPY . /' 'RUN ["/bin/busybox", "--install", "-s", "/bin"]'
    printf 'ENV %s=%s\n' NODE_EXTRA_CA_CERTS "$certificates" npm_config_cafile "$certificates"
    npm_network
  } >Dockerfile
}

fill_nginx() {
  take_program "$(command -v nginx)" usr/sbin/nginx
  mkdir -p var/{lib,log}/nginx
  printf '%s\n' 'FROM scratch' 'COPY . /' >Dockerfile
}

fill_haproxy() {
  take_program "$(command -v haproxy)" usr/sbin/haproxy
  printf '%s\n' 'FROM scratch' 'COPY . /' >Dockerfile
}

# For valkey/valkey:8-alpine: Redis under the name of Valkey, with the shell and the user that the image has. A new volume at
# /data takes over whose the directory is.
fill_valkey() {
  take_program "$(command -v redis-server)" usr/local/bin/valkey-server
  printf '%s\n' 'FROM holdfast/local-base' 'COPY . /' 'RUN mkdir /data && chown 999:1000 /data' >Dockerfile
}

# From its source, which takes a minute or two the first time. Its shell is that of the base.
fill_mc() {
  if can_build; then
    CGO_ENABLED=0 GOBIN=$PWD go install "github.com/minio/mc@$mc_version" >&2 &&
      printf '%s\n' 'FROM holdfast/local-base' 'COPY mc /bin/' >Dockerfile
  else
    sed "s/^ARG VERSION\$/&=$mc_version/" "$mc_source/Dockerfile" >Dockerfile
  fi
}

take_program() {
  mkdir -p "$(dirname "$2")"
  cp -L "$1" "$2"
  take_libraries "$1"
}

# Under the names by which the program looks for them.
take_libraries() {
  local libraries
  # Where a program needs none ldd fails.
  libraries=$(ldd "$1" 2>/dev/null | grep -o '/[^ ]*') || return 0
  xargs cp -L --parents --target-directory . <<<"$libraries"
}

take_certificates() {
  mkdir -p ".${certificates%/*}"
  cp -L "$certificates" ".$certificates"
}

npm_folder() {
  dirname "$(dirname "$(readlink -f "$(command -v npm)")")"
}

# As npm has it, whether from files or from the environment.
npm_network() {
  npm config get registry proxy https-proxy noproxy 2>/dev/null |
    sed --quiet --regexp-extended 's/^https-/https_/; /=(null|undefined)?$/d; s/^([a-z_]+)=(.*)/ENV npm_config_\1="\2"/p'
}
