// The examples in the comments of the package, as programs: with the imports that they need, and with what they take for
// given (a store with some tables, a client on it) before them.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { examplesIn, packageExports } from './exports.js'

/** What an example may use without declaring it; scripts/api-reference.mjs says so on the pages. */
export const GIVEN = [
  'store',
  'client',
  't',
  'invoices',
  'lock',
  'path',
  'beforeEach',
  'ledgerKey',
  'exported',
  'proof',
  'header',
  'yesterday',
  'today',
  'between',
] as const

export const contextProgram = (root: string): string => `
import { mkdtempSync, writeFileSync } from 'node:fs'
import { open } from 'seriatim'
import { locks, transactor } from 'seriatim/toolkit'
import { setCurrentStore } from '${root}/dist/src/testing/current-store.js'
import { openTestStore } from '${root}/dist/src/testing/test-store.js'
import { sampleForExamples } from '${root}/dist/test/verify/sample-ledger.js'

const table = (TableName: string, HASH: string, RANGE?: string) => ({
  TableName,
  BillingMode: 'PAY_PER_REQUEST' as const,
  AttributeDefinitions: [
    { AttributeName: HASH, AttributeType: 'S' as const },
    ...(RANGE === undefined ? [] : [{ AttributeName: RANGE, AttributeType: 'N' as const }]),
  ],
  KeySchema: [
    { AttributeName: HASH, KeyType: 'HASH' as const },
    ...(RANGE === undefined ? [] : [{ AttributeName: RANGE, KeyType: 'RANGE' as const }]),
  ],
})

writeFileSync('template.yaml', [
  'Parameters: { Stage: { Type: String } }',
  'Resources:',
  '  Orders:',
  '    Type: AWS::DynamoDB::Table',
  '    Properties:',
  '      TableName: !Sub orders-\${Stage}',
  '      BillingMode: PAY_PER_REQUEST',
  '      AttributeDefinitions: [{ AttributeName: id, AttributeType: S }]',
  '      KeySchema: [{ AttributeName: id, KeyType: HASH }]',
].join('\\n'))
setCurrentStore(await openTestStore({ tables: 'template.yaml', parameters: { Stage: 'test' } }, '.'))

export async function context() {
  const store = await open({ memory: true })
  for (const input of [table('Books', 'id'), table('Accounts', 'id'), table('Invoices', 'id'), table('Seats', 'show', 'seat')])
    await store.call('CreateTable', input)
  await store.call('CreateTable', {
    ...table('Orders', 'id'),
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
  })
  await store.call('CreateTable', { ...table('Vehicles', 'vin'), Tags: [{ Key: 'seriatim:ledger', Value: 'true' }] })
  const t = store.transactor()
  await t.transact((tx) => {
    tx.put('Books', { id: 'b1', title: 'Emma' })
    tx.put('Orders', { id: 'o1', total: 12 })
    tx.put('Vehicles', { vin: 'v1', owner: 'ann' })
    tx.put('Accounts', { id: 'alice', balance: 100 })
    tx.put('Accounts', { id: 'bob', balance: 0 })
    for (const seat of [1, 2, 3]) tx.put('Seats', { show: 'dune', seat })
  })
  const client = store.client()
  const invoices = locks(client, { table: 'Locks' })
  await invoices.setup()
  return {
    store,
    client,
    t,
    invoices,
    lock: await invoices.acquire('invoice-42'),
    path: mkdtempSync('data-'),
    beforeEach: (_: () => Promise<void>) => {},
    ...sampleForExamples(),
  }
}
`

/** The whole program of an example. */
export function programOf(example: string): string {
  const words = new Set(example.match(/[A-Za-z_]\w*/g))
  const isDeclared = (name: string): boolean =>
    new RegExp(`\\b(?:const|let|using|type|interface) (?:\\{[^}]*\\b)?${name}\\b`).test(example)
  const needed = new Map<string, string[]>()
  const importFrom = (from: string, name: string): void => {
    needed.set(from, [...(needed.get(from) ?? []), name])
  }
  for (const { entry, name } of packageExports())
    if (words.has(name) && entry !== 'seriatim/jest' && !isDeclared(name)) importFrom(entry, name)
  for (const word of words) {
    if (/^[A-Z]\w+Command$/.test(word)) importFrom('@aws-sdk/client-dynamodb', word)
    if (word === 'writeFile') importFrom('node:fs/promises', word)
  }
  const inUnit = words.has('tx') && !/\(tx\b|\btx =>/.test(example.replaceAll(/\w+Unit\(tx/g, ''))
  const given = GIVEN.filter((name) => (words.has(name) || (name === 't' && inUnit)) && !isDeclared(name))
  return [
    ...[...needed].map(([from, names]) => `import { ${names.join(', ')} } from '${from}'`),
    "import { context } from './context.js'",
    `const { ${given.join(', ')} } = await context()`,
    inUnit ? `await t.transact(async (tx) => {\n${example}\n})` : example,
    'export {}',
  ].join('\n')
}

const COMMENTED =
  /\/\*\*((?:(?!\*\/)[^])*@example(?:(?!\*\/)[^])*)\*\/\nexport (?:async )?(?:function|class|const) (\w+)/g

/** Examples of modules that no user imports: they are compiled, with what they take for given declared as anything. */
export function internalPrograms(
  root: string,
): readonly { readonly name: string; readonly program: string }[] {
  const own = new Set(packageExports().map(({ path, name }) => `${path} ${name}`))
  return readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .map((path) => join('src', path))
    .filter((path) => path.endsWith('.ts'))
    .flatMap((path) => {
      const text = readFileSync(join(root, path), 'utf8')
      return [...text.matchAll(COMMENTED)]
        .filter(([, , name]) => !own.has(`${path} ${name}`))
        .flatMap(([, comment = '', name = '']) =>
          examplesIn(comment.replaceAll(/^ *\* ?/gm, '').trim()).map((example) => ({
            name,
            program: internalProgram(join(root, 'dist', path.replace(/ts$/, 'js')), text, example),
          })),
        )
    })
}

function internalProgram(module: string, source: string, example: string): string {
  const exported = [...source.matchAll(/^export (?:async )?(?:function|class|const) (\w+)/gm)]
    .map(([, name]) => name!)
    .filter((name) => new RegExp(`\\b${name}\\b`).test(example))
  const code = example.replaceAll(/\/\/.*$/gm, '').replaceAll(/'[^'\n]*'/g, "''")
  const declared = new Set(
    [...code.matchAll(/\b(?:const|using) (?:\{([^}]*)\}|(\w+))/g)].flatMap(([, many, one]) =>
      (many ?? one)!.split(/[,\s]+/),
    ),
  )
  const free = [...new Set(code.match(/(?<![.\w])[a-z]\w*\b(?!\s*:(?!:))/g))].filter(
    (word) => !declared.has(word) && !exported.includes(word) && !WORDS.has(word),
  )
  return [
    `import { ${exported.join(', ')} } from '${module}'`,
    ...free.map((name) => `declare const ${name}: any`),
    example,
    'export {}',
  ].join('\n')
}

const WORDS = new Set([
  'const',
  'await',
  'using',
  'new',
  'for',
  'of',
  'if',
  'return',
  'true',
  'false',
  'console',
  'undefined',
])
