import { curl } from '@holdfast/testing'
import { expect } from 'chai'
import { expectError, expectOk } from '../support/answer.ts'
import type { StartService } from '../support/running-service.ts'

export function deletion(start: StartService): void {
  describe('DELETE /delete/:filename', () => {
    it('answers 200 OK once the name is gone', async () => {
      await using service = await start()
      expectOk(await service.anna.upload('a b', 'x'))
      expectOk(await service.anna.upload('c', 'x'))
      const auth = ['-H', 'x-auth-name: anna', '-H', 'x-auth-password: correct horse']
      const { stdout } = await curl([...auth, '-X', 'DELETE', `${service.url}/delete/a%20b`])
      expect(stdout.toString()).to.equal('OK')
      expect(await service.anna.names()).to.deep.equal(['c'])
      expectError(await service.anna.serve('a b'), 400, 'File not found')
    })

    it('answers File not found for a file that does not exist, a second time included', async () => {
      await using service = await start()
      expectError(await service.anna.remove('a'), 400, 'File not found')
      expectOk(await service.anna.upload('a', 'x'))
      expectOk(await service.anna.remove('a'))
      expectError(await service.anna.remove('a'), 400, 'File not found')
    })

    it('answers No filename. Use /delete/<filename> when the filename is missing', async () => {
      await using service = await start()
      for (const path of ['/delete', '/delete/']) {
        const answer = await service.anna.send('DELETE', path)
        expectError(answer, 400, 'No filename. Use /delete/<filename>')
      }
    })

    // Not every store can tell which of them it was.
    it('succeeds for one of many at once, or for more, and the file is gone', async () => {
      await using service = await start()
      expectOk(await service.anna.upload('a', 'x'))
      const answers = await Promise.all(Array.from({ length: 5 }, () => service.anna.remove('a')))
      expect(answers.map(({ status }) => status)).to.include(200)
      for (const answer of answers) {
        if (answer.status === 200) expectOk(answer)
        else expectError(answer, 400, 'File not found')
      }
      expectError(await service.anna.serve('a'), 400, 'File not found')
    })

    it('lets the name be uploaded again', async () => {
      await using service = await start()
      expectOk(await service.anna.upload('a', 'old'))
      expectOk(await service.anna.remove('a'))
      expectOk(await service.anna.upload('a', 'new'))
      expect(await service.anna.text('a')).to.equal('new')
    })
  })
}
