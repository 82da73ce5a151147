// What is wrong with a well-formed expression whatever the request's names and values are; the reserved words. Like DynamoDB, reports the
// first fault in the order of the text, and all of these before anything about names and values.
import { expressionError } from './lexer.js'
import type {
  ConditionNode,
  ExpressionKind,
  FunctionNode,
  OperandNode,
  PathNode,
  ProjectionNode,
  SetValueNode,
  UpdateNode,
} from './tree.js'

/** Where a function stands: as a condition, as an operand, or as the whole value of SET. */
type Place = 'condition' | 'operand' | 'value'

const CONDITION_FUNCTIONS: ReadonlyMap<string, readonly Place[]> = new Map([
  ['attribute_exists', ['condition']],
  ['attribute_not_exists', ['condition']],
  ['attribute_type', ['condition']],
  ['begins_with', ['condition']],
  ['contains', ['condition']],
  ['size', ['operand']],
])
const UPDATE_FUNCTIONS: ReadonlyMap<string, readonly Place[]> = new Map([
  ['if_not_exists', ['operand', 'value']],
  ['list_append', ['value']],
])
const INDEX_MAX = 2 ** 31 - 1

export function checkCondition(node: ConditionNode, kind: ExpressionKind): void {
  switch (node.type) {
    case 'and':
    case 'or':
      for (const term of node.terms) checkCondition(term, kind)
      return
    case 'not':
      return checkCondition(node.term, kind)
    case 'compare':
      return checkOperands([node.left, node.right], kind)
    case 'between':
      return checkOperands([node.operand, node.lower, node.upper], kind)
    case 'in':
      return checkOperands([node.operand, ...node.list], kind)
    case 'function':
      return checkFunction(node, 'condition', kind)
  }
}

export function checkUpdateExpression(update: UpdateNode, sections: readonly string[]): void {
  for (const action of update.actions) {
    checkPath(action.path, 'UpdateExpression')
    if (action.type === 'set') checkSetValue(action.value)
  }
  const repeated = sections.find((section, at) => sections.indexOf(section) < at)
  if (repeated !== undefined)
    throw expressionError(
      'UpdateExpression',
      `The "${repeated}" section can only be used once in an update expression;`,
    )
}

export function checkProjection(projection: ProjectionNode): void {
  for (const path of projection.paths) checkPath(path, 'ProjectionExpression')
}

function checkSetValue(value: SetValueNode): void {
  if (value.type !== 'arithmetic') return checkOperand(value, 'value', 'UpdateExpression')
  for (const operand of [value.left, value.right])
    if (operand.type !== 'arithmetic') checkOperand(operand, 'operand', 'UpdateExpression')
}

function checkOperands(operands: readonly OperandNode[], kind: ExpressionKind): void {
  for (const operand of operands) checkOperand(operand, 'operand', kind)
}

function checkOperand(operand: OperandNode, place: Place, kind: ExpressionKind): void {
  if (operand.type === 'path') checkPath(operand, kind)
  else if (operand.type === 'function') checkFunction(operand, place, kind)
}

function checkFunction(node: FunctionNode, place: Place, kind: ExpressionKind): void {
  const updating = kind === 'UpdateExpression'
  const places = (updating ? UPDATE_FUNCTIONS : CONDITION_FUNCTIONS).get(node.name)
  if (places === undefined) {
    const known = (updating ? CONDITION_FUNCTIONS : UPDATE_FUNCTIONS).has(node.name)
    throw expressionError(
      kind,
      known
        ? `The function is not allowed in ${updating ? 'an update' : 'a condition'} expression; function: ${node.name}`
        : `Invalid function name; function: ${node.name}`,
    )
  }
  if (!places.includes(place))
    throw expressionError(
      kind,
      `The function is not allowed to be used this way in an expression; function: ${node.name}`,
    )
  checkOperands(node.args, kind)
}

function checkPath(path: PathNode, kind: ExpressionKind): void {
  for (const step of path.steps) {
    if (typeof step === 'number') {
      if (step > INDEX_MAX)
        throw expressionError(kind, `List index is not within the allowable range; index: [${step}]`)
    } else if (isReservedWord(step)) {
      throw expressionError(kind, `Attribute name is a reserved keyword; reserved keyword: ${step}`)
    }
  }
}

// DynamoDB's reserved words. None of them may be an attribute name in an expression, in any case, except behind a #name.

const RESERVED_WORDS: ReadonlySet<string> = new Set(
  `
  ABORT ABSOLUTE ACTION ADD AFTER AGENT AGGREGATE ALL ALLOCATE ALTER ANALYZE AND ANY ARCHIVE ARE ARRAY AS
  ASC ASCII ASENSITIVE ASSERTION ASYMMETRIC AT ATOMIC ATTACH ATTRIBUTE AUTH AUTHORIZATION AUTHORIZE AUTO
  AVG BACK BACKUP BASE BATCH BEFORE BEGIN BETWEEN BIGINT BINARY BIT BLOB BLOCK BOOLEAN BOTH BREADTH BUCKET
  BULK BY BYTE CALL CALLED CALLING CAPACITY CASCADE CASCADED CASE CAST CATALOG CHAR CHARACTER CHECK CLASS
  CLOB CLOSE CLUSTER CLUSTERED CLUSTERING CLUSTERS COALESCE COLLATE COLLATION COLLECTION COLUMN COLUMNS
  COMBINE COMMENT COMMIT COMPACT COMPILE COMPRESS CONDITION CONFLICT CONNECT CONNECTION CONSISTENCY
  CONSISTENT CONSTRAINT CONSTRAINTS CONSTRUCTOR CONSUMED CONTINUE CONVERT COPY CORRESPONDING COUNT COUNTER
  CREATE CROSS CUBE CURRENT CURSOR CYCLE DATA DATABASE DATE DATETIME DAY DEALLOCATE DEC DECIMAL DECLARE
  DEFAULT DEFERRABLE DEFERRED DEFINE DEFINED DEFINITION DELETE DELIMITED DEPTH DEREF DESC DESCRIBE
  DESCRIPTOR DETACH DETERMINISTIC DIAGNOSTICS DIRECTORIES DISABLE DISCONNECT DISTINCT DISTRIBUTE DO DOMAIN
  DOUBLE DROP DUMP DURATION DYNAMIC EACH ELEMENT ELSE ELSEIF EMPTY ENABLE END EQUAL EQUALS ERROR ESCAPE
  ESCAPED EVAL EVALUATE EXCEEDED EXCEPT EXCEPTION EXCEPTIONS EXCLUSIVE EXEC EXECUTE EXISTS EXIT EXPLAIN
  EXPLODE EXPORT EXPRESSION EXTENDED EXTERNAL EXTRACT FAIL FALSE FAMILY FETCH FIELDS FILE FILTER FILTERING
  FINAL FINISH FIRST FIXED FLATTERN FLOAT FOR FORCE FOREIGN FORMAT FORWARD FOUND FREE FROM FULL FUNCTION
  FUNCTIONS GENERAL GENERATE GET GLOB GLOBAL GO GOTO GRANT GREATER GROUP GROUPING HANDLER HASH HAVE HAVING
  HEAP HIDDEN HOLD HOUR IDENTIFIED IDENTITY IF IGNORE IMMEDIATE IMPORT IN INCLUDING INCLUSIVE INCREMENT
  INCREMENTAL INDEX INDEXED INDEXES INDICATOR INFINITE INITIALLY INLINE INNER INNTER INOUT INPUT
  INSENSITIVE INSERT INSTEAD INT INTEGER INTERSECT INTERVAL INTO INVALIDATE IS ISOLATION ITEM ITEMS
  ITERATE JOIN KEY KEYS LAG LANGUAGE LARGE LAST LATERAL LEAD LEADING LEAVE LEFT LENGTH LESS LEVEL LIKE
  LIMIT LIMITED LINES LIST LOAD LOCAL LOCALTIME LOCALTIMESTAMP LOCATION LOCATOR LOCK LOCKS LOG LOGED LONG
  LOOP LOWER MAP MATCH MATERIALIZED MAX MAXLEN MEMBER MERGE METHOD METRICS MIN MINUS MINUTE MISSING MOD
  MODE MODIFIES MODIFY MODULE MONTH MULTI MULTISET NAME NAMES NATIONAL NATURAL NCHAR NCLOB NEW NEXT NO
  NONE NOT NULL NULLIF NUMBER NUMERIC OBJECT OF OFFLINE OFFSET OLD ON ONLINE ONLY OPAQUE OPEN OPERATOR
  OPTION OR ORDER ORDINALITY OTHER OTHERS OUT OUTER OUTPUT OVER OVERLAPS OVERRIDE OWNER PAD PARALLEL
  PARAMETER PARAMETERS PARTIAL PARTITION PARTITIONED PARTITIONS PATH PERCENT PERCENTILE PERMISSION
  PERMISSIONS PIPE PIPELINED PLAN POOL POSITION PRECISION PREPARE PRESERVE PRIMARY PRIOR PRIVATE
  PRIVILEGES PROCEDURE PROCESSED PROJECT PROJECTION PROPERTY PROVISIONING PUBLIC PUT QUERY QUIT QUORUM
  RAISE RANDOM RANGE RANK RAW READ READS REAL REBUILD RECORD RECURSIVE REDUCE REF REFERENCE REFERENCES
  REFERENCING REGEXP REGION REINDEX RELATIVE RELEASE REMAINDER RENAME REPEAT REPLACE REQUEST RESET
  RESIGNAL RESOURCE RESPONSE RESTORE RESTRICT RESULT RETURN RETURNING RETURNS REVERSE REVOKE RIGHT ROLE
  ROLES ROLLBACK ROLLUP ROUTINE ROW ROWS RULE RULES SAMPLE SATISFIES SAVE SAVEPOINT SCAN SCHEMA SCOPE
  SCROLL SEARCH SECOND SECTION SEGMENT SEGMENTS SELECT SELF SEMI SENSITIVE SEPARATE SEQUENCE SERIALIZABLE
  SESSION SET SETS SHARD SHARE SHARED SHORT SHOW SIGNAL SIMILAR SIZE SKEWED SMALLINT SNAPSHOT SOME SOURCE
  SPACE SPACES SPARSE SPECIFIC SPECIFICTYPE SPLIT SQL SQLCODE SQLERROR SQLEXCEPTION SQLSTATE SQLWARNING
  START STATE STATIC STATUS STORAGE STORE STORED STREAM STRING STRUCT STYLE SUB SUBMULTISET SUBPARTITION
  SUBSTRING SUBTYPE SUM SUPER SYMMETRIC SYNONYM SYSTEM TABLE TABLESAMPLE TEMP TEMPORARY TERMINATED TEXT
  THAN THEN THROUGHPUT TIME TIMESTAMP TIMEZONE TINYINT TO TOKEN TOTAL TOUCH TRAILING TRANSACTION TRANSFORM
  TRANSLATE TRANSLATION TREAT TRIGGER TRIM TRUE TRUNCATE TTL TUPLE TYPE UNDER UNDO UNION UNIQUE UNIT
  UNKNOWN UNLOGGED UNNEST UNPROCESSED UNSIGNED UNTIL UPDATE UPPER URL USAGE USE USER USERS USING UUID
  VACUUM VALUE VALUED VALUES VARCHAR VARIABLE VARIANCE VARINT VARYING VIEW VIEWS VIRTUAL VOID WAIT WHEN
  WHENEVER WHERE WHILE WINDOW WITH WITHIN WITHOUT WORK WRAPPED WRITE YEAR ZONE
`
    .trim()
    .split(/\s+/),
)

export const reservedWordCount = RESERVED_WORDS.size

export function isReservedWord(name: string): boolean {
  return RESERVED_WORDS.has(name.toUpperCase())
}
