import { expect } from 'chai'
import { openConnection, until } from '@holdfast/testing'
import { expectError } from '../support/expect-error.ts'
import {
  boundary,
  customerRequest,
  filePart,
  formType,
  part,
  textPart,
} from '../support/request.ts'
import { runApp } from '../support/running-app.ts'
import { watchStore } from '../support/watched-store.ts'

const nameless = 'Content-Disposition: form-data'

const hopeless: readonly (readonly [title: string, begin: string, status: number])[] = [
  ['a text field without a name', part(nameless), 400],
  ['a file without a name', part(`${nameless}; filename="a"`), 400],
  ['a second file', filePart('a') + filePart('b'), 400],
  ['a file whose name is invalid', filePart('x'.repeat(256)), 400],
  ['a file that is too large', filePart('a', 'x'.repeat(100)), 413],
  ['too many text fields', textPart('a', 'b').repeat(102), 413],
  ['too large a text field', textPart('a', 'b'.repeat(70_000)), 413],
  ['part headers that are malformed', part('nonsense'), 400],
]

describe('receiveForm', () => {
  for (const [title, begin, status] of hopeless) {
    it(`answers ${title} at once, although more of the form is to come`, async () => {
      const store = watchStore()
      await using app = await runApp({ store, maxFileSize: 50 })
      using connection = await openConnection(app.port)
      const headers = { 'Content-Type': formType, 'Content-Length': 2 ** 40 }
      connection.write(customerRequest('POST', '/upload', headers))
      connection.write(`${begin}--${boundary}\r\n`)
      const answer = await connection.answer()
      expectError(answer)
      expect(answer.status, answer.body).to.equal(status)
      await until('the upload ended', () => store.puts() === 0)
      expect(await app.names()).to.deep.equal([])
    })
  }
})
