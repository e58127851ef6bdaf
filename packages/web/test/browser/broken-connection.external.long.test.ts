import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { describeInBrowsers } from './describe-in-browsers.ts'
import { signedIn, type SignedIn } from './signed-in.ts'

const mebibyte = 1024 * 1024
/** Each mebibyte of it differs from all others. */
const film = Buffer.alloc(24 * mebibyte, 'A film. ')
for (let at = 0; at < film.length; at += mebibyte) film.writeUInt32LE(at, at)
const digest = createHash('sha256').update(film).digest('hex')
/** What passes the line before it stands still. */
const passing = 6 * mebibyte

describeInBrowsers('An upload by the page over a bad line', (browser, _, once) => {
  /** Begins an upload that stands still in its midst. */
  async function begin({ site: { line, path }, driver }: SignedIn) {
    const file = join(path, 'film.bin')
    await writeFile(file, film)
    line.holdAfter(passing)
    await driver.choose('Upload', file)
    await driver.reads('0 of 1 done')
    await line.held()
    return file
  }

  /** Breaks the line, and waits until the server has read what had passed. */
  async function cut({ site }: SignedIn) {
    site.line.cut()
    await until('the server notes the end of the upload', () =>
      site.log().some(({ method, aborted }) => method === 'PATCH' && aborted === true),
    )
  }

  async function expectArrival({ site, driver }: SignedIn) {
    await driver.reads('All uploads are done')
    expect(await site.digest('film.bin')).to.equal(digest)
  }

  /** What had come before the line broke, at least `kept`, is not sent again. */
  async function expectContinued({ site }: SignedIn, kept = passing) {
    const appends = () =>
      site.log().filter(({ method, status }) => method === 'PATCH' && status === 204)
    // The last byte comes by itself, once the page has seen that the file is the same.
    const sizes = () => appends().map(({ bytesIn }) => Number(bytesIn))
    // With the head of the request.
    await until('the server has logged the rest', () => (sizes().at(-1) ?? Infinity) < 4096)
    const answered = sizes().reduce((sum, size) => sum + size, 0)
    // Of what passed, the first mebibyte was a piece that was answered.
    expect(answered).to.be.below(film.length - kept + 2 * mebibyte)
  }

  it('goes on by itself where the line broke for a moment', async () => {
    await using opened = await signedIn(browser())
    await begin(opened)
    opened.site.line.cut()
    opened.site.line.mend()
    // Browsers themselves repeat the request from its beginning, which the server refuses, or takes if it comes first.
    await expectArrival(opened)
  })

  it('goes on by itself where the line was lost', async () => {
    await using opened = await signedIn(browser())
    const { site, driver } = opened
    await begin(opened)
    await cut(opened)
    await driver.reads('The connection broke. Trying again.')
    site.line.mend()
    await expectArrival(opened)
    await expectContinued(opened)
  })

  it('goes on with a file that is chosen again after a reload, though the server was killed', async () => {
    await using opened = await signedIn(browser())
    const { site, driver } = opened
    const { page } = driver
    const file = await begin(opened)
    // The browser asks whether to leave.
    page.on('dialog', (dialog) => void dialog.accept())
    await page.reload()
    await cut(opened)
    // The rest may be in buffers of a connection that breaks.
    const kept = passing / 2
    await until('the server keeps what has come', async () => (await site.offset(page)) >= kept)
    await site.restart()
    site.line.mend()
    await driver.signIn()
    await driver.reads('film.bin', 'choose or drop this file again')
    await driver.choose('Upload', file)
    await expectArrival(opened)
    await expectContinued(opened, kept)
  })

  once(
    'asks for the new password where the old one has changed meanwhile, and loses nothing',
    async () => {
      await using opened = await signedIn(browser())
      const { site, driver } = opened
      await driver.fill('Filter by name', 'film')
      await begin(opened)
      await site.setCustomers([{ name: 'anna', password: 'open sesame' }])
      await cut(opened)
      site.line.mend()
      await driver.reads('Your password is not accepted any more')
      await driver.enterPassword('sesame')
      await driver.reads('Name or password is wrong')
      await driver.enterPassword('open sesame')
      await expectArrival(opened)
      await expectContinued(opened)
      await driver.readsNot('Your password is not accepted any more')
      expect(await driver.value('Filter by name')).to.equal('film')
      await until('the file is listed', async () => (await driver.names()).includes('film.bin'))
    },
  )
})
