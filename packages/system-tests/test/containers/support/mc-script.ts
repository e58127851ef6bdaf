/**
 * The script that runs each of `commands` of `mc` where compose.yaml sets MinIO up, whether they fail or not. Their aliases
 * are `minio-root` and `holdfast`, each with its password.
 */
export function mcScript(commands: readonly string[]): string {
  const runs = commands.map(
    (command) => `echo '${separator}'; mc ${command} </dev/null 2>&1 || true`,
  )
  return `
    mc() { command mc --config-dir /tmp/mc --quiet "$@"; }
    as() { printf '%s\\n%s\\n' "$1" "$(cat /run/secrets/$2)" | mc alias set "$1" http://minio:9000; }
    as minio-root minio-root-password && as holdfast minio-password
    ${runs.join('\n')}`
}

/** What each of the commands of {@link mcScript} has printed. */
export function mcOutputs(stdout: string): string[] {
  return stdout
    .split(`${separator}\n`)
    .slice(1)
    .map((output) => output.trim())
}

const separator = '----'
