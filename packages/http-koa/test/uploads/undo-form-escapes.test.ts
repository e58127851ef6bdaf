import { expect } from 'chai'
import { undoFormEscapes } from '../../src/uploads/form-syntax.ts'

describe('undoFormEscapes', () => {
  it('undoes the three escapes of browsers', () => {
    expect(undoFormEscapes('%22a%22%0D%0Ab%0d%0a')).to.equal('"a"\r\nb\r\n')
  })
  it('leaves everything else as it is, and undoes once', () => {
    expect(undoFormEscapes('100% %41 %2522 %00 %2F %')).to.equal('100% %41 %2522 %00 %2F %')
  })
  it('undoes what FormData does', async () => {
    const form = new FormData()
    form.append('file', new Blob(['x']), 'say "hi"\r\n100%.txt')
    const body = await new Response(form).text()
    const [, filename = ''] = /filename="([^"]*)"/.exec(body) ?? []
    expect(undoFormEscapes(filename)).to.equal('say "hi"\r\n100%.txt')
  })
})
