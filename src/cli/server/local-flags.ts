// The flags of DynamoDB Local, as its users write them, in the words of `seriatim start`: a script, a compose file or a
// container that started the one starts the other.
//
//   java -Djava.library.path=./DynamoDBLocal_lib -jar DynamoDBLocal.jar -sharedDb -dbPath ./data -port 8000
//   --> --path ./data --port 8000
import { UsageError } from '../command/arguments.js'

export interface TranslatedFlags {
  /** In the words of `seriatim start`; what is not DynamoDB Local's is left as it is. */
  readonly args: readonly string[]
  /** One sentence for each flag that changes nothing here. */
  readonly notes: readonly string[]
}

interface Flag {
  readonly takesValue?: true
  /** The options of `seriatim start` that say the same. */
  readonly becomes: (value: string) => readonly string[]
  /** Why it, or a part of its value, changes nothing. */
  readonly note?: (value: string) => string | undefined
}

const ANY_ORIGIN = '*'

const FLAGS: ReadonlyMap<string, Flag> = new Map<string, Flag>([
  ['port', { takesValue: true, becomes: (port) => ['--port', port] }],
  ['dbPath', { takesValue: true, becomes: (path) => ['--path', path] }],
  ['inMemory', { becomes: () => ['--memory'] }],
  // One store for all credentials and regions is what this store always is.
  ['sharedDb', { becomes: () => [] }],
  [
    'cors',
    {
      takesValue: true,
      becomes: (list) =>
        originsIn(list)
          .filter((origin) => origin !== ANY_ORIGIN)
          .flatMap((origin) => ['--allow-origin', origin]),
      note: (list) =>
        originsIn(list).includes(ANY_ORIGIN)
          ? `-cors '*' is not followed: every web page that a browser on this machine shows could read and change the store; list the origins, such as -cors http://localhost:3000`
          : undefined,
    },
  ],
  ignored('disableTelemetry', 'there is no telemetry'),
  ignored('delayTransientStatuses', 'tables and indexes are ready as soon as they can be'),
  ignored('optimizeDbBeforeStartup', 'the index needs no such step'),
])

/** Java's own options: system properties and those of the virtual machine. */
const JAVA_OPTION = /^-(?:D|X)\S/
const SINGLE_DASH = /^-([A-Za-z]\w+)(?:=(.*))?$/s

export function translateLocalFlags(args: readonly string[]): TranslatedFlags {
  const translated: string[] = []
  const notes: string[] = []
  const rest = args[0] === 'java' ? args.slice(1) : args
  for (let at = 0; at < rest.length; at++) {
    const arg = rest[at] as string
    if (JAVA_OPTION.test(arg)) {
      notes.push(`${arg} is an option of Java and changes nothing here`)
      continue
    }
    const [, name, given] = SINGLE_DASH.exec(arg) ?? []
    if (name === undefined) {
      translated.push(arg)
      continue
    }
    if (name === 'jar') {
      at++
      continue
    }
    const flag = FLAGS.get(name)
    if (flag === undefined) throw new UsageError(`Unknown option '${arg}'; of DynamoDB Local's, ${known()}`)
    if (flag.takesValue === undefined && given !== undefined)
      throw new UsageError(`-${name} takes no value, but got '${given}'`)
    const value = flag.takesValue === undefined ? '' : (given ?? rest[++at])
    if (value === undefined || (flag.takesValue !== undefined && value === ''))
      throw new UsageError(`-${name} needs a value`)
    translated.push(...flag.becomes(value))
    const note = flag.note?.(value)
    if (note !== undefined) notes.push(note)
  }
  return { args: translated, notes }
}

const originsIn = (list: string): readonly string[] =>
  list
    .split(',')
    .map((origin) => origin.trim())
    .filter((origin) => origin !== '')

function ignored(name: string, because: string): readonly [string, Flag] {
  return [name, { becomes: () => [], note: () => `-${name} changes nothing here: ${because}` }]
}

const known = (): string => `${[...FLAGS.keys()].map((name) => `-${name}`).join(', ')} are understood`
