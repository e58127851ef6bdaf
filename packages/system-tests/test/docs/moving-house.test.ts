import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describeWithMinio } from '@holdfast/testing/minio'
import { openDiskBlobStore, type DiskBlobStore } from '@holdfast/store-disk'
import { createSite, holdfastProgram, type Site, contentOf, putText } from '@holdfast/testing'
import { expect } from 'chai'
import { fencedBlocks } from './documented-steps.ts'

const run = promisify(execFile)
/** What `text` says between a heading of the second level and the next. */
function sectionOf(text: string, heading: string): string {
  return text.split(/^## /m).find((section) => section.startsWith(`${heading}\n`)) ?? ''
}

describeWithMinio('The commands in docs/back-up.md, "Move"', (minio) => {
  const markdown = readFileSync(new URL('../../../../docs/back-up.md', import.meta.url), 'utf8')
  // Those in a list are indented.
  const section = sectionOf(markdown, 'Move').replaceAll(/^ {3}/gm, '')
  const [there = '', again = '', back = '', ...others] = fencedBlocks(section, 'sh')
  const settings = there.split('\n').filter((line) => line.startsWith('export '))

  let site: Site
  beforeEach(async () => {
    site = await createSite()
  })
  afterEach(() => site.remove())

  const change = async (work: (store: DiskBlobStore) => Promise<unknown>) => {
    const store = await openDiskBlobStore({ directory: join(site.path, 'data') })
    await work(store)
    const content = await contentOf(store)
    await store.close()
    return content
  }

  it('copy to MinIO while the server runs, catch up when it is stopped, and come back', async function () {
    this.timeout(60_000)
    expect(others).to.deep.equal([])
    const { endpoint, accessKey, secretKey } = minio()
    const bucket = await minio().createBucket()
    await writeFile(join(site.path, 'minio-secret-key'), `${secretKey}\n`)
    const execute = async (block: string) => {
      const script = [...settings, ...block.split('\n').filter((line) => !settings.includes(line))]
        .join('\n')
        .replace('ACCESS_KEY=holdfast', `ACCESS_KEY=${accessKey}`)
        .replace('http://127.0.0.1:9000', endpoint)
        .replace('BUCKET=files', `BUCKET=${bucket}`)
        .replaceAll('scripts/start', `'${process.execPath}' '${holdfastProgram}'`)
      const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], { cwd: site.path })
      return stdout
    }

    await change(async (store) => {
      await putText(store, 'alice', 'kept.txt', 'kept')
      await putText(store, 'alice', 'deleted.txt', 'deleted')
    })
    expect(await execute(there)).to.include('Copied and compared 2 files')
    const expected = await change(async (store) => {
      await putText(store, 'alice', 'later.txt', 'later')
      await store.delete({ customer: 'alice', name: 'deleted.txt' })
    })
    const summary = await execute(again)
    expect(summary).to.include('Copied and compared 1 file,')
    expect(summary).to.include('Removed from the target: 1 file.')
    await rm(join(site.path, 'data'), { recursive: true })
    expect(await execute(back)).to.include('Copied and compared 2 files')
    expect(await change(async () => {})).to.deep.equal(expected)
  })
})
