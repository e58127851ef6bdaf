import { join } from 'node:path'
import { expect } from 'chai'
import { circleProblems } from '../circle-problems.ts'
import { packageFiles, withRepository } from './fixture-repository.ts'

const noRules = { standing: [], inFloors: [] }

/** What is reported of a package `core` with these files in its `src`. */
async function problemsWith(
  sources: Readonly<Record<string, string>>,
  rules: Parameters<typeof circleProblems>[1] = noRules,
): Promise<string[]> {
  const files = packageFiles('core', {})
  for (const [file, text] of Object.entries(sources)) files[`packages/core/src/${file}`] = text
  return withRepository(files, (root) => circleProblems(root, rules))
}

const circle = {
  'a.ts': "import { b } from './rooms/b.ts'",
  'rooms/b.ts': "import type { C } from '../c.ts'",
  'c.ts': "export { a } from './a.ts'",
}

const ofThree = 'core/src/a.ts, core/src/c.ts, core/src/rooms/b.ts'

describe('circleProblems', () => {
  it('finds none in this repository but those that it lists', async () => {
    expect(await circleProblems(join(import.meta.dirname, '../../..'))).to.deep.equal([])
  })

  it('finds none where imports go in one direction, by several ways', async () => {
    const sources = {
      'a.ts': "import './b.ts'\nimport './c.ts'",
      'b.ts': "import './c.ts'",
      'c.ts': "import { join } from 'node:path'",
    }
    expect(await problemsWith(sources)).to.deep.equal([])
  })

  it('reports the files of a circle, once, though types close it', async () => {
    const sources = { ...circle, 'd.ts': "import './a.ts'", 'index.ts': "import './d.ts'" }
    expect(await problemsWith(sources)).to.deep.equal([
      `these files import each other in a circle: ${ofThree}`,
    ])
  })

  it('reports each of several circles', async () => {
    const sources = {
      ...circle,
      'd.ts': "import './e.ts'\nimport './a.ts'",
      'e.ts': "const d = await import('./d.ts')",
    }
    expect(await problemsWith(sources)).to.deep.equal([
      `these files import each other in a circle: ${ofThree}`,
      'these files import each other in a circle: core/src/d.ts, core/src/e.ts',
    ])
  })

  it('allows a circle that is listed as standing', async () => {
    const standing = [['core/src/a.ts', 'core/src/c.ts', 'core/src/rooms/b.ts']]
    expect(await problemsWith(circle, { ...noRules, standing })).to.deep.equal([])
  })

  it('reports a circle that has grown beyond the listed one, and the listed one', async () => {
    const standing = [['core/src/a.ts', 'core/src/c.ts']]
    expect(await problemsWith(circle, { ...noRules, standing })).to.deep.equal([
      `these files import each other in a circle: ${ofThree}`,
      'scripts/boundaries/standing-circles.ts lists a circle that is gone, so remove it there: core/src/a.ts, core/src/c.ts',
    ])
  })

  it('reports folders that import each other, in a package that is in floors', async () => {
    const sources = {
      'write/a.ts': "import '../files/b.ts'",
      'files/b.ts': '',
      'files/c.ts': "import type { D } from '../write/d.ts'",
      'write/d.ts': '',
    }
    expect(await problemsWith(sources)).to.deep.equal([])
    expect(await problemsWith(sources, { ...noRules, inFloors: ['core'] })).to.deep.equal([
      'these folders import each other: core/src/files, core/src/write',
    ])
  })
})
