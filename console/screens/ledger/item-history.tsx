// Every version of an item, each against the one before it, and each provable.
import { useState } from 'preact/hooks'
import { Badge, Empty, Field, Problem, TextInput } from '../../parts/basics.js'
import { Diff } from '../../parts/diff.js'
import { useLoad } from '../../parts/load.js'
import { go } from '../../parts/route.js'
import type { Item } from '../../values/attribute.js'
import { itemFromJson, toPlainJson } from '../../values/plain-json.js'
import { call } from '../../wire/client.js'
import { valueOf } from '../../wire/requests.js'
import { describeTable, keyNames, keyTypeOf } from '../../wire/tables.js'
import type { Digest } from './ledger.js'
import { ProofView } from './proof.js'

export interface Revision {
  readonly BlockAddress: { readonly SequenceNumber: number }
  readonly Metadata: {
    readonly Version: number
    readonly Event: string
    readonly Time: string | number
    readonly TransactionId?: string
  }
  readonly Data?: Item
  readonly Redacted?: boolean
}

export interface HistoryViewProps {
  readonly digest: Digest
  readonly trusted: string
  readonly table: string | undefined
  readonly keyText: string | undefined
}

/** The key as a person writes it: plain JSON, typed by the table's definitions, or DynamoDB's JSON as links have it. */
async function readKey(table: string, text: string, signal: AbortSignal): Promise<Item> {
  const described = await describeTable(table, { signal, isQuiet: true })
  if (/^\s*\{\s*"[^"]*"\s*:\s*\{/.test(text)) return itemFromJson(text, 'dynamodb')
  if (/^\s*\{/.test(text)) return itemFromJson(text, 'plain')
  const { hash } = keyNames(described.KeySchema)
  return { [hash]: valueOf(keyTypeOf(described, hash), text) }
}

export function HistoryView({ digest, trusted, table = '', keyText = '' }: HistoryViewProps) {
  const [name, setName] = useState(table)
  const [text, setText] = useState(() => shownKey(keyText))
  const [proving, setProving] = useState<number | undefined>(undefined)
  const found = useLoad(
    async (signal) => {
      if (table === '' || keyText === '') return undefined
      const Key = await readKey(table, keyText, signal)
      const revisions: Revision[] = []
      let NextToken: string | undefined
      do {
        const page = await call<{ readonly Revisions: readonly Revision[]; readonly NextToken?: string }>(
          'ListRevisions',
          { TableName: table, Key, ...(NextToken && { NextToken }) },
          { signal },
        )
        revisions.push(...page.Revisions)
        NextToken = page.NextToken
      } while (NextToken !== undefined && revisions.length < 2000)
      return { Key, revisions }
    },
    [table, keyText],
  )
  return (
    <>
      <form
        class="inline"
        onSubmit={(event) => {
          event.preventDefault()
          go('ledger', 'history', name, text)
        }}
      >
        <Field label="Ledger table">
          {(id) => <TextInput id={id} value={name} onValue={setName} required />}
        </Field>
        <Field label="Key" hint='as in {"vin": "WDB-1"}, or the partition key alone'>
          {(id) => <TextInput id={id} class="mono" value={text} onValue={setText} required />}
        </Field>
        <button type="submit" class="primary">
          Show history
        </button>
      </form>
      <Problem error={found.error} />
      {found.value?.revisions.length === 0 && <Empty title="The ledger has nothing of this item" />}
      <ol class="cards">
        {found.value?.revisions
          .map((revision, at, all) => ({ revision, before: all[at - 1] }))
          .toReversed()
          .map(({ revision, before }) => (
            <li key={revision.Metadata.Version} class="card">
              <div class="row-line">
                <strong>Version {revision.Metadata.Version}</strong>
                {
                  <Badge
                    kind={
                      revision.Metadata.Event === 'INSERT'
                        ? 'good'
                        : revision.Metadata.Event === 'REMOVE'
                          ? 'bad'
                          : 'info'
                    }
                  >
                    {revision.Metadata.Event.toLowerCase()}
                  </Badge>
                }
                {revision.Redacted === true && <Badge kind="warn">redacted</Badge>}
                <span class="muted grow">
                  block {revision.BlockAddress.SequenceNumber}, {String(revision.Metadata.Time)}
                </span>
                <button
                  type="button"
                  class="small"
                  aria-expanded={proving === revision.Metadata.Version}
                  onClick={() =>
                    setProving(proving === revision.Metadata.Version ? undefined : revision.Metadata.Version)
                  }
                >
                  Prove version {revision.Metadata.Version}
                </button>
              </div>
              <Diff before={before?.Data} after={revision.Data} />
              {proving === revision.Metadata.Version && (
                <ProofView
                  table={table}
                  itemKey={found.value!.Key}
                  version={revision.Metadata.Version}
                  size={digest.Size}
                  trusted={trusted}
                />
              )}
            </li>
          ))}
      </ol>
    </>
  )
}

function shownKey(text: string): string {
  try {
    return text.startsWith('{') ? toPlainJson(itemFromJson(text, 'dynamodb')).replace(/\s*\n\s*/g, ' ') : text
  } catch {
    return text
  }
}
