/** How yargs reads the command line. */
export const parserConfiguration = {
  'duplicate-arguments-array': false,
  'parse-numbers': false,
  'parse-positional-numbers': false,
  'camel-case-expansion': false,
  'dot-notation': false,
  // yargs would read "-minio-secret-key x" as letters, and its error would show the secret.
  'short-option-groups': false,
  'boolean-negation': false,
  'populate--': true,
}
