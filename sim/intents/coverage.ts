// What must have happened for a run to mean something.
import type { Tally } from '../faults.js'

const STEPS = [
  'begin',
  'place',
  'decide',
  'apply',
  'drop',
  'done',
  'cancel',
  'settle by delete',
  'turn',
  'spill',
]
const CONTENDED_MIN = 0.2

/** Names of what never happened. */
export function missing(tally: Tally): string[] {
  const wanted = [
    ...STEPS.flatMap((step) => [
      ...(step === 'spill' ? [] : [`crash/${step} before`, `crash/${step} after`]),
      `lost request/${step}`,
      `lost answer/${step}`,
      `repeated/${step}`,
    ]),
    ...['read-only', 'single', 'transact', 'intents'].map((path) => `path/${path}`),
    ...['committed', 'cancelled', 'orphans', 'deleted'].map((what) => `swept/${what}`),
    ...['committed', 'aborted', 'unknown', 'died'].map((outcome) => `outcome/${outcome}`),
    ...['committed committed', 'committed unknown', 'aborted cancelled', 'aborted unknown'].map(
      (fate) => `fate/${fate}`,
    ),
    'worlds with guards',
  ]
  const absent = wanted.filter((name) => tally.of(name) === 0)
  if (tally.of('contended') < CONTENDED_MIN * tally.of('transactions')) absent.push('contended')
  return absent
}
