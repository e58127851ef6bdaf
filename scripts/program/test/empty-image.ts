import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Makes an image with `executable` as `/holdfast`, the libraries that it is linked with, an empty directory `/work`, and nothing else. */
export async function makeEmptyImage(executable: string, name: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-image-'))
  try {
    await copyFile(executable, join(folder, 'holdfast'))
    await mkdir(join(folder, 'work'))
    const libraries = `ldd "$1" | grep -o '/[^ ]*' | xargs cp -L --parents --target-directory .`
    const load = `tar --create . | docker import --change 'WORKDIR /work' --change 'ENTRYPOINT ["/holdfast"]' - "$2"`
    const script = `set -o pipefail; ${libraries} && ${load}`
    await run('bash', ['-euc', script, 'bash', executable, name], { cwd: folder })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
