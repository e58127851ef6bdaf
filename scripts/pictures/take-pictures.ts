import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { openBrowser, type Page } from '../../packages/testing/src/browsers.ts'
import { press, setColorScheme, signIn, upload } from './page-steps.ts'
import { withServer } from './sample-server.ts'

const sizes = {
  desk: { width: 1120, height: 700 },
  /** Where a dialog and the uploads are beside each other. */
  wide: { width: 1360, height: 800 },
  phone: { width: 390, height: 780 },
} as const

/** The pictures, each with its size in pixels. */
export const pictures = {
  'list-light': sizes.desk,
  'list-dark': sizes.desk,
  preview: sizes.desk,
  phone: sizes.phone,
  uploads: sizes.wide,
} as const

/** Takes all pictures of the page, of a real server with sample files, and resolves with their paths. */
export async function takePictures(folder: string): Promise<readonly string[]> {
  await mkdir(folder, { recursive: true })
  return withServer(async (server) => {
    await server.addSamples()
    return showAll(server.url, server.folder, folder)
  }, [])
}

async function showAll(url: string, files: string, folder: string): Promise<readonly string[]> {
  await using browser = await openBrowser('chromium', { args: ['--lang=en'] })
  const page = await browser.newPage()
  await page.setViewport(sizes.desk)
  await setColorScheme(page, 'light')
  await page.goto(url)
  await signIn(page)
  const taken: string[] = []
  const take = async (name: keyof typeof pictures) => {
    // Nothing is under the pointer.
    await page.mouse.move(0, 0)
    const path = join(folder, `${name}.png`)
    await page.screenshot({ path })
    taken.push(path)
  }
  await take('list-light')
  await setColorScheme(page, 'dark')
  await take('list-dark')
  await setColorScheme(page, 'light')

  await press(page, 'Open Evening in the harbour.svg')
  await page.waitForSelector('dialog img')
  await page.waitForNetworkIdle()
  await take('preview')
  await press(page, 'Close')

  await page.setViewport(sizes.phone)
  await page.waitForSelector('::-p-text(Logbook)')
  await take('phone')

  await page.setViewport(sizes.wide)
  await uploadSome(page, files)
  await take('uploads')
  return taken
}

/** One upload is done, one is under way, and one has a name that is taken. */
async function uploadSome(page: Page, folder: string): Promise<void> {
  await upload(page, folder, {
    'Harbour plan.pdf': 40_000,
    'Regatta, day 1.mp4': 90_000_000,
    'Regatta, day 2.mp4': 70_000_000,
    'Logbook.md': 20_000,
    'Sunrise.jpg': 6_000_000,
  })
  await page.waitForSelector('dialog ::-p-text(Keep both)')
  // The name is asked about before the others have sent enough for an estimate.
  await page.waitForFunction(String.raw`/\b[5-9] MB of 90/.test(document.body.textContent)`)
}
