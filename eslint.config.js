import tseslint from 'typescript-eslint'

/** Of sources, each package's; all tests and scripts are one, so that the types that they share are known once. */
const projects = [
  'packages/*/tsconfig.json',
  'packages/web/page/tsconfig.json',
  'packages/web/test/browser/tsconfig.json',
  'packages/system-tests/test/tus-clients/page/tsconfig.json',
  'tsconfig.test.json',
]

export default tseslint.config(
  { ignores: ['**/dist/', '**/coverage/', '**/node_modules/', 'data/'] },
  // Samples of READMEs, while their tests run.
  { ignores: ['**/.readme-*'] },
  // It is compiled with what generators make, which is not here.
  { ignores: ['packages/system-tests/test/openapi/clients/project/'] },
  // Written by scripts/write-validator.ts.
  { ignores: ['packages/*/src/*/*-validator.ts'] },
  // A comment that switches a rule off and is not needed any more hides the next real finding.
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        // CI looks at everything. For a few files the nearest tsconfig.json, with the same options, takes a third of the time.
        ...(process.env.CI ? { project: projects } : { projectService: true }),
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      // A promise that nobody waits for is a lost error, which in code made of streams is a lost file.
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      // A new error code or event must be answered everywhere, not fall through in silence.
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      // verbatimModuleSyntax keeps imports as written: a type imported as a value would load its module.
      '@typescript-eslint/consistent-type-imports': 'error',
      // Callers read code, message and cause; a thrown literal has none of them.
      '@typescript-eslint/only-throw-error': 'error',
      // Ports are asynchronous; an adapter's method is `async` even where it has nothing to wait for.
      '@typescript-eslint/require-await': 'off',
      // "Do nothing" is a fair implementation of a callback.
      '@typescript-eslint/no-empty-function': 'off',
      // `() => close()` reads better than braces around one call.
      '@typescript-eslint/no-confusing-void-expression': 'off',
      // `while (true)` around a read is how a stream is pulled.
      '@typescript-eslint/no-unnecessary-condition': [
        'error',
        { allowConstantLoopConditions: true },
      ],
      // Numbers and booleans print as one expects; objects do not.
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      // A parameter that only holds a place says so with an underscore.
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_' },
      ],
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportDefaultDeclaration', message: 'Export names; a default has none.' },
      ],
      // A file that needs more has two subjects.
      'max-lines': ['error', { max: 300, skipBlankLines: false }],
    },
  },
  {
    files: ['**/test/**', 'scripts/**'],
    rules: {
      // chai's assertions are properties.
      '@typescript-eslint/no-unused-expressions': 'off',
      // In a test a missing value should fail the test, and does.
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  // Examples are no members of the workspace: what they import is not here. Their tests check their types where it is.
  {
    files: ['examples/**'],
    extends: [tseslint.configs.disableTypeChecked],
    rules: {
      // Express and multer are told of new fields by their namespaces, and an interface in there has only to inherit.
      '@typescript-eslint/no-namespace': ['error', { allowDeclarations: true }],
      '@typescript-eslint/no-empty-object-type': [
        'error',
        { allowInterfaces: 'with-single-extends' },
      ],
    },
  },
  // What little JavaScript there is (this file, the bin) belongs to no TypeScript project.
  { files: ['**/*.js', '**/*.mjs'], extends: [tseslint.configs.disableTypeChecked] },
  // ESLint reads a configuration's default export; a .d.ts describes somebody else's module as it is.
  { files: ['*.config.js', '**/*.d.ts'], rules: { 'no-restricted-syntax': 'off' } },
)
