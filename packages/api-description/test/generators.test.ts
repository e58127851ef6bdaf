import { readFile } from 'node:fs/promises'
import { expect } from 'chai'
import { isAlias, isMap, parseDocument, visit } from 'yaml'

const description = new URL('../../../docs/openapi.yaml', import.meta.url)

/** What common generators of clients do not understand in a description that is right. */
describe('docs/openapi.yaml, for generators of clients', () => {
  const parse = async () => parseDocument(await readFile(description, 'utf8'))

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

  it('has no schema whose name is one of a type in most languages', async () => {
    const schemas = (await parse()).getIn(['components', 'schemas'])
    const names = isMap(schemas) ? schemas.items.map(({ key }) => String(key)) : []
    expect(names).to.include('Filename').and.not.to.include('File')
  })
})
