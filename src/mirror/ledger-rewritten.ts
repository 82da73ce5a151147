/** A server signs what contradicts what it has signed before. Both notes together show it to everybody. */
export class LedgerRewritten extends Error {
  /** How errors of this kind are told apart. */
  override readonly name = 'LedgerRewritten'
  /** The signed note that was remembered. */
  readonly earlier: string
  /** The signed note that does not go on where that one ended. */
  readonly later: string

  /** With the two notes. */
  constructor(message: string, earlier: string, later: string) {
    super(message)
    this.earlier = earlier
    this.later = later
  }
}
