import { execFileSync } from 'node:child_process'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { completionScript, shells } from '../../../src/remote/completion/completion-script.ts'

describe('completionScript', () => {
  for (const shell of shells) {
    it(`defines a function and no variable for ${shell}`, () => {
      const script = completionScript(shell, 'holdfast')
      expect(script).to.include('_holdfast_complete')
      expect(script).not.to.match(/PROGRAM|FUNCTION/)
    })
  }

  describe('in bash', () => {
    let folder: string
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'holdfast-completion-'))
    })
    afterEach(() => rm(folder, { recursive: true }))

    /** What bash offers at the end of `line`, by a program that answers with `lines`. */
    const complete = async (line: string, lines: readonly string[]): Promise<string[]> => {
      const program = join(folder, 'holdfast')
      await writeFile(join(folder, 'answer'), lines.map((each) => `${each}\n`).join(''))
      await writeFile(
        program,
        `#!/bin/sh\nprintf '%s\\n' "$@" > '${folder}/asked'\ncat '${folder}/answer'\n`,
      )
      await chmod(program, 0o755)
      await writeFile(join(folder, 'completion'), completionScript('bash', 'holdfast'))
      const script = `
        PATH='${folder}':$PATH
        . '${folder}/completion'
        COMP_LINE='${line}' COMP_POINT=${line.length}
        _holdfast_complete 2>&1
        printf '%s\\n' "\${COMPREPLY[@]}"
        cat '${folder}/asked'`
      return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).split('\n').slice(0, -1)
    }

    it('takes each line as a word, and runs nothing that is in it', async () => {
      const [first, second, ...asked] = await complete('holdfast get a', ['a\\ *', '$(touch x)'])
      expect([first, second]).to.deep.equal(['a\\ *', '$(touch x)'])
      expect(asked.slice(0, 3)).to.deep.equal(['--complete', 'bash', 'holdfast get a'])
    })

    it('leaves files to bash', async () => {
      expect((await complete('holdfast put ', ['/']))[0]).to.equal('')
    })
  })
})
