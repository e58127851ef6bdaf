import type { BenchRequest, Dialect } from './subject.ts'

/** The dialect with requests that go over TLS. */
export function secured({ get, ping, form, put, tus, remove, list }: Dialect): Dialect {
  const secure = (request: BenchRequest) => ({ ...request, isSecure: true })
  return {
    get: (name) => secure(get(name)),
    ...(ping && { ping: () => secure(ping()) }),
    ...(form && { form: () => secure(form()) }),
    ...(put && { put: (name) => secure(put(name)) }),
    ...(tus && { tus: () => secure(tus()) }),
    ...(remove && { remove: (name) => secure(remove(name)) }),
    ...(list && { list: () => secure(list()) }),
  }
}
