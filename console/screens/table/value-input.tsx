// A scalar of a type, as a person gives it: valueOf (wire/requests) makes a value of the text.
import { Select, TextInput } from '../../parts/basics.js'
import type { TypeName } from '../../values/attribute.js'

export interface ValueInputProps {
  readonly type: TypeName
  readonly value: string
  readonly onValue: (value: string) => void
  readonly id?: string
  readonly 'aria-label'?: string
  readonly placeholder?: string
}

const TRUTHS = [
  ['true', 'true'],
  ['false', 'false'],
] as const

export function ValueInput({ type, value, placeholder, ...rest }: ValueInputProps) {
  if (type === 'NULL') return <TextInput {...rest} value="null" disabled />
  if (type === 'BOOL')
    return <Select {...rest} value={value === 'false' ? 'false' : 'true'} options={TRUTHS} />
  const shown = placeholder ?? (type === 'N' ? 'number' : type === 'B' ? 'base64' : 'value')
  return <TextInput {...rest} value={value} placeholder={shown} />
}
