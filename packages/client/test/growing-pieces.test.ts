import { startBadLine } from '@holdfast/testing'
import { expect } from 'chai'
import { piecesOfBody } from '../src/calls/pieces.ts'
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

  interface Line {
    readonly pieceSize?: number
    /** MiB a second. */
    readonly speed?: number | ((offset: number) => number)
    /** Where the next piece begins after one that ended here. Default: there. */
    readonly arrived?: (end: number) => number
    readonly isSilent?: boolean
  }

  /** How many MiB the pieces of a body of `mib` have. */
  const sizesOf = async (
    mib: number,
    { pieceSize, speed = 1000, arrived = (end) => end, isSilent = false }: Line = {},
  ) => {
    let time = 0
    const pieces = piecesOfBody(zerosOf(mib), { pieceSize, isSilent }, () => time)
    const sizes: number[] = []
    for (let offset = 0; offset < mib * mebibyte;) {
      const { size } = await pieces.at(offset)
      sizes.push(size / mebibyte)
      const pace = typeof speed === 'number' ? speed : speed(offset / mebibyte)
      time += (size / mebibyte / pace) * 1000
      offset = Math.max(offset, arrived(offset + size))
    }
    return sizes
  }

  it('are to take ten seconds each, and grow to sixteen times the last one at most', async () => {
    expect(await sizesOf(4096)).to.deep.equal([64, 1024, 3008])
    expect(await sizesOf(700, { speed: 32 })).to.deep.equal([64, 320, 316])
    expect(await sizesOf(200, { speed: 5 })).to.deep.equal([64, 64, 64, 8])
    const slower = (offset: number) => (offset < 64 ? 32 : 8)
    expect(await sizesOf(600, { speed: slower })).to.deep.equal([64, 320, 80, 80, 56])
  })

  it('say often how far they are where nothing else does', async () => {
    const isSilent = true
    expect(await sizesOf(51, { isSilent })).to.deep.equal([1, 16, 16, 16, 2])
    expect(await sizesOf(16, { isSilent, speed: 2 })).to.deep.equal([1, 4, 4, 4, 3])
    expect(await sizesOf(3, { isSilent, speed: 0.25 })).to.deep.equal([1, 1, 1])
  })

  it('have the size that the caller gives', async () => {
    expect(await sizesOf(300, { pieceSize: 100 * mebibyte })).to.deep.equal([100, 100, 100])
  })

  it('are small again from the first large one on that fails', async () => {
    let failures = 0
    const arrived = (end: number) =>
      end === 1088 * mebibyte && failures++ === 0 ? 320 * mebibyte : end
    expect(await sizesOf(500, { arrived })).to.deep.equal([64, 436])
    expect(await sizesOf(1217, { arrived })).to.deep.equal([
      64,
      1024,
      ...Array.from({ length: 14 }, () => 64),
      1,
    ])
  })

  it('grow also after a small one has failed', async () => {
    let failures = 0
    const arrived = (end: number) => (failures++ === 0 ? 0 : end)
    expect(await sizesOf(256, { arrived })).to.deep.equal([64, 64, 192])
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
      // The second one depends on the pace of this machine.
      expect(sizes[1]).to.be.above(100)
      expect(sizes.with(1, 0)).to.deep.equal([64, 0, 64, 64, 8])
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
