import { join } from 'node:path'
import { createSite, type Site } from '@holdfast/testing'
import { expect } from 'chai'
import { SetupError } from '@holdfast/core'
import { readSecret } from '../../src/config/secrets.ts'

describe('readSecret', () => {
  let site: Site
  beforeEach(async () => {
    site = await createSite()
  })
  afterEach(() => site.remove())

  const read = (environment: Readonly<Record<string, string>>) =>
    readSecret('minio-secret-key', environment)

  const fromFile = async (content: string) =>
    read({ HOLDFAST_MINIO_SECRET_KEY_FILE: await site.write('secret', content) })

  const refusal = async (reading: Promise<unknown>) => {
    try {
      await reading
    } catch (error) {
      if (error instanceof SetupError) return error.message.replaceAll(site.path, '')
      throw error
    }
    throw new Error('It was accepted')
  }

  for (const end of ['', '\n', '\r\n']) {
    it(`takes variable and file without ${JSON.stringify(end)} at the end`, async () => {
      expect(await read({ HOLDFAST_MINIO_SECRET_KEY: ` s3cret ${end}` })).to.equal(' s3cret ')
      expect(await fromFile(` s3cret ${end}`)).to.equal(' s3cret ')
    })
  }

  it('takes empty variables for ones that are not set', async () => {
    const none = { HOLDFAST_MINIO_SECRET_KEY: '', HOLDFAST_MINIO_SECRET_KEY_FILE: '' }
    expect(await read(none)).to.equal(undefined)
    expect(await read({ ...none, HOLDFAST_MINIO_SECRET_KEY: 's3cret' })).to.equal('s3cret')
  })

  it('has none where none is set', async () => {
    expect(await read({ HOLDFAST_MINIO_ACCESS_KEY: 'of another' })).to.equal(undefined)
  })

  it('refuses both at once', async () => {
    const both = { HOLDFAST_MINIO_SECRET_KEY: 's3cret', HOLDFAST_MINIO_SECRET_KEY_FILE: '/f' }
    expect(await refusal(read(both))).to.equal(
      'Both HOLDFAST_MINIO_SECRET_KEY and HOLDFAST_MINIO_SECRET_KEY_FILE are set; unset one of them.',
    )
  })

  it('names file and variable when the file cannot be read', async () => {
    const missing = { HOLDFAST_MINIO_SECRET_KEY_FILE: join(site.path, 'none') }
    const message = await refusal(read(missing))
    expect(message).to.match(
      /^The file \/none that HOLDFAST_MINIO_SECRET_KEY_FILE names cannot be read \(ENOENT/,
    )
    expect(await refusal(read({ HOLDFAST_MINIO_SECRET_KEY_FILE: site.path }))).to.include('EISDIR')
  })

  it('refuses what has no line or several, without a word of them', async () => {
    const lines = await refusal(read({ HOLDFAST_MINIO_SECRET_KEY: 's3cret\nother' }))
    expect(lines).to.equal('HOLDFAST_MINIO_SECRET_KEY has more than one line.')
    expect(await refusal(fromFile('\n'))).to.include('/secret that HOLDFAST_MINIO_SECRET_KEY_FILE')
    expect(await refusal(fromFile(''))).to.include('is empty.')
    const message = await refusal(fromFile('s3cret\nother\n'))
    expect(message).to.include('has more than one line.').and.not.include('s3cret')
  })
})
