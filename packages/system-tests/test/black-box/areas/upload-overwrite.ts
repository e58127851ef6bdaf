import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { expect } from 'chai'
import { expectOk } from '../support/answer.ts'
import { expectNoLitter } from '../support/expect-no-litter.ts'
import type { RunningService, StartService } from '../support/running-service.ts'

/** More than the sockets of both sides hold, so that a download stays under way until it is read. */
const large = 24 * 2 ** 20

/** A download that has begun and of which only the headers were read. */
async function beginDownload(service: RunningService, name: string): Promise<IncomingMessage> {
  const download = service.request(`/serve/${name}`, { headers: service.anna.headers }).end()
  const [response] = (await once(download, 'response')) as [IncomingMessage]
  return response
}

export function uploadOverwrite(start: StartService): void {
  describe('same name again', () => {
    it('replaces the old file, shorter and longer', async () => {
      await using service = await start()
      for (const content of ['first', 'a longer second one', '3', '']) {
        expectOk(await service.anna.upload('a.txt', content))
        expect(await service.anna.text('a.txt')).to.equal(content)
      }
      expect(await service.anna.names()).to.deep.equal(['a.txt'])
    })

    it('shows readers the old or the new, whole, while uploads replace it', async () => {
      await using service = await start()
      const versions = ['a', 'b', 'c'].map((letter) => letter.repeat(200_000))
      expectOk(await service.anna.upload('a.txt', versions[0] ?? ''))
      let isWriting = true
      const write = async () => {
        for (let round = 0; round < 5; round++) {
          for (const version of versions) expectOk(await service.anna.upload('a.txt', version))
        }
        isWriting = false
      }
      const read = async () => {
        while (isWriting) expect(versions).to.include(await service.anna.text('a.txt'))
      }
      await Promise.all([write(), read(), read()])
    })

    it('lets a download under way finish with what it began, on replacement and on deletion', async () => {
      await using service = await start()
      expectOk(await service.anna.put('a', Buffer.alloc(large, 'old')))
      const first = await beginDownload(service, 'a')
      // Not waited for: MinIO puts off the replacement of an object until those who read it have done.
      const replacement = service.anna.put('a', Buffer.alloc(large, 'new'))
      expect((await buffer(first)).equals(Buffer.alloc(large, 'old'))).to.equal(true)
      expectOk(await replacement)
      const second = await beginDownload(service, 'a')
      const deletion = service.anna.remove('a')
      expect((await buffer(second)).equals(Buffer.alloc(large, 'new'))).to.equal(true)
      expectOk(await deletion)
    })

    it('by many uploads at once leaves one of them, whole', async () => {
      await using service = await start()
      const contents = Array.from({ length: 10 }, (_, index) => `${index}`.repeat(50_000))
      const answers = await Promise.all(contents.map((each) => service.anna.upload('a', each)))
      answers.forEach(expectOk)
      expect(contents).to.include(await service.anna.text('a'))
      await expectNoLitter(service)
    })
  })
}
