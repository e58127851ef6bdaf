import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Spec, Validation } from '@cyclonedx/cyclonedx-library'
import { expect } from 'chai'
import { publishedPackages } from '../pack-packages.ts'
import { lockedPackages } from './locked-packages.ts'
import { packedPackages } from './packed-packages.ts'
import { copyRepository, type RepositoryCopy } from './repository-copy.ts'

const root = join(import.meta.dirname, '../../..')
const run = promisify(execFile)
const version = '9.8.7'

describe('scripts/release/run', function () {
  this.timeout(900_000)
  let place = ''
  let out = ''
  let repository: RepositoryCopy

  before('makes a release', async () => {
    place = await mkdtemp(join(tmpdir(), 'holdfast-released-'))
    out = join(place, 'out')
    repository = await copyRepository()
    expect((await repository.release('--set', version)).code).to.equal(0)
    const changelog = join(repository.folder, 'CHANGELOG.md')
    const text = await readFile(changelog, 'utf8')
    await writeFile(
      changelog,
      text.replace(/^## /m, `## ${version} - 2026-01-02\n\n- Tried\n\n## `),
    )
    await repository.commit()
    // Nobody has committed it, so it is in no release.
    const stale = join(repository.folder, 'packages/core/dist')
    await mkdir(stale)
    await writeFile(join(stale, 'stale.js'), '')
    const { code, stderr } = await repository.release(version, '--out', out)
    expect(code, stderr).to.equal(0)
  })

  after(async () => {
    await repository.remove()
    await rm(place, { recursive: true, force: true })
  })

  it('writes tarballs, executables, Debian packages, release notes, bills of materials and checksums', async () => {
    const names = publishedPackages(root).map((name) => name.replace('@', '').replace('/', '-'))
    expect((await readdir(out)).sort()).to.deep.equal(
      [
        'RELEASE-NOTES.md',
        'SHA256SUMS',
        `holdfast-${version}.cdx.json`,
        `holdfast-${version}-linux.cdx.json`,
        `holdfast-${version}-linux-licenses.txt`,
        ...['x64', 'arm64'].map((arch) => `holdfast-${version}-linux-${arch}`),
        ...['amd64', 'arm64'].map((arch) => `holdfast_${version}_${arch}.deb`),
        ...names.map((name) => `${name}-${version}.tgz`),
        'holdfast.service',
      ].sort(),
    )
    expect(await readdir(place)).to.deep.equal(['out'])
    const notes = await readFile(join(out, 'RELEASE-NOTES.md'), 'utf8')
    expect(notes).to.equal(`# holdfast ${version}\n\n- Tried\n`)
  })

  it('writes checksums that hold, of every file', async () => {
    const { stdout } = await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: out })
    const others = (await readdir(out)).filter((name) => name !== 'SHA256SUMS').sort()
    expect(stdout).to.equal(others.map((name) => `${name}: OK\n`).join(''))
  })

  it('writes a bill of materials that is valid, and has all that the lockfile has, and what the page is bundled of', async () => {
    const text = await readFile(join(out, `holdfast-${version}.cdx.json`), 'utf8')
    const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6)
    expect(await validator.validate(text)).to.equal(null)
    const { metadata, components } = JSON.parse(text) as {
      metadata: { component: { purl: string } }
      components: { purl: string }[]
    }
    expect(metadata.component.purl).to.equal(`pkg:npm/holdfast@${version}`)
    const listed = components.map(({ purl }) => decodeURIComponent(purl.replace('pkg:npm/', '')))
    const locked = [...(await lockedPackages(repository.folder, 'packages/holdfast'))].map((id) =>
      id.replace(/^packages\/(.*)$/, `@holdfast/$1@${version}`),
    )
    expect(locked)
      .to.include.members([`@holdfast/core@${version}`])
      .and.to.have.length.above(50)
    const bundled = listed
      .filter((id) => !locked.includes(id))
      .map((id) => id.replace(/@[^@]*$/, ''))
    const page = ['@preact/signals', '@preact/signals-core', 'client-zip', 'lucide', 'preact']
    expect(bundled).to.have.members(page)
    expect(listed).to.include.members(locked)
  })

  it('writes a bill of materials of the executables that is valid, and has Node.js and its libraries', async () => {
    const text = await readFile(join(out, `holdfast-${version}-linux.cdx.json`), 'utf8')
    const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6)
    expect(await validator.validate(text)).to.equal(null)
    const { components } = JSON.parse(text) as { components: { name: string; version: string }[] }
    const versions = components.map((component) => `${component.name} ${component.version}`)
    const { node, openssl } = process.versions
    expect(versions).to.include.members([`node ${node}`, `openssl ${openssl}`])
    expect(versions.join('\n'))
      .to.match(/^koa \d/m)
      .and.match(/^preact \d/m)
  })

  it('writes the licences of what is in the executables', async () => {
    const text = await readFile(join(out, `holdfast-${version}-linux-licenses.txt`), 'utf8')
    const titles = [...text.matchAll(/^== (\S+) \S+ \((.*)\)$/gm)].map(([, name]) => name)
    expect(titles).to.include.members([
      'koa',
      'pino',
      'yargs',
      'yaml',
      '@aws-sdk/client-s3',
      'preact',
    ])
    expect(text).to.match(/^== koa-compose [^]{1,200}Permission is hereby granted/m)
    expect(text).to.include('Node.js is licensed for use as follows').and.include('OpenSSL')
  })

  it('makes an executable that runs, in the package for Debian, too', async () => {
    const executable = join(out, `holdfast-${version}-linux-${process.arch}`)
    expect((await run(executable, ['--version'])).stdout).to.equal(`${version}\n`)
    const architecture = (await run('dpkg', ['--print-architecture'])).stdout.trim()
    const unpacked = join(place, 'unpacked')
    const file = join(out, `holdfast_${version}_${architecture}.deb`)
    await run('dpkg-deb', ['--extract', file, unpacked])
    await run('cmp', [executable, join(unpacked, 'usr/bin/holdfast')])
    const manual = await run('zcat', [join(unpacked, 'usr/share/man/man1/holdfast.1.gz')])
    expect(manual.stdout).to.match(/^\.TH /m)
  })

  it('makes an executable for machines with ARM', async () => {
    const executable = await readFile(join(out, `holdfast-${version}-linux-arm64`))
    expect(executable.subarray(0, 4).toString('latin1')).to.equal('\x7fELF')
    // EM_AARCH64, of the ELF header's e_machine.
    expect(executable.readUInt16LE(18)).to.equal(183)
    // What Node.js looks for: that there is a script, the note with it, and in there the page and the version.
    const inside = [
      ':1',
      'NODE_SEA_BLOB\0',
      'holdfast/dist/page/index.html',
      `"version": "${version}"`,
    ]
    const [fuse = '', ...others] = inside
    expect(executable.includes(`NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2${fuse}`)).to.equal(
      true,
    )
    for (const text of others) expect(executable.includes(text), text).to.equal(true)
  })

  it('packs the same bytes as this workspace, but for the version', async () => {
    for (const { name, file } of await packedPackages()) {
      const released = file.replace(/^.*\/(.*?)-\d.*$/, `${out}/$1-${version}.tgz`)
      const [ours, theirs] = [join(place, 'ours'), join(place, 'theirs')]
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
        expect(range).to.equal(`^${version}`)
      }
    }
  })

  it('packs every source that a map leads to', async () => {
    for (const name of (await readdir(out)).filter((file) => file.endsWith('.tgz'))) {
      const folder = join(place, 'maps')
      await unpack(join(out, name), folder)
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

  it('packs what `npm install` turns into `npx holdfast`', async () => {
    const cwd = join(place, 'installed')
    await mkdir(cwd)
    await writeFile(join(cwd, 'package.json'), '{}')
    const quietly = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']
    await run('sh', ['-c', `exec npm install ${quietly.join(' ')} "$0"/holdfast-*.tgz`, out], {
      cwd,
    })
    const { stdout } = await run('npx', ['holdfast', '--version'], { cwd })
    expect(stdout.trim()).to.equal(version)
  })

  it('says how to publish, and refuses to do it all again, with every reason', async () => {
    await writeFile(join(repository.folder, 'left.txt'), '')
    const { code, stdout, stderr } = await repository.release('9.9.0', '--out', out)
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' })
    expect(stderr.split('\n')).to.have.length(5)
    expect(stderr).to.match(/^release: These are not committed: left\.txt\.$/m)
    expect(stderr).to.match(/^release: These have another version: package\.json \(9\.8\.7\), /m)
    expect(stderr).to.match(/^release: CHANGELOG\.md has no section "## 9\.9\.0 - DATE"\.$/m)
    expect(stderr).to.match(/^release: \S+\/out is there already: /m)
  })
})

async function unpack(tarball: string, folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder)
  await run('tar', ['-xzf', tarball, '-C', folder, '--strip-components=1'])
}
