import { expect } from 'chai'
import { formatRecord, parseRecord } from '../../src/resumable/upload-record.ts'

const plan = { name: 'a', expiresAfterMs: 3_600_000 }

describe('parseRecord', () => {
  it('reads records of stores that knew no links', () => {
    expect(parseRecord(JSON.stringify({ plan }))).to.deep.equal({ plan })
  })

  it('reads which link has let an upload in, with the file that it becomes, too', () => {
    const begun = { plan: { ...plan, link: 'tfy2l.p3.in-"é' } }
    expect(parseRecord(formatRecord(begun))).to.deep.equal(begun)
    const modifiedAt = new Date(1_000_000_000_000)
    const publishing = { name: 'a', size: 3, modifiedAt, etag: 'e' }
    const published = { ...begun, publishing }
    expect(parseRecord(formatRecord(published))).to.deep.equal(published)
  })

  it('takes a record whose link is no text for damaged', () => {
    expect(parseRecord(JSON.stringify({ plan: { ...plan, link: 1 } }))).to.equal(undefined)
  })
})
