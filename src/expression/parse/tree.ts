// The trees that expressions are parsed into: plain data, without the values and names of a request, so that one tree
// serves every request with the same text.

export type Comparator = '=' | '<>' | '<' | '<=' | '>' | '>='

/**
 * A step into a document: an attribute name as written, a `#name` that the request resolves, or a list index. A name
 * that is written out never begins with `#`.
 */
export type PathStep = string | number

export interface PathNode {
  readonly type: 'path'
  readonly steps: readonly PathStep[]
}
/** A `:value` that the request resolves. */
export interface ValueNode {
  readonly type: 'value'
  readonly name: string
}
export interface FunctionNode {
  readonly type: 'function'
  readonly name: string
  readonly args: readonly OperandNode[]
}
/** Whether a condition holds, as a value to compare with. Only statements have it. */
export interface TruthNode {
  readonly type: 'truth'
  readonly term: ConditionNode
}
export type OperandNode = PathNode | ValueNode | FunctionNode | TruthNode

export interface CompareNode {
  readonly type: 'compare'
  readonly operator: Comparator
  readonly left: OperandNode
  readonly right: OperandNode
}
export interface BetweenNode {
  readonly type: 'between'
  readonly operand: OperandNode
  readonly lower: OperandNode
  readonly upper: OperandNode
}
export interface InNode {
  readonly type: 'in'
  readonly operand: OperandNode
  readonly list: readonly OperandNode[]
}
/** `a AND b AND c` is one node of three terms, so that the depth of a tree is the depth of its parentheses. */
export interface JunctionNode {
  readonly type: 'and' | 'or'
  readonly terms: readonly ConditionNode[]
}
export interface NotNode {
  readonly type: 'not'
  readonly term: ConditionNode
}
export type ConditionNode = JunctionNode | NotNode | CompareNode | BetweenNode | InNode | FunctionNode

export interface ArithmeticNode {
  readonly type: 'arithmetic'
  readonly operator: '+' | '-'
  /** Another sum, in statements. */
  readonly left: SetValueNode
  readonly right: SetValueNode
}
export type SetValueNode = OperandNode | ArithmeticNode

export type UpdateAction =
  | { readonly type: 'set'; readonly path: PathNode; readonly value: SetValueNode }
  | { readonly type: 'remove'; readonly path: PathNode }
  | { readonly type: 'add' | 'delete'; readonly path: PathNode; readonly value: ValueNode }

export interface UpdateNode {
  /** AttributeUpdates add to lists too, and refuse a wrong type with other words. */
  readonly dialect: 'UpdateExpression' | 'AttributeUpdates' | 'Statement'
  /** In the order of the text. */
  readonly actions: readonly UpdateAction[]
}

export interface ProjectionNode {
  readonly paths: readonly PathNode[]
}

export type ExpressionKind =
  | 'ConditionExpression'
  | 'FilterExpression'
  | 'KeyConditionExpression'
  /** Of SearchVectors. */
  | 'SearchConditionExpression'
  | 'UpdateExpression'
  | 'ProjectionExpression'
  /** Of PartiQL, whose messages do not say which of its clauses they are about. */
  | 'Statement'

/** A parsed text: all that can be said of it without the request's names and values. */
export interface Parsed<Tree> {
  readonly tree: Tree
  readonly operators: number
}
