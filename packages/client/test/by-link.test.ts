import { createMemoryBlobStore } from '@holdfast/core/memory'
import { rejection, startBadLine } from '@holdfast/testing'
import { expect } from 'chai'
import {
  createLinkClient,
  type LinkClient,
  type LinkRequest,
  type UploadProgress,
} from '../src/index.ts'
import { all } from './support/all.ts'
import { contentOf, mebibyte } from './support/content.ts'
import { clientOf, startService } from './support/running-service.ts'
import { useService } from './support/use-service.ts'

const large = contentOf(17 * mebibyte)

/** The same, of which only a part can be read. */
const breaking = {
  size: large.length,
  async *slice() {
    yield large.subarray(0, 9 * mebibyte)
    throw new Error('the disk is broken')
  },
}

describe('A client by a link to upload', function () {
  this.timeout(60_000)
  const service = useService()

  const linkTo = async (name: string, request: LinkRequest = {}) =>
    (await service.client.link(name, { verb: 'upload', ...request })).url
  const byLink = async (...given: Parameters<typeof linkTo>): Promise<LinkClient> =>
    createLinkClient({ link: await linkTo(...given) })
  const names = () => all(service.client.list())

  it('stores files of any size under names that begin as the link has it', async () => {
    const client = await byLink('für bob: ', { prefix: true })
    await client.upload('für bob: a', 'small')
    service.requests.length = 0
    await client.upload('für bob: +b', large)
    expect(service.requests[0]).to.equal('POST /resumable')
    expect(large.equals(await service.stored('für bob: +b'))).to.equal(true)
    expect(await names()).to.deep.equal(['für bob: +b', 'für bob: a'])
    const other = client.upload('another', 'x')
    expect(await rejection(other)).to.include({ code: 'link-refused', status: 403 })
  })

  it('stores one file under the name of the link', async () => {
    const client = await byLink('one')
    await client.upload('one', large)
    for (const body of ['again', large]) {
      expect(await rejection(client.upload('one', body))).to.include({ code: 'already-exists' })
    }
    expect(await service.stored('one')).to.have.length(large.length)
  })

  it('replaces a file where it is to, and the link allows it', async () => {
    const client = await byLink('file', { replace: true })
    for (const body of ['one', 'two']) await client.upload('file', body, { createOnly: false })
    expect((await service.stored('file')).toString()).to.equal('two')
    expect(await rejection(client.upload('file', 'x'))).to.include({ code: 'already-exists' })
  })

  it('goes on where the line has broken', async () => {
    const link = new URL(await linkTo('film'))
    const fates = [{ cutAfter: 3 * mebibyte }, 'unanswered', { cutAfter: 6 * mebibyte }] as const
    await using line = await startBadLine(service.port, fates)
    link.port = String(line.port)
    await createLinkClient({ link, idleTimeoutMs: 10_000 }).upload('film', large)
    expect(large.equals(await service.stored('film'))).to.equal(true)
    expect(service.requests.filter((each) => each === 'POST /resumable')).to.have.length(1)
  })

  it('goes on with what another process has begun, and takes what is complete for done', async () => {
    const link = await linkTo('film')
    let uploadUrl = ''
    const onUploadUrl = (url: string) => void (uploadUrl = url)
    await rejection(createLinkClient({ link }).upload('film', breaking, { onUploadUrl }))
    const said: number[] = []
    const onProgress = ({ sent }: UploadProgress) => said.push(sent)
    const another = createLinkClient({ link })
    await another.upload('film', large, { uploadUrl, onProgress })
    expect(said[0]).to.be.above(0)
    expect(large.equals(await service.stored('film'))).to.equal(true)
    service.requests.length = 0
    await another.upload('film', large, { uploadUrl })
    expect(service.requests).to.deep.equal([`HEAD ${new URL(uploadUrl).pathname}`])
  })

  it('has the server forget what it has begun', async () => {
    const client = await byLink('film')
    let uploadUrl = ''
    const onUploadUrl = (url: string) => void (uploadUrl = url)
    await rejection(client.upload('film', breaking, { onUploadUrl }))
    await client.discardUpload(uploadUrl)
    expect((await service.client.usage()).unfinished.uploads).to.equal(0)
  })

  it('is refused where the link is wrong, whatever it asks', async () => {
    const link = `${await linkTo('film')}x`
    const client = createLinkClient({ link })
    const uploadUrl = new URL(`/resumable/1${new URL(link).search}&name=film`, link).href
    for (const upload of [
      client.upload('film', 'small'),
      client.upload('film', large),
      client.upload('film', large, { uploadUrl }),
    ]) {
      expect(await rejection(upload)).to.include({ code: 'link-refused', status: 403 })
    }
  })

  it('uploads as a whole where the store keeps no uploads in pieces', async () => {
    const { resumable: _, ...store } = createMemoryBlobStore()
    await using simple = await startService({ store })
    const { url: link } = await clientOf(simple).link('film', { verb: 'upload' })
    await createLinkClient({ link }).upload('film', large)
    expect(simple.requests.slice(-2)).to.deep.equal(['POST /resumable', 'PUT /upload/film'])
  })

  it('asks below the path that the link has', async () => {
    const asked: string[] = []
    const client = createLinkClient({
      link: 'https://example.com/files/upload/a%20b?link=token',
      transport: async ({ url, headers }) => {
        asked.push(url.href, ...Object.keys(headers))
        throw new Error('no line')
      },
      retries: 0,
    })
    await rejection(client.upload('a b', 'x'))
    expect(asked).to.deep.equal([
      'https://example.com/files/upload/a%20b?link=token&name=a+b',
      'If-None-Match',
    ])
  })

  it('is made of nothing but a link to upload', async () => {
    const download = 'http://127.0.0.1/serve/a?link=token'
    for (const link of [download, 'http://127.0.0.1/upload/a', 'ftp://files/upload/a?link=1']) {
      expect(() => createLinkClient({ link })).to.throw(TypeError)
    }
  })
})
