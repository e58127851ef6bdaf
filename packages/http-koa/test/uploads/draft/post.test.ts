import { expect } from 'chai'
import { createClient, read, running } from './draft-client.ts'

describe('POST /upload by the draft of resumable uploads', () => {
  const named = { 'Content-Disposition': 'inline; filename="x/a.txt"', 'Upload-Complete': '?0' }

  it('takes a body that is the file, with its name', async () => {
    await using app = await running()
    const client = createClient(app)
    const begun = await client.send('POST', '/upload', named, 'He')
    expect(begun.status).to.equal(201)
    const upload = `/${begun.headers.get('location') ?? ''}`
    expect(await client.append(upload, 2, true, 'llo')).to.include({ status: 200 })
    expect(await read(app)).to.equal('Hello')
  })

  it('takes a name of every script', async () => {
    await using app = await running()
    const disposition = "inline; filename*=UTF-8''%E6%96%87.txt"
    const headers = { 'Content-Disposition': disposition, 'Upload-Complete': '?1' }
    const answer = await createClient(app).send('POST', '/upload', headers, 'Hello')
    expect(answer).to.include({ status: 200, complete: '?1' })
    expect(await app.names()).to.deep.equal(['文.txt'])
  })

  for (const disposition of ['', 'inline', 'inline; filename="a']) {
    it(`refuses a body with the disposition "${disposition}"`, async () => {
      await using app = await running()
      const headers = { ...named, 'Content-Disposition': disposition }
      const answer = await createClient(app).send('POST', '/upload', headers, 'He')
      expect(answer).to.include({ status: 400 })
      expect(JSON.parse(answer.body)).to.include({ message: 'No file' })
    })
  }
})
