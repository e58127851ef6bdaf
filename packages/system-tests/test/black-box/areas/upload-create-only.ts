import { curl } from '@holdfast/testing'
import { expect } from 'chai'
import { expectError, expectOk } from '../support/answer.ts'
import { expectNoLitter } from '../support/expect-no-litter.ts'
import type { StartService } from '../support/running-service.ts'

const createOnly = { 'If-None-Match': '*' }
const refusal = 'Precondition Failed'

export function uploadCreateOnly(start: StartService): void {
  describe('If-None-Match: * on upload', () => {
    it('creates where the name is free, by form and by PUT', async () => {
      await using service = await start()
      expectOk(await service.anna.upload('form', 'x', createOnly))
      expectOk(await service.anna.put('raw', 'x', createOnly))
    })

    it('answers 412 Precondition Failed when the name is taken, and leaves the file', async () => {
      await using service = await start()
      expectOk(await service.anna.upload('a', 'old'))
      expectError(await service.anna.upload('a', 'new', createOnly), 412, refusal)
      expectError(await service.anna.put('a', 'new', createOnly), 412, refusal)
      expect(await service.anna.text('a')).to.equal('old')
    })

    it('is honoured for curl -F and curl -T', async () => {
      await using service = await start()
      const auth = ['-H', 'x-auth-name: anna', '-H', 'x-auth-password: correct horse']
      const base = [...auth, '-H', 'If-None-Match: *', '-o', '/dev/null', '-w', '%{http_code}']
      const send = async (...args: string[]) => (await curl([...base, ...args])).stdout.toString()
      const byForm = ['-F', 'file=@-;filename=a', `${service.url}/upload`]
      const byPut = ['-T', '-', `${service.url}/upload/b`]
      expect([await send(...byForm), await send(...byForm)]).to.deep.equal(['200', '412'])
      expect([await send(...byPut), await send(...byPut)]).to.deep.equal(['200', '412'])
    })

    it('is race-free among many uploads: exactly one wins, and its content is there', async () => {
      await using service = await start()
      const contents = Array.from({ length: 12 }, (_, index) => `${index}`.repeat(30_000))
      const answers = await Promise.all(
        contents.map((content, index) =>
          index % 2 === 0
            ? service.anna.upload('a', content, createOnly)
            : service.anna.put('a', content, createOnly),
        ),
      )
      const winner = answers.findIndex(({ status }) => status === 200)
      answers
        .filter((_, index) => index !== winner)
        .forEach((each) => expectError(each, 412, refusal))
      expect(await service.anna.text('a')).to.equal(contents[winner])
      await expectNoLitter(service)
    })

    it('creates again once the file was deleted', async () => {
      await using service = await start()
      expectOk(await service.anna.upload('a', 'old', createOnly))
      expectOk(await service.anna.remove('a'))
      expectOk(await service.anna.upload('a', 'new', createOnly))
      expect(await service.anna.text('a')).to.equal('new')
    })

    it('is the only precondition: others are refused rather than ignored', async () => {
      await using service = await start()
      expectOk(await service.anna.upload('a', 'old'))
      for (const headers of [{ 'If-Match': '"x"' }, { 'If-None-Match': '"x"' }]) {
        expect((await service.anna.put('a', 'new', headers)).status).to.equal(400)
      }
      expect(await service.anna.text('a')).to.equal('old')
    })
  })
}
