// How the shape of a request is declared. It is checked in DynamoDB's two steps:
//
//   1. types        check-shape.ts  the first wrong JSON type is a SerializationException
//   2. constraints  check-shape.ts  up to ten violations in one ValidationException; the table name first and alone
//
// Attribute values are `any` here: model/parse-value.ts checks them where they are used.

interface Required {
  readonly required?: true
}
interface Length {
  readonly lengthMin?: number
  readonly lengthMax?: number
}
export interface StringShape extends Required, Length {
  readonly kind: 'string'
  readonly pattern?: string
  readonly values?: readonly string[]
  /** The ARN of a table will do as well; table-name.ts checks it. */
  readonly acceptsArn?: true
  /** What the newer wording says of a value that breaks a constraint. */
  readonly newerConstraint?: string | ((constraint: string) => string)
  /** The whole message when the member is absent, where it is not the usual one. */
  readonly missing?: string
}
export interface NumberShape extends Required {
  readonly kind: 'integer' | 'long' | 'double'
  readonly valueMin?: number
  readonly valueMax?: number
}
export interface BooleanShape extends Required {
  readonly kind: 'boolean'
}
export interface ListShape extends Required, Length {
  readonly kind: 'list'
  readonly member: RequestShape
  readonly newerConstraint?: (constraint: string) => string
}
export interface MapShape extends Required, Length {
  readonly kind: 'map'
  readonly member: RequestShape
  readonly keyPattern?: string
  readonly keyLengthMin?: number
  readonly keyLengthMax?: number
  /** The ARN of a table will do as a key as well. */
  readonly keysAcceptArn?: true
}
export interface StructShape extends Required {
  readonly kind: 'struct'
  /**
   * Some constraints are worded anew, unless a required member is missing; `stops`: at the first of those; `alone`: that one is all
   * that is said, and not counted. `newest`: a number out of its range is not shown, and only where the newest words are spoken.
   * `transaction`: as `newer, stops`, and only where transactions have moved.
   */
  readonly wording?: 'newer' | 'newer, stops' | 'newer, alone' | 'newest' | 'transaction'
  /** The class name that serialization errors show. */
  readonly className?: string
  readonly members: Readonly<Record<string, RequestShape>>
}
/** An attribute value, unless it is `opaque`. */
export interface AnyShape extends Required {
  readonly kind: 'any'
  readonly opaque?: true
}
export type RequestShape =
  StringShape | NumberShape | BooleanShape | ListShape | MapShape | StructShape | AnyShape

const TABLE_NAME_PATTERN = '[a-zA-Z0-9_.-]+'

/** TableName of requests for items: looser than the 3 to 255 characters of a table being created. */
export const tableNameShape: StringShape = {
  kind: 'string',
  required: true,
  lengthMin: 1,
  lengthMax: 255,
  pattern: TABLE_NAME_PATTERN,
  acceptsArn: true,
}

/** TableName of requests for tables themselves. */
export const administeredTableNameShape: StringShape = {
  ...tableNameShape,
  lengthMin: 3,
  missing: "The parameter 'TableName' is required but was not present in the request",
}

/** IndexName in the definition of an index. */
export const indexNameShape: StringShape = {
  kind: 'string',
  required: true,
  lengthMin: 3,
  lengthMax: 255,
  pattern: TABLE_NAME_PATTERN,
}
