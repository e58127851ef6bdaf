import { curl } from '@holdfast/testing'
import { expect } from 'chai'
import { nastyNames } from '@holdfast/contract'
import { compareUtf8 } from '@holdfast/core'
import { expectError, expectOk } from '../support/answer.ts'
import { expectNoLitter } from '../support/expect-no-litter.ts'
import { filePart, form, part } from '../support/form.ts'
import { requestHead } from '../support/request-head.ts'
import type { RunningService, StartService } from '../support/running-service.ts'
import { sendForm } from '../support/send-form.ts'

/** What a form cannot say: the parser shows bytes that are no UTF-8 by this very character. */
const sayableInForms = nastyNames.filter((name) => !name.includes('\ufffd'))

const refusedNames = [
  ['.', 'it is "."'],
  ['..', 'it is ".."'],
  ['a/..', 'it is ".."'],
  ['a/', 'it is empty'],
  ['a\tb', 'it contains a control character'],
  ['x'.repeat(256), 'it is longer than 255 bytes'],
  ['你'.repeat(86), 'it is longer than 255 bytes'],
] as const

async function expectOnlyName(service: RunningService, name: string): Promise<void> {
  expect(await service.anna.names()).to.deep.equal([name])
  expect(await service.anna.text(name)).to.equal('hi')
}

export function uploadNames(start: StartService): void {
  describe('file names', () => {
    it('are kept byte for byte through forms: case, NFC and NFD, dots, spaces, %41, CON …', async () => {
      await using service = await start()
      for (const name of sayableInForms) expectOk(await service.anna.upload(name, name))
      expect(await service.anna.names()).to.deep.equal([...sayableInForms].sort(compareUtf8))
      for (const name of sayableInForms) expect(await service.anna.text(name)).to.equal(name)
    })

    it('are kept byte for byte through paths', async () => {
      await using service = await start()
      for (const name of nastyNames) expectOk(await service.anna.put(name, name))
      expect(await service.anna.names()).to.deep.equal([...nastyNames].sort(compareUtf8))
      for (const name of nastyNames) expectOk(await service.anna.remove(name))
      expectError(await service.anna.list(), 400, 'No files uploaded yet')
    })

    for (const [name, reason] of refusedNames) {
      it(`are refused with Invalid filename: ${reason}, such as ${JSON.stringify(name.slice(0, 5))}`, async () => {
        await using service = await start()
        const answer = await sendForm(service, form(filePart(name, 'hi')))
        expectError(answer, 400, `Invalid filename: ${reason}`)
        expect(await service.anna.names()).to.deep.equal([])
        await expectNoLitter(service)
      })
    }

    it('are refused with any other control character', async () => {
      await using service = await start()
      for (const character of ['\u0000', '\u0001', '\u001f', '\u007f']) {
        const answer = await sendForm(service, form(filePart(`a${character}b`, 'hi')))
        const message = 'it is not valid UTF-8, or contains a control character'
        expectError(answer, 400, `Invalid filename: ${message}`)
      }
      expect(await service.anna.names()).to.deep.equal([])
    })

    it('are refused in paths, whatever the method', async () => {
      await using service = await start()
      const paths = { '..': '%2e%2e', '.': '.', 'a/b': 'a%2Fb', nul: '%00', del: 'a%7F', lf: '%0a' }
      for (const path of [...Object.values(paths), '%C3%28', '%ZZ', '%', 'x'.repeat(256)]) {
        for (const [method, route] of [
          ['GET', 'serve'],
          ['DELETE', 'delete'],
          ['PUT', 'upload'],
        ] as const) {
          const headers = { ...service.anna.headers, 'Content-Length': 0 }
          const answer = await service.exchange(requestHead(method, `/${route}/${path}`, headers))
          expect(answer.bytes.toString(), path).to.include('"Invalid filename: ')
          expect(answer.status).to.equal(400)
        }
      }
    })

    it('of 85 CJK characters and of 255 bytes are the longest', async () => {
      await using service = await start()
      for (const name of ['好'.repeat(85), 'z'.repeat(255)]) {
        expectOk(await service.anna.upload(name, 'hi'))
        expect(await service.anna.text(name)).to.equal('hi')
      }
    })

    it('with bytes that are not UTF-8 are refused, not changed', async () => {
      await using service = await start()
      const latin1 = Buffer.from('form-data; name="file"; filename="caf\u00e9"', 'latin1')
      expectError(
        await sendForm(service, form(part(latin1, 'hi'))),
        400,
        'Invalid filename: it is not valid UTF-8, or contains a control character',
      )
    })
  })

  describe("a path in the part's filename", () => {
    for (const [filename, name] of [
      ['dir/sub/a.txt', 'a.txt'],
      ['/etc/passwd', 'passwd'],
      ['../../a.txt', 'a.txt'],
      ['C:\\dir\\a.txt', 'C:\\dir\\a.txt'],
      ['dir/b\\a.txt', 'b\\a.txt'],
      ['a.txt\\', 'a.txt\\'],
    ] as const) {
      it(`counts from behind the last slash, and a backslash is ordinary: ${filename} is ${name}`, async () => {
        await using service = await start()
        expectOk(await sendForm(service, form(filePart(filename, 'hi'))))
        await expectOnlyName(service, name)
      })
    }
  })

  describe("quotes in the part's filename", () => {
    it('come undone as fetch sends them: %22', async () => {
      await using service = await start()
      expectOk(await service.anna.upload('say "hi" 100%.txt', 'hi'))
      await expectOnlyName(service, 'say "hi" 100%.txt')
    })

    it('come undone as fetch sends them: %0D and %0A, which no name may contain', async () => {
      await using service = await start()
      for (const name of ['a\nb', 'a\rb', 'a\r\nb']) {
        const answer = await service.anna.upload(name, 'hi')
        expectError(answer, 400, 'Invalid filename: it contains a control character')
      }
    })

    it('come undone where curl writes %22, and where it writes \\"', async () => {
      await using service = await start()
      const auth = ['-H', 'x-auth-name: anna', '-H', 'x-auth-password: correct horse']
      const file = ['-F', 'file=@-;filename="say \\"hi\\".txt"', `${service.url}/upload`]
      for (const option of [[], ['--form-escape']]) {
        const { stdout } = await curl([...auth, ...option, ...file], { input: 'hi' })
        expect(stdout.toString()).to.equal('OK')
        await expectOnlyName(service, 'say "hi".txt')
      }
    })

    it('leave %41 and %2522 alone, which no client escaped', async () => {
      await using service = await start()
      expectOk(await sendForm(service, form(filePart('%41%2522', 'hi'))))
      await expectOnlyName(service, '%41%2522')
    })

    it('do not matter where filename* is there, too: it wins', async () => {
      await using service = await start()
      const names = ['filename="wrong"', "filename*=UTF-8''%E4%BD%A0%20%22b%22.txt"]
      for (const order of [names, [...names].reverse()]) {
        const disposition = `form-data; name="file"; ${order.join('; ')}`
        expectOk(await sendForm(service, form(part(disposition, 'hi'))))
        await expectOnlyName(service, '你 "b".txt')
      }
    })

    it('may be left out around a token', async () => {
      await using service = await start()
      expectOk(await sendForm(service, form(part('form-data; name=file; filename=a.txt', 'hi'))))
      await expectOnlyName(service, 'a.txt')
    })
  })
}
