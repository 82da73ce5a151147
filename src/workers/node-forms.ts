// The calls of a node that most requests make, in lean forms. All others go as any data does (values.ts).
//
//   GetItem  space, key, consistent?          -> the record, or nothing
//   write    shape by its number, key, change -> verdict and timestamp; images only where the caller looks at them
//   range    bounds                           -> keys and records; as a text: the text with room around it
import type { Timestamp, SpaceId } from '../model/brand.js'
import { type ItemKey, keyAttributesOf } from '../model/table.js'
import type { Item } from '../model/value.js'
import type { Action } from '../rules/item/contended-item.js'
import type { RangeText, RangeTextRequest } from '../storage/contract/range-text.js'
import type {
  RangeEntry,
  RangePage,
  RangeRequest,
  StorageNode,
  WriteAnswer,
  WriteOutcome,
  WriteRequest,
} from '../storage/contract/storage-node.js'
import type {
  ActionVerdict,
  CommitReply,
  CommitRequest,
  PredicateVerdict,
  PrepareReply,
  PrepareRequest,
  ReadAtReply,
  ReadAtRequest,
  ReadVerdict,
  TransactReply,
  TransactRequest,
} from '../storage/contract/transactions.js'
import {
  ANY_READ,
  anything,
  type CallForm,
  callOf,
  flag,
  type Form,
  keyForm,
  recordForm,
  latin1,
  list,
  type MemberForms,
  number,
  optional,
  recurring,
  struct,
  word,
} from './forms.js'
import type { ValueReader, ValueWriter } from './values.js'

const GET: CallForm = {
  writeArgs: (writer, args) => {
    const [space, key, isConsistent] = args as [SpaceId, ItemKey, boolean]
    writer.out.u32(space)
    keyForm.write(writer, key)
    writer.out.u8(isConsistent ? 1 : 0)
  },
  readArgs: (reader) => [reader.in.u32(), keyForm.read(reader), reader.in.u8() === 1],
  writeAnswer: (writer, value) => FOUND.write(writer, value as never),
  readAnswer: (reader) => FOUND.read(reader),
}
const FOUND = optional(recordForm)

/** The text of a put says everything: nobody asks for the key attributes again, and the item is not sent twice. */
const MUTATION = { other: 0, put: 1, delete: 2 } as const

const mutationForm = <T extends Action['mutation']>(): Form<T> => ({
  write: (writer, value) => {
    const { out } = writer
    switch (value.kind) {
      case 'put':
        out.u8(MUTATION.put)
        return writer.put(value)
      case 'delete':
        return out.u8(MUTATION.delete)
      case 'update':
      case 'check':
        out.u8(MUTATION.other)
        return writer.value(value)
    }
  },
  read: (reader) => {
    switch (reader.in.u8()) {
      case MUTATION.put:
        return reader.put() as T
      case MUTATION.delete:
        return { kind: 'delete' } as T
      default:
        return reader.value() as T
    }
  },
})

const keyAttributes = {
  write: (writer: ValueWriter, value: Item, { table, mutation }: Pick<Action, 'table' | 'mutation'>): void =>
    writer.value(mutation.kind === 'put' ? keyAttributesOf(table.key, value) : value),
  read: (reader: ValueReader): Item => reader.value() as Item,
}

const WRITE_MEMBERS: MemberForms<WriteRequest> = {
  table: recurring(),
  key: keyForm,
  keyAttributes,
  mutation: mutationForm(),
  condition: anything(),
  answersImage: flag(),
  cause: word(['expiry']),
  about: anything(),
}

const writeRequest = struct<WriteRequest>(WRITE_MEMBERS)
const action = struct<Action>({
  ...WRITE_MEMBERS,
  mutation: mutationForm(),
  expected: anything(),
  locked: flag(),
})

const OUTCOME = { other: 0, done: 1, doneOld: 2, doneNew: 3, doneBoth: 4 } as const

const WRITE: CallForm = {
  writeArgs: (writer, args) => {
    const [request, answer] = args as [WriteRequest, WriteAnswer | undefined]
    writer.out.u8(answer === 'verdict' ? 1 : 0)
    writeRequest.write(writer, request)
  },
  readArgs: (reader) => {
    const answer: WriteAnswer = reader.in.u8() === 1 ? 'verdict' : 'images'
    return [writeRequest.read(reader), answer]
  },
  writeAnswer: (writer, value, args) => {
    const outcome = value as WriteOutcome
    const isBare = args[1] === 'verdict'
    const { out } = writer
    if (outcome.verdict !== 'done') {
      out.u8(OUTCOME.other)
      writer.value(isBare && outcome.verdict === 'condition-failed' ? { verdict: outcome.verdict } : outcome)
      return
    }
    const old = isBare ? undefined : outcome.old
    const next = isBare ? undefined : outcome.new
    out.u8(OUTCOME.done + (old === undefined ? 0 : 1) + (next === undefined ? 0 : 2))
    out.f64(outcome.timestamp)
    if (old !== undefined) writer.record(old)
    if (next !== undefined) writer.record(next)
  },
  readAnswer: (reader): WriteOutcome => {
    const kind = reader.in.u8()
    if (kind === OUTCOME.other) return reader.value() as WriteOutcome
    const timestamp = reader.in.f64() as Timestamp
    const hasOld = kind === OUTCOME.doneOld || kind === OUTCOME.doneBoth
    const old = hasOld ? { old: reader.record() } : undefined
    if (kind === OUTCOME.done || kind === OUTCOME.doneOld) return { verdict: 'done', timestamp, ...old }
    return { verdict: 'done', timestamp, ...old, new: reader.record() }
  },
}

/** A callback has a meaning in its own process only: elsewhere a page with a damaged item fails. */
type SentRange = Omit<RangeRequest, 'onDamage'>

const RANGE_MEMBERS: MemberForms<Omit<SentRange, 'itemSpace'>> = {
  space: number(),
  from: latin1(),
  to: latin1(),
  reverse: flag(),
  entriesMax: number(),
  bytesMax: number(),
}

const rangeRequest = struct<SentRange>({ ...RANGE_MEMBERS, itemSpace: number() })
const rangePage = struct<RangePage>({
  entries: list(struct<RangeEntry>({ key: latin1(), record: recordForm })),
  more: flag(),
})
const textRequest = struct<Omit<RangeTextRequest, 'onDamage'>>({
  ...RANGE_MEMBERS,
  roomBefore: number(),
  roomAfter: number(),
})

/** The text is sent with its room: so it can be written around where it arrives. */
const RANGE_TEXT: CallForm = {
  writeArgs: (writer, args) => textRequest.write(writer, args[0] as RangeTextRequest),
  readArgs: (reader) => [textRequest.read(reader)],
  writeAnswer: ({ out }, value, args) => {
    const { bytes, start, end, lastStart, entries, itemBytes } = value as RangeText
    const { roomBefore, roomAfter } = args[0] as RangeTextRequest
    out.u32(roomBefore)
    out.u32(roomAfter)
    out.u32(lastStart - start)
    out.u32(entries)
    out.f64(itemBytes)
    out.bytesBetween(bytes, start, end, roomBefore, roomAfter)
  },
  readAnswer: ({ in: from }): RangeText => {
    const start = from.u32()
    const roomAfter = from.u32()
    const lastStart = start + from.u32()
    const entries = from.u32()
    const itemBytes = from.f64()
    const bytes = from.bytes()
    return { bytes, start, end: bytes.length - roomAfter, lastStart, entries, itemBytes }
  },
}

const timestamp = number<Timestamp>()

/** Most of them are of a few kinds that have no members. */
function verdictForm<T extends { readonly verdict: string }>(bare: T): Form<T> {
  return {
    write: (writer, value) => {
      const isBare = value.verdict === bare.verdict && Object.keys(value).length === 1
      writer.out.u8(isBare ? 1 : 0)
      if (!isBare) writer.value(value)
    },
    read: (reader) => (reader.in.u8() === 1 ? bare : (reader.value() as T)),
  }
}

const verdicts = list(verdictForm<ActionVerdict>({ verdict: 'accepted' }))

const TRANSACTION_MEMBERS: MemberForms<
  Omit<PrepareRequest & TransactRequest, 'timestamp' | 'ahead' | 'token' | 'once'>
> = {
  tx: latin1(),
  actions: list(action),
  imagesWanted: flag(),
  predicates: anything(),
  unit: anything(),
}

const PREPARE = callOf<PrepareRequest, PrepareReply>(
  struct<PrepareRequest>({ ...TRANSACTION_MEMBERS, timestamp, ahead: flag() }),
  struct<PrepareReply>({ clock: timestamp, verdicts, predicateVerdicts: anything(), run: latin1() }),
)

/** All members that one of the replies has. */
interface AnyReply {
  readonly clock: Timestamp
  readonly outcome: TransactReply['outcome']
  readonly timestamp?: Timestamp
  readonly verdicts?: readonly ActionVerdict[]
  readonly predicateVerdicts?: readonly PredicateVerdict[]
}

const TRANSACT = callOf<TransactRequest, TransactReply>(
  struct<TransactRequest>({ ...TRANSACTION_MEMBERS, token: anything(), once: flag() }),
  struct<AnyReply>({
    clock: timestamp,
    outcome: word(['committed', 'refused', 'repeated', 'token-mismatch', 'token-in-progress']),
    timestamp,
    verdicts,
    predicateVerdicts: anything(),
  }) as Form<TransactReply>,
)

const refs = list(struct({ space: number<SpaceId>(), key: keyForm }))

const COMMIT = callOf<CommitRequest, CommitReply>(
  struct<CommitRequest>({
    tx: latin1(),
    items: refs,
    timestamp,
    nodes: list(number()),
    unfenced: flag(),
    until: word(['visible', 'known']),
    run: latin1(),
  }),
  struct<CommitReply>({ clock: timestamp, run: latin1() }),
)

const readVerdict: Form<ReadVerdict> = {
  write: (writer, value) => {
    const record = value.verdict === 'value' ? value.record : undefined
    writer.out.u8(record === undefined ? 0 : 1)
    if (record === undefined) writer.value(value)
    else writer.record(record)
  },
  read: (reader) =>
    reader.in.u8() === 0 ? (reader.value() as ReadVerdict) : { verdict: 'value', record: reader.record() },
}

const READ_AT = callOf<ReadAtRequest, ReadAtReply>(
  struct<ReadAtRequest>({ items: refs, timestamp }),
  struct<ReadAtReply>({ clock: timestamp, timestamp, results: list(readVerdict) }),
)

/** By the name of the method. */
export const NODE_FORMS: { readonly [Name in keyof StorageNode]?: CallForm } = {
  get: large(GET),
  write: WRITE,
  range: large(callOf(rangeRequest, rangePage)),
  rangeText: large(RANGE_TEXT),
  transact: TRANSACT,
  prepare: PREPARE,
  commit: COMMIT,
  readAt: large(READ_AT),
  readLatest: ANY_READ,
  readSnapshot: ANY_READ,
  rangeAt: ANY_READ,
}

function large(form: CallForm): CallForm {
  return { ...form, answersMuch: true }
}
