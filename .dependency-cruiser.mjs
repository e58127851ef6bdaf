/**
 * Who may import whom: `depcruise packages scripts`, a part of scripts/test. Packages follow the table in
 * scripts/boundaries/allowed-edges.ts; inside a package neither files nor folders import each other in a circle, types included.
 */
import { allowedEdges } from './scripts/boundaries/allowed-edges.ts'

const alternatives = (names) => names.join('|')

/** The rules of one package: its sources import what the table lets it depend on, its tests what the table adds for them. */
const edgesOf = ([name, { dependencies, devDependencies }]) => {
  const inSources = alternatives([name, ...dependencies])
  const inTests = alternatives([name, ...dependencies, ...devDependencies])
  return [
    {
      name: `${name}-imports-only-what-it-may`,
      comment: 'scripts/boundaries/allowed-edges.ts says what it may.',
      from: { path: `^packages/${name}/src/` },
      to: { path: '^packages/', pathNot: `^packages/(?:${inSources})/` },
    },
    {
      name: `tests-of-${name}-import-only-what-they-may`,
      comment:
        'So does the page, which is bundled. scripts/boundaries/allowed-edges.ts says what they may.',
      from: { path: `^packages/${name}/`, pathNot: `^packages/${name}/src/` },
      to: { path: '^packages/[^/]+/dist/', pathNot: `^packages/(?:${inTests})/` },
    },
  ]
}

const rules = [
  {
    name: 'no-circles-of-files',
    from: { path: '^(?:packages|scripts)/' },
    to: { circular: true },
  },
  {
    name: 'no-circles-of-folders',
    scope: 'folder',
    from: { path: '^packages/[^/]+/(?:src|page)' },
    to: { circular: true },
  },
  {
    name: 'packages-by-their-names',
    comment:
      "Another package is what its manifest exports, so no source and no test imports a path in the other one's sources. Only system-tests " +
      'also test parts that no manifest exports.',
    from: { path: '^packages/([^/]+)/', pathNot: '^packages/system-tests/' },
    to: { path: '^packages/[^/]+/(?:src|page)/', pathNot: '^packages/$1/' },
  },
  {
    name: 'sources-know-no-tests',
    from: { path: '^packages/[^/]+/(?:src|page)/' },
    to: { path: '^packages/[^/]+/test/' },
  },
  {
    name: 'tests-share-through-testing',
    comment: 'What tests of several packages use is exported by packages/testing.',
    from: { path: '^packages/([^/]+)/' },
    to: { path: '^packages/[^/]+/test/', pathNot: '^packages/$1/' },
  },
  {
    name: 'core-imports-only-itself',
    comment: 'Core runs wherever JavaScript runs, and brings nothing along.',
    from: { path: '^packages/core/src/' },
    to: { pathNot: '^packages/core/src/' },
  },
  {
    name: 'sources-import-dependencies',
    comment:
      'What a published source imports stands in dependencies, not in devDependencies, nor in the manifest of another.',
    from: { path: '^packages/[^/]+/src/' },
    to: {
      dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
      dependencyTypesNot: ['type-only'],
    },
  },
  {
    name: 'imports-lead-somewhere',
    comment: 'A package that is not built or not linked would pass all other rules.',
    from: { path: '^packages/[^/]+/(?:src|page)/' },
    to: { couldNotResolve: true },
  },
  {
    name: 'the-bench-stands-alone',
    comment: 'It is measured with programs that nothing else needs.',
    from: { path: '^(?:packages|scripts)/', pathNot: '^scripts/bench/' },
    to: { path: '^scripts/bench/' },
  },
]

// The program wants a default export.
// oxlint-disable-next-line import/no-default-export
export default {
  forbidden: [...rules, ...Object.entries(allowedEdges).flatMap(edgesOf)].map((rule) => ({
    severity: 'error',
    ...rule,
  })),
  options: {
    tsPreCompilationDeps: true,
    doNotFollow: { path: ['node_modules', '/dist/'] },
    exclude: { path: ['/dist/.*[.]d[.]ts$'] },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'default'],
    },
  },
}
