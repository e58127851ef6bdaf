import { createHash, randomFillSync } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type HoldfastServer, createTlsSite, type TlsSite } from '@holdfast/testing'
import { expect } from 'chai'

const mebibytes = 100

describe('holdfast serve over TLS, with large files,', () => {
  let site: TlsSite
  let server: HoldfastServer
  let digest: string
  const paces: string[] = []
  before(async () => {
    site = await createTlsSite()
    server = await site.start()
    await writeFile(join(site.path, 'large'), randomFillSync(Buffer.alloc(mebibytes * 2 ** 20)))
    digest = await digestOf('large')
  })
  after(async () => {
    await server.kill()
    await site.remove()
    console.log(`figures: TLS: ${mebibytes} MiB a transfer, ${paces.join(', ')}`)
  })

  const digestOf = async (path: string) => {
    const hash = createHash('sha256')
    await pipeline(createReadStream(join(site.path, path)), hash)
    return hash.digest('hex')
  }
  const timed = async (what: string, work: Promise<string>) => {
    const begin = performance.now()
    const said = await work
    paces.push(`${what} ${Math.round(mebibytes / ((performance.now() - begin) / 1000))} MiB/s`)
    return said
  }

  const uploads = {
    raw: () => site.curl('-T', 'large', `${server.url}/upload/raw`),
    form: () => site.curl('-F', 'file=@large;filename=form', `${server.url}/upload`),
  }
  for (const [name, upload] of Object.entries(uploads)) {
    it(`keeps every byte of a ${name} upload by curl, and serves it`, async () => {
      expect(await timed(`${name} upload`, upload())).to.equal('OK')
      expect(await digestOf(`data/files/demo/${name}`)).to.equal(digest)
      const download = site.curl('-o', 'served', `${server.url}/serve/${name}`)
      await timed('download', download)
      expect(await digestOf('served')).to.equal(digest)
    })
  }

  it('goes on in the middle of a download that broke off', async () => {
    await site.curl('-r', '0-99999999', '-o', 'rest', `${server.url}/serve/raw`)
    await site.curl('-C', '-', '-o', 'rest', `${server.url}/serve/raw`)
    expect(await digestOf('rest')).to.equal(digest)
  })
})
