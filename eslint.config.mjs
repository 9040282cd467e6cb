import tseslint from 'typescript-eslint';

const importsOfEnvironment = {
  selector: "MemberExpression[object.name='process'][property.name='env']",
  message: 'Read configuration through #config.',
};

export default tseslint.config(
  { ignores: ['dist/**', 'node_modules/**', '.fleetmend/**', '**/*.mjs', '**/*.cjs'] },
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
      'max-params': ['error', 4],
      complexity: ['error', 12],
      'no-console': 'error',
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-restricted-syntax': [
        'error',
        importsOfEnvironment,
        { selector: 'ExportAllDeclaration', message: 'Name what you export.' },
      ],
    },
  },
  {
    files: ['**/*.spec.ts', '**/*.int-spec.ts', '**/*.e2e-spec.ts', 'libs/testing/**', 'test/**'],
    rules: {
      'max-lines': 'off',
      'max-lines-per-function': 'off',
      'max-params': 'off',
      complexity: 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      'no-restricted-syntax': 'off',
      'no-console': 'off',
    },
  },
  { files: ['libs/config/**'], rules: { 'no-restricted-syntax': 'off' } },
  // Injected constructors list what a class uses; Nest gives each by its own type.
  { files: ['services/*/src/**'], rules: { 'max-params': ['error', 6] } },
);
