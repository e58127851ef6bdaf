import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openBrowser, type OpenBrowser, type Page } from '../../packages/testing/src/browsers.ts'
import { fillIn, press, setColorScheme, signIn, upload } from './page-steps.ts'
import { type SampleServer, withServer } from './sample-server.ts'

/** Widths of windows, in pixels of CSS: a small phone, a tablet, a desk. */
const windows = [
  { width: 360, height: 740 },
  { width: 768, height: 1024 },
  { width: 1280, height: 800 },
] as const

const schemes = ['light', 'dark'] as const

interface Visit {
  readonly page: Page
  readonly server: SampleServer
}

/** How each state of the page is reached, from the sign-in page unless it begins with a link. */
const states: Readonly<Record<string, (visit: Visit) => Promise<void>>> = {
  'sign-in': async ({ page }) => wait(page, 'Sign in'),
  'sign-in-refused': async (visit) => {
    await fillIn(visit.page, 'anna', 'wrong')
    await wait(visit.page, 'Name or password is wrong')
  },
  empty: async (visit) => {
    await fillIn(visit.page, 'bert')
    await wait(visit.page, 'Nothing here yet')
  },
  list: ({ page }) => signIn(page),
  account: async (visit) => {
    await signIn(visit.page)
    await press(visit.page, 'Account and settings')
  },
  'view-menu': async (visit) => {
    await signIn(visit.page)
    await press(visit.page, 'View')
  },
  filtered: async (visit) => {
    await signIn(visit.page)
    await visit.page.locator('[aria-label="Filter by name"]').fill('*.pdf')
    await wait(visit.page, '2 of 14')
  },
  'filtered-out': async (visit) => {
    await signIn(visit.page)
    await visit.page.locator('[aria-label="Filter by name"]').fill('harbor')
    await wait(visit.page, 'No name contains')
  },
  folder: async (visit) => {
    await signIn(visit.page)
    await press(visit.page, 'Open the folder photos')
    await press(visit.page, 'Open the folder 2026')
    await visit.page.waitForSelector('[title$="lighthouse.jpg"]')
  },
  tiles: openTiles,
  selected: async (visit) => {
    await signIn(visit.page)
    for (const name of ['Crew list.csv', 'Foghorn.mp3']) await click(visit.page, `Select ${name}`)
  },
  'selected-tiles': async (visit) => {
    await openTiles(visit)
    for (const name of ['Crew list.csv', 'Foghorn.mp3']) await click(visit.page, `Select ${name}`)
  },
  'row-menu': async (visit) => {
    await signIn(visit.page)
    await visit.page.locator('[data-index="3"] .name').click({ button: 'right' })
  },
  'preview-image': (visit) => openFile(visit, 'Evening in the harbour.svg', 'dialog img'),
  'preview-markdown': (visit) => openFile(visit, 'Logbook.md', '.preview-formatted'),
  'preview-table': (visit) => openFile(visit, 'Crew list.csv', 'dialog table'),
  'preview-pdf': (visit) => openFile(visit, 'Anchorages chart.pdf', 'dialog'),
  'preview-none': (visit) => openFile(visit, 'spare parts.zip', 'dialog'),
  renaming: async (visit) => {
    await signIn(visit.page)
    await visit.page.locator('[aria-label="Open Foghorn.mp3"]').click({ button: 'right' })
    await visit.page.locator('.row-menu ::-p-text(Rename)').click()
    await visit.page.waitForSelector('[aria-label^="New name"], .rename input')
  },
  move: async (visit) => {
    await signIn(visit.page)
    await click(visit.page, 'Select Foghorn.mp3')
    await press(visit.page, 'Move')
  },
  'delete-many': async (visit) => {
    for (let day = 1; day < 100; day++) await put(visit, `Log of day ${day}.txt`, `${day}`)
    await fillIn(visit.page, 'anna')
    await wait(visit.page, '113 files')
    await click(visit.page, 'Select all')
    await press(visit.page, 'Delete')
    await wait(visit.page, 'Delete 113 files?')
  },
  undo: async (visit) => {
    await signIn(visit.page)
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
    await signIn(visit.page)
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
    await signIn(visit.page)
    await press(visit.page, 'Ask for files')
    await wait(visit.page, 'Ask others for files')
  },
  'end-links': async (visit) => {
    await signIn(visit.page)
    await press(visit.page, 'Account and settings')
    await press(visit.page, 'End all links')
    await wait(visit.page, 'End all links that you have made?')
  },
  uploads: async (visit) => {
    await signIn(visit.page)
    await uploadTo(visit, {
      'Harbour plan.pdf': 40_000,
      'Regatta, day 1.mp4': 90_000_000,
      'Regatta, day 2.mp4': 70_000_000,
    })
    await visit.page.waitForFunction(String.raw`/\b[2-9] MB of 90/.test(document.body.textContent)`)
  },
  conflict: async (visit) => {
    await signIn(visit.page)
    await uploadTo(visit, { 'Logbook.md': 20_000, 'Sunrise.jpg': 6_000_000 })
    await wait(visit.page, 'Keep both')
  },
  'uploads-failed': async (visit) => {
    await fillIn(visit.page, 'anna')
    await wait(visit.page, 'files')
    await uploadTo(visit, { 'Whole season.mp4': 3_000_000_000, 'Harbour plan.pdf': 40_000 })
    await wait(visit.page, 'failed')
  },
  offline: async (visit) => {
    await signIn(visit.page)
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

/** The states that there are pictures of. */
export const stateNames = Object.keys(states)

/**
 * Takes a picture of each of the states `only` in each window, light and dark, and puts those of a window and a scheme together on a sheet;
 * resolves with the paths of the sheets. A state that cannot be reached is reported, and left out. Default: all states.
 */
export async function takeStates(
  folder: string,
  report: (problem: string) => void,
  only: readonly string[] = stateNames,
): Promise<readonly string[]> {
  await mkdir(folder, { recursive: true })
  await using browser = await openBrowser('chromium', { args: ['--lang=en'] })
  const reached: string[] = []
  for (const [state, reach] of Object.entries(states)) {
    if (!only.includes(state)) continue
    const page = await browser.newPage()
    try {
      await withServer(async (server) => {
        await server.addSamples()
        page.setDefaultTimeout(5_000)
        await page.setViewport(windows[2])
        await setColorScheme(page, 'light')
        await page.goto(server.url)
        await reach({ page, server })
        await photograph(page, (name) => join(folder, `${state}-${name}.png`))
      })
      reached.push(state)
    } catch (error) {
      report(`${state}: ${String(error)}`)
    } finally {
      await page.close()
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

async function openTiles(visit: Visit): Promise<void> {
  const { page } = visit
  await signIn(visit.page)
  await press(page, 'View')
  await clickOn(page, '[name=view]:not(:checked)')
  await page.keyboard.press('Escape')
  await page.waitForNetworkIdle()
}

async function openFile(visit: Visit, name: string, selector: string): Promise<void> {
  await signIn(visit.page)
  await press(visit.page, `Open ${name}`)
  await visit.page.waitForSelector(selector)
  await visit.page.waitForNetworkIdle()
}

const uploadTo = ({ page, server }: Visit, sizes: Readonly<Record<string, number>>) =>
  upload(page, server.folder, sizes)

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

/** Clicks what is out of sight until the pointer is there. */
const click = (page: Page, label: string) => clickOn(page, `[aria-label="${label}"]`)

async function clickOn(page: Page, selector: string): Promise<void> {
  await page.waitForSelector(selector)
  await page.evaluate(`document.querySelector(${JSON.stringify(selector)}).click()`)
}
