export default {
  input: 'openapi.yaml',
  // The extension is for Node's modules.
  output: { path: 'generated/hey-api', module: { extension: '.js' } },
}
