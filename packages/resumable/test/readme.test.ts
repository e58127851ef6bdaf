import { withReadmeServer } from '@holdfast/testing'
import { expect } from 'chai'

describe('The README of @holdfast/resumable', () => {
  it('shows a server that takes uploads', () =>
    withReadmeServer(import.meta.dirname, '', async (url) => {
      const headers = {
        'Tus-Resumable': '1.0.0',
        'Upload-Length': '5',
        'Upload-Metadata': `filename ${btoa('a.txt')}`,
        'Content-Type': 'application/offset+octet-stream',
      }
      const answer = await fetch(`${url}/uploads`, { method: 'POST', headers, body: 'Hello' })
      expect(answer.status).to.equal(201)
      expect(answer.headers.get('upload-offset')).to.equal('5')
    }))
})
