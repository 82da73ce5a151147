// What is asked of a table: scan or query, which index, conditions on its key, filters.
import { Check, Select, TextInput } from '../../parts/basics.js'
import { TYPES } from '../../values/attribute.js'
import {
  emptyFilter,
  type Filter,
  type ItemRequest,
  KEY_OPERATORS,
  type KeyCondition,
  OPERATORS,
  pathOf,
} from '../../wire/requests.js'
import { ValueInput } from './value-input.js'
import { indexesOf, keyNames, keyTypeOf, type TableDescription } from '../../wire/tables.js'

const NO_INDEX = ''
const VALUELESS = new Set(['exists', 'not_exists'])
const SCALARS = TYPES.filter(([type]) => ['S', 'N', 'B', 'BOOL', 'NULL'].includes(type))

const keyCondition = (table: TableDescription, attribute: string): KeyCondition => ({
  attribute,
  operator: '=',
  type: keyTypeOf(table, attribute),
  value: '',
  other: '',
})

/** With the conditions that fit the keys of that index. */
export function requestOn(
  table: TableDescription,
  index: string | undefined,
  mode: 'scan' | 'query',
): ItemRequest {
  const schema = indexesOf(table).find(({ IndexName }) => IndexName === index)?.KeySchema ?? table.KeySchema
  const { hash } = keyNames(schema)
  return {
    table: table.TableName,
    index,
    mode,
    hash: keyCondition(table, hash),
    range: undefined,
    descending: false,
    filters: [],
    joinedBy: 'AND',
  }
}

export interface QueryFormProps {
  readonly table: TableDescription
  readonly request: ItemRequest
  readonly attributes: readonly string[]
  readonly onChange: (request: ItemRequest) => void
  readonly onRun: () => void
}

export function QueryForm({ table, request, attributes, onChange, onRun }: QueryFormProps) {
  const schema =
    indexesOf(table).find(({ IndexName }) => IndexName === request.index)?.KeySchema ?? table.KeySchema
  const { range } = keyNames(schema)
  const change = (next: Partial<ItemRequest>): void => onChange({ ...request, ...next })
  const changeFilter = (at: number, next: Partial<Filter>): void =>
    change({
      filters: request.filters.map((filter, each) => (each === at ? { ...filter, ...next } : filter)),
    })
  return (
    <form
      class="query"
      onSubmit={(event) => {
        event.preventDefault()
        onRun()
      }}
    >
      <div class="query-line">
        <Select
          aria-label="Scan or query"
          value={request.mode}
          options={[
            ['scan', 'Scan'],
            ['query', 'Query'],
          ]}
          onValue={(mode) => change({ mode })}
        />
        <Select
          aria-label="Table or index"
          value={request.index ?? NO_INDEX}
          options={[
            [NO_INDEX, `table ${table.TableName}`],
            ...indexesOf(table).map(({ IndexName }) => [IndexName, `index ${IndexName}`] as const),
          ]}
          onValue={(index) =>
            onChange({
              ...requestOn(table, index === NO_INDEX ? undefined : index, request.mode),
              filters: request.filters,
            })
          }
        />
        {request.mode === 'query' && request.hash !== undefined && (
          <Condition
            condition={request.hash}
            operators={['=']}
            onChange={(next) => change({ hash: { ...request.hash!, ...next } })}
          />
        )}
        {request.mode === 'query' && range !== undefined && request.range === undefined && (
          <button type="button" class="small" onClick={() => change({ range: keyCondition(table, range) })}>
            and {range} …
          </button>
        )}
        {request.mode === 'query' && request.range !== undefined && (
          <>
            <Condition
              condition={request.range}
              operators={KEY_OPERATORS}
              onChange={(next) => change({ range: { ...request.range!, ...next } })}
            />
            <button
              type="button"
              class="icon"
              aria-label={`Remove the condition on ${request.range.attribute}`}
              onClick={() => change({ range: undefined })}
            >
              ✕
            </button>
          </>
        )}
        {request.mode === 'query' && range !== undefined && (
          <Check
            checked={request.descending}
            onValue={(descending) => change({ descending })}
            label="descending"
          />
        )}
        <button
          type="button"
          class="small"
          onClick={() => change({ filters: [...request.filters, emptyFilter()] })}
        >
          Add filter
        </button>
        <button type="submit" class="primary" data-run>
          Run
        </button>
      </div>
      {request.filters.map((filter, at) => (
        <div class="query-line" key={at}>
          {at === 0 ? (
            <span class="muted joined">where</span>
          ) : (
            <Select
              aria-label="All or any of the filters"
              class="joined"
              value={request.joinedBy}
              options={[
                ['AND', 'and'],
                ['OR', 'or'],
              ]}
              onValue={(joinedBy) => change({ joinedBy })}
            />
          )}
          <input
            class="name"
            aria-label={`Attribute of filter ${at + 1}`}
            list="attributes"
            value={filter.attribute}
            spellcheck={false}
            placeholder="attribute, or a.b[0]"
            onInput={(event) => changeFilter(at, { attribute: event.currentTarget.value })}
          />
          <Select
            aria-label={`Operator of filter ${at + 1}`}
            value={filter.operator}
            options={OPERATORS}
            onValue={(operator) => changeFilter(at, { operator })}
          />
          {!VALUELESS.has(filter.operator) && (
            <>
              {filter.operator !== 'type' && !filter.operator.startsWith('size') && (
                <Select
                  aria-label={`Type of filter ${at + 1}`}
                  value={filter.type}
                  options={SCALARS}
                  onValue={(type) => changeFilter(at, { type })}
                />
              )}
              {filter.operator === 'type' ? (
                <Select
                  aria-label={`Value of filter ${at + 1}`}
                  value={TYPES.find(([type]) => type === filter.value)?.[0] ?? 'S'}
                  options={TYPES}
                  onValue={(value) => changeFilter(at, { value })}
                />
              ) : (
                <ValueInput
                  type={
                    filter.operator.startsWith('size') ? 'N' : filter.operator === 'in' ? 'S' : filter.type
                  }
                  aria-label={`Value of filter ${at + 1}`}
                  value={filter.value}
                  {...(filter.operator === 'in' && { placeholder: 'a, b, c' })}
                  onValue={(value) => changeFilter(at, { value })}
                />
              )}
              {filter.operator === 'between' && (
                <ValueInput
                  type={filter.type}
                  aria-label={`Upper end of filter ${at + 1}`}
                  value={filter.other}
                  placeholder="and"
                  onValue={(other) => changeFilter(at, { other })}
                />
              )}
            </>
          )}
          <button
            type="button"
            class="icon"
            aria-label={`Remove filter ${at + 1}`}
            onClick={() => change({ filters: request.filters.filter((_, each) => each !== at) })}
          >
            ✕
          </button>
        </div>
      ))}
      <datalist id="attributes">
        {attributes.map((name) => (
          <option key={name} value={pathOf(name)} />
        ))}
      </datalist>
    </form>
  )
}

function Condition({
  condition,
  operators,
  onChange,
}: {
  readonly condition: KeyCondition
  readonly operators: readonly KeyCondition['operator'][]
  readonly onChange: (next: Partial<KeyCondition>) => void
}) {
  const { attribute } = condition
  return (
    <span class="condition">
      <span class="mono">{attribute}</span>
      {operators.length > 1 ? (
        <Select
          aria-label={`Operator on ${attribute}`}
          value={condition.operator}
          options={OPERATORS.filter(([name]) => operators.includes(name))}
          onValue={(operator) => onChange({ operator })}
        />
      ) : (
        <span>=</span>
      )}
      <TextInput
        aria-label={`Value of ${attribute}`}
        value={condition.value}
        placeholder={condition.type === 'N' ? 'number' : condition.type === 'B' ? 'base64' : 'text'}
        onValue={(value) => onChange({ value })}
      />
      {condition.operator === 'between' && (
        <TextInput
          aria-label={`Upper end of ${attribute}`}
          value={condition.other}
          placeholder="and"
          onValue={(other) => onChange({ other })}
        />
      )}
    </span>
  )
}
