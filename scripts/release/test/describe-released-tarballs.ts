import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { packedPackages } from './packed-packages.ts'
import type { Release } from './use-release.ts'

const run = promisify(execFile)

/** Declares tests of the tarballs of a release. */
export function describeReleasedTarballs(release: Release): void {
  describe('The tarballs of a release', function () {
    this.timeout(120_000)

    it('have the same bytes as those of this workspace, but for the version', async () => {
      for (const { name, file } of await packedPackages()) {
        const released = file.replace(
          /^.*\/(.*?)-\d.*$/,
          `${release.out}/$1-${release.version}.tgz`,
        )
        const [ours, theirs] = [await release.newFolder(), await release.newFolder()]
        await unpack(file, ours)
        await unpack(released, theirs)
        const comparison = run('diff', [
          '-r',
          '-I',
          '^\\.TH ',
          '--exclude=package.json',
          theirs,
          ours,
        ])
        const { stdout } = await comparison.catch((error: unknown) => error as { stdout: string })
        // A workspace may keep modules whose sources are gone; a release has none of them.
        const differences = stdout.split('\n').filter((line) => !line.startsWith(`Only in ${ours}`))
        expect(differences, name).to.deep.equal([''])
        const manifest = await readFile(join(theirs, 'package.json'), 'utf8')
        for (const [, range] of manifest.matchAll(/"@holdfast\/[^"]+": "([^"]+)"/g)) {
          expect(range).to.equal(`^${release.version}`)
        }
      }
    })

    it('have every source that a map leads to', async () => {
      for (const name of (await readdir(release.out)).filter((file) => file.endsWith('.tgz'))) {
        const folder = await release.newFolder()
        await unpack(join(release.out, name), folder)
        const files = new Set(await readdir(folder, { recursive: true }))
        const maps = [...files].filter((path) => path.endsWith('.map'))
        expect(maps).not.to.deep.equal([])
        for (const path of maps) {
          const text = await readFile(join(folder, path), 'utf8')
          const { sources } = JSON.parse(text) as { sources: string[] }
          for (const source of sources) expect(files).to.include(join(path, '..', source))
        }
      }
    })
  })
}

async function unpack(tarball: string, folder: string): Promise<void> {
  await run('tar', ['-xzf', tarball, '-C', folder, '--strip-components=1'])
}
