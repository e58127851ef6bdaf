import { mkdir, readFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openBrowser, type OpenBrowser, type Page } from '../../packages/testing/src/browsers.ts'
import { startHoldfast, type HoldfastServer } from '../../packages/testing/src/holdfast.ts'
import { createSite } from '../../packages/testing/src/site.ts'
import { writeSamples } from './sample-files.ts'

/** Widths of windows, in pixels of CSS: a small phone, a tablet, a desk. */
const windows = [
  { width: 360, height: 740 },
  { width: 768, height: 1024 },
  { width: 1280, height: 800 },
] as const

const schemes = ['light', 'dark'] as const

const customers = `customers:
  - name: anna
    password: sesame
    quota: 1GB
  - name: bert
    password: sesame
`

interface Visit {
  readonly page: Page
  readonly server: HoldfastServer
  readonly folder: string
}

/** How each state of the page is reached, from the sign-in page unless it begins with a link. */
const states: Readonly<Record<string, (visit: Visit) => Promise<void>>> = {
  'sign-in': async ({ page }) => wait(page, 'Sign in'),
  'sign-in-refused': async (visit) => {
    await fillIn(visit, 'anna', 'wrong')
    await wait(visit.page, 'Name or password is wrong')
  },
  empty: async (visit) => {
    await fillIn(visit, 'bert')
    await wait(visit.page, 'Nothing here yet')
  },
  list: signIn,
  account: async (visit) => {
    await signIn(visit)
    await press(visit.page, 'Account and settings')
  },
  'view-menu': async (visit) => {
    await signIn(visit)
    await press(visit.page, 'View')
  },
  filtered: async (visit) => {
    await signIn(visit)
    await visit.page.locator('[aria-label="Filter by name"]').fill('*.pdf')
    await wait(visit.page, '2 of 14')
  },
  'filtered-out': async (visit) => {
    await signIn(visit)
    await visit.page.locator('[aria-label="Filter by name"]').fill('harbor')
    await wait(visit.page, 'No name contains')
  },
  folder: async (visit) => {
    await signIn(visit)
    await press(visit.page, 'Open the folder photos')
    await press(visit.page, 'Open the folder 2026')
    await visit.page.waitForSelector('[title$="lighthouse.jpg"]')
  },
  tiles: openTiles,
  selected: async (visit) => {
    await signIn(visit)
    for (const name of ['Crew list.csv', 'Foghorn.mp3']) await click(visit.page, `Select ${name}`)
  },
  'selected-tiles': async (visit) => {
    await openTiles(visit)
    for (const name of ['Crew list.csv', 'Foghorn.mp3']) await click(visit.page, `Select ${name}`)
  },
  'row-menu': async (visit) => {
    await signIn(visit)
    await visit.page.locator('[data-index="3"] .name').click({ button: 'right' })
  },
  'preview-image': (visit) => openFile(visit, 'Evening in the harbour.svg', 'dialog img'),
  'preview-markdown': (visit) => openFile(visit, 'Logbook.md', '.preview-formatted'),
  'preview-table': (visit) => openFile(visit, 'Crew list.csv', 'dialog table'),
  'preview-pdf': (visit) => openFile(visit, 'Anchorages chart.pdf', 'dialog'),
  'preview-none': (visit) => openFile(visit, 'spare parts.zip', 'dialog'),
  renaming: async (visit) => {
    await signIn(visit)
    await visit.page.locator('[aria-label="Open Foghorn.mp3"]').click({ button: 'right' })
    await visit.page.locator('.row-menu ::-p-text(Rename)').click()
    await visit.page.waitForSelector('[aria-label^="New name"], .rename input')
  },
  move: async (visit) => {
    await signIn(visit)
    await click(visit.page, 'Select Foghorn.mp3')
    await press(visit.page, 'Move')
  },
  'delete-many': async (visit) => {
    for (let day = 1; day < 100; day++) await put(visit, `Log of day ${day}.txt`, `${day}`)
    await fillIn(visit, 'anna')
    await wait(visit.page, '113 files')
    await click(visit.page, 'Select all')
    await press(visit.page, 'Delete')
    await wait(visit.page, 'Delete 113 files?')
  },
  undo: async (visit) => {
    await signIn(visit)
    await click(visit.page, 'Select Foghorn.mp3')
    await press(visit.page, 'Delete')
    await wait(visit.page, 'Undo')
  },
  versions: async (visit) => {
    await put(visit, 'Logbook.md', '# Another day\n')
    await openFile(visit, 'Logbook.md', '.preview-formatted')
    await visit.page.locator('dialog [aria-label^="Earlier versions"]').click()
    await wait(visit.page, 'replaced')
  },
  deleted: async (visit) => {
    await put(visit, 'Old list.txt', 'old')
    await remove(visit, 'Old list.txt')
    await signIn(visit)
    await visit.page.goto(`${visit.server.url}#deleted`)
    await visit.page.waitForSelector('[title="Old list.txt"]')
  },
  link: async (visit) => {
    await openFile(visit, 'Tide tables.txt', 'dialog')
    await press(visit.page, 'Make a link')
    await press(visit.page, 'Make the link')
    await wait(visit.page, 'Valid until')
  },
  ask: async (visit) => {
    await signIn(visit)
    await press(visit.page, 'Ask for files')
    await wait(visit.page, 'Ask others for files')
  },
  'end-links': async (visit) => {
    await signIn(visit)
    await press(visit.page, 'Account and settings')
    await press(visit.page, 'End all links')
    await wait(visit.page, 'End all links that you have made?')
  },
  uploads: async (visit) => {
    await signIn(visit)
    await upload(visit, ['Harbour plan.pdf', 'Regatta, day 1.mp4', 'Regatta, day 2.mp4'])
    await visit.page.waitForFunction(String.raw`/\b[2-9] MB of 90/.test(document.body.textContent)`)
  },
  conflict: async (visit) => {
    await signIn(visit)
    await upload(visit, ['Logbook.md', 'Sunrise.jpg'])
    await wait(visit.page, 'Keep both')
  },
  'uploads-failed': async (visit) => {
    await fillIn(visit, 'anna')
    await wait(visit.page, 'files')
    await upload(visit, ['Whole season.mp4', 'Harbour plan.pdf'])
    await wait(visit.page, 'failed')
  },
  offline: async (visit) => {
    await signIn(visit)
    await visit.page.setOfflineMode(true)
    await press(visit.page, 'Reload the list')
    await wait(visit.page, 'cannot be reached')
  },
  'link-download': async (visit) => {
    const url = await link(visit, 'Evening in the harbour.svg', {})
    await visit.page.goto(`${url}&page=1`)
    await wait(visit.page, 'Download')
  },
  'link-upload': async (visit) => {
    const terms = { verb: 'upload', prefix: true, maxFiles: 3, maxSize: 5_000_000 }
    await visit.page.goto(await link(visit, 'Inbox - ', terms))
    await wait(visit.page, 'Send files to anna')
  },
  'link-ended': async (visit) => {
    const url = await link(visit, 'Tide tables.txt', {})
    await visit.page.goto(`${url.slice(0, -3)}&page=1`)
    await wait(visit.page, 'This link does not work')
  },
}

/**
 * Takes a picture of each state of the page in each window, light and dark, and puts those of a window and a scheme together on a sheet;
 * resolves with the paths of the sheets. A state that cannot be reached is reported, and left out.
 */
export async function takeStates(
  folder: string,
  report: (problem: string) => void,
): Promise<readonly string[]> {
  await mkdir(folder, { recursive: true })
  await using browser = await openBrowser('chromium', { args: ['--lang=en'] })
  const reached: string[] = []
  for (const [state, reach] of Object.entries(states)) {
    const site = await createSite()
    await using closing = new AsyncDisposableStack()
    try {
      await site.write('customers.yaml', customers)
      const server = await startHoldfast(['--keep-replaced', '30d'], { cwd: site.path })
      try {
        await writeSamples(join(site.path, 'data/files/anna'))
        const page = await browser.newPage()
        closing.defer(() => page.close())
        page.setDefaultTimeout(5_000)
        await page.setViewport(windows[2])
        await setColorScheme(page, 'light')
        await page.goto(server.url)
        await reach({ page, server, folder: site.path })
        await photograph(page, (name) => join(folder, `${state}-${name}.png`))
        reached.push(state)
      } finally {
        await server.kill()
      }
    } catch (error) {
      report(`${state}: ${String(error)}`)
    } finally {
      await site.remove()
    }
  }
  return await makeSheets(browser, folder, reached)
}

async function photograph(page: Page, pathOf: (name: string) => string): Promise<void> {
  for (const size of windows) {
    await page.setViewport(size)
    for (const scheme of schemes) {
      await setColorScheme(page, scheme)
      await page.evaluate('new Promise((done) => requestAnimationFrame(done))')
      await page.screenshot({ path: pathOf(`${size.width}-${scheme}`) })
    }
  }
}

/** A sheet for each window and scheme. */
async function makeSheets(
  browser: OpenBrowser,
  folder: string,
  reached: readonly string[],
): Promise<readonly string[]> {
  const page = await browser.newPage()
  const sheets: string[] = []
  for (const { width } of windows) {
    for (const scheme of schemes) {
      const figures = await Promise.all(
        reached.map(async (state) => {
          const image = await readFile(join(folder, `${state}-${width}-${scheme}.png`), 'base64')
          return `<figure><img src="data:image/png;base64,${image}"><figcaption>${state}</figcaption></figure>`
        }),
      )
      const perRow = width < 500 ? 8 : 5
      await page.setViewport({ width: 1800, height: 1000 })
      await page.setContent(
        `<style>body{margin:12px;display:grid;grid-template-columns:repeat(${perRow},1fr);gap:12px;font:14px sans-serif}figure{margin:0}img{width:100%;border:1px solid #888}</style>${figures.join('')}`,
      )
      const path = join(folder, `sheet-${width}-${scheme}.png`)
      await page.screenshot({ path, fullPage: true })
      sheets.push(path)
    }
  }
  return sheets
}

async function fillIn({ page }: Visit, name: string, password = 'sesame'): Promise<void> {
  await page.locator('[name=username]').fill(name)
  await page.locator('[name=password]').fill(password)
  await press(page, 'Sign in')
}

async function signIn(visit: Visit): Promise<void> {
  await fillIn(visit, 'anna')
  await wait(visit.page, '14 files')
}

async function openTiles(visit: Visit): Promise<void> {
  const { page } = visit
  await signIn(visit)
  await press(page, 'View')
  await clickOn(page, '[name=view]:not(:checked)')
  await page.keyboard.press('Escape')
  await page.waitForNetworkIdle()
}

async function openFile(visit: Visit, name: string, selector: string): Promise<void> {
  await signIn(visit)
  await press(visit.page, `Open ${name}`)
  await visit.page.waitForSelector(selector)
  await visit.page.waitForNetworkIdle()
}

const sizes: Readonly<Record<string, number>> = {
  'Harbour plan.pdf': 40_000,
  'Regatta, day 1.mp4': 90_000_000,
  'Regatta, day 2.mp4': 70_000_000,
  'Logbook.md': 20_000,
  'Sunrise.jpg': 6_000_000,
  'Whole season.mp4': 3_000_000_000,
}

/** Uploads files over a slow line. */
async function upload({ page, folder }: Visit, names: readonly string[]): Promise<void> {
  const paths = names.map((name) => join(folder, name))
  for (const [index, name] of names.entries()) {
    await writeFile(paths[index] ?? '', '')
    await truncate(paths[index] ?? '', sizes[name])
  }
  await page.emulateNetworkConditions({ upload: 6_000_000, download: -1, latency: 0 })
  const [chooser] = await Promise.all([page.waitForFileChooser(), press(page, 'Upload')])
  await chooser.accept(paths)
}

const headers = { 'x-auth-name': 'anna', 'x-auth-password': 'sesame' }

async function call(
  { server }: Visit,
  method: string,
  path: string,
  body?: string,
): Promise<string> {
  const answer = await fetch(`${server.url}${path}`, { method, headers, body: body ?? null })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${text}`)
  return text
}

const put = (visit: Visit, name: string, content: string) =>
  call(visit, 'PUT', `/upload/${encodeURIComponent(name)}`, content)
const remove = (visit: Visit, name: string) =>
  call(visit, 'DELETE', `/delete/${encodeURIComponent(name)}`)

async function link(visit: Visit, name: string, terms: object): Promise<string> {
  const made = await call(visit, 'POST', `/link/${encodeURIComponent(name)}`, JSON.stringify(terms))
  return (JSON.parse(made) as { readonly url: string }).url
}

/** Waits until the page shows this text. */
async function wait(page: Page, text: string): Promise<void> {
  await page.waitForFunction(`document.body.innerText.includes(${JSON.stringify(text)})`)
}

async function setColorScheme(page: Page, scheme: (typeof schemes)[number]): Promise<void> {
  await page.emulateMediaFeatures([
    { name: 'prefers-color-scheme', value: scheme },
    { name: 'prefers-reduced-motion', value: 'reduce' },
  ])
}

const press = (page: Page, name: string) =>
  page.locator(`::-p-aria([name="${name}"][role="button"])`).click()

/** Clicks what is out of sight until the pointer is there. */
const click = (page: Page, label: string) => clickOn(page, `[aria-label="${label}"]`)

async function clickOn(page: Page, selector: string): Promise<void> {
  await page.waitForSelector(selector)
  await page.evaluate(`document.querySelector(${JSON.stringify(selector)}).click()`)
}
