// Judges a bank: money is neither made nor lost, and no account is overdrawn.
import { type Anomaly, Findings } from './anomaly.js'

export interface BankRead {
  readonly id: string
  /** Every account of the bank; undefined for one that is absent. */
  readonly balances: ReadonlyMap<string, number | undefined>
}

export function judgeBank(reads: readonly BankRead[], total: number): readonly Anomaly[] {
  const found = new Findings()
  for (const { id, balances } of reads) {
    let sum = 0
    for (const [account, balance] of balances) {
      if (balance === undefined) found.add('bank-missing', `${id} did not find account ${account}`)
      else if (balance < 0) found.add('bank-overdrawn', `${id} found ${balance} in account ${account}`)
      sum += balance ?? 0
    }
    if (sum !== total) {
      const list = [...balances].map(([account, balance]) => `${account}: ${balance ?? 'absent'}`).join(', ')
      found.add('bank-total', `${id} found ${sum} in all accounts together, not ${total} (${list})`)
    }
  }
  return found.all
}
