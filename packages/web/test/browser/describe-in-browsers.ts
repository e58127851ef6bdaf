import {
  browserNames,
  openBrowser,
  type BrowserName,
  type BrowserOptions,
  type OpenBrowser,
} from '@holdfast/testing/browsers'

const titles: Readonly<Record<BrowserName, string>> = { chromium: 'Chromium', firefox: 'Firefox' }

/** Options of the browser, and which browsers. Default: all. */
interface Options extends BrowserOptions {
  readonly names?: readonly BrowserName[]
}

/**
 * Declares the tests once for each browser. `tests` gets what the browser is called, and how to get the one that is open while
 * they run. If Chromium dies, which has happened, the test that runs is run once more in another one. Not so in Firefox, whose death
 * its driver reports only after the test has failed.
 */
export function describeInBrowsers(
  title: string,
  tests: (opened: () => OpenBrowser, name: BrowserName) => void,
  { names = browserNames, ...options }: Options = {},
): void {
  for (const name of names) {
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
        // Mocha reads the number of retries after the test has failed.
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
