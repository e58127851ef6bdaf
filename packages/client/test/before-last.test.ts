import { rejection } from '@holdfast/testing'
import { expect } from 'chai'
import type { UploadProgress } from '../src/index.ts'
import { contentOf, mebibyte } from './support/content.ts'
import { useService } from './support/use-service.ts'

describe('beforeLast of upload', function () {
  this.timeout(60_000)
  const service = useService()

  it('is called before the last byte of what goes in pieces, and where it throws nothing is stored', async () => {
    const size = 16 * mebibyte
    const content = contentOf(size)
    await service.client.upload('file', 'one')
    const offsets: number[] = []
    const refusal = new Error('It is another file by now')
    const options = {
      onProgress: ({ sent }: UploadProgress) => void offsets.push(sent),
      async beforeLast() {
        expect(offsets.at(-1)).to.equal(size - 1)
        expect((await service.stored('file')).toString()).to.equal('one')
        throw refusal
      },
    }
    expect(await rejection(service.client.upload('file', content, options))).to.equal(refusal)
    expect((await service.stored('file')).toString()).to.equal('one')
    let asked = 0
    await service.client.upload('file', content, { beforeLast: async () => void asked++ })
    expect(asked).to.equal(1)
    expect((await service.stored('file')).equals(content)).to.equal(true)
  })

  it('is not called where all that is read is compared with what the server has', async () => {
    const content = contentOf(17 * mebibyte)
    let uploadUrl = ''
    await service.client.upload('file', content, { onUploadUrl: (url) => void (uploadUrl = url) })
    let asked = 0
    const beforeLast = async () => void asked++
    await service.client.upload('file', content, { uploadUrl, beforeLast })
    expect(asked).to.equal(0)
  })
})
