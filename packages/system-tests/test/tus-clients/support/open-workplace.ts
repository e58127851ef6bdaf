import { randomFillSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeTemporaryDirectory } from '@holdfast/testing'
import { openBrowser, type BrowserContext, type OpenBrowser } from '@holdfast/testing/browsers'
import type { Workplace } from '../tus-client.ts'
import { bundlePageScript } from './bundle-page-script.ts'
import { startLine, type Line } from './start-line.ts'

/** A workplace whose line leads to one server. */
export interface OpenWorkplace extends Workplace {
  readonly content: Buffer
  readonly line: Line
  /** Closes all tabs, as a person does in the middle of an upload. */
  closeTabs(): Promise<void>
  close(): Promise<void>
}

const html = '<!doctype html><title>Clients</title><script src="/client.js"></script>'

/** Opens a workplace with a file of `size` random bytes. */
export async function openWorkplace(server: string, size: number): Promise<OpenWorkplace> {
  const folder = await makeTemporaryDirectory()
  const file = join(folder.path, 'content')
  const content = randomFillSync(Buffer.alloc(size))
  await writeFile(file, content)
  const line = await startLine(
    server,
    new Map([
      ['/page', { type: 'text/html', content: html }],
      ['/client.js', { type: 'text/javascript', content: await bundlePageScript() }],
      ['/content', { type: 'application/octet-stream', content }],
    ]),
  )
  let browsing: Promise<{ chromium: OpenBrowser; context: BrowserContext }> | undefined
  const browse = () => (browsing ??= openChromium())
  return {
    file,
    content,
    line,
    async openTab() {
      const { context } = await browse()
      const tab = await context.newPage()
      await tab.goto(`${line.url}/page`)
      return tab
    },
    async closeTabs() {
      const { context } = await browse()
      for (const tab of await context.pages()) await tab.close()
    },
    async close() {
      await (await browsing)?.chromium.close()
      await line.stop()
      await folder.remove()
    },
  }
}

async function openChromium() {
  const chromium = await openBrowser('chromium')
  return { chromium, context: await chromium.newContext() }
}
