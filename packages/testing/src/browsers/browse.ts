import { until } from '../until.ts'
import { openBrowser } from './open-browser.ts'

/**
 * Opens an address in Chromium, and resolves with the document that it shows once everything in it is loaded and
 * half a second has passed without a request, and once there is an element for the CSS `selector`, for pages that a script
 * draws. Empty if the address turns out to be a download. Default: no element is waited for.
 *
 * @throws Error if there is no Chromium, or if the page does not come to rest within a minute
 */
export async function browse(url: string, selector?: string): Promise<string> {
  await using chromium = await openBrowser('chromium')
  const page = await chromium.newPage()
  const session = await page.createCDPSession()
  await session.send('Page.enable')
  let isDownload = false
  session.on('Page.downloadWillBegin', () => (isDownload = true))
  try {
    await page.goto(url, { waitUntil: 'networkidle0' })
    if (selector !== undefined) await page.waitForSelector(selector)
    return await page.content()
  } catch (error) {
    // A download ends the navigation with an error.
    await until('the address is a download', () => isDownload).catch(() => {
      throw error
    })
    return ''
  }
}
