import { mkdir, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openBrowser, type Page } from '../../packages/testing/src/browsers.ts'
import { startHoldfast } from '../../packages/testing/src/holdfast.ts'
import { createSite } from '../../packages/testing/src/site.ts'
import { writeSamples } from './sample-files.ts'

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

const customers = `customers:
  - name: anna
    password: sesame
    quota: 1GB
`

/** Takes all pictures of the page, of a real server with sample files, and resolves with their paths. */
export async function takePictures(folder: string): Promise<readonly string[]> {
  await mkdir(folder, { recursive: true })
  const site = await createSite()
  try {
    await site.write('customers.yaml', customers)
    const server = await startHoldfast([], { cwd: site.path })
    try {
      await writeSamples(join(site.path, 'data/files/anna'))
      return await showAll(server.url, site.path, folder)
    } finally {
      await server.kill()
    }
  } finally {
    await site.remove()
  }
}

async function showAll(url: string, files: string, folder: string): Promise<readonly string[]> {
  await using browser = await openBrowser('chromium', { args: ['--lang=en'] })
  const page = await browser.newPage()
  await signIn(page, url)
  const taken: string[] = []
  const take = async (name: keyof typeof pictures) => {
    // Nothing is under the pointer.
    await page.mouse.move(0, 0)
    const path = join(folder, `${name}.png`)
    await page.screenshot({ path })
    taken.push(path)
  }
  await take('list-light')
  await wear(page, 'dark')
  await take('list-dark')
  await wear(page, 'light')

  await press(page, 'Open Evening in the harbour.svg')
  await page.waitForSelector('dialog img')
  await page.waitForNetworkIdle()
  await take('preview')
  await press(page, 'Close')

  await page.setViewport(sizes.phone)
  await page.waitForSelector('::-p-text(Logbook)')
  await take('phone')

  await page.setViewport(sizes.wide)
  await upload(page, files)
  await take('uploads')
  return taken
}

async function signIn(page: Page, url: string): Promise<void> {
  await page.setViewport(sizes.desk)
  await wear(page, 'light')
  await page.goto(url)
  await page.locator('[name=username]').fill('anna')
  await page.locator('[name=password]').fill('sesame')
  await press(page, 'Sign in')
  await page.waitForSelector('::-p-text(14 files)')
}

async function wear(page: Page, scheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMediaFeatures([
    { name: 'prefers-color-scheme', value: scheme },
    { name: 'prefers-reduced-motion', value: 'reduce' },
  ])
}

const press = (page: Page, name: string) =>
  page.locator(`::-p-aria([name="${name}"][role="button"])`).click()

/** Begins uploads over a slow line: one is done, one is under way, and one has a name that is taken. */
async function upload(page: Page, folder: string): Promise<void> {
  const files: readonly (readonly [string, number])[] = [
    ['Harbour plan.pdf', 40_000],
    ['Regatta, day 1.mp4', 90_000_000],
    ['Regatta, day 2.mp4', 70_000_000],
    ['Logbook.md', 20_000],
    ['Sunrise.jpg', 6_000_000],
  ]
  const paths = files.map(([name]) => join(folder, name))
  for (const [index, [, size]] of files.entries()) {
    await writeFile(paths[index] ?? '', '')
    await truncate(paths[index] ?? '', size)
  }
  await page.emulateNetworkConditions({ upload: 6_000_000, download: -1, latency: 0 })
  const [chooser] = await Promise.all([page.waitForFileChooser(), press(page, 'Upload')])
  await chooser.accept(paths)
  await page.waitForSelector('dialog ::-p-text(Keep both)')
  // The name is asked about before the others have sent enough for an estimate.
  await page.waitForFunction(String.raw`/\b[5-9] MB of 90/.test(document.body.textContent)`)
}
