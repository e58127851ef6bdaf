import { expect } from 'chai'
import { linkOptionsOf, type UploadLinkForm } from '../../page/links/link-terms.ts'

const form: UploadLinkForm = {
  isPrefix: true,
  name: 'in-',
  maxFiles: '20',
  maxSize: 0,
  expiresIn: 3600,
}

describe('The form of a link to upload', () => {
  it('asks for a prefix with a number of files, and for a size only if there is a bound', () => {
    expect(linkOptionsOf(form)).to.deep.equal({
      verb: 'upload',
      expiresIn: 3600,
      prefix: true,
      maxFiles: 20,
    })
    expect(linkOptionsOf({ ...form, maxSize: 5 })).to.include({ maxSize: 5 })
  })

  it('asks for one name without a number', () => {
    const linkOptions = linkOptionsOf({ ...form, isPrefix: false, maxFiles: 'x' })
    expect(linkOptions).to.deep.equal({ verb: 'upload', expiresIn: 3600 })
  })

  it('refuses a number that the server would refuse, and no name', () => {
    for (const maxFiles of ['', ' ', '0', '10001', '1.5', '-1', 'x', 'NaN']) {
      expect(() => linkOptionsOf({ ...form, maxFiles }), maxFiles).to.throw('askNumber')
    }
    expect(() => linkOptionsOf({ ...form, name: '' })).to.throw('askNameMissing')
  })
})
