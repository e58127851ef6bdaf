import { createHash } from 'node:crypto'
import { createFaults, injectFaults } from '@holdfast/contract/faults'
import { expect } from 'chai'
import { FileServiceError } from '@holdfast/core'
import { expectNoLitter } from '../support/expect-no-litter.ts'
import { filePart, form, formType, textPart } from '../support/form.ts'
import type { RunningService, StartService } from '../support/running-service.ts'

const digest = (text: string) => textPart('sha256', createHash('sha256').update(text).digest('hex'))

/** What each line of the answer says, as `filename: message`. */
async function results(service: RunningService, ...parts: readonly Buffer[]) {
  const headers = { 'Content-Type': formType }
  const options = { headers, body: form(...parts) }
  const { bytes } = await service.anna.send('POST', '/upload/batch', options)
  const lines = bytes.toString().trim().split('\n')
  return lines.map((line) => {
    const { filename, message } = JSON.parse(line) as { filename?: string; message: string }
    return `${filename ?? '(form)'}: ${message}`
  })
}

export function batchDigests(start: StartService): void {
  describe('POST /upload/batch with text fields sha256', () => {
    it('checks each against the file behind it, and no other', async () => {
      await using service = await start()
      const parts = [digest('1'), filePart('a', '1'), filePart('b', '2'), digest('3')]
      expect(await results(service, ...parts, filePart('c', '4'))).to.deep.equal([
        'a: OK',
        'b: OK',
        'c: Digest mismatch',
      ])
      expect(await service.anna.names()).to.deep.equal(['a', 'b'])
      await expectNoLitter(service)
    })

    it('takes upper case for lower, and neither less nor more than 64 digits', async () => {
      await using service = await start()
      const hex = createHash('sha256').update('1').digest('hex')
      const parts = [hex.toUpperCase(), hex.slice(1), `${hex}0`, ` ${hex}`].flatMap(
        (value, index) => [textPart('sha256', value), filePart(`${index}`, '1')],
      )
      const message = 'Invalid sha256: it must be sent once, as 64 hexadecimal digits'
      expect(await results(service, ...parts)).to.deep.equal([
        '0: OK',
        `1: ${message}`,
        `2: ${message}`,
        `3: ${message}`,
      ])
      expect(await service.anna.names()).to.deep.equal(['0'])
    })

    it('says so when no file follows, since that digest was not checked', async () => {
      await using service = await start()
      expect(await results(service, filePart('a', '1'), digest('1'))).to.deep.equal([
        'a: OK',
        '(form): Invalid sha256: no file follows it',
      ])
    })

    it('refuses the file behind two of them, or behind one that is none', async () => {
      await using service = await start()
      const twice = [digest('1'), digest('1'), filePart('a', '1')]
      const wrong = [textPart('sha256', 'x'), filePart('b', '1')]
      const message = 'Invalid sha256: it must be sent once, as 64 hexadecimal digits'
      expect(await results(service, ...twice, ...wrong)).to.deep.equal([
        `a: ${message}`,
        `b: ${message}`,
      ])
      expect(await service.anna.names()).to.deep.equal([])
    })
  })

  describe('POST /upload/batch while the store is full', () => {
    it('says Insufficient storage for each file, and logs the cause', async () => {
      const full = new FileServiceError('insufficient-storage', 'no room')
      const faults = createFaults()
      faults.plan({ nth: 1, lasting: true, error: full })
      await using service = await start({ wrap: (store) => injectFaults(store, faults) })
      expect(await results(service, filePart('a', '1'), filePart('b', '2'))).to.deep.equal([
        'a: Insufficient storage',
        'b: Insufficient storage',
      ])
      const causes = service.log.filter(({ level }) => level === 'error')
      expect(causes.map(({ fields }) => fields['err'])).to.deep.equal([full, full])
    })
  })
}
