#!/bin/sh
# Run by compose.yaml: makes the bucket, and a user of MinIO with the rights of bucket-policy.json and no others. What is
# there stays, so that it may run at every start; the user gets the password that is in the secret now.
set -eu

# Keys are given on standard input: every user of the machine can read the arguments of a command.
keys() {
  printf '%s\n%s\n' "$1" "$(cat "/run/secrets/$2")"
}

mc() {
  command mc --config-dir /tmp/mc --quiet "$@"
}

# MinIO may be starting still.
tries=60
until keys minio-root minio-root-password | mc alias set minio http://minio:9000; do
  tries=$((tries - 1))
  [ "$tries" -gt 0 ]
  sleep 1
done

mc mb --ignore-existing minio/files
mc admin policy create minio holdfast /deploy/bucket-policy.json
keys holdfast minio-password | mc admin user add minio
mc admin user info minio holdfast --json | grep -Eq '"policyName":"([^"]*,)?holdfast[,"]' ||
  mc admin policy attach minio holdfast --user holdfast
