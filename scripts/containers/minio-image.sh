# Sourced by scripts/test: the image that packages/testing runs. Needs prepare.sh and an engine.

minio_source=$root/packages/testing/minio-image
minio_version=$(<"$minio_source/version")
minio_image=holdfast/minio:${minio_version#v0.0.0-}
minio_remedy='Or name an image that is there or can be pulled in HOLDFAST_MINIO_IMAGE.'

# MinIO publishes no images any more, so the first run builds one from its source; it is kept under a tag of its own.
ensure_minio_image() {
  [[ -z ${HOLDFAST_MINIO_IMAGE:-} ]] || return 0
  if docker image inspect "$minio_image" >/dev/null 2>&1; then return; fi
  SECONDS=0
  if can_build; then build_from_go; else build_in_engine; fi
  say "Built $minio_image in $SECONDS s."
}

# Binaries of another system do not run in a container.
can_build() {
  [[ $(uname -s) == Linux ]] || return
  local version
  version=$(go env GOVERSION 2>/dev/null) || return
  [[ $version =~ ^go1\.([0-9]+) ]] && ((BASH_REMATCH[1] >= 24))
}

build_from_go() {
  say 'Building MinIO from its source (only the first time: three minutes and more) ...'
  local folder
  folder=$(mktemp -d)
  cp "$minio_source/Dockerfile" "$folder/"
  CGO_ENABLED=0 GOBIN=$folder go install "github.com/minio/minio@$minio_version" >&2 ||
    image_failed "$folder" 'MinIO could not be built. The build needs the Go module proxy (go env GOPROXY).'
  build_image "$folder" || image_failed "$folder" 'the engine could not make the image.'
  rm -rf "$folder"
}

build_in_engine() {
  say 'Building MinIO from its source in a container (only the first time: some minutes) ...'
  build_image "$minio_source" --file "$minio_source/Dockerfile.golang" \
    --build-arg "VERSION=$minio_version" --build-arg GOPROXY --build-arg HTTP_PROXY --build-arg HTTPS_PROXY ||
    fail 'MinIO could not be built; the reason is above. The build needs the image golang:1.24 and the Go module proxy;' \
      "with Go 1.24 or newer on this machine, only the latter. $minio_remedy"
}

# Takes a folder and more options; says only why it has failed. The old builder is in every engine, the new one is an
# extra package in Debian.
build_image() {
  local folder=$1 output
  shift
  output=$(DOCKER_BUILDKIT=0 docker build --quiet --tag "$minio_image" "$@" "$folder" 2>&1) && return
  say "$output"
  return 1
}

image_failed() {
  rm -rf "$1"
  fail "$2 The reason is above. $minio_remedy"
}
