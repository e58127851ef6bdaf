import type { OpenBrowser } from '@holdfast/testing/browsers'
import { expect } from 'chai'
import { describeInBrowsers } from './describe-in-browsers.ts'

const tests = (browser: () => OpenBrowser) => {
  let [runs, deaths] = [0, 0]

  it('is replaced, and the test runs once more', async () => {
    runs++
    const page = await browser().newPage()
    if (deaths === 0) {
      deaths++
      browser().browser.process()?.kill('SIGKILL')
    }
    // Until it is known that the browser is dead, calls may still be taken.
    for (let calls = 0; calls < 10; calls++) await page.evaluate('document.title')
    expect(runs).to.equal(2)
  })

  it('leaves the tests after it a browser that lives', async () => {
    const page = await browser().newPage()
    expect(await page.evaluate('1 + 1')).to.equal(2)
    expect(runs).to.equal(2)
  })
}

describeInBrowsers('A browser that dies', tests, { names: ['chromium'] })
