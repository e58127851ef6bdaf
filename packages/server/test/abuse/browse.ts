import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { existsSync } from 'node:fs'

const programs = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']

/**
 * Opens an address in a real browser, and resolves with the document that it shows once everything in it is loaded and
 * two seconds of the page's own time have passed. Empty where it shows nothing.
 *
 * @throws Error where there is no Chromium, or it does not end within two minutes
 */
export async function browse(url: string): Promise<string> {
  const profile = await mkdtemp(join(tmpdir(), 'holdfast-browser-'))
  const args = [
    '--headless',
    // Its own sandbox does not work for root, and what it opens is the tests'.
    '--no-sandbox',
    '--disable-dev-shm-usage',
    '--disable-gpu',
    `--user-data-dir=${profile}`,
    '--virtual-time-budget=2000',
    '--dump-dom',
    url,
  ]
  try {
    return await new Promise((resolve, reject) => {
      // It fails where the address turns out to be a download.
      const child = execFile(findProgram(), args, { timeout: 120_000 }, (error, stdout) => {
        if (error?.killed || child.pid === undefined) reject(error ?? new Error('Not started'))
        else resolve(stdout)
      })
    })
  } finally {
    await rm(profile, { recursive: true, force: true, maxRetries: 5 })
  }
}

function findProgram(): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const found = programs
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((path) => existsSync(path))
  if (found === undefined) throw new Error(`These tests need one of ${programs.join(', ')}`)
  return found
}
