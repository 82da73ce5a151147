// Reading the arguments of a command: what is wrong with them is said in one sentence, and the process ends with 2.
import { parseArgs, type ParseArgsConfig } from 'node:util'

/** The command was called in a way it does not know. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

type Options = NonNullable<ParseArgsConfig['options']>

type Parsed<T extends Options> = ReturnType<
  typeof parseArgs<{ args: string[]; options: T; strict: true; allowPositionals: boolean; tokens: true }>
>

/** Options, and for commands that say so, arguments without a name. */
export function readArguments<const T extends Options>(
  args: readonly string[],
  options: T,
  positionals: 'without positionals' | 'with positionals' = 'without positionals',
): Parsed<T> {
  const allowPositionals = positionals === 'with positionals'
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals, tokens: true })
  } catch (error) {
    const [sentence] = (error as Error).message.split('. ', 1)
    const known = Object.keys(options).map((name) => `--${name}`)
    throw new UsageError(`${sentence!.replace(/\.$/, '')}; the options are ${known.join(', ')}`)
  }
}

export function readInteger(name: string, text: string, min: number, max: number): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN
  if (!(value >= min && value <= max)) {
    throw new UsageError(`--${name} must be a whole number from ${min} to ${max}, not '${text}'`)
  }
  return value
}
