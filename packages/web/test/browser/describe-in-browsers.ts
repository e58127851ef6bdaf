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
 * they run.
 */
export function describeInBrowsers(
  title: string,
  tests: (opened: () => OpenBrowser, name: BrowserName) => void,
  options: BrowserOptions = {},
): void {
  for (const name of browserNames) {
    describe(`${title} in ${titles[name]}`, () => {
      let browser: OpenBrowser

      before(async () => {
        browser = await openBrowser(name, {
          ...options,
          // Motion delays what tests wait for; Puppeteer cannot ask Firefox for less of it later.
          // The panel of downloads would take the focus from the page.
          preferences: { 'ui.prefersReducedMotion': 1, 'browser.download.alwaysOpenPanel': false },
        })
      })
      // Pages that are left open take their share of the processor.
      afterEach(async () => {
        const [, ...contexts] = browser.browser.browserContexts()
        await Promise.all(contexts.map((context) => context.close()))
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
