// It moves 600 files and 448 MiB, there and back.
import { createCipheriv, createHash } from 'node:crypto'
import { nastyNames } from '@holdfast/contract'
import { copyFiles } from '@holdfast/copy'
import { describeWithMinio } from '@holdfast/testing/minio'
import { openDiskBlobStore } from '@holdfast/store-disk'
import { openMinioBlobStore } from '@holdfast/store-minio'
import {
  createSite,
  credentials,
  startCopy,
  startHoldfast,
  treeOf,
  until,
  contentOf,
  putText,
} from '@holdfast/testing'
import { expect } from 'chai'
import { createHouse, minioSettings, type House } from './house.ts'

const MiB = 1024 ** 2

/** Bytes that no file system can compress or keep sparse, and no shifted part of which is the same. */
function* pseudoRandom(bytes: number): Iterable<Buffer> {
  const cipher = createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16))
  const zeros = Buffer.alloc(MiB)
  for (let rest = bytes; rest > 0; rest -= zeros.length) {
    yield cipher.update(zeros.subarray(0, Math.min(rest, zeros.length)))
  }
}

describeWithMinio('holdfast copy, between a disk and MinIO', (minio) => {
  let house: House
  let bucket: string
  beforeEach(async () => {
    house = await createHouse()
    bucket = await minio().createBucket()
  })
  afterEach(() => house.remove())

  const copy = (...flags: readonly string[]) => {
    const settings = minioSettings(minio(), bucket)
    return startCopy([...flags, ...settings.flags], settings.env)
  }
  const out = (...more: readonly string[]) =>
    copy('--from', 'disk', '--data', house.source, '--to', 'minio', ...more)
  const back = (...more: readonly string[]) =>
    copy('--from', 'minio', '--to', 'disk', '--data', house.target, ...more)
  const openMinio = () => {
    const { endpoint, accessKey, secretKey } = minio()
    return openMinioBlobStore({ endpoint, accessKey, secretKey, bucket })
  }
  const files = (directory: string) => treeOf(`${directory}/files`)

  it('moves 600 small files and one of 448 MiB, also when it is killed on the way, in little memory', async function () {
    this.timeout(600_000)
    for (let number = 0; number < 600; number++) {
      const text = `The content of file ${number}. `.repeat(1 + (number % 100))
      await house.write(`customer-${number % 7}`, `file ${number}.txt`, [Buffer.from(text)])
    }
    // More than the copy may take in memory.
    await house.write('customer-3', 'big.bin', pseudoRandom(448 * MiB))

    const killed = out()
    const store = await openMinio()
    const isUnderWay = async () =>
      (await store.stat({ customer: 'customer-2', name: 'file 9.txt' })) !== undefined
    await until('some customers are copied', isUnderWay, 300_000)
    await store.close()
    killed.kill('SIGKILL')
    expect((await killed.ended).end).to.equal('SIGKILL')

    const resumed = await out().ended
    expect(resumed.end).to.equal(0)
    const [, copied = '', present = ''] =
      /^Copied and compared (\d+) files.*\nAlready in the target: (\d+) files/.exec(
        resumed.stdout,
      ) ?? []
    expect(Number(copied) + Number(present)).to.equal(601)
    expect(Number(present)).to.be.above(120)
    expect((await out().ended).stdout).to.match(
      /^Nothing copied, in .*\nAlready in the target: 601 files, 471 MB\.\n$/,
    )

    const home = await back('--customer', 'customer-3').ended
    expect(home.end).to.equal(0)
    const expected = [...house.written].filter(([path]) => path.startsWith('customer-3/'))
    expect([...(await files(house.target))]).to.have.deep.members(expected)
    for (const { peak } of [resumed, home]) expect(peak / MiB, 'MiB').to.be.within(1, 400)
  })

  it('keeps names of all kinds, of files and of customers', async function () {
    this.timeout(300_000)
    const source = await openDiskBlobStore({ directory: house.source })
    for (const [index, name] of nastyNames.entries()) {
      await putText(source, 'anna', name, `under ${name}`)
      if (index % 5 === 0) await putText(source, name, 'a.txt', `of ${name}`)
    }
    const expected = await contentOf(source)
    await source.close()
    expect(await out().ended).to.include({ end: 0 })
    expect(await back().ended).to.include({ end: 0 })
    const target = await openDiskBlobStore({ directory: house.target })
    expect(await contentOf(target)).to.deep.equal(expected)
    await target.close()
  })

  it('finds what was changed behind its back at the same size', async () => {
    await house.write('alice', 'a.txt', [Buffer.from('right')])
    await house.write('alice', 'b.txt', [Buffer.from('right')])
    await out().ended
    const store = await openMinio()
    await putText(store, 'alice', 'a.txt', 'wrong')
    await store.close()
    expect((await out().ended).stdout).to.match(
      /^Copied and compared 1 file, 5 B, .*\nAlready in the target: 1 file/,
    )
    expect((await out('--verify').ended).stdout).to.include('Nothing copied')
    await back().ended
    expect(await files(house.target)).to.deep.equal(await files(house.source))
  })

  it('misses nothing of what a running service takes meanwhile', async function () {
    this.timeout(300_000)
    const site = await createSite()
    const server = await startHoldfast(['--data', house.source], { cwd: site.path })
    const stores = {
      from: await openDiskBlobStore({ directory: house.source }),
      to: await openMinio(),
    }
    try {
      for (let number = 0; number < 500; number++) {
        await house.write('demo', `early ${number}.txt`, [Buffer.from(`early ${number}`)])
      }
      let stage = ''
      const copied = copyFiles({
        ...stores,
        createHash: () => createHash('sha256'),
        onProgress: (progress) => {
          stage = progress.stage
        },
      })
      let uploads = 0
      // New names before and behind where the copy is, and new content of the same size under old ones.
      while (stage !== 'catching up') {
        const names = [`a ${uploads}.txt`, `z ${uploads}.txt`, `early ${uploads % 500}.txt`]
        for (const name of names) {
          const answer = await fetch(`${server.url}/upload/${name}`, {
            method: 'PUT',
            headers: credentials,
            body: `later ${uploads % 500}`,
          })
          expect(answer.status).to.equal(200)
        }
        uploads++
      }
      expect(await copied).to.deep.include({ failures: [], extra: 0, isCaughtUp: true })
      expect(uploads).to.be.above(10)
      expect(await contentOf(stores.to)).to.deep.equal(await contentOf(stores.from))
    } finally {
      await server.kill()
      await Promise.all([stores.from.close(), stores.to.close(), site.remove()])
    }
  })
})
