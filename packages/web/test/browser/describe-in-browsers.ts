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

/** Browsers of suites without options, by name. To start and end Firefox takes eight seconds of the processor. */
const shared = new Map<BrowserName, OpenBrowser>()

/** The test that runs. */
let test: Mocha.Test | undefined

// Of the root suite: after the last suite of the process.
after(() => Promise.all([...shared.values()].map((browser) => browser.close())))

type DeclareTest = (title: string, run: () => Promise<void>) => void

/**
 * Declares the tests once for each browser. `tests` gets how to get the browser that is open while they run, its name, and
 * `once`, which declares a test in the first browser only: of what the page does the same in each.
 *
 * Suites without options share the browsers of their process. Each test opens pages of its own, which are closed after it.
 *
 * If Chromium dies, which has happened, the test that runs is run once more in another one. Not so in Firefox, whose death
 * its driver reports only after the test has failed.
 */
export function describeInBrowsers(
  title: string,
  tests: (opened: () => OpenBrowser, name: BrowserName, once: DeclareTest) => void,
  { names = browserNames, ...options }: Options = {},
): void {
  const isShared = Object.keys(options).length === 0
  for (const name of names) {
    describe(`${title} in ${titles[name]}`, () => {
      let browser: OpenBrowser
      const isAlive = () => browser.browser.connected

      const open = async () => {
        browser = await openForTests(name, options)
        if (isShared) shared.set(name, browser)
      }

      before(async () => {
        const opened = isShared ? shared.get(name) : undefined
        if (opened) browser = opened
        else await open()
      })
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
      after(async () => {
        if (!isShared) await browser.close()
      })

      tests(() => browser, name, name === names[0] ? (test, run) => void it(test, run) : () => {})
    })
  }
}

async function openForTests(name: BrowserName, options: BrowserOptions): Promise<OpenBrowser> {
  const opened = await openBrowser(name, {
    // Firefox would keep all that goes over the network in memory.
    watchesNetwork: false,
    ...options,
    // Motion delays what tests wait for; Puppeteer cannot ask Firefox for less of it later.
    // The panel of downloads would take the focus from the page.
    preferences: { 'ui.prefersReducedMotion': 1, 'browser.download.alwaysOpenPanel': false },
  })
  // Mocha reads the number of retries after the test has failed.
  opened.browser.once('disconnected', () => test?.retries(1))
  return opened
}

/** Reports what a browser's driver cannot do, so that it is not tested there, and why. */
export function reportUntested(name: BrowserName, fact: string, reason: string): void {
  before(() => console.warn(`Not tested in ${titles[name]}: ${fact}, since ${reason}`))
}
