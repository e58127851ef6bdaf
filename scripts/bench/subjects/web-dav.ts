import type { Dialect } from './subject.ts'

/** How servers are asked whose paths are those of files. */
export const webDav: Dialect = {
  get: (name) => ({ method: 'GET', path: `/${name}` }),
  put: (name) => ({ method: 'PUT', path: `/${name}` }),
  remove: (name) => ({ method: 'DELETE', path: `/${name}` }),
  list: () => ({ method: 'GET', path: '/' }),
}
