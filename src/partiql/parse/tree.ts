// What a statement is before anything is known of its table: plain data, and all that can be said of the text alone.
import type { StatementToken } from './tokens.js'

/** A step of a path behind the first name: a member, an element, or something that DynamoDB's paths do not have. */
export type StepNode =
  | { readonly type: 'member'; readonly name: string; readonly at: StatementToken }
  | { readonly type: 'index'; readonly index: ExpressionNode; readonly at: StatementToken }
  | { readonly type: 'unpivot' | 'wildcard'; readonly at: StatementToken }

interface Placed {
  /** Where messages say that it stands. */
  readonly at: StatementToken
}

export interface NameNode extends Placed {
  readonly type: 'name'
  readonly name: string
}
export interface PathExpression extends Placed {
  readonly type: 'path'
  readonly root: ExpressionNode
  readonly steps: readonly StepNode[]
}
export interface NumberNode extends Placed {
  readonly type: 'number'
  readonly text: string
}
export interface CallNode extends Placed {
  readonly type: 'call'
  /** As it is written. */
  readonly name: string
  /** A star is what COUNT may have. */
  readonly args: readonly ExpressionNode[]
}
export interface BinaryNode extends Placed {
  readonly type: 'binary'
  readonly operator: string
  readonly left: ExpressionNode
  readonly right: ExpressionNode
}
export interface StructNode extends Placed {
  readonly type: 'struct'
  readonly fields: readonly { readonly key: ExpressionNode; readonly value: ExpressionNode }[]
}

export type ExpressionNode =
  | NameNode
  | PathExpression
  | NumberNode
  | CallNode
  | BinaryNode
  | StructNode
  | (Placed & { readonly type: 'string'; readonly text: string })
  | (Placed & { readonly type: 'boolean'; readonly value: boolean })
  | (Placed & { readonly type: 'null' | 'missing' | 'star' })
  | (Placed & { readonly type: 'ion'; readonly text: string })
  | (Placed & { readonly type: 'parameter'; readonly position: number })
  | (Placed & { readonly type: 'list' | 'bag'; readonly items: readonly ExpressionNode[] })
  | (Placed & { readonly type: 'unary'; readonly operator: string; readonly operand: ExpressionNode })
  | (Placed & {
      readonly type: 'between'
      readonly operand: ExpressionNode
      readonly lower: ExpressionNode
      readonly upper: ExpressionNode
      readonly isNegated: boolean
    })
  | (Placed & {
      readonly type: 'is'
      readonly operand: ExpressionNode
      readonly typeName: string
      readonly isNegated: boolean
    })
  /** A statement where an expression stands: what EXISTS takes, and DynamoDB refuses elsewhere. */
  | (Placed & { readonly type: 'statement'; readonly statement: StatementNode })
  /** A term of PartiQL that DynamoDB has no use for, such as CAST. */
  | (Placed & { readonly type: 'unsupported'; readonly word: string })

export interface OrderTerm {
  readonly by: ExpressionNode
  readonly isDescending: boolean
}

/** Up to two names: of a table, and of an index. */
export interface SourceNode {
  readonly expression: ExpressionNode
  readonly isAliased: boolean
}

export interface UnsupportedClause {
  readonly name: string
  readonly at?: StatementToken
}

export interface SelectStatement {
  readonly type: 'select'
  readonly projection: readonly ExpressionNode[] | 'all'
  /** DISTINCT or VALUE: read, and refused once the table is known. */
  readonly modifier?: 'DISTINCT' | 'VALUE'
  readonly isProjectionAliased: boolean
  readonly sources: readonly SourceNode[]
  readonly where: ExpressionNode | undefined
  readonly order: readonly OrderTerm[]
  /** A clause that DynamoDB does not have, and where it says that it stands. */
  readonly unsupportedClause?: UnsupportedClause
}
export interface InsertStatement {
  readonly type: 'insert'
  readonly target: SourceNode
  readonly value: ExpressionNode
  /** Why it is refused once it was read. */
  readonly refusal?: string
  readonly returning: readonly ReturningNode[]
}
export type Assignment =
  | { readonly type: 'set'; readonly target: ExpressionNode; readonly value: ExpressionNode }
  | { readonly type: 'remove'; readonly target: ExpressionNode }
export interface ReturningNode {
  readonly which: 'ALL' | 'MODIFIED'
  readonly image: 'OLD' | 'NEW'
  readonly isStar: boolean
}
export interface UpdateStatement {
  readonly type: 'update'
  readonly target: SourceNode
  readonly assignments: readonly Assignment[]
  readonly where: ExpressionNode | undefined
  readonly returning: readonly ReturningNode[]
}
export interface DeleteStatement {
  readonly type: 'delete'
  readonly target: SourceNode
  readonly where: ExpressionNode | undefined
  readonly returning: readonly ReturningNode[]
}
/** EXISTS(SELECT ...): a check of a write transaction. */
export interface ExistsStatement {
  readonly type: 'exists'
  readonly select: SelectStatement
}
/** Well formed, and nothing that DynamoDB does. */
export interface OtherStatement {
  readonly type: 'other'
  readonly refusal: string
}

export type StatementNode =
  SelectStatement | InsertStatement | UpdateStatement | DeleteStatement | ExistsStatement | OtherStatement

export interface ParsedStatement {
  readonly text: string
  readonly node: StatementNode
  /** How many `?` it has. */
  readonly parameters: number
  /** EXPLAIN: what it would do. STRICT: not if it has to read a whole table. Both are Seriatim's own. */
  readonly mode?: StatementMode
}

export type StatementMode = 'explain' | 'strict'
