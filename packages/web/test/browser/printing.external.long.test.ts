import { createMemoryBlobStore } from '@holdfast/core/memory'
import { expect } from 'chai'
import { describeInBrowsers } from './describe-in-browsers.ts'
import { endVisit } from './end-visit.ts'
import { openDriver } from './page-driver.ts'
import { runPage } from './running-page.ts'

async function* nothing(): AsyncIterable<Uint8Array> {}

describeInBrowsers('Printing', (browser, browserName, once) => {
  async function signedIn(count: number) {
    const store = createMemoryBlobStore()
    for (let index = 0; index < count; index++) {
      await store.put({ customer: 'anna', name: `report ${index}.pdf` }, nothing())
    }
    const server = await runPage(store)
    const driver = await openDriver(browser(), server.url)
    await driver.signIn()
    await driver.sees('.status', count.toLocaleString('en'))
    return { driver, [Symbol.asyncDispose]: () => endVisit(driver, server) }
  }

  it('has all rows in the document, up to a thousand, and says how many it leaves out', async () => {
    await using opened = await signedIn(1003)
    const { page, sees, names } = opened.driver
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')))
    await sees('.print-rest', '3 more files are not printed')
    const printed = await names()
    expect(printed).to.have.length(1000)
    expect(printed.at(-1)).to.equal('report 999.pdf')
    await page.evaluate(() => dispatchEvent(new Event('afterprint')))
    await page.waitForFunction(() => document.querySelectorAll('.rows .row').length < 60)
  })

  if (browserName === 'chromium') {
    once('puts all of them on paper', async () => {
      await using opened = await signedIn(300)
      const paper = Buffer.from(await opened.driver.page.pdf({ format: 'A4' })).toString('latin1')
      // At most some 35 rows of 2 rem fit on a page.
      expect(paper.match(/\/Type\s*\/Page\b/g)).to.have.length.above(6)
    })
  }
})
