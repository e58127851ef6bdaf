import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeTemporaryDirectory, until } from '@holdfast/testing'
import { expect } from 'chai'
import { stopOnSignal } from '../../src/terminal/stop-on-signal.ts'

describe('stopOnSignal', () => {
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const before = new Map(names.map((name) => [name, process.listeners(name)]))
  // Signals that were really sent would end the test run if a test failed to catch them.
  const send = (name: (typeof names)[number]) => void process.emit(name, name)
  beforeEach(() => {
    // Mocha's own would end the run.
    for (const name of names) process.removeAllListeners(name)
  })
  afterEach(() => {
    for (const name of names) {
      process.removeAllListeners(name)
      for (const listener of before.get(name) ?? []) process.on(name, listener)
    }
  })

  for (const name of names) {
    it(`aborts at ${name}, and names it`, () => {
      const interruption = stopOnSignal()
      expect(interruption.signal.aborted).to.be.false
      expect(interruption.name()).to.be.undefined
      send(name)
      expect(interruption.signal.aborted).to.be.true
      expect(interruption.name()).to.equal(name)
    })
  }

  describe('in a process of its own', () => {
    /** A program that stops at a signal while write-file-atomic, which handles signals itself, writes a file. */
    const program = `
      import { stopOnSignal } from '../../src/terminal/stop-on-signal.ts'
      import writeFileAtomic from 'write-file-atomic'
      const { signal, name } = stopOnSignal()
      signal.addEventListener('abort', () => console.log('stopped by ' + name()))
      const goOn = new Promise((resolve) => process.stdin.once('data', resolve))
      await writeFileAtomic(process.argv[1], 'saved', {
        tmpfileCreated() {
          console.log('writing')
          return goOn
        },
      })
      process.stdin.destroy()`

    async function run(path: string) {
      const child = spawn(process.execPath, ['--input-type=module', '--eval', program, path], {
        cwd: import.meta.dirname,
      })
      const ended = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>
      let output = ''
      child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
      const prints = (text: string) =>
        until(
          () => `it prints "${text}"; it printed "${output}"`,
          () => output.includes(text) || child.exitCode !== null || child.signalCode !== null,
        ).then(() => expect(output).to.include(text))
      await prints('writing')
      return { child, ended, prints }
    }

    it('goes on after the first signal until a file is written', async () => {
      await using place = await makeTemporaryDirectory()
      const path = join(place.path, 'file')
      const { child, ended, prints } = await run(path)
      child.kill('SIGINT')
      await prints('stopped by SIGINT')
      child.stdin.end('go on')
      expect(await ended).to.deep.equal([0, null])
      expect(await readFile(path, 'utf8')).to.equal('saved')
    })

    it('ends at once at the second signal, by that signal', async () => {
      await using place = await makeTemporaryDirectory()
      const { child, ended, prints } = await run(join(place.path, 'file'))
      child.kill('SIGINT')
      await prints('stopped by SIGINT')
      child.kill('SIGTERM')
      expect(await ended).to.deep.equal([null, 'SIGTERM'])
      expect(await readdir(place.path)).to.deep.equal([])
    })
  })
})
