// Where the key that signs checkpoints of a ledger is kept.

/** For its owner alone. */
export interface KeyPlace {
  /** For messages. */
  readonly name: string
  /** `home`: where it is; another one if it was copied. Undefined: there is none yet. */
  read(): Promise<{ readonly text: string; readonly home: string } | undefined>
  write(text: string): Promise<void>
}
