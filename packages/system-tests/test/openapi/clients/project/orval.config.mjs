export default {
  holdfast: {
    input: 'openapi.yaml',
    output: {
      target: 'generated/orval/api.ts',
      client: 'fetch',
      // Otherwise a name with `#` or `?` ends there.
      urlEncodeParameters: true,
    },
  },
}
