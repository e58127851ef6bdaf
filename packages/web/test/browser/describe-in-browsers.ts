import {
  browserNames,
  openBrowser,
  type BrowserName,
  type BrowserOptions,
  type OpenBrowser,
} from '@holdfast/testing/browsers'

const titles: Readonly<Record<BrowserName, string>> = { chromium: 'Chromium', firefox: 'Firefox' }

/**
 * Declares the tests once for each browser. `tests` gets what the browser is called, and how to get the one that is open while
 * they run. Where Chromium dies, which it does once in a while, the test under way runs once more, in another one; Firefox's
 * driver learns of it too late.
 */
export function describeInBrowsers(
  title: string,
  tests: (opened: () => OpenBrowser, name: BrowserName) => void,
  options: BrowserOptions = {},
): void {
  for (const name of browserNames) {
    describe(`${title} in ${titles[name]}`, () => {
      let browser: OpenBrowser
      let test: Mocha.Test | undefined
      const isAlive = () => browser.browser.connected

      const open = async () => {
        browser = await openBrowser(name, {
          ...options,
          // Motion delays what tests wait for; Puppeteer cannot ask Firefox for less of it later.
          // The panel of downloads would take the focus from the page.
          preferences: { 'ui.prefersReducedMotion': 1, 'browser.download.alwaysOpenPanel': false },
        })
        // Mocha asks for it once the test has failed.
        browser.browser.once('disconnected', () => test?.retries(1))
      }

      before(open)
      beforeEach(async function () {
        test = this.currentTest
        if (isAlive()) return
        await browser.close()
        await open()
      })
      // Pages that are left open take their share of the processor.
      afterEach(async () => {
        test = undefined
        const [, ...contexts] = browser.browser.browserContexts()
        await Promise.all(contexts.map((context) => context.close())).catch((error: unknown) => {
          if (isAlive()) throw error
        })
      })
      after(() => browser.close())

      tests(() => browser, name)
    })
  }
}

/** Reports what a browser's driver cannot do, so that it is not tested there, and why. */
export function reportUntested(name: BrowserName, fact: string, reason: string): void {
  before(() => console.warn(`Not tested in ${titles[name]}: ${fact}, since ${reason}`))
}
