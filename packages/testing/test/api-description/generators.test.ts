import { readFile } from 'node:fs/promises'
import { expect } from 'chai'
import { isAlias, isMap, isPair, isScalar, parseDocument, visit, type YAMLMap } from 'yaml'
import { operationsOf, readDescription } from '../../src/api-description/index.ts'

const description = new URL('../../../../docs/openapi.yaml', import.meta.url)

const parse = async () => parseDocument(await readFile(description, 'utf8'))

/** Every schema that lists its values, but those that exclude values. */
async function enumerations(): Promise<readonly YAMLMap[]> {
  const found: YAMLMap[] = []
  visit(await parse(), {
    Map: (_, node, path) => {
      const parent = path.at(-1)
      const isExclusion = isPair(parent) && isScalar(parent.key) && parent.key.value === 'not'
      if (node.has('enum') && !isExclusion) found.push(node)
    },
  })
  return found
}

function valuesOf(node: YAMLMap, key: string): readonly unknown[] | undefined {
  const { [key]: values } = node.toJSON() as Readonly<
    Record<string, readonly unknown[] | undefined>
  >
  return values
}

/** What generators make of a value at worst: letters and digits, in one case. */
function identifier(value: unknown): string {
  return String(value)
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')
}

/** What common generators of clients do not understand in a description that is right. */
describe('docs/openapi.yaml, for generators of clients', () => {
  it('has no aliases, which openapi-generator does not resolve', async () => {
    const aliases: string[] = []
    visit(await parse(), {
      Alias: (_, node) => {
        if (isAlias(node)) aliases.push(node.source)
      },
    })
    expect(aliases).to.deep.equal([])
  })

  it('says the type of each constant, and has none that is no identifier', async () => {
    const untyped: string[] = []
    visit(await parse(), {
      Map: (_, node) => {
        if (!node.has('const')) return
        if (!node.has('type') || node.get('const') === '*') untyped.push(String(node.get('const')))
      },
    })
    expect(untyped).to.deep.equal([])
  })

  it('says the type of each enumeration', async () => {
    const all = await enumerations()
    const untyped = all.filter((node) => !node.has('type')).map((node) => valuesOf(node, 'enum'))
    expect(all.length).to.be.at.least(10)
    expect(untyped).to.deep.equal([])
  })

  it('says of each integer beyond 32 bits that it has 64', async () => {
    const unsaid: unknown[] = []
    visit(await parse(), {
      Map: (_, node) => {
        const isLarge = Number(node.get('maximum')) >= 2 ** 31
        if (isLarge && node.get('format') !== 'int64') unsaid.push(node.toJSON())
      },
    })
    expect(unsaid).to.deep.equal([])
  })

  it('has enumerations whose values are still different as identifiers', async () => {
    for (const node of await enumerations()) {
      const values = valuesOf(node, 'enum') ?? []
      const names = valuesOf(node, 'x-enum-varnames') ?? values
      const rule = `x-enum-varnames beside ${String(values[0])}: one name for each value`
      expect(names, rule).to.have.length(values.length)
      expect([...new Set(names.map(identifier))], String(values)).to.have.length(values.length)
    }
  })

  for (const kind of ['schemas', 'responses', 'requestBodies']) {
    it(`has no name among its ${kind} that is one of a type in most languages`, async () => {
      const components = (await parse()).getIn(['components', kind])
      const names = isMap(components) ? components.items.map(({ key }) => String(key)) : []
      expect(names).not.to.deep.equal([])
      expect(names).not.to.include.oneOf(['Blob', 'Error', 'File', 'Range', 'Request', 'Response'])
    })
  }

  it('has downloads as binary content of a type that generators know', () => {
    const binary = { type: 'string', format: 'binary' }
    const downloads = operationsOf(readDescription())
      .filter(({ operationId }) => /^(serve|headOfServe)File$/.test(operationId))
      .flatMap(({ responses }) => [responses['200'], responses['206']])
      .filter((response) => response !== undefined)
    expect(downloads).to.have.length(3)
    for (const { content = {} } of downloads) {
      // Generators take the first type that they know. The last one stands for all that servers send.
      expect(Object.entries(content)).to.deep.equal([
        ['application/octet-stream', { schema: binary }],
        ['*/*', { schema: binary }],
      ])
    }
  })

  it('has a title for each choice of errors, which openapi-generator numbers otherwise', () => {
    const untitled = operationsOf(readDescription()).flatMap(({ operationId, responses }) =>
      Object.entries(responses).flatMap(([status, { content = {} }]) =>
        Object.values(content)
          .map(({ schema }) => schema)
          .filter((schema) => typeof schema === 'object' && 'oneOf' in schema)
          .filter((schema) => typeof schema !== 'object' || !('title' in schema))
          .map(() => `${status} of ${operationId}`),
      ),
    )
    expect(untitled).to.deep.equal([])
  })
})
