// The language of scenarios/*.txt, a line a command. What a command answers stands behind an arrow.
//
//   # the sentence that the scenario proves
//   rules all | none | all but oldTimestamps, ... | only severalPrepared, ...
//   item x = {"n": 1} written at 100 by put | update
//   partition deleted at 60                       some other item of the partition
//   clock 500                                     what the node has seen so far
//   prepare t1 at 101 if n = 1 set n = 5          -> accepted | too-old above 101 | wait for t0 | conflict with t0 | ...
//   commit t1, cancel t1                          -> written 101 {"n": 5} | deleted 101 | deferred | nothing | unknown
//   write put {"n": 2} returning old              -> written 102 {"n": 2} old {"n": 5} | wait for t1 | ...
//   transact put {"n": 3}; y check n = 1          -> x written 103 {"n": 3}; y checked | refused: ... | ...
//   read at 105, latest marking 106, get          -> value {"n": 3} | value none | too-old above 103 | pending t1
//   together x, y                                 -> at 105 x {"n": 3}; y none | never
//   snapshots open | closed
//   lock x by u1, unlock x                        prepare t1 at 101 of u1 ..., transact of u1 ...: the unit u1 commits
//   show                                          -> {"n": 3} written 103 blindly; read 105; t1 at 110 put
//
// An action is put, set, add, remove, delete or check; its condition may stand before it, behind `if`, and before that
// what a unit of work requires: `expecting 100`, `expecting none`, `unwritten since 100`, `locked`. The item is x
// unless another is named before the action, or at the end of a command without one. big(N) is a string of N letters.
import { timestamp, type Timestamp, type TxId } from '../../src/model/brand.js'
import type { WriteStepVerdict } from '../../src/rules/write-step.js'
import type { FinishVerdict } from '../../src/rules/finish.js'
import type { ChangedVerdict } from '../../src/rules/units/binding.js'
import type { Action, Expectation, Image } from '../../src/rules/item/contended-item.js'
import type { PrepareVerdict } from '../../src/rules/prepare.js'
import { allRules, noRules, type TransactionRules } from '../../src/rules/item/section-4.js'
import { actionOn, plainImage, storedImage, type Plain } from './plain-values.js'
import { RuleNode, type NamedAction } from './rule-node.js'

export interface Scenario {
  readonly title: string
  readonly commands: readonly Command[]
}

export interface Command {
  readonly line: number
  readonly text: string
  readonly expected: string | undefined
}

export function parseScenarios(text: string): readonly Scenario[] {
  const scenarios: { title: string; commands: Command[] }[] = []
  let remarks = false
  for (const [at, raw] of text.split('\n').entries()) {
    const line = raw.trim()
    if (line.startsWith('#')) {
      // Further lines of a heading are remarks.
      if (!remarks) scenarios.push({ title: line.slice(1).trim(), commands: [] })
      remarks = true
      continue
    }
    remarks = false
    if (line === '') continue
    const [command = '', expected] = line.split(/\s*->\s*/)
    const scenario = scenarios.at(-1)
    if (scenario === undefined) throw new Error(`line ${at + 1}: a command before the first heading`)
    scenario.commands.push({ line: at + 1, text: command, expected })
  }
  return scenarios
}

/** Undefined where there is nothing to answer. */
export type Run = (command: string) => string | undefined

/** A new node, and how to talk to it. */
export function newRun(): Run {
  const node = new RuleNode()
  return (text) => {
    for (const [pattern, run] of COMMANDS) {
      const match = pattern.exec(text)
      if (match !== null) return run(node, match.groups ?? {})
    }
    throw new Error(`not a command: ${text}`)
  }
}

type Groups = Readonly<Record<string, string | undefined>>

const COMMANDS: readonly (readonly [RegExp, (node: RuleNode, groups: Groups) => string | undefined])[] = [
  [/^rules (?<which>.+)$/, (node, { which = '' }) => void (node.rules = rulesOf(which))],
  [/^clock (?<at>\d+)$/, (node, { at }) => void (node.clock = stamp(at))],
  [/^partition deleted at (?<at>\d+)$/, (node, { at }) => void (node.maxDelete = stamp(at))],
  [/^item (?<name>[a-z]) = (?<json>\{.*\}) written at (?<at>\d+) by (?<by>put|update)$/, setItem],
  [/^snapshots (?<state>open|closed)$/, (node, { state }) => void (node.ordered = state === 'open')],
  [/^lock (?<name>[a-z]) by (?<unit>u\d+)$/, (node, { name = 'x', unit }) => lock(node, name, unit)],
  [/^unlock (?<name>[a-z])$/, (node, { name = 'x' }) => lock(node, name, undefined)],
  [/^prepare (?<tx>t\d+) at (?<at>\d+)(?: of (?<unit>u\d+))? (?<rest>.+)$/, prepare],
  [/^(?<decision>commit|cancel) (?<tx>t\d+)(?: (?<name>[a-z]))?$/, finish],
  [/^write (?<rest>.+?)(?<old> returning old)?$/, write],
  [/^transact (?:of (?<unit>u\d+) )?(?<rest>.+)$/, transact],
  [/^read at (?<at>\d+)(?: (?<name>[a-z]))?$/, readAt],
  [/^latest(?: marking (?<at>\d+))?(?: (?<name>[a-z]))?$/, latest],
  [/^get(?: (?<name>[a-z]))?$/, get],
  [/^together (?<names>[a-z](?:, [a-z])*)$/, together],
  [/^show(?: (?<name>[a-z]))?$/, show],
]

function rulesOf(text: string): TransactionRules {
  if (text === 'all') return allRules
  if (text === 'none') return noRules
  const [, how, list = ''] = /^(all but|only) (.+)$/.exec(text) ?? []
  if (how === undefined) throw new Error(`not rules: ${text}`)
  const names = list.split(', ')
  for (const name of names) if (!Object.hasOwn(allRules, name)) throw new Error(`not a rule: ${name}`)
  const changed = Object.fromEntries(names.map((name) => [name, how === 'only']))
  return { ...(how === 'only' ? noRules : allRules), ...changed }
}

function setItem(node: RuleNode, { name = 'x', json = '', at, by }: Groups): undefined {
  const item = node.stored(name)
  item.image = storedImage(name, plain(json))
  item.last = { timestamp: stamp(at), blind: by === 'put' }
  node.clock = stamp(Math.max(node.clock, Number(at)))
}

function lock(node: RuleNode, name: string, unit: string | undefined): undefined {
  node.stored(name).lockedBy = unit
}

function prepare(node: RuleNode, { tx, at, unit, rest = '' }: Groups): string {
  const { name, action } = actionIn(rest)
  return prepareText(node.prepare(tx as TxId, stamp(at), name, action, unit))
}

function changedText({ change }: ChangedVerdict): string {
  if (change === undefined) return 'lock lost'
  return `changed at ${change.at}${change.by === undefined ? '' : ` by ${change.by}`}`
}

function prepareText(verdict: PrepareVerdict): string {
  switch (verdict.verdict) {
    case 'accepted':
    case 'condition-failed':
      return verdict.verdict
    case 'invalid':
      return `invalid: ${verdict.message}`
    case 'too-old':
      return `too-old above ${verdict.above}`
    case 'conflict':
      return `conflict with ${verdict.others.join(', ')}`
    case 'wait':
      return verdict.holder === undefined
        ? `wait for ${verdict.others.join(', ')}`
        : `wait for the lock of ${verdict.holder}`
    case 'changed':
      return changedText(verdict)
  }
}

function finish(node: RuleNode, { decision, tx, name }: Groups): string {
  const pendingOn = node
    .names()
    .filter((each) => node.stored(each).pending.some((pending) => pending.tx === tx))
  const names = name !== undefined ? [name] : pendingOn
  if (names.length === 0) return 'unknown'
  const texts = names.map((each) => {
    const text = finishText(node.finish(tx as TxId, each, decision as 'commit' | 'cancel'), tx as TxId)
    return names.length > 1 ? `${each} ${text}` : text
  })
  return texts.join('; ')
}

function finishText(verdict: FinishVerdict, tx: TxId): string {
  if (verdict.verdict === 'unknown') return 'unknown'
  if (verdict.pending.some((pending) => pending.tx === tx)) return 'deferred'
  if (verdict.written.length === 0) return 'nothing'
  return verdict.written.map((write) => writtenText(write.timestamp, write.next?.item)).join(', ')
}

function write(node: RuleNode, { rest = '', old }: Groups): string {
  const named = { ...actionIn(rest), answersImage: old !== undefined }
  const before = node.stored(named.name).image
  const verdict = node.single(named)
  if (verdict.verdict === 'done') {
    const text = writtenText(verdict.timestamp, verdict.next?.item)
    return old === undefined ? text : `${text} old ${imageText(before)}`
  }
  if (verdict.verdict === 'condition-failed' || verdict.verdict === 'invalid') return resultText(verdict)
  return blockedText({ ...verdict, others: [verdict.others], holders: [verdict.holder] })
}

function transact(node: RuleNode, { unit, rest = '' }: Groups): string {
  const actions = rest.split('; ').map(actionIn)
  const verdict = node.step(actions, { ...(unit && { unit }) })
  switch (verdict.verdict) {
    case 'done':
      return actions
        .map(({ name, action }, at) => {
          const checked = action.mutation.kind === 'check'
          const text = checked
            ? `checked ${verdict.timestamp}`
            : writtenText(verdict.timestamp, verdict.next[at]?.item)
          return `${name} ${text}`
        })
        .join('; ')
    case 'refused':
      return `refused: ${actions.map(({ name }, at) => `${name} ${resultText(verdict.results[at])}`).join('; ')}`
    case 'wait':
    case 'conflict':
      return blockedText(verdict)
  }
}

function resultText(
  result: (WriteStepVerdict & { verdict: 'refused' })['results'][number] | undefined,
): string {
  if (result?.verdict === 'changed') return changedText(result)
  return result?.verdict === 'invalid' ? `invalid: ${result.message}` : String(result?.verdict)
}

function blockedText({
  verdict,
  others,
  holders,
}: WriteStepVerdict & { verdict: 'wait' | 'conflict' }): string {
  const locks = holders.flatMap((holder) => (holder === undefined ? [] : [`the lock of ${holder}`]))
  return `${verdict} ${verdict === 'wait' ? 'for' : 'with'} ${[...others.flat(), ...locks].join(', ')}`
}

function readAt(node: RuleNode, { at, name = 'x' }: Groups): string {
  const verdict = node.readAt(name, stamp(at))
  switch (verdict.verdict) {
    case 'value':
      return valueText(node, name)
    case 'too-old':
      return `too-old above ${verdict.above}`
    case 'pending':
      return `pending ${verdict.tx}`
  }
}

function latest(node: RuleNode, { at, name = 'x' }: Groups): string {
  const verdict = node.readLatest(name, at === undefined ? undefined : stamp(at))
  return verdict.verdict === 'value' ? valueText(node, name) : `pending ${verdict.tx}`
}

/** GetItem: the rules only say whether it passes what is prepared. */
function get(node: RuleNode, { name = 'x' }: Groups): string {
  const { pending } = node.stored(name)
  const passes = node.rules.readsPassPrepared || pending.length === 0
  return passes ? valueText(node, name) : `conflict with ${pending.map(({ tx }) => tx).join(', ')}`
}

function together(node: RuleNode, { names = '' }: Groups): string {
  const list = names.split(', ')
  const at = node.readTogether(list)
  if (at === undefined) return 'never'
  return `at ${at} ${list.map((name) => `${name} ${imageText(node.stored(name).image)}`).join('; ')}`
}

function show(node: RuleNode, { name = 'x' }: Groups): string {
  const { written, writtenBlindly, read, pending } = node.load(name)
  const entries = pending.map(({ tx, timestamp, action, decided }) =>
    [tx, 'at', timestamp, action.mutation.kind, ...(decided ? ['decided'] : [])].join(' '),
  )
  const last = `${imageText(node.stored(name).image)} written ${written}${writtenBlindly ? ' blindly' : ''}`
  return [last, ...(read > 0 ? [`read ${read}`] : []), ...entries].join('; ')
}

const REQUIRED = '(?:expecting (?<version>\\d+|none) |unwritten since (?<since>\\d+) )?(?<locked>locked )?'
const ACTION = new RegExp(
  `^(?:(?<name>[a-z]) )?${REQUIRED}(?:if (?<guard>.+?) )?(?<verb>put|set|add|remove|delete|check)\\b ?(?<rest>.*)$`,
)

function actionIn(text: string): NamedAction {
  const {
    name = 'x',
    version,
    since,
    locked,
    guard,
    verb,
    rest = '',
  } = ACTION.exec(expanded(text))?.groups ?? {}
  const expected: Expectation | undefined =
    since !== undefined
      ? { kind: 'unwritten-since', timestamp: stamp(since) }
      : version !== undefined
        ? { kind: 'version', written: version === 'none' ? undefined : stamp(version) }
        : undefined
  const of = (...given: [Parameters<typeof actionOn>[1], string?]): { name: string; action: Action } => ({
    name,
    action: {
      ...actionOn(name, ...given),
      ...(expected && { expected }),
      ...(locked !== undefined && { locked: true }),
    },
  })
  switch (verb) {
    case 'put':
      return of({ kind: 'put', item: plain(rest) }, guard)
    case 'delete':
      if (rest !== '') throw new Error(`not an action: ${text}`)
      return of({ kind: 'delete' }, guard)
    case 'check':
      return of({ kind: 'check' }, rest === '' ? undefined : rest)
    case 'set':
    case 'add':
    case 'remove':
      return of({ kind: 'update', text: `${verb} ${rest}` }, guard)
    case undefined:
    default:
      throw new Error(`not an action: ${text}`)
  }
}

const expanded = (text: string): string =>
  text.replaceAll(/\bbig\((\d+)\)/g, (_, letters: string) => JSON.stringify('x'.repeat(Number(letters))))

const plain = (json: string): Readonly<Record<string, Plain>> =>
  JSON.parse(expanded(json)) as Readonly<Record<string, Plain>>

function imageText(image: Image): string {
  if (image === undefined) return 'none'
  return JSON.stringify(plainImage(image)).replaceAll(/x{100,}/g, (letters) => `${letters.length} letters`)
}

const valueText = (node: RuleNode, name: string): string => `value ${imageText(node.stored(name).image)}`

const writtenText = (at: Timestamp, image: Image): string =>
  image === undefined ? `deleted ${at}` : `written ${at} ${imageText(image)}`

const stamp = (text: string | number | undefined): Timestamp => timestamp(Number(text))
