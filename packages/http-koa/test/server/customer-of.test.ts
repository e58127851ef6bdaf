import type { CustomerFiles, LinkUploads } from '@holdfast/core'
import { expect } from 'chai'
import { customerOf } from '../../src/server/exchange.ts'

describe('customerOf', () => {
  const files = { customer: { name: 'anna' } } as CustomerFiles
  const uploads = { customer: { name: 'bert' } } as LinkUploads

  it('is whoever sent the request', () => {
    expect(customerOf({})).to.equal(undefined)
    expect(customerOf({ files })).to.deep.equal({ name: 'anna' })
    expect(customerOf({ files, link: { inline: true } })).to.deep.equal({ name: 'anna' })
  })

  it('is the maker of a link to upload, also where an application has logged somebody in before', () => {
    expect(customerOf({ link: { uploads } })).to.deep.equal({ name: 'bert' })
    expect(customerOf({ files, link: { uploads } })).to.deep.equal({ name: 'bert' })
  })
})
