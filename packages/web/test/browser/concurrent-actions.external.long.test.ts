import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { describeInBrowsers } from './describe-in-browsers.ts'
import { endVisit } from './end-visit.ts'
import { hostilePdf } from './hostile-pdf.ts'
import { openDriver } from './page-driver.ts'
import { runPage } from './running-page.ts'

/** What goes wrong only where two things happen at once, or a file is hostile. */
describeInBrowsers('The page takes care', (browser, _, once) => {
  async function signedIn(files: Readonly<Record<string, string | Uint8Array>> = {}) {
    const server = await runPage()
    for (const [name, content] of Object.entries(files)) await server.put(name, content)
    const driver = await openDriver(browser(), server.url)
    await driver.signIn()
    await driver.page.waitForSelector('.page')
    if (Object.keys(files).length > 0) await driver.page.waitForSelector('.rows .row')
    return {
      server,
      driver,
      [Symbol.asyncDispose]: () => endVisit(driver, server),
    }
  }

  once('never deletes the new file that gets the name of one just deleted', async () => {
    await using opened = await signedIn({ 'a.txt': 'old', 'b.txt': 'b' })
    const { server, driver } = opened
    await driver.click('[aria-label="Delete a.txt"]')
    await driver.misses('.rows .name', 'a.txt')
    await driver.drop([{ name: 'a.txt', content: 'new' }])
    await driver.sees('.uploads', 'All uploads are done')
    await driver.sees('.rows .name', 'a.txt')
    await driver.misses('.notices', 'Deleting')
    expect(await server.content('a.txt')).to.equal('new')
    expect(server.asked.filter((each) => each.startsWith('DELETE'))).to.have.length(1)
  })

  it('deletes by the keyboard the file that has the focus, though another took its place', async () => {
    await using opened = await signedIn({ 'b.txt': 'b', 'c.txt': 'c' })
    const { page, drop, sees, misses } = opened.driver
    await page.focus('.rows .row:nth-child(1)')
    await drop([{ name: 'a.txt', content: 'a' }])
    await sees('.status', '3 files')
    expect(await page.evaluate(() => document.activeElement?.textContent)).to.include('b.txt')
    await page.keyboard.press('Delete')
    await misses('.rows .name', 'b.txt')
    await sees('.rows .name', 'a.txt')
  })

  it('keeps the focus of a row that is scrolled out of sight', async () => {
    const files = Array.from({ length: 200 }, (_, index) => [`file ${index + 100}`, 'a'] as const)
    await using opened = await signedIn(Object.fromEntries(files))
    const { page } = opened.driver
    await page.focus('.rows .row:nth-child(1)')
    await page.$eval('.rows', (rows) => (rows.scrollTop = 5000))
    await page.waitForSelector('.rows [data-index="110"]')
    expect(await page.evaluate(() => document.activeElement?.textContent)).to.include('file 100')
    await page.keyboard.press('ArrowDown')
    await page.waitForFunction(() => document.activeElement?.textContent.includes('file 101'))
  })

  it('loses no upload whose question is closed, however often Escape is pressed', async () => {
    await using opened = await signedIn({ 'a.txt': 'old' })
    const { page, drop, sees } = opened.driver
    await drop([{ name: 'a.txt', content: 'new' }])
    await sees('dialog', 'The name is taken')
    for (let time = 0; time < 3; time += 1) await page.keyboard.press('Escape')
    await page.waitForSelector('dialog', { hidden: true })
    await sees('.upload-paused', 'a.txt')
  })

  it('takes a double click, and Enter that is held, as one answer each', async () => {
    const names = ['a.txt', 'b.txt', 'c.txt']
    await using opened = await signedIn(Object.fromEntries(names.map((name) => [name, 'old'])))
    const { page, drop, sees, click } = opened.driver
    await drop(names.map((name) => ({ name, content: 'new' })))
    await sees('dialog', 'the other 2 names')
    await page.locator('.choice:nth-child(3)').click({ count: 2 })
    await sees('dialog', 'the other name')
    await page.focus('.choice:nth-child(3)')
    for (let time = 0; time < 3; time += 1) await page.keyboard.down('Enter')
    await page.keyboard.up('Enter')
    await sees('dialog', 'every further name')
    await click('.choice:nth-child(3)')
    await page.waitForSelector('dialog', { hidden: true })
  })

  it('deletes nothing from the head of a column, and one file with a key that is held', async () => {
    await using opened = await signedIn({ 'a.txt': 'a', 'b.txt': 'b', 'c.txt': 'c' })
    const { page, sees } = opened.driver
    await sees('.status', '3 files')
    await page.focus('.grid [role=columnheader] button')
    await page.keyboard.press('Delete')
    await page.focus('.rows .row')
    for (let time = 0; time < 2; time += 1) {
      await page.keyboard.down('Delete')
      await page.waitForFunction(() => document.activeElement?.textContent.includes('b.txt'))
    }
    await page.keyboard.up('Delete')
    await sees('.status', '2 files')
  })

  it('shows as selected what a click with Shift selects, though it was so before', async () => {
    await using opened = await signedIn({ 'a.txt': 'a', 'b.txt': 'b' })
    const { page, sees } = opened.driver
    await sees('.status', '2 files')
    const [first, second] = await page.$$('.rows .row [type=checkbox]')
    await first?.click()
    await second?.click()
    await page.keyboard.down('Shift')
    await second?.click()
    await page.keyboard.up('Shift')
    await sees('.status', '2 selected')
    const ticked = '.rows .row [type=checkbox]:checked'
    expect(await page.$$eval(ticked, (boxes) => boxes.length)).to.equal(2)
  })

  once('leaves nothing of a customer on the screen who has signed out', async () => {
    await using opened = await signedIn({ 'secret.txt': 'a' })
    const { server, driver } = opened
    await driver.click('[aria-label="Delete secret.txt"]')
    await driver.sees('.notices', 'secret.txt')
    await driver.click('.menu .button:last-child')
    await driver.page.waitForSelector('.sign-in-card')
    await driver.misses('body', 'secret.txt')
    await until('it is deleted all the same', async () => (await server.names()).length === 0)
  })

  it('works where the browser keeps nothing', async () => {
    await using server = await runPage()
    const { page, signIn, drop, sees, complaints } = await openDriver(browser(), 'about:blank')
    await page.evaluateOnNewDocument(() => {
      for (const name of ['localStorage', 'sessionStorage']) {
        Object.defineProperty(window, name, {
          get() {
            throw new DOMException('Forbidden', 'SecurityError')
          },
        })
      }
    })
    await page.goto(server.url)
    await signIn()
    await page.waitForSelector('.page')
    await drop([{ name: 'a.txt', content: 'a' }])
    await sees('.rows .name', 'a.txt')
    expect(complaints).to.deep.equal([])
  })

  it('opens a PDF where it cannot reach the page, and shows no other file as one', async () => {
    await using opened = await signedIn({
      'hostile.pdf': hostilePdf(),
      'page.pdf': '<script>fetch("/run")</script>',
    })
    const { server, driver } = opened
    const { page, click, misses } = driver
    let dialogs = 0
    page.on('dialog', (dialog) => {
      dialogs += 1
      void dialog.dismiss()
    })
    for (const name of ['hostile.pdf', 'page.pdf']) {
      await click(`[title="${name}"].name`)
      await page.waitForSelector('dialog a[target=_blank]')
      const address = await page.$eval('dialog a', ({ href, rel }) => ({ href, rel }))
      expect(address.rel).to.equal('noopener noreferrer')
      const answer = await fetch(address.href)
      expect(answer.headers.get('Content-Security-Policy')).to.match(/^script-src 'none';/)
      expect(answer.headers.get('Content-Type')).to.equal('application/pdf')
      expect(answer.headers.get('Content-Disposition')).to.match(/^inline/)
      await page.locator('dialog a').click()
      const target = await browser().browser.waitForTarget((each) => each.url() === address.href)
      const tab = await target.page()
      tab?.on('dialog', (dialog) => void dialog.dismiss())
      // It comes to the front of a browser without a window, where the page would not go on.
      await tab?.close()
      await page.bringToFront()
      await click('dialog [aria-label=Close]')
      await misses('dialog')
    }
    expect(await page.title()).to.equal('holdfast')
    expect(server.asked.filter((each) => / \/run$/.test(each))).to.deep.equal([])
    expect(dialogs).to.equal(0)
  })
})
