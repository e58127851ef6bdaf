/** What a package may depend on: at run time, and its tests in addition. Short names; `core` is `@holdfast/core`. */
export interface AllowedEdges {
  dependencies: readonly string[]
  devDependencies: readonly string[]
}

/**
 * The arrows of the architecture, from each package to those it may know. Whoever adds a package adds its line here.
 *
 * An adapter never knows another adapter: what they share is in core, and who combines them is server. The contract may
 * be known by tests only, since it brings an assertion library.
 */
export const allowedEdges: Readonly<Record<string, AllowedEdges>> = {
  // What tests of several packages share; not published.
  testing: { dependencies: [], devDependencies: [] },
  core: { dependencies: [], devDependencies: ['testing'] },
  // Speaks to servers, and shares nothing with them; its tests run one.
  client: { dependencies: [], devDependencies: ['core', 'http-koa', 'testing'] },
  contract: { dependencies: ['core'], devDependencies: ['testing'] },
  copy: { dependencies: ['core'], devDependencies: ['contract', 'testing'] },
  passwords: { dependencies: ['core'], devDependencies: ['contract', 'testing'] },
  // A file of customers is one of several sources that keep hashes, so hashing is below it.
  'credentials-file': {
    dependencies: ['core', 'passwords'],
    devDependencies: ['contract', 'testing'],
  },
  // Protocols over core's resumable uploads, below the servers that speak them.
  resumable: { dependencies: ['core'], devDependencies: ['testing'] },
  'http-koa': {
    dependencies: ['core', 'resumable'],
    devDependencies: ['contract', 'testing'],
  },
  // What several servers count together.
  'shared-redis': { dependencies: ['core'], devDependencies: ['contract', 'testing'] },
  'store-disk': { dependencies: ['core'], devDependencies: ['contract', 'testing'] },
  'store-minio': {
    dependencies: ['core'],
    devDependencies: ['contract', 'testing'],
  },
  // The page: files, and what Node needs to serve them. Its own tests run a server.
  web: { dependencies: [], devDependencies: ['client', 'core', 'http-koa', 'testing'] },
  // The command line, above everything.
  holdfast: {
    dependencies: ['client', 'copy', 'core', 'credentials-file', 'passwords', 'server'],
    devDependencies: ['contract', 'store-disk', 'testing'],
  },
  server: {
    dependencies: [
      'core',
      'credentials-file',
      'http-koa',
      'passwords',
      'shared-redis',
      'store-disk',
      'store-minio',
      'web',
    ],
    devDependencies: ['contract', 'testing'],
  },
  // Proves the product as its users have it; it has tests only.
  'system-tests': {
    dependencies: [],
    devDependencies: [
      'client',
      'contract',
      'copy',
      'core',
      'credentials-file',
      'http-koa',
      'passwords',
      'resumable',
      'store-disk',
      'store-minio',
      'testing',
    ],
  },
}
