// What a tool is: a name, the arguments that it takes, and what it does with them. Nothing reaches the endpoint but arguments that a
// tool declares, so what a model makes up is refused here.

/** One request to the endpoint; throws what the endpoint refuses. */
export type AskOperation = (operation: string, input: object) => Promise<unknown>

export type ToolInput = Readonly<Record<string, unknown>>

export interface ToolArgument {
  readonly type: 'string' | 'integer' | 'boolean' | 'object' | 'array'
  readonly description: string
  readonly required?: true
  readonly minimum?: number
  readonly maximum?: number
  readonly enum?: readonly string[]
}

export interface Tool {
  readonly name: string
  readonly description: string
  readonly effect: 'reads' | 'writes'
  readonly arguments: Readonly<Record<string, ToolArgument>>
  /** The text of the answer, no longer than is allowed. */
  run(input: ToolInput, ask: AskOperation): Promise<string>
}

/** Refused before anything was asked. */
export class WrongToolCall extends Error {
  override readonly name = 'WrongToolCall'
}

/** Of a tool, as MCP lists it. */
export function describedTool({ name, description, effect, arguments: known }: Tool): {
  name: string
  description: string
  inputSchema: { type: 'object'; [more: string]: unknown }
  annotations: object
} {
  const properties = Object.fromEntries(
    Object.entries(known).map(([argument, schema]) => [argument, { ...schema, required: undefined }]),
  )
  const required = Object.keys(known).filter((argument) => known[argument]!.required === true)
  return {
    name,
    description,
    inputSchema: { type: 'object', properties, required, additionalProperties: false },
    annotations: {
      readOnlyHint: effect === 'reads',
      destructiveHint: effect === 'writes',
      idempotentHint: effect === 'reads',
      openWorldHint: false,
    },
  }
}

/** The arguments of a call, if they are those that the tool declares. */
export function checkedInput({ name, arguments: known }: Tool, given: ToolInput): ToolInput {
  for (const [argument, value] of Object.entries(given)) {
    const declared = Object.hasOwn(known, argument) ? known[argument] : undefined
    if (declared === undefined)
      throw new WrongToolCall(
        `${name} has no argument '${argument}'; it takes ${Object.keys(known).join(', ')}`,
      )
    if (!fits(declared, value)) throw new WrongToolCall(`${name}: ${argument} must be ${wordsOf(declared)}`)
  }
  for (const [argument, { required }] of Object.entries(known))
    if (required === true && !Object.hasOwn(given, argument))
      throw new WrongToolCall(`${name} needs ${argument}`)
  return given
}

function fits({ type, minimum, maximum, enum: values }: ToolArgument, value: unknown): boolean {
  switch (type) {
    case 'integer':
      return (
        Number.isSafeInteger(value) &&
        (value as number) >= (minimum ?? 0) &&
        (value as number) <= (maximum ?? Number.MAX_SAFE_INTEGER)
      )
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
    case 'array':
      return Array.isArray(value)
    case 'string':
      return typeof value === 'string' && (values === undefined || values.includes(value))
    case 'boolean':
      return typeof value === 'boolean'
  }
}

function wordsOf({ type, minimum = 0, maximum, enum: values }: ToolArgument): string {
  if (type === 'integer')
    return `a whole number from ${minimum}${maximum === undefined ? ' on' : ` to ${maximum}`}`
  if (values !== undefined) return `one of ${values.join(', ')}`
  return `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`
}
