import type { BlobStore } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { describeInBrowsers } from './describe-in-browsers.ts'
import { endVisit } from './end-visit.ts'
import { openDriver } from './page-driver.ts'
import { runPage } from './running-page.ts'
import { startLine } from './start-line.ts'

const mebibyte = 1024 * 1024

describeInBrowsers('The page', (browser, _, once) => {
  /** A customer who has signed in, with `files` already there. */
  async function signedIn(files: Readonly<Record<string, string>> = {}, store?: BlobStore) {
    const server = await runPage(store)
    for (const [name, content] of Object.entries(files)) await server.put(name, content)
    const driver = await openDriver(browser(), server.url)
    await driver.signIn()
    await driver.page.waitForSelector('.page')
    if (Object.keys(files).length > 0) await driver.page.waitForSelector('.rows .row')
    return { server, driver, [Symbol.asyncDispose]: () => endVisit(driver, server) }
  }

  once('says what is wrong with a password, and lets the right one in', async () => {
    await using server = await runPage()
    const { page, signIn, sees, complaints } = await openDriver(browser(), server.url)
    await signIn('a guess')
    await sees('[role=alert]', 'Name or password is wrong')
    await signIn()
    await sees('.empty', 'Nothing here yet')
    // Nothing is kept unless it was asked for.
    expect(await page.evaluate(() => sessionStorage.length + localStorage.length)).to.equal(0)
    await page.reload()
    await page.waitForSelector('.sign-in-card')
    expect(complaints).to.deep.equal([])
  })

  it('stays signed in after a reload where that was asked for, until one signs out', async () => {
    await using server = await runPage()
    const { page, click, signIn } = await openDriver(browser(), server.url)
    await click('[name=keep]')
    await signIn()
    await page.waitForSelector('.page')
    await page.reload()
    await page.waitForSelector('.page')
    await click('.menu .button:last-child')
    await page.waitForSelector('.sign-in-card')
    await page.reload()
    await page.waitForSelector('.sign-in-card')
    // The choice is remembered, and the password is not.
    expect(await page.$eval('[name=keep]', (box) => (box as HTMLInputElement).checked)).to.equal(
      true,
    )
    await click('.password .icon-button')
    expect(
      await page.$eval('[name=password]', (field) => (field as HTMLInputElement).type),
    ).to.equal('text')
  })

  it('uploads what is dropped, large files in pieces, and lists it', async () => {
    await using opened = await signedIn()
    const { server, driver } = opened
    const times = 17 * mebibyte
    await driver.drop([
      { name: 'small.txt', content: 'small' },
      { name: 'large.txt', content: 'x', times },
    ])
    await driver.sees('.uploads', 'All uploads are done')
    await driver.sees('.rows', 'large.txt')
    expect(await driver.names()).to.deep.equal(['large.txt', 'small.txt'])
    expect(await server.content('small.txt')).to.equal('small')
    expect((await server.content('large.txt'))?.length).to.equal(times)
    await until('it was sent in pieces', () =>
      server.asked.some((each) => each.startsWith('PATCH /resumable/')),
    )
  })

  once('goes on after a reload where an upload in pieces has stopped', async () => {
    await using line = await startLine()
    await using server = await runPage()
    line.lead(Number(new URL(server.url).port))
    const driver = await openDriver(browser(), line.url)
    const { page, sees, drop, press, signIn } = driver
    const film = { name: 'film.bin', content: 'y', times: 24 * mebibyte, lastModified: 7 }
    await signIn()
    await sees('.empty', 'Nothing here yet')
    line.holdAfter(6 * mebibyte)
    await drop([film])
    await line.held()
    await press('button', 'Pause film.bin')
    await sees('.upload-note', 'Paused')
    await page.reload()
    line.cut()
    line.mend()
    await signIn()
    await sees('.upload-unfinished', 'film.bin')
    await drop([film])
    await sees('.uploads', 'All uploads are done')
    expect((await server.content('film.bin'))?.length).to.equal(film.times)
    expect(line.passed()).to.be.below(film.times + 6 * mebibyte)
    expect(server.asked.filter((each) => each === 'POST /resumable')).to.have.length(1)
    expect(await page.evaluate(() => localStorage.length)).to.equal(0)
    expect(driver.complaints).to.deep.equal([])
  })

  once('asks the server, and then its user, whether a name is taken', async () => {
    await using opened = await signedIn({ 'a.txt': 'old a', 'b.txt': 'old b' })
    const { server, driver } = opened
    const { page, drop, sees, click } = driver
    const files = ['a.txt', 'b.txt'].map((name) => ({ name, content: `new ${name}` }))
    await drop(files)
    await sees('dialog', 'the other name')
    expect(await driver.axe()).to.deep.equal([])
    await click('dialog [type=checkbox]')
    await click('.choice:nth-child(1)')
    await sees('.uploads', 'All uploads are done')
    expect(await server.names()).to.deep.equal(['a (2).txt', 'a.txt', 'b (2).txt', 'b.txt'])
    expect(await server.content('a.txt')).to.equal('old a')
    await drop(files.slice(0, 1))
    await click('.choice:nth-child(2)')
    await page.waitForFunction(() => document.querySelectorAll('.upload-done').length === 3)
    expect(await server.content('a.txt')).to.equal('new a.txt')
  })

  once('goes on asking of the same name when another one is found taken meanwhile', async () => {
    const store = createMemoryBlobStore()
    const late = Promise.withResolvers<undefined>()
    const slow: BlobStore = {
      ...store,
      async stat(key) {
        if (key.name === 'a.txt') await late.promise
        return store.stat(key)
      },
    }
    await using opened = await signedIn({ 'a.txt': 'old a', 'b.txt': 'old b' }, slow)
    const { drop, sees, page } = opened.driver
    await drop(['a.txt', 'b.txt'].map((name) => ({ name, content: 'new' })))
    await sees('dialog', '“b.txt”')
    late.resolve(undefined)
    await page.waitForFunction(
      () => document.body.innerText.split('The name is taken').length === 4,
    )
    await sees('dialog', '“b.txt”')
  })

  once('filters as one types, and sorts by a click', async () => {
    await using opened = await signedIn({ 'a.txt': '1', 'Überblick.txt': '333', 'c.pdf': '22' })
    const { page, names, sees, misses, click } = opened.driver
    await page.locator('.filter input').fill('TXT')
    await sees('.status', '2 of 3 files')
    expect(await names()).to.deep.equal(['a.txt', 'Überblick.txt'])
    await click('.filter button')
    await misses('.status', '2 of 3')
    await click('.row-head .cell-size button')
    await sees('[aria-sort=descending]', 'Size')
    expect(await names()).to.deep.equal(['Überblick.txt', 'c.pdf', 'a.txt'])
  })

  it('has nothing that axe finds wrong, light, dark and on a phone', async () => {
    await using opened = await signedIn({ 'a.txt': 'a', 'a picture.png': 'b' })
    const { driver } = opened
    const { page, drop, sees } = driver
    await drop([{ name: 'c.txt', content: 'c' }])
    await sees('.uploads', 'All uploads are done')
    await driver.press('button', 'Account and settings')
    for (const value of ['light', 'dark']) {
      await page.select('.preferences label:nth-child(2) select', value)
      expect(await driver.axe(), value).to.deep.equal([])
    }
    expect(await driver.axe(), 'menu').to.deep.equal([])
    await page.setViewport({ width: 360, height: 740 })
    expect(await driver.axe(), 'phone').to.deep.equal([])
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
    expect(overflow).to.equal(false)
  })

  once('has nothing that axe finds wrong before one has signed in, in German either', async () => {
    await using server = await runPage()
    const { page, axe, sees } = await openDriver(browser(), server.url)
    expect(await axe()).to.deep.equal([])
    await page.select('.preferences select', 'de')
    await sees('.sign-in-card', 'Passwort')
    expect(await page.$eval('html', (html) => html.lang)).to.equal('de')
    expect(await axe()).to.deep.equal([])
  })
})
