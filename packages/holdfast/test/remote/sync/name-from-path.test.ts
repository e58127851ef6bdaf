import { expect } from 'chai'
import { nameProblem } from '@holdfast/core'
import { nameFromPath as nameOnPage } from '../../../../web/page/uploads/name-from-path.ts'
import { nameFromPath, prefixFromPath } from '../../../src/remote/sync/name-from-path.ts'

const long = 'ü'.repeat(70)
const paths = [
  ...[
    'a',
    'a.txt',
    'a/b',
    'a/b/c.jpeg',
    'a - b',
    'a/ - /b',
    'a\nb',
    '\u007f/x',
    '.hidden',
    '...',
    '/',
  ],
  ...['x'.repeat(255), 'x'.repeat(256), `${'x'.repeat(300)}.txt`, `${long}/${long}/${long}.tar.gz`],
  ...[`${'😀'.repeat(90)}/a`, `a/${'密'.repeat(100)}.${'e'.repeat(20)}`, `${long}/${long}/a\u0001`],
]

describe('nameFromPath', () => {
  it('makes the names that the page makes, and that the server takes', () => {
    for (const path of paths) {
      expect(nameFromPath(path)).to.equal(nameOnPage(path))
      expect(nameProblem(nameFromPath(path)), path).to.equal(undefined)
    }
  })

  it('begins as the folder has it', () => {
    for (const path of paths) {
      const folders = path.split('/')
      for (let depth = 1; depth < folders.length; depth++) {
        const folder = folders.slice(0, depth).join('/')
        if (folder !== '')
          expect(nameFromPath(path).startsWith(prefixFromPath(folder))).to.equal(true)
      }
    }
  })
})
