import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { expect } from 'chai'
import { packageManager } from '../package-manager.ts'

describe('packageManager', () => {
  it('has scripts of packages run by the Node.js that runs this, whatever the machine has', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-'))
    const { PATH = '' } = process.env
    try {
      const others = join(folder, 'others')
      await mkdir(others)
      // That of the machine, whose title is another one.
      const other = `#!/bin/sh\nexec '${process.execPath}' --title=other "$@"\n`
      await writeFile(join(others, 'node'), other)
      await chmod(join(others, 'node'), 0o755)
      await writeFile(join(folder, 'package.json'), '{"name":"a","private":true}')
      process.env['PATH'] = `${others}${delimiter}${PATH}`
      const title = await packageManager(folder, ['exec', 'node', '-p', 'process.title'])
      expect(title.trim()).not.to.equal('other')
    } finally {
      process.env['PATH'] = PATH
      await rm(folder, { recursive: true, force: true })
    }
  })
})
