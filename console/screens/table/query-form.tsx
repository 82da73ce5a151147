// What is asked of a table: scan or query, which index, conditions on its key, filters.
import { Check, Select, TextInput } from '../../parts/basics.js'
import { useFocus } from '../../parts/focus.js'
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
import {
  type IndexDescription,
  indexesOf,
  keyParts,
  keyTypeOf,
  type TableDescription,
} from '../../wire/tables.js'

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

const schemaOf = (table: TableDescription, index: string | undefined): IndexDescription['KeySchema'] =>
  indexesOf(table).find(({ IndexName }) => IndexName === index)?.KeySchema ?? table.KeySchema

/** With the conditions that fit the keys of that index. */
export function requestOn(
  table: TableDescription,
  index: string | undefined,
  mode: 'scan' | 'query',
): ItemRequest {
  return {
    table: table.TableName,
    index,
    mode,
    hashes: keyParts(schemaOf(table, index), 'HASH').map((name) => keyCondition(table, name)),
    ranges: [],
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
  const sortKey = keyParts(schemaOf(table, request.index), 'RANGE')
  /** The next attribute of the sort key that a condition may be on. */
  const nextSort = sortKey[request.ranges.length]
  const lastRange = request.ranges.at(-1)
  const change = (next: Partial<ItemRequest>): void => onChange({ ...request, ...next })
  const changeKey = (which: 'hashes' | 'ranges', at: number, next: Partial<KeyCondition>): void =>
    change({ [which]: request[which].map((each, place) => (place === at ? { ...each, ...next } : each)) })
  const changeFilter = (at: number, next: Partial<Filter>): void =>
    change({
      filters: request.filters.map((filter, each) => (each === at ? { ...filter, ...next } : filter)),
    })
  const [place, focusOn] = useFocus<HTMLFormElement>()
  return (
    <form
      ref={place}
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
        {request.mode === 'query' &&
          request.hashes.map((each, at) => (
            <Condition
              key={each.attribute}
              condition={each}
              operators={['=']}
              onChange={(next) => changeKey('hashes', at, next)}
            />
          ))}
        {request.mode === 'query' &&
          request.ranges.map((each, at) => (
            <Condition
              key={each.attribute}
              condition={each}
              operators={each === lastRange ? KEY_OPERATORS : ['=']}
              isLast={each === lastRange}
              onChange={(next) => changeKey('ranges', at, next)}
            />
          ))}
        {request.mode === 'query' && lastRange !== undefined && (
          <button
            type="button"
            class="icon"
            aria-label={`Remove the condition on ${lastRange.attribute}`}
            onClick={() => {
              focusOn('[data-and]')
              change({ ranges: request.ranges.slice(0, -1) })
            }}
          >
            ✕
          </button>
        )}
        {request.mode === 'query' && nextSort !== undefined && (
          <button
            type="button"
            class="small"
            data-and
            onClick={() => {
              focusOn('.condition.last select')
              change({
                ranges: [
                  ...request.ranges.map((each) => ({ ...each, operator: '=' as const })),
                  keyCondition(table, nextSort),
                ],
              })
            }}
          >
            and {nextSort} …
          </button>
        )}
        {request.mode === 'query' && sortKey.length > 0 && (
          <Check
            checked={request.descending}
            onValue={(descending) => change({ descending })}
            label="descending"
          />
        )}
        <button
          type="button"
          class="small"
          data-add
          onClick={() => {
            focusOn('.query-line:last-of-type input')
            change({ filters: [...request.filters, emptyFilter()] })
          }}
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
            required
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
            onClick={() => {
              focusOn('[data-add]')
              change({ filters: request.filters.filter((_, each) => each !== at) })
            }}
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
  isLast = false,
  onChange,
}: {
  readonly condition: KeyCondition
  readonly operators: readonly KeyCondition['operator'][]
  readonly isLast?: boolean
  readonly onChange: (next: Partial<KeyCondition>) => void
}) {
  const { attribute } = condition
  return (
    <span class={isLast ? 'condition last' : 'condition'}>
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
        required
        placeholder={condition.type === 'N' ? 'number' : condition.type === 'B' ? 'base64' : 'text'}
        onValue={(value) => onChange({ value })}
      />
      {condition.operator === 'between' && (
        <TextInput
          aria-label={`Upper end of ${attribute}`}
          value={condition.other}
          required
          placeholder="and"
          onValue={(other) => onChange({ other })}
        />
      )}
    </span>
  )
}
