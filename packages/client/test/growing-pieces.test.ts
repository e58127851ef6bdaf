import { startBadLine } from '@holdfast/testing'
import { expect } from 'chai'
import { piecesOfBody } from '../src/upload/pieces.ts'
import { mebibyte } from './support/content.ts'
import { clientOf } from './support/running-service.ts'
import { startProxy } from './support/start-proxy.ts'
import { useService } from './support/use-service.ts'

/** Zeros that need no memory. */
const zerosOf = (mib: number) => ({
  size: mib * mebibyte,
  async *slice(start: number, end: number) {
    for (let at = start; at < end; at += mebibyte) yield Buffer.alloc(Math.min(mebibyte, end - at))
  },
})

describe('The pieces of a body that can be read again', function () {
  this.timeout(120_000)
  const service = useService()

  /** How many MiB the pieces have, each of which begins where the last one ended, unless `arrived` says where. */
  const sizesOf = async (
    pieces: ReturnType<typeof piecesOfBody>,
    arrived: (end: number) => number = (end) => end,
  ) => {
    const sizes: number[] = []
    for (let offset = 0; offset < (pieces.size ?? 0);) {
      const { size } = await pieces.at(offset)
      sizes.push(size / mebibyte)
      offset = Math.max(offset, arrived(offset + size))
    }
    return sizes
  }

  it('double until they have 1 GiB, unless the caller gives their size', async () => {
    const sizes = await sizesOf(piecesOfBody(zerosOf(4096)))
    expect(sizes).to.deep.equal([64, 128, 256, 512, 1024, 1024, 1024, 64])
    expect(await sizesOf(piecesOfBody(zerosOf(300), 100 * mebibyte))).to.deep.equal([100, 100, 100])
  })

  it('are small again from the first large one on that fails', async () => {
    let failures = 0
    const sizes = await sizesOf(piecesOfBody(zerosOf(600)), (end) =>
      end === 448 * mebibyte && failures++ === 0 ? end - mebibyte : end,
    )
    expect(sizes).to.deep.equal([64, 128, 256, 64, 64, 25])
  })

  it('grow also after a small one has failed', async () => {
    let failures = 0
    const sizes = await sizesOf(piecesOfBody(zerosOf(256)), (end) => (failures++ === 0 ? 0 : end))
    expect(sizes).to.deep.equal([64, 64, 128, 64])
  })

  for (const how of ['413', 'a reset']) {
    it(`pass a proxy that answers more than 100 MB with ${how}, without a retry`, async () => {
      const sizes: number[] = []
      await using proxy = await startProxy(
        service.port,
        ({ method, headers, socket }, response) => {
          const length = Number(headers['content-length'])
          if (method === 'PATCH') sizes.push(length / mebibyte)
          if (!(length > 100_000_000)) return false
          if (how === '413') response.writeHead(413, { Connection: 'close' }).end('<h1>413</h1>')
          else socket.resetAndDestroy()
          return true
        },
      )
      await clientOf(proxy, { retries: 0 }).upload('file', zerosOf(200))
      expect(await service.client.stat('file')).to.include({ size: 200 * mebibyte })
      expect(sizes).to.deep.equal([64, 128, 64, 64, 8])
    })
  }

  it('keep what has arrived of a large one when the line breaks', async () => {
    const progress: number[] = []
    await using line = await startBadLine(service.port, [{ cutAfter: 120 * mebibyte }])
    await clientOf(line).upload('file', zerosOf(200), {
      onProgress: ({ sent }) => progress.push(sent / mebibyte),
    })
    expect(await service.client.stat('file')).to.include({ size: 200 * mebibyte })
    const back = progress.find((sent, index) => sent < (progress[index - 1] ?? 0))
    expect(back ?? Infinity).to.be.above(64)
  })
})
