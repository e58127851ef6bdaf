import { setTimeout } from 'node:timers/promises'
import { expect } from 'chai'
import { createFileService, type BlobStore } from '../../../packages/core/src/index.ts'
import { describeWithMinio } from '../../../packages/testing/src/minio/index.ts'
import { openMinioBlobStore } from '../../../packages/store-minio/src/index.ts'
import { readmeLines, runInExample } from './run-example.ts'

describeWithMinio('examples/nightly-cleanup', (minio) => {
  const open = async () => {
    const { endpoint, accessKey, secretKey } = minio()
    const bucket = await minio().createBucket()
    const store = await openMinioBlobStore({ endpoint, accessKey, secretKey, bucket })
    const service = createFileService({ store })
    const env = {
      MINIO_ENDPOINT: endpoint,
      MINIO_BUCKET: bucket,
      MINIO_ACCESS_KEY: accessKey,
      MINIO_SECRET_KEY: secretKey,
    }
    const upload = (customer: string, name: string, text: string) =>
      service.filesOf({ name: customer }).upload(name, new Blob([text]).stream())
    return {
      store,
      upload,
      run: (args: string) => runInExample('nightly-cleanup', `node src/main.ts ${args}`, env),
      runLine: (line: string) => runInExample('nightly-cleanup', line, env),
      /** Puts a file that is younger than those before; the server counts whole seconds. */
      uploadLater: async (customer: string, name: string, text: string): Promise<Date> => {
        const { modifiedAt: first } = await upload(customer, name, text)
        while (true) {
          const { modifiedAt } = await upload(customer, name, text)
          if (modifiedAt > first) return modifiedAt
          await setTimeout(50)
        }
      },
    }
  }

  it('deletes what is old, of every customer, after a rehearsal that deletes nothing', async function () {
    this.timeout(120_000)
    const { store, upload, uploadLater, run, runLine } = await open()
    for (let n = 0; n < 20; n++) await upload('alice', `Übersicht ${n}`, '12345')
    await upload('bob', 'old', '1234567')
    await upload('carol', 'replaced', 'old')
    const before = await uploadLater('carol', 'replaced', 'new')
    await upload('alice', 'new', 'new')

    const all = await filesIn(store)
    const rehearsal = await run(`--before ${before.toISOString()} --dry-run`)
    expect(rehearsal).to.deep.equal({
      code: 0,
      stdout:
        'alice: 20 of 21 files, 100 bytes\nbob: 1 of 1 files, 7 bytes\ncarol: 0 of 1 files, 0 bytes\n' +
        'Would delete 21 of 23 files, 107 bytes\n',
      stderr: '',
    })
    expect(await filesIn(store)).to.deep.equal(all)

    const cleanup = await run(`--before ${before.toISOString()}`)
    expect(cleanup.stdout).to.match(/^Deleted 21 of 23 files, 107 bytes$/m)
    expect([cleanup.code, cleanup.stderr]).to.deep.equal([0, ''])
    expect(await filesIn(store)).to.deep.equal(['alice/new', 'carol/replaced'])

    // As the README has it: nothing is that old.
    const [rehearse = '', clean = '', ...others] = await readmeLines(
      'nightly-cleanup',
      /^npm start/,
    )
    expect(others).to.be.empty
    expect((await runLine(rehearse)).stdout).to.contain('Would delete 0 of 2 files, 0 bytes\n')
    expect((await runLine(clean)).stdout).to.contain('Deleted 0 of 2 files, 0 bytes\n')
    await store.close()
  })

  it('deletes nothing when it is called wrongly, or cannot reach the store', async function () {
    this.timeout(120_000)
    const { store, upload, run } = await open()
    await upload('alice', 'a', 'content')
    const wrong = ['', '--days=', '--days=-1', '--before=soon', '--days 0 --force']
    const endings = await Promise.all(wrong.map(run))
    for (const { code, stdout, stderr } of endings) {
      expect([code, stdout]).to.deep.equal([1, ''])
      expect(stderr).to.match(/--days|--force/)
    }
    const unreachable = await runInExample(
      'nightly-cleanup',
      'MINIO_ENDPOINT=http://127.0.0.1:1 MINIO_BUCKET=files MINIO_ACCESS_KEY=a MINIO_SECRET_KEY=secret ' +
        'node src/main.ts --days 0',
    )
    expect(unreachable.code).to.equal(1)
    expect(unreachable.stderr).to.contain('127.0.0.1:1')
    expect(await filesIn(store)).to.deep.equal(['alice/a'])
    await store.close()
  })
})

async function filesIn(store: BlobStore): Promise<string[]> {
  const found = []
  for await (const customer of store.customers()) {
    for await (const names of store.list(customer)) {
      found.push(...names.map((name) => `${customer}/${name}`))
    }
  }
  return found
}
