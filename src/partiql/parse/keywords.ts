// Words that are no attribute names unless they are quoted, and what some of them stand for.
//
// DynamoDB reserves the words of SQL-92 and those that PartiQL adds; every other word is a name.

const WORDS = `absolute action add all allocate alter and any are as asc assertion at authorization avg begin between bit
bit_length by cascade cascaded case cast catalog char character character_length char_length check close coalesce collate
collation column commit connect connection constraint constraints continue convert corresponding count create cross current
current_date current_time current_timestamp current_user cursor date deallocate dec decimal declare default deferrable deferred
delete desc describe descriptor diagnostics disconnect distinct domain double drop else end escape except exception exec execute
exists external extract date_add date_diff false fetch first float for foreign found from full get global go goto grant group
having identity immediate in indicator initially inner input insensitive insert int int2 int4 int8 integer integer2 integer4
integer8 bigint intersect interval into is isolation join key language last left level like local lower match max min module names
national natural nchar next no not null nullif numeric octet_length of on only open option or order outer output overlaps pad
partial position precision prepare preserve primary prior privileges procedure public read real references relative restrict
revoke right rollback rows schema scroll section select session session_user set size smallint some space sql sqlcode sqlerror
sqlstate substring sum system_user table temporary then time timestamp to transaction translate translation trim true union
unique unknown update upper usage user using value values varchar varying view when whenever where with work write zone
missing pivot unpivot limit offset tuple remove index let conflict do nothing returning modified new old bool boolean string symbol clob blob struct list sexp bag`

export const KEYWORDS: ReadonlySet<string> = new Set(WORDS.split(/\s+/))

/** Of IS: the name of the type as messages have it, or undefined where there is no such type. */
export const TYPE_NAMES: ReadonlyMap<string, string> = new Map([
  ['missing', 'MISSING'],
  ['null', 'NULL'],
  ['bool', 'BOOLEAN'],
  ['boolean', 'BOOLEAN'],
  ['smallint', 'SMALLINT'],
  ['int2', 'SMALLINT'],
  ['integer2', 'SMALLINT'],
  ['int', 'INTEGER'],
  ['integer', 'INTEGER'],
  ['int4', 'INTEGER4'],
  ['integer4', 'INTEGER4'],
  ['int8', 'INTEGER8'],
  ['integer8', 'INTEGER8'],
  ['bigint', 'INTEGER8'],
  ['float', 'FLOAT'],
  ['real', 'REAL'],
  ['double precision', 'DOUBLE_PRECISION'],
  ['dec', 'DECIMAL'],
  ['decimal', 'DECIMAL'],
  ['numeric', 'NUMERIC'],
  ['date', 'DATE'],
  ['time', 'TIME'],
  ['timestamp', 'TIMESTAMP'],
  ['char', 'CHARACTER'],
  ['character', 'CHARACTER'],
  ['varchar', 'CHARACTER_VARYING'],
  ['character varying', 'CHARACTER_VARYING'],
  ['string', 'STRING'],
  ['symbol', 'SYMBOL'],
  ['clob', 'CLOB'],
  ['blob', 'BLOB'],
  ['struct', 'STRUCT'],
  ['tuple', 'TUPLE'],
  ['list', 'LIST'],
  ['sexp', 'SEXP'],
  ['bag', 'BAG'],
])

/** Keywords that are names of functions where a parenthesis follows. */
export const FUNCTION_KEYWORDS: ReadonlySet<string> = new Set([
  'exists',
  'count',
  'avg',
  'max',
  'min',
  'sum',
  'substring',
  'char_length',
  'character_length',
  'octet_length',
  'bit_length',
  'upper',
  'lower',
  'size',
  'nullif',
  'coalesce',
  'sexp',
  'list',
  'bag',
  'trim',
  'extract',
  'date_add',
  'date_diff',
])
