import { until } from '@holdfast/testing'
import { expect } from 'chai'
import type { BlobStore } from '@holdfast/core'
import { expectError, expectExceeded, expectOk } from '../support/answer.ts'
import { expectNoLitter } from '../support/expect-no-litter.ts'
import { filePart, form } from '../support/form.ts'
import { requestHead } from '../support/request-head.ts'
import { anna, type StartService } from '../support/running-service.ts'
import { formHead, sendForm } from '../support/send-form.ts'

const tooLarge = 'File too large'
const customers = [{ ...anna, quota: 100 }]
const bytes = (count: number) => 'x'.repeat(count)

/** Counts the bytes that uploads under way have brought as far as the store. */
function countTaken() {
  let taken = 0
  async function* counted(content: AsyncIterable<Uint8Array>) {
    for await (const chunk of content) {
      taken += chunk.length
      yield chunk
    }
  }
  const wrap = (store: BlobStore): BlobStore => ({
    ...store,
    put: (key, content, options) => store.put(key, counted(content), options),
  })
  return { taken: () => taken, wrap }
}

export function limits(start: StartService): void {
  describe('maxFileSize', () => {
    it('lets a file of exactly so many bytes pass, and not one byte more: 413 File too large', async () => {
      await using service = await start({ maxFileSize: 1000 })
      expectOk(await service.anna.upload('a', bytes(1000)))
      expectOk(await service.anna.put('b', bytes(1000)))
      expectError(await service.anna.upload('a', bytes(1001)), 413, tooLarge)
      expectError(await service.anna.put('b', bytes(1001)), 413, tooLarge)
      expect(await service.anna.text('a')).to.equal(bytes(1000))
      await expectNoLitter(service)
    })

    it('holds for a chunked body, whose length was not announced', async () => {
      await using service = await start({ maxFileSize: 10 })
      const chunked = { ...service.anna.headers, 'Transfer-Encoding': 'chunked' }
      const head = requestHead('PUT', '/upload/a', chunked)
      const answer = await service.exchange(head, `b\r\n${bytes(11)}\r\n0\r\n\r\n`)
      expectError(answer, 413, tooLarge)
      expect(await service.anna.names()).to.deep.equal([])
    })

    it('counts the file, not the form around it', async () => {
      await using service = await start({ maxFileSize: 10 })
      const other = filePart('b', bytes(1000), 'other')
      expectOk(await sendForm(service, form(other, filePart('a', bytes(10)))))
    })

    it('is unset by default', async () => {
      await using service = await start()
      expectOk(await service.anna.put('a', bytes(3_000_000)))
    })
  })

  describe('quota', () => {
    it('lets a customer keep exactly so many bytes, and not one more: 413 Quota exceeded', async () => {
      await using service = await start({ customers })
      expectOk(await service.anna.upload('a', bytes(60)))
      const used = 'other files and uploads use 60 of 100 bytes, and this file needs 41'
      expectExceeded(await service.anna.upload('b', bytes(41)))
      expectExceeded(await service.anna.put('b', bytes(41)), `Quota exceeded: ${used}`)
      expectOk(await service.anna.put('b', bytes(40)))
      expectOk(await service.anna.upload('c', ''))
      await expectNoLitter(service)
    })

    it('counts a replaced file once, and a deleted one not at all', async () => {
      await using service = await start({ customers })
      expectOk(await service.anna.upload('a', bytes(100)))
      expectOk(await service.anna.upload('a', bytes(90)))
      expectExceeded(await service.anna.upload('b', bytes(11)))
      expectOk(await service.anna.remove('a'))
      expectOk(await service.anna.upload('b', bytes(100)))
    })

    it('lets a customer keep exactly so many files, however small: 413 Quota exceeded', async () => {
      await using service = await start({ customers: [{ ...anna, maxFiles: 2 }] })
      expectOk(await service.anna.upload('a', ''))
      expectOk(await service.anna.put('b', ''))
      const message = 'Quota exceeded: 2 of 2 files are stored or being stored'
      expectExceeded(await service.anna.upload('c', ''), message)
      expectExceeded(await service.anna.put('c', ''), message)
      expectOk(await service.anna.upload('a', 'replaced'))
      expectOk(await service.anna.remove('b'))
      expectOk(await service.anna.put('c', ''))
      expectExceeded(await service.anna.put('b', ''))
      await expectNoLitter(service)
    })

    it('leaves the old file when its replacement exceeds the quota', async () => {
      await using service = await start({ customers })
      expectOk(await service.anna.upload('a', bytes(50)))
      expectExceeded(await service.anna.upload('a', bytes(101)))
      expect(await service.anna.text('a')).to.equal(bytes(50))
    })

    it('counts bytes of uploads under way, and frees them when such an upload breaks off', async () => {
      const { taken, wrap } = countTaken()
      await using service = await start({ customers, wrap })
      const body = form(filePart('a', bytes(60)))
      using underWay = await service.connect()
      await underWay.send(formHead(service, body.length), body.subarray(0, -1))
      await until('60 bytes are taken', () => taken() === 60)
      expectExceeded(await service.anna.upload('b', bytes(41)))
      underWay.close()
      await until(
        'the upload is accepted',
        async () => (await service.anna.upload('b', bytes(41))).status === 200,
      )
    })

    it('reserves the announced size of a raw upload, and refuses what does not fit beside it before its body', async () => {
      const { taken, wrap } = countTaken()
      await using service = await start({ customers, wrap })
      const put = (name: string, length: number, headers = {}) =>
        requestHead('PUT', `/upload/${name}`, {
          ...service.anna.headers,
          'Content-Length': length,
          ...headers,
        })
      using underWay = await service.connect()
      await underWay.send(put('a', 60), 'x')
      await until('one byte is taken', () => taken() === 1)
      using asking = await service.connect()
      await asking.send(put('b', 41, { Expect: '100-continue' }))
      expectExceeded(await asking.answer())
      expectOk(await service.anna.put('c', bytes(40)))
      await underWay.send(bytes(59))
      expectOk(await underWay.answer())
      expect(await service.anna.names()).to.deep.equal(['a', 'c'])
    })

    it('gives the reserved size back when the upload breaks off', async () => {
      const { taken, wrap } = countTaken()
      await using service = await start({ customers, wrap })
      using underWay = await service.connect()
      const headers = { ...service.anna.headers, 'Content-Length': 60 }
      await underWay.send(requestHead('PUT', '/upload/a', headers), 'x')
      await until('one byte is taken', () => taken() === 1)
      expectExceeded(await service.anna.put('b', bytes(41)))
      underWay.close()
      await until(
        'the upload is accepted',
        async () => (await service.anna.put('b', bytes(100))).status === 200,
      )
      expect(await service.anna.names()).to.deep.equal(['b'])
    })

    it('lets an upload under way finish with what it has claimed', async () => {
      const { taken, wrap } = countTaken()
      await using service = await start({ customers, wrap })
      const body = form(filePart('a', bytes(60)))
      using underWay = await service.connect()
      await underWay.send(formHead(service, body.length), body.subarray(0, -10))
      await until('60 bytes are taken', () => taken() >= 60)
      expectOk(await service.anna.upload('b', bytes(40)))
      await underWay.send(body.subarray(-10))
      expectOk(await underWay.answer())
      expect(await service.anna.names()).to.deep.equal(['a', 'b'])
    })

    it('is not exceeded by many uploads at once', async () => {
      await using service = await start({ customers })
      const names = Array.from({ length: 10 }, (_, index) => `${index}`)
      const answers = await Promise.all(names.map((name) => service.anna.put(name, bytes(30))))
      const refused = answers.filter(({ status }) => status !== 200)
      refused.forEach((answer) => expectExceeded(answer))
      expect(refused.length).to.equal(7)
      expect((await service.anna.names()).length).to.equal(3)
    })

    it('is the quota of one customer, and unset by default', async () => {
      const bert = { name: 'bert', password: 'p' }
      await using service = await start({ customers: [...customers, bert] })
      expectOk(await service.anna.put('a', bytes(100)))
      expectOk(await service.as(bert).put('a', bytes(100_000)))
    })
  })
}
