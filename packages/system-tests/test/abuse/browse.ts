import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { chromium } from 'playwright-core'

const programs = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']

/**
 * Opens an address in a real browser, and resolves with the document that it shows once everything in it is loaded and
 * half a second has passed without a request, and once there is an element for the CSS `selector`, for pages that a script
 * draws. Empty if the address turns out to be a download. Default: no element is waited for.
 *
 * The browser is `HOLDFAST_BROWSER`, a Chromium of any kind, or the first one that is found in `PATH`.
 *
 * @throws Error if there is no Chromium, or if the page does not come to rest within a minute
 */
export async function browse(url: string, selector?: string): Promise<string> {
  const browser = await chromium.launch({
    executablePath: findProgram(),
    // Its own sandbox does not work for root, and it opens pages of the tests only.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  })
  try {
    const page = await browser.newPage()
    page.setDefaultTimeout(60_000)
    const download = page.waitForEvent('download')
    download.catch(() => {})
    try {
      await page.goto(url, { waitUntil: 'networkidle' })
      if (selector !== undefined) await page.waitForSelector(selector, { state: 'attached' })
      return await page.content()
    } catch (error) {
      // A download ends the navigation with an error.
      await download.catch(() => {
        throw error
      })
      return ''
    }
  } finally {
    await browser.close()
  }
}

function findProgram(): string {
  const { HOLDFAST_BROWSER: chosen, PATH = '' } = process.env
  const found = programs
    .flatMap((name) => PATH.split(delimiter).map((folder) => join(folder, name)))
    .find((path) => existsSync(path))
  const program = chosen || found
  if (program === undefined) {
    throw new Error(`This test needs one of ${programs.join(', ')}, or HOLDFAST_BROWSER=PATH`)
  }
  return program
}
